/** @file plan_even.h  Evaluates a planned layout with stages that are all alike, for comparison. */
#ifndef CALC_CLI_PLAN_PLAN_EVEN_H
#define CALC_CLI_PLAN_PLAN_EVEN_H

#include "cli/plan/plan_task.h"

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

#endif
