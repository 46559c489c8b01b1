/** @file remark.h  Writes warnings about a model or a machine that a user should know before using
 *  its numbers: nothing was calibrated, or the file leaves out features of today's models. They
 *  follow from the text of the file: `source` states where its numbers come from. */
#ifndef CALC_CLI_SHELL_REMARK_H
#define CALC_CLI_SHELL_REMARK_H

#include "cli/shell/inputs.h"

/** Origin of the constants of a machine that no data sheet states. */
typedef enum calc_remark_origin {
    CALC_REMARK_CALIBRATED, /**< fitted to measured runs of it */
    CALC_REMARK_FAMILY,     /**< fitted to runs of machines of its family */
    CALC_REMARK_CALCULON,   /**< taken from Calculon */
    CALC_REMARK_ASSUMED     /**< assumed, or not stated */
} calc_remark_origin;

/** The origin stated in the text of the file. */
calc_remark_origin calc_remark_origin_of(const calc_text *text);

/** The origin in a few words: "calibrated". */
const char *calc_remark_origin_text(calc_remark_origin origin);

enum { CALC_REMARK_SIZE = 512 };

/** The remark on a machine: empty, or that it is not calibrated, and which similar machine is.
 *  @param text  filled, CALC_REMARK_SIZE bytes
 *  @return text */
char *calc_remark_system(const calc_input *input, char *text);

/** The remark on a model: empty, or the consequences of keys that its file leaves out. A missing
 *  vocabulary is not mentioned here.
 *  @param text  filled, CALC_REMARK_SIZE bytes
 *  @return text */
char *calc_remark_app(const calc_input *input, const calc_app *app, char *text);

/** Write the remark on a model or a machine to standard error, if standard error is a terminal and
 *  the document was loaded. */
void calc_remark_tell(calc_status loaded, calc_kind kind, const calc_input *input,
                      const void *object);

#endif
