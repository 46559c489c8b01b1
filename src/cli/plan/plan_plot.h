/** @file plan_plot.h  Draws the pipeline of the best layout, and the one with stages that are all
 *  alike. */
#ifndef CALC_CLI_PLAN_PLAN_PLOT_H
#define CALC_CLI_PLAN_PLAN_PLOT_H

#include "cli/plan/plan_task.h"
#include "io/output.h"

/** Draw both; nothing without --plot. @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_plan_plot_write(calc_output *out, const calc_plan_task *task,
                                               const calc_planner_found *found,
                                               calc_errors *errors);

#endif
