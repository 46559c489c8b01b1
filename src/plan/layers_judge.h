/** @file layers_judge.h  A list of layers as an execution, and its evaluation by calc_run(); time
 * of a step over memory needed, for the lists of layers of a candidate. */
#ifndef CALC_PLAN_LAYERS_JUDGE_H
#define CALC_PLAN_LAYERS_JUDGE_H

#include "plan/layers_join.h"

/** Rounds in which memory limits are tightened where calc_run() needs more than the planner's
 *  numbers say. */
enum { CALC_LAYERS_ROUNDS = 5 };

/** The execution with this list; .layers.count is 0 if it is too long. */
calc_exec calc_layers_exec_of(const calc_layers_case *c, const calc_layers_answer *answer);

/** The best list of a candidate.
 *  @param limit_s  only steps below it are looked for
 *  @param found    filled where there is one; .bound_s in any case
 *  @return CALC_OK; CALC_ERR_RULE if none is quick enough or fits; CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_layers_solve(const calc_planner *planner, const calc_layers_case *c,
                                            double limit_s, calc_planner_found *found);

/** Find the Pareto front of a candidate in memory and time, with the ends of a layout: every list
 *  that is quicker than all others which need no more memory. With one stage the front is complete
 *  (calc_layerwise_curve_of); with several it has the best lists for a number of memory budgets.
 *  calc_run() evaluates each of them.
 *  @param exec   the layout
 *  @param point  to be freed with free()
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_layers_curve_of(const calc_planner *planner,
                                               const calc_layers_case *c, const calc_exec *exec,
                                               calc_planner_layers_point **point, size_t *count);

#endif
