#include "layerwise/core.h"

#include <math.h>
#include <stdlib.h>

/* Ties of sums, as a share. */
static const double TIE = 1e-12;

static void keep(calc_layerwise_search *search, const calc_layerwise_answer *answer)
{
    double value = search->alpha * answer->x + search->beta * answer->y;
    if (value > search->limit ||
        (value >= search->limit - search->tie && answer->bytes >= search->tie_bytes)) {
        return;
    }
    *(calc_layerwise_answer *)search->data = *answer;
    search->limit = value;
    search->tie = TIE * fabs(value);
    search->tie_bytes = answer->bytes;
}

bool calc_layerwise_best(const calc_layerwise_stage *stage, double micro_weight, double sync_weight,
                         calc_layerwise_point *out)
{
    calc_layerwise_core *core = malloc(sizeof *core);
    if (!core) {
        return false;
    }
    calc_layerwise_core_make(core, stage, CALC_LAYERWISE_WEIGHTED, micro_weight, sync_weight);
    calc_layerwise_answer answer;
    calc_layerwise_search search = {
        .core = core,
        .alpha = 1,
        .limit = INFINITY,
        .tie_bytes = INFINITY,
        .found = keep,
        .data = &answer,
    };
    bool proven = calc_layerwise_look(&search);
    bool fits = search.limit < INFINITY;
    if (fits) {
        *out = calc_layerwise_point_of(core, &answer);
    }
    free(core);
    return proven && fits;
}
