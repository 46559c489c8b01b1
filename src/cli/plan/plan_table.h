/** @file plan_table.h  Writes the results of `calc plan` for people. */
#ifndef CALC_CLI_PLAN_PLAN_TABLE_H
#define CALC_CLI_PLAN_PLAN_TABLE_H

#include "cli/plan/plan_task.h"
#include "io/json_put.h"
#include "io/output.h"

/** Write the table of layouts, the stages of the best, its bottleneck, and the effect of more
 *  memory. Lack of memory is an error that is added. */
void calc_plan_table_write(calc_output *out, const calc_plan_task *task,
                           const calc_planner_result *result, calc_errors *errors);

/** Draw both; nothing without --plot. @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_plan_plot_write(calc_output *out, const calc_plan_task *task,
                                               const calc_planner_found *found,
                                               calc_errors *errors);

/* Writes the results of `calc plan --layers` for people; and as JSON the
 * strategy of each run of equal layers, with the time to rearrange activations where it changes. */

/** The table of layouts; of the best its layers and stages, what binds it, and what other memory
 *  would make of it.
 *  @param more  what there is with a GiB more on every processor; or NULL */
void calc_layers_table_write(calc_output *out, const calc_plan_task *task,
                             const calc_planner_result *result, const calc_planner_result *more,
                             calc_errors *errors);

/** The strategy of the layers, listed or not: "16x tp2 zero2, 16x tp2 zero3".
 *  @param text  CALC_LAYER_WORDS_SIZE bytes, returned */
char *calc_layers_table_words(const calc_plan_task *task, const calc_exec *exec, char *text);

/** --plot: step over memory. Nothing without the option. */
void calc_layers_plot_write(calc_output *out, const calc_plan_task *task,
                            const calc_planner_result *result);

/** "layers", with an entry per run, and "ends", the embedding and the head. Without a list of
 *  layers all of them are one run. */
void calc_layers_runs_put(calc_put *put, const calc_plan_task *task, const calc_exec *exec);

#endif
