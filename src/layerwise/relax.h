/** @file relax.h  The relaxed problem: fractional numbers of layers, free switches. */
#ifndef CALC_LAYERWISE_RELAX_H
#define CALC_LAYERWISE_RELAX_H

#include "layerwise/core.h"

/** What it mixes. */
typedef struct calc_layerwise_relaxed {
    double lambda; /**< price of a byte */
    double value;  /**< lower bound of the weighted sum of every answer; INFINITY: nothing fits */
    const calc_layerwise_item *low[CALC_LAYERWISE_KINDS];  /**< within the budget */
    const calc_layerwise_item *high[CALC_LAYERWISE_KINDS]; /**< beyond it, or the same */
    double least[CALC_LAYERWISE_KINDS];                    /**< of w + lambda * bytes */
} calc_layerwise_relaxed;

/** w of an item. */
static inline double calc_layerwise_weighted(const calc_layerwise_search *search,
                                             const calc_layerwise_item *item)
{
    return search->alpha * item->x + search->beta * item->y;
}

static inline bool calc_layerwise_is_allowed(const calc_layerwise_used *allowed, int kind,
                                             const calc_layerwise_item *item)
{
    return allowed->of[kind] >> item->group & 1;
}

/** Relax a search, restricted to some groups. */
calc_layerwise_relaxed calc_layerwise_relax(const calc_layerwise_search *search,
                                            const calc_layerwise_used *allowed);

#endif
