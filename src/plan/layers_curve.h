/** @file layers_curve.h  Time of a step over memory needed, for the lists of layers of a
 *  candidate. */
#ifndef CALC_PLAN_LAYERS_CURVE_H
#define CALC_PLAN_LAYERS_CURVE_H

#include "plan/layers_judge.h"

/** Find the Pareto front of a candidate in memory and time, with the ends of a layout: every list
 *  that is quicker than all others which need no more memory. With one stage the front is complete
 *  (calc_layerwise_curve_of); with several it has the best lists for a number of memory budgets.
 *  calc_run() evaluates each of them.
 *  @param exec   the layout
 *  @param point  to be freed with free()
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_layers_curve_of(const calc_planner_layers *planner,
                                               const calc_layers_case *c, const calc_exec *exec,
                                               calc_planner_layers_point **point, size_t *count);

#endif
