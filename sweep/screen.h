/** @file screen.h  A quick comparison with the best so far: the longest step that still matters,
 *  given its needs of both memory tiers. A table over the needs keeps the best rate of the points
 *  that need less. It errs on the safe side: longer steps are dominated, others may be. */
#ifndef CALC_SWEEP_SCREEN_H
#define CALC_SWEEP_SCREEN_H

#include <stddef.h>

enum {
    CALC_SCREEN_TIER1 = 64, /**< steps of the need of the first tier, */
    CALC_SCREEN_TIER2 = 8,  /**< and of the second */
    CALC_SCREEN_SIZE = CALC_SCREEN_TIER1 * CALC_SCREEN_TIER2
};

/** Rates as somebody counts them: a step that takes numerator/rate seconds has a rate. */
typedef struct calc_screen {
    double tier1_per_byte, tier2_per_byte; /**< steps per byte */
    float rate[CALC_SCREEN_SIZE];          /**< best of the points that need no more than where a
                                                step begins */
} calc_screen;

/** Nothing is known. @param tier1_bytes, tier2_bytes  capacities */
void calc_screen_clear(calc_screen *screen, double tier1_bytes, double tier2_bytes);

/** A point is known. */
void calc_screen_add(calc_screen *screen, double rate, double tier1_bytes, double tier2_bytes);

/** No longer step matters [s].
 *  @param numerator  of rates */
static inline double calc_screen_longest_s(const calc_screen *s, double numerator,
                                           double tier1_bytes, double tier2_bytes)
{
    double i = tier1_bytes * s->tier1_per_byte;
    double j = tier2_bytes * s->tier2_per_byte;
    i = i < CALC_SCREEN_TIER1 - 1 ? i : CALC_SCREEN_TIER1 - 1;
    j = j < CALC_SCREEN_TIER2 - 1 ? j : CALC_SCREEN_TIER2 - 1;
    return numerator / (double)s->rate[(int)i * CALC_SCREEN_TIER2 + (int)j];
}

#endif
