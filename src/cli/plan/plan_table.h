/** @file plan_table.h  What `calc plan` found, for people. */
#ifndef CALC_CLI_PLAN_PLAN_TABLE_H
#define CALC_CLI_PLAN_PLAN_TABLE_H

#include "cli/plan/plan_task.h"
#include "io/output.h"

/** The table of layouts, the stages of the best, what binds it and what more would buy. */
void calc_plan_table_write(calc_output *out, const calc_plan_task *task,
                           const calc_planner_result *result);

/** The same layout with stages that are all alike: the best of even blocks, of embedding and head
 *  counted as blocks, with full recomputation or none.
 *  @param stats  filled if there is one that fits
 *  @param exec   that layout
 *  @return whether there is */
bool calc_plan_table_even(const calc_plan_task *task, const calc_planner_found *found,
                          calc_exec *exec, calc_stats *stats);

#endif
