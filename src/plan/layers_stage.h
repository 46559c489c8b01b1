/** @file layers_stage.h  The layers of one stage of a candidate: the best options of a given number
 * of them within the memory of the stage. A stage needs the memory that layers take only while a
 * pass runs through them once, at the largest amount among them. So it is solved at several levels
 * of that amount, each restricted to the options that need no more. */
#ifndef CALC_PLAN_LAYERS_STAGE_H
#define CALC_PLAN_LAYERS_STAGE_H

#include "plan/layers_list.h"

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
 *  @param most  points at most */
void calc_layers_stage_curve(const calc_layers_case *c, const calc_layers_ask *ask, size_t most,
                             calc_layers_stage **out, size_t *count);

enum {
    CALC_LAYERS_BINS = 16, /**< distinct amounts of either that are kept */
    CALC_LAYERS_LEVELS = CALC_LAYERS_BINS * CALC_LAYERS_BINS
};

/** Activations, and sharded weights and gradients gathered for the pass. */
typedef struct calc_layers_peak {
    double working_bytes, passing_bytes;
} calc_layers_peak;

/** The need of an option, at least as much as the ends need by themselves. */
calc_layers_peak calc_layers_peak_of(calc_layers_peak ends, const calc_layers_part *part);

/** Whether a is within b. */
bool calc_layers_is_below(calc_layers_peak a, calc_layers_peak b);

/** The levels of a set of options; the last one admits all of them.
 *  @param peak   of the options, at most 2 * CALC_LAYERWISE_OPTIONS
 *  @return how many there are */
int calc_layers_levels(const calc_layers_peak *peak, int count,
                       calc_layers_peak level[CALC_LAYERS_LEVELS]);

#endif
