/** @file plan_rows.h  Lists the stages of a layout: the system of each, how many of its blocks
 *  recompute, how long it waits. */
#ifndef CALC_CLI_PLAN_PLAN_ROWS_H
#define CALC_CLI_PLAN_PLAN_ROWS_H

#include "cli/plan/plan_task.h"
#include "io/json_put.h"

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

/** The system of a layout whose stages name none. */
const calc_system *calc_plan_system(const calc_plan_task *task, const calc_planner_found *found);

/** All stages. @param exec  of a layout on the chips of the task, kept as long as the stages
 *  @param chip  whose system stages without one are on
 *  @return a list that the caller frees, of *count; NULL if memory is short or no stage is known */
calc_plan_row *calc_plan_rows_make(const calc_plan_task *task, int chip, const calc_exec *exec,
                                   size_t *count);

/** How sure it is that a layout fits: the minimum over its stages, each on its chip, see
 *  calc_fits_of(); NaN: not known. */
double calc_plan_rows_fits(const calc_plan_task *task, int chip, const calc_exec *exec);

/** Behind the rank of a layout: "!" if no framework runs it, else " ". */
const char *calc_plan_rows_mark(const calc_plan_task *task, int chip, const calc_exec *exec);

/** "stages": all of them. */
void calc_plan_rows_put(calc_put *put, const calc_plan_task *task, int chip, const calc_exec *exec);

#endif
