/** @file tune_table.h  Writes the decision of `calc tune` for people; the order of its rows. */
#ifndef CALC_CLI_TUNE_TUNE_TABLE_H
#define CALC_CLI_TUNE_TUNE_TABLE_H

#include "cli/tune/tune_task.h"
#include "io/output.h"

/** All of it. @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_tune_table_write(calc_output *out, const calc_tune_task *task,
                                                const calc_tune_decision *decision,
                                                calc_errors *errors);

/* Writes the files of `calc tune`: --json, --csv, --html. */

/** Write those that are asked for. Every one is tried.
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_tune_write(const calc_tune_task *task,
                                          const calc_tune_decision *decision, calc_errors *errors);

#endif
