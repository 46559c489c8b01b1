/** @file layers_peak.h  What the layers of a stage need only while a pass runs through one of them.
 *  The stage needs the most of it once: how much that is depends on the options that are taken. So
 *  a stage is solved at several levels, each with those options that need no more. */
#ifndef CALC_PLAN_LAYERS_PEAK_H
#define CALC_PLAN_LAYERS_PEAK_H

#include "plan/layers_case.h"

enum {
    CALC_LAYERS_BINS = 16, /**< amounts of either that are told apart */
    CALC_LAYERS_LEVELS = CALC_LAYERS_BINS * CALC_LAYERS_BINS
};

/** Activations, and sharded weights and gradients that are whole meanwhile. */
typedef struct calc_layers_peak {
    double working_bytes, passing_bytes;
} calc_layers_peak;

/** What an option needs; what the ends need by themselves is there in any case. */
calc_layers_peak calc_layers_peak_of(calc_layers_peak ends, const calc_layers_part *part);

/** Whether a is within b. */
bool calc_layers_is_below(calc_layers_peak a, calc_layers_peak b);

/** Levels that some options need together; the last one is that of all.
 *  @param peak   of the options, at most 2 * CALC_LAYERWISE_OPTIONS
 *  @return how many there are */
int calc_layers_levels(const calc_layers_peak *peak, int count,
                       calc_layers_peak level[CALC_LAYERS_LEVELS]);

#endif
