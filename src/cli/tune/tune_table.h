/** @file tune_table.h  What `calc tune` decided, for people; and in which order layouts are shown.
 */
#ifndef CALC_CLI_TUNE_TUNE_TABLE_H
#define CALC_CLI_TUNE_TUNE_TABLE_H

#include "cli/tune/tune_loop.h"
#include "io/output.h"

/** Mean of a layout's measured times, in seconds; NaN: there is none. */
double calc_tune_table_mean(const calc_tune_task *task, size_t candidate);

/** Candidates in the order of the table: the most probable to be the best first.
 *  @return a list that the caller frees; NULL if memory is short */
size_t *calc_tune_table_order(const calc_tune_task *task, const calc_tune_decision *decision);

/** Whether a layout is proposed. */
bool calc_tune_table_is_pick(const calc_tune_decision *decision, size_t candidate);

/** How far the best found is from the best of a simulated truth, as a share of that.
 *  @param best_s  set to the time of that; infinite if nothing fits
 *  @return false if nothing was found, or nothing fits */
bool calc_tune_table_regret(const calc_tune_task *task, const calc_tune_decision *decision,
                            double *best_s, double *regret);

/** The sentence at the end: stop or go on. */
void calc_tune_table_verdict(calc_output *out, const calc_tune_task *task,
                             const calc_tune_decision *decision);

/** All of it. @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_tune_table_write(calc_output *out, const calc_tune_task *task,
                                                const calc_tune_decision *decision,
                                                calc_errors *errors);

#endif
