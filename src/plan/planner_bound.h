/** @file planner_bound.h  A lower bound of the step of every division of a candidate, without
 *  balancing it: a relaxation in which stages may have fractions of layers, and recompute exactly
 *  as many as the lack of memory requires. */
#ifndef CALC_PLAN_PLANNER_BOUND_H
#define CALC_PLAN_PLANNER_BOUND_H

#include "balance/from_layout.h"

/** A lower bound of the pipeline [s]; INFINITY if the layers do not fit. */
double calc_planner_pipeline_s(const calc_balance_problem *problem);

/** A lower bound of a step [s]; INFINITY if the layers do not fit.
 *  @param chip  as calc_balance_total_s() */
double calc_planner_bound_s(const calc_balance_chip *chip, const calc_balance_problem *problem);

#endif
