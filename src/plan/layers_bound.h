/** @file layers_bound.h  A step that no list of layers of a candidate falls below, without solving
 *  it: layers are as divisible as water, and so is each one's choice of options. */
#ifndef CALC_PLAN_LAYERS_BOUND_H
#define CALC_PLAN_LAYERS_BOUND_H

#include "plan/layers_case.h"

/** The least that a step takes [s]; INFINITY if the layers do not fit.
 *  @param ends  option of embedding and head; -1: any */
double calc_layers_bound_s(const calc_layers_case *c, int ends);

/** The least that a micro-batch takes on all stages together, whatever memory there is [s]. */
double calc_layers_through_s(const calc_layers_case *c, int ends);

/** Share of the passes of other stages than the slowest that a step waits for: to fill and to empty
 *  the pipeline. */
double calc_layers_fill_share(const calc_layers_case *c);

/** The step of a pipeline from its slowest stage and all stages together [s].
 *  @param weighted_s  of the slowest: calc_layers_weighted_s() */
double calc_layers_step_s(const calc_layers_case *c, int ends, double weighted_s, double through_s);

#endif
