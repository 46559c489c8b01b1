/** @file layers_stage.h  The layers of one stage of a candidate: the best options of so many of
 * them within what memory the stage has. */
#ifndef CALC_PLAN_LAYERS_STAGE_H
#define CALC_PLAN_LAYERS_STAGE_H

#include "plan/layers_case.h"

/** A stage that is asked for. */
typedef struct calc_layers_ask {
    int stage;
    int layers[2]; /**< of each kind, those of kind 0 first */
    int ends;      /**< option of embedding and head, which the first and the last stage have */
    int group;     /**< of the options that layers may have; -1: any */
    double spare_bytes; /**< of its memory, to be left alone */
    double limit_s;     /**< weighted times from this on are of no interest */
} calc_layers_ask;

/** The answer. Options of a pick are those of the case; of kinds without layers there are none. */
typedef struct calc_layers_stage {
    bool fits;
    double weighted_s;    /**< calc_layers_weighted_s() */
    double least_s;       /**< no other answer has less; INFINITY if nothing fits */
    calc_layers_part sum; /**< with ends, messages and switches */
    double bytes;         /**< all that it holds */
    int picks[2];
    calc_layerwise_pick pick[2][CALC_LAYERWISE_PICKS];
} calc_layers_stage;

/** The answer with the least weighted time. Exact but for communication that hides behind passes of
 *  which others than those it belongs to are part; see least_s. */
void calc_layers_stage_best(const calc_layers_case *c, const calc_layers_ask *ask,
                            calc_layers_stage *out);

/** The least times for every memory up to what the stage has. Of each budget the best is found as
 *  above, with what communication exposes where all of it hides.
 *  @param most  points at most
 *  @return false if memory ran out */
bool calc_layers_stage_curve(const calc_layers_case *c, const calc_layers_ask *ask, size_t most,
                             calc_layers_stage **out, size_t *count);

#endif
