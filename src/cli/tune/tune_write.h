/** @file tune_write.h  Writes the files of `calc tune`: --json, --csv, --html. */
#ifndef CALC_CLI_TUNE_TUNE_WRITE_H
#define CALC_CLI_TUNE_TUNE_WRITE_H

#include "cli/tune/tune_loop.h"
#include "io/output.h"

/** Write those that are asked for. Every one is tried.
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_tune_write(const calc_tune_task *task,
                                          const calc_tune_decision *decision, calc_errors *errors);

/** Write the page from JSON that was written before. */
void calc_tune_write_page_of(calc_output *out, const calc_text *json);

#endif
