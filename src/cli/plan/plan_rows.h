/** @file plan_rows.h  A planned layout: its stages, the system of each, how many of its blocks
 * recompute and how long it waits; the same with stages that are all alike; and the part of the
 * memory that plans fill, in which nine of ten comparable measured runs would have fitted
 * (validate/fits.h). */
#ifndef CALC_CLI_PLAN_PLAN_ROWS_H
#define CALC_CLI_PLAN_PLAN_ROWS_H

#include "cli/plan/plan_task.h"
#include "io/json_put.h"
#include "io/output.h"

/** A stage. Borrows the system and its name. */
typedef struct calc_plan_row {
    const calc_system *system;
    const char *name;  /**< of the system */
    double recomputed; /**< blocks that it recomputes in full, in all its chunks */
    double idle;       /**< share of the slowest stage's passes that it waits */
    double message_s;  /**< activations of a micro-batch, chunk and processor on the way to the next
                            stage; NaN: there is none */
    calc_stage_stats stats;
} calc_plan_row;

/** All stages. @param exec  of a layout on the chips of the task, kept as long as the stages
 *  @param chip  whose system stages without one are on
 *  @return a list that the caller frees, of *count; NULL if no stage is known; without
 *  memory the command ends */
calc_plan_row *calc_plan_rows_make(const calc_plan_task *task, int chip, const calc_exec *exec,
                                   size_t *count);

/** How sure it is that a layout fits: the minimum over its stages, each on its chip, see
 *  calc_fits_of(); NaN: not known. */
double calc_plan_rows_fits(const calc_plan_task *task, int chip, const calc_exec *exec);

/** calc_planner.runs. @param task  a calc_plan_task */
CALC_MUST_USE calc_status calc_plan_rows_runs(const void *task, int chip, const calc_exec *exec,
                                              bool *runs);

/** The layout to start with, as calc_sweep_rows_start() has it: the first that is as good as sure
 * to fit and that a framework runs. @param rank  its rank, 0: it is not in the list
 *  @return NULL if there is none */
const calc_planner_found *calc_plan_rows_start(const calc_plan_task *task,
                                               const calc_planner_result *result, size_t *rank);

/** The execution of a layout, which names the systems of its stages where there are several to
 *  choose from. */
calc_exec calc_plan_rows_named(const calc_plan_task *task, const calc_planner_found *found);

/** "stages": all of them. */
void calc_plan_rows_put(calc_put *put, const calc_plan_task *task, int chip, const calc_exec *exec);

/** The best of even blocks, and of embedding and head counted as blocks, with full recomputation or
 *  none. On several chips: as many blocks on every stage, the first ones with what is left, where
 *  the chips stand.
 *  @param exec   that layout
 *  @param stats  filled if there is one that fits
 *  @return whether there is */
bool calc_plan_even(const calc_plan_task *task, const calc_planner_found *found, calc_exec *exec,
                    calc_stats *stats);

/** What that is: "stages that are all alike". Whether all of its blocks recompute. */
const char *calc_plan_even_words(const calc_planner_found *found);
bool calc_plan_even_recomputed(const calc_exec *even);

/** Fill task->planned: the chips with as much memory as is planned for. */
void calc_plan_room_take(calc_plan_task *task);

/** Put what was found on the chips as they are: of `chip`, and those that its stages name. */
void calc_plan_room_give(const calc_plan_task *task, int chip, calc_exec *exec, calc_stats *stats);

/** Say what the layout lacks that is nearest to fit, where none does. */
void calc_plan_room_lack(const calc_plan_task *task, const calc_planner_result *result);

/** A line that says how much of which chip, where some is left free. */
void calc_plan_room_write(calc_output *out, const calc_plan_task *task);

/** Plan with a GiB more on every processor. @param only  one layout; NULL: all of the space */
CALC_MUST_USE calc_status calc_plan_rows_more(const calc_plan_task *task, const calc_exec *only,
                                              calc_planner_result *out, calc_errors *errors);

#endif
