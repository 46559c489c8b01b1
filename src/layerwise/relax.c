#include "layerwise/relax.h"

#include <math.h>
#include <stddef.h>

enum { KINDS = CALC_LAYERWISE_KINDS };

/* Rounding of sums of bytes, as a share. */
static const double ROUNDING = 1e-12;

/* The item of each kind with the least price_w * w + price_b * bytes; ties go to the one with less
 * of the other value. @return bytes of them all */
static double least_of(const calc_layerwise_search *s, const calc_layerwise_used *allowed,
                       double price_w, double price_b, const calc_layerwise_item **chosen,
                       double *value)
{
    const calc_layerwise_core *core = s->core;
    double bytes = 0;
    *value = 0;
    for (int k = 0; k < core->stage->kinds; k++) {
        chosen[k] = NULL;
        double least = INFINITY;
        double least_other = INFINITY;
        for (int i = 0; i < core->items[k]; i++) {
            const calc_layerwise_item *item = &core->item[k][i];
            double w = calc_layerwise_weighted(s, item);
            double cost = price_w * w + price_b * item->bytes;
            double other = price_w > 0 ? item->bytes : w;
            if (calc_layerwise_is_allowed(allowed, k, item) &&
                (cost < least || (cost == least && other < least_other))) {
                least = cost;
                least_other = other;
                chosen[k] = item;
            }
        }
        if (!chosen[k]) {
            *value = INFINITY;
            return INFINITY;
        }
        bytes += core->stage->kind[k].layers * chosen[k]->bytes;
        *value += core->stage->kind[k].layers * calc_layerwise_weighted(s, chosen[k]);
    }
    return bytes;
}

static void copy(const calc_layerwise_item **to, const calc_layerwise_item *const *from)
{
    for (int k = 0; k < KINDS; k++) {
        to[k] = from[k];
    }
}

/* The price of bytes at which the budget is just used, approached from both sides. */
calc_layerwise_relaxed calc_layerwise_relax(const calc_layerwise_search *s,
                                            const calc_layerwise_used *allowed)
{
    const calc_layerwise_core *core = s->core;
    double budget = core->stage->budget_bytes;
    calc_layerwise_relaxed r = {.value = INFINITY};
    double low;
    double high;
    double low_bytes = least_of(s, allowed, 0, 1, r.low, &low);
    if (low == INFINITY || low_bytes > budget * (1 + ROUNDING)) {
        return r;
    }
    double high_bytes = least_of(s, allowed, 1, 0, r.high, &high);
    if (high_bytes <= budget) {
        copy(r.low, r.high);
    } else {
        for (int round = 0; round < 200; round++) {
            r.lambda = (low - high) / (high_bytes - low_bytes);
            const calc_layerwise_item *middle[KINDS] = {NULL};
            double value;
            double bytes = least_of(s, allowed, 1, r.lambda, middle, &value);
            double here = low + r.lambda * low_bytes;
            if (value + r.lambda * bytes >= here - fabs(here) * ROUNDING) {
                break;
            }
            copy(bytes <= budget ? r.low : r.high, middle);
            *(bytes <= budget ? &low : &high) = value;
            *(bytes <= budget ? &low_bytes : &high_bytes) = bytes;
        }
    }
    r.value = r.lambda > 0 ? -r.lambda * budget : 0;
    const calc_layerwise_item *chosen[KINDS] = {NULL};
    double value;
    least_of(s, allowed, 1, r.lambda, chosen, &value);
    for (int k = 0; k < core->stage->kinds && chosen[k]; k++) {
        r.least[k] = calc_layerwise_weighted(s, chosen[k]) + r.lambda * chosen[k]->bytes;
        r.value += core->stage->kind[k].layers * r.least[k];
    }
    return r;
}
