/** @file layers_stage.h  The layers of one stage of a candidate: the best options of a given number
 *  of them within the memory of the stage. */
#ifndef CALC_PLAN_LAYERS_STAGE_H
#define CALC_PLAN_LAYERS_STAGE_H

#include "plan/layers_case.h"

/** The stage to solve. */
typedef struct calc_layers_ask {
    int stage;
    int layers[2]; /**< of each kind, those of kind 0 first */
    int ends;      /**< option of embedding and head, which the first and the last stage have */
    int group;     /**< the only option that layers may have; -1: any */
    double spare_bytes; /**< memory of the stage that must stay free */
    double limit_s;     /**< only weighted times below it are looked for */
} calc_layers_ask;

/** The answer. Options of a pick are those of the case; of kinds without layers there are none. */
typedef struct calc_layers_stage {
    bool fits;
    double weighted_s;    /**< calc_layers_weighted_s() */
    double least_s;       /**< lower bound of every answer; INFINITY if nothing fits */
    calc_layers_part sum; /**< including ends, messages and switches */
    double bytes;         /**< all that it holds */
    int picks[2];
    calc_layerwise_pick pick[2][CALC_LAYERWISE_PICKS];
} calc_layers_stage;

/** The answer with the least weighted time. Exact, except where communication hides behind passes
 *  of layers other than its own; see least_s. */
void calc_layers_stage_best(const calc_layers_case *c, const calc_layers_ask *ask,
                            calc_layers_stage *out);

/** The least times for every memory budget up to that of the stage. The best for each budget is
 *  found as above, with exposed communication counted as where all of it is hidden.
 *  @param most  points at most
 *  @return false if memory ran out */
bool calc_layers_stage_curve(const calc_layers_case *c, const calc_layers_ask *ask, size_t most,
                             calc_layers_stage **out, size_t *count);

#endif
