/** @file layers_peak.h  Memory that a layer needs only while a pass runs through it. A stage needs
 *  the largest amount among its layers once, which depends on the options taken. So a stage is
 *  solved at several levels, each restricted to the options that need no more than the level. */
#ifndef CALC_PLAN_LAYERS_PEAK_H
#define CALC_PLAN_LAYERS_PEAK_H

#include "plan/layers_case.h"

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
