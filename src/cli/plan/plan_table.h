/** @file plan_table.h  Writes the results of `calc plan` for people. */
#ifndef CALC_CLI_PLAN_PLAN_TABLE_H
#define CALC_CLI_PLAN_PLAN_TABLE_H

#include "cli/plan/plan_task.h"
#include "io/output.h"

/** Write the table of layouts, the stages of the best, its bottleneck, and the effect of more
 *  memory. */
void calc_plan_table_write(calc_output *out, const calc_plan_task *task,
                           const calc_planner_result *result);

/** Draw both; nothing without --plot. @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_plan_plot_write(calc_output *out, const calc_plan_task *task,
                                               const calc_planner_found *found,
                                               calc_errors *errors);

/** The stages of a layout one by one, and what binds it. */
void calc_plan_table_stages(calc_output *out, const calc_plan_task *task,
                            const calc_planner_found *found);

/** By how much the planner's step is off. @param gap  no `what` is quicker by a larger share;
 *  1: that is not known */
void calc_plan_table_gap(calc_output *out, const calc_planner_found *found, double gap,
                         const char *what);

#endif
