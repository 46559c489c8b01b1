/** @file layers_bound.h  A step that no list of layers of a candidate falls below, without solving
 *  it: layers are as divisible as water, and so is each one's choice of options. */
#ifndef CALC_PLAN_LAYERS_BOUND_H
#define CALC_PLAN_LAYERS_BOUND_H

#include "plan/layers_case.h"

/** The least that a step takes [s]; INFINITY if the layers do not fit.
 *  @param ends  option of embedding and head; -1: any */
double calc_layers_bound_s(const calc_layers_case *c, int ends);

/** What is known of a pipeline before it is divided. */
typedef struct calc_layers_floor {
    double through_s; /**< the least that a micro-batch takes on all stages together */
    double stage_s;   /**< and on a stage before others, until the next one may begin */
    double forward;   /**< the most of layers' and ends' passes that is forward, */
    double between_s; /**< and forward passes beside these: messages, and two switches */
    double after_s;   /**< what follows the pipeline in a step */
} calc_layers_floor;

/** @param ends  option of embedding and head; -1: any */
calc_layers_floor calc_layers_floor_of(const calc_layers_case *c, int ends);

/** The weighted time (calc_layers_weighted_s) that a stage may have in a step of so long. Before
 * its first pass and after its last one a micro-batch is on the stages before it. Or: the first
 *  micro-batch goes through all stages and back, and a stage has the others to do beside, but for
 * the forwards that fit between. */
double calc_layers_allowed_s(const calc_layers_case *c, const calc_layers_floor *floor, int stage,
                             double step_s);

#endif
