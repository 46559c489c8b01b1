/** @file planner_bound.h  A step that no division of a candidate falls below, without balancing it:
 *  layers are as divisible as water, and of those that a stage must compute again for want of
 * memory just enough do. */
#ifndef CALC_PLAN_PLANNER_BOUND_H
#define CALC_PLAN_PLANNER_BOUND_H

#include "balance/from_layout.h"

/** The least that the pipeline takes [s]; INFINITY if the layers do not fit. */
double calc_planner_pipeline_s(const calc_balance_problem *problem);

/** The least that a step takes [s]; INFINITY if the layers do not fit.
 *  @param chip  as calc_balance_total_s() */
double calc_planner_bound_s(const calc_balance_chip *chip, const calc_balance_problem *problem);

#endif
