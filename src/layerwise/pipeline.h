/** @file pipeline.h  Stages joined: how many layers each stage of a pipeline takes, and what it
 * does with them, so that a step is shortest. A step of m micro-batches is
 *
 *      sum of u  +  (m - 1) * greatest u  +  greatest tail
 *
 *  with u what a micro-batch takes on a stage, forward and backward, and its tail what comes after
 * the last one. Exact: for a limit on tails and one on u, the least sum is found stage by stage;
 * limits are tried in an order in which bounds rule most of them out. */
#ifndef CALC_LAYERWISE_PIPELINE_H
#define CALC_LAYERWISE_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CALC_LAYERWISE_STAGES = 64, CALC_LAYERWISE_LAYERS = 256 };

/** What a stage may do with its layers. */
typedef struct calc_layerwise_times {
    double micro_s, tail_s; /**< >= 0 */
} calc_layerwise_times;

/** A stage's choices with some number of layers. */
typedef struct calc_layerwise_choices {
    size_t count;
    const calc_layerwise_times *times; /**< micro_s ascending, tail_s descending; none: it cannot */
} calc_layerwise_choices;

/** A pipeline. */
typedef struct calc_layerwise_pipeline {
    int stages, layers; /**< 1 to CALC_LAYERWISE_STAGES, _LAYERS */
    int least, most;    /**< layers of a stage; least >= 0 */
    int64_t microbatches;
    /** [stages][most - least + 1]: with least layers, least + 1, .. */
    const calc_layerwise_choices *choices;
} calc_layerwise_pipeline;

/** A division. */
typedef struct calc_layerwise_division {
    double step_s;
    int layers[CALC_LAYERWISE_STAGES];
    int choice[CALC_LAYERWISE_STAGES]; /**< of those with so many layers */
} calc_layerwise_division;

/** The shortest. Exact. Of equal ones one with as little tail as any that was met.
 *  @param fits  set: there is one
 *  @return false if memory ran out */
bool calc_layerwise_divide(const calc_layerwise_pipeline *pipeline, calc_layerwise_division *out,
                           bool *fits);

#endif
