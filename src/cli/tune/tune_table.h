/** @file tune_table.h  Writes the decision of `calc tune` for people; the order of its rows. */
#ifndef CALC_CLI_TUNE_TUNE_TABLE_H
#define CALC_CLI_TUNE_TUNE_TABLE_H

#include "cli/tune/tune_loop.h"
#include "cli/tune/tune_task.h"
#include "io/output.h"

/** All of it. @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_tune_table_write(calc_output *out, const calc_tune_task *task,
                                                const calc_tune_decision *decision,
                                                calc_errors *errors);

/** Mean of a layout's measured times, in seconds; NaN: there is none. */
double calc_tune_order_mean(const calc_tune_task *task, size_t candidate);

/** Candidates in the order of the table: the most probable to be the best first.
 *  @return a list that the caller frees; NULL if memory is short */
size_t *calc_tune_order_make(const calc_tune_task *task, const calc_tune_decision *decision);

/** Excess of the best found over the best of a simulated truth, as a fraction of the latter.
 *  @param best_s  set to the time of the latter; infinite if nothing fits
 *  @return false if nothing was found, or nothing fits */
bool calc_tune_order_regret(const calc_tune_task *task, const calc_tune_decision *decision,
                            double *best_s, double *regret);

#endif
