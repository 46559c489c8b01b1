/** @file remark.h  What a user of a result should know before using its numbers: the machine was
 *  not calibrated, or the model's file leaves out features of today's models. It follows from the
 *  text of the files: `source` states where a machine's numbers come from. */
#ifndef CALC_IO_REMARK_H
#define CALC_IO_REMARK_H

#include "io/text.h"

/** Origin of the constants of a machine that no data sheet states. */
typedef enum calc_remark_origin {
    CALC_REMARK_CALIBRATED, /**< fitted to measured runs of it */
    CALC_REMARK_FAMILY,     /**< fitted to runs of machines of its family */
    CALC_REMARK_CALCULON,   /**< taken from Calculon */
    CALC_REMARK_ASSUMED     /**< assumed, or not stated */
} calc_remark_origin;

/** What the text of a document says beside its fields. */
typedef struct calc_remark_facts {
    calc_remark_origin origin;       /**< of a machine */
    bool no_structure, no_attention; /**< of a model: structure_type, causal are left out */
    const char *partial; /**< of an execution that leaves required keys out: all of it. Borrowed;
                          * NULL: it is whole */
    char calibrated[64]; /**< of a machine: whose runs its constants were fitted to; "": none */
} calc_remark_facts;

/** Read the facts from a text in JSON; all of them are unknown without one. */
calc_remark_facts calc_remark_read(const calc_text *text);

/** The origin in a few words: "calibrated". */
const char *calc_remark_origin_text(calc_remark_origin origin);

enum { CALC_REMARK_SIZE = 512 };

/** The remark on a machine: empty if it is calibrated.
 *  @param name   for people
 *  @param alike  a similar machine that is calibrated; "": none is known
 *  @param text   filled, CALC_REMARK_SIZE bytes
 *  @return text */
char *calc_remark_system(const char *name, calc_remark_facts facts, const char *alike, char *text);

/** The remark on a model: empty, or the consequences of keys that its file leaves out. A missing
 *  vocabulary is not mentioned here.
 *  @param app   after all changes
 *  @param text  filled, CALC_REMARK_SIZE bytes
 *  @return text */
char *calc_remark_app(calc_remark_facts facts, const calc_app *app, char *text);

/** The remark on a layout: that of what it serves, or that more blocks should recompute than a
 *  stage has.
 *  @param text  filled, CALC_REMARK_SIZE bytes
 *  @return text */
char *calc_remark_exec(const calc_app *app, const calc_exec *exec, char *text);

/** The remark on what is served: empty, or that no engine is named, whose time is then left out, or
 *  what the execution's `eager` does not mean.
 *  @param text  filled, CALC_REMARK_SIZE bytes
 *  @return text */
char *calc_remark_inference(const calc_inference *inference, bool eager, char *text);

#endif
