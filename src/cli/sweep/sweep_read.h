/** @file sweep_read.h  Records the command and the inputs of a sweep for its page. */
#ifndef CALC_CLI_SWEEP_SWEEP_READ_H
#define CALC_CLI_SWEEP_SWEEP_READ_H

#include "cli/shell/opt.h"
#include "io/json_put.h"
#include "io/text.h"
#include "plan/study.h"

/** Record the bytes of a document.
 *  @param name    for people
 *  @param remark  what to know before using its numbers; "": nothing */
CALC_MUST_USE calc_status calc_sweep_read_note(calc_sweep_study *study, const char *name,
                                               const calc_text *text, const char *remark,
                                               calc_errors *errors);

/** Write the remarks on the documents, a line each. */
void calc_sweep_read_write_remarks(calc_output *out, const calc_sweep_study *study);

/** Write the members "read" and "command": the documents, and the words that define the space and
 *  the objectives, without files and the way it runs. */
void calc_sweep_read_put(calc_put *put, const calc_sweep_study *study, const calc_args *args);

#endif
