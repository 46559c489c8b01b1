/** @file layers_bound.h  A lower bound of the step of every list of layers of a candidate, without
 *  solving it: a relaxation in which stages may have fractions of layers, and layers any mixture of
 *  options. */
#ifndef CALC_PLAN_LAYERS_BOUND_H
#define CALC_PLAN_LAYERS_BOUND_H

#include "plan/layers_case.h"

/** A lower bound of a step [s]; INFINITY if the layers do not fit.
 *  @param ends  option of embedding and head; -1: any */
double calc_layers_bound_s(const calc_layers_case *c, int ends);

/** Bounds of a pipeline that hold for every division of its layers. */
typedef struct calc_layers_floor {
    double through_s; /**< least time of a micro-batch on all stages together */
    double stage_s;   /**< and on a stage before others, until the next one may begin */
    double forward;   /**< largest share of the forward pass in layers and ends, */
    double between_s; /**< and forward time beside these: messages, and two switches */
    double after_s;   /**< time of a step after the pipeline */
} calc_layers_floor;

/** @param ends  option of embedding and head; -1: any */
calc_layers_floor calc_layers_floor_of(const calc_layers_case *c, int ends);

/** The weighted time (calc_layers_weighted_s) that a stage may take in a step of a given length.
 *  Two arguments bound it. Before the stage's first pass and after its last one a micro-batch is on
 *  the stages before it. And while the first micro-batch goes through all stages and back, the
 *  stage also has to process all others, except for the forwards that fit in between. */
double calc_layers_allowed_s(const calc_layers_case *c, const calc_layers_floor *floor, int stage,
                             double step_s);

#endif
