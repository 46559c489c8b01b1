/** @file layers_curve.h  The step of a candidate's lists over the memory that they need. */
#ifndef CALC_PLAN_LAYERS_CURVE_H
#define CALC_PLAN_LAYERS_CURVE_H

#include "plan/layers_judge.h"

/** Fill it: every list than which none of this candidate that needs no more memory is as quick,
 * with the ends of a layout. Of one stage all of them (calc_layerwise_curve_of); of several, those
 * that are best within some budgets. Each is judged by calc_run().
 *  @param exec   the layout
 *  @param point  to be freed with free()
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_layers_curve_of(const calc_planner_layers *planner,
                                               const calc_layers_case *c, const calc_exec *exec,
                                               calc_planner_layers_point **point, size_t *count);

#endif
