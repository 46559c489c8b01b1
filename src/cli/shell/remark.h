/** @file remark.h  What somebody should know of a model or a machine before its numbers are used:
 *  that nothing was calibrated, that a file leaves out what models of today have. It follows from
 *  the text of the file: `source` says where its numbers come from. */
#ifndef CALC_CLI_SHELL_REMARK_H
#define CALC_CLI_SHELL_REMARK_H

#include "cli/shell/inputs.h"

/** Where the constants of a machine come from that no data sheet states. */
typedef enum calc_remark_origin {
    CALC_REMARK_CALIBRATED, /**< fitted to measured runs of it */
    CALC_REMARK_FAMILY,     /**< fitted to runs of machines of its family */
    CALC_REMARK_CALCULON,   /**< Calculon's */
    CALC_REMARK_ASSUMED     /**< assumed, or not said */
} calc_remark_origin;

/** The origin, by the text of the file. */
calc_remark_origin calc_remark_origin_of(const calc_text *text);

/** The origin in a few words: "calibrated". */
const char *calc_remark_origin_text(calc_remark_origin origin);

enum { CALC_REMARK_SIZE = 512 };

/** What is to be said of a machine: nothing, or that it is not calibrated, and which one like it
 * is.
 *  @param text  filled, CALC_REMARK_SIZE bytes
 *  @return text */
char *calc_remark_system(const calc_input *input, char *text);

/** What is to be said of a model: nothing, or what it means that its file leaves out keys. A
 * missing vocabulary is not said here.
 *  @param text  filled, CALC_REMARK_SIZE bytes
 *  @return text */
char *calc_remark_app(const calc_input *input, const calc_app *app, char *text);

/** Write what is to be said of a model or a machine to standard error, if that is a terminal and it
 *  was loaded. */
void calc_remark_tell(calc_status loaded, calc_kind kind, const calc_input *input,
                      const void *object);

#endif
