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

typedef struct valued {
    calc_layerwise_aim *aim;
    bool found;
    calc_layerwise_answer answer;
} valued;

static void keep_least(calc_layerwise_search *search, const calc_layerwise_answer *answer)
{
    valued *v = search->data;
    double value = v->aim->value(v->aim->data, answer->x, answer->y);
    if (value < v->aim->limit) {
        v->aim->limit = value;
        v->answer = *answer;
        v->found = true;
        search->limit = value - v->aim->offset;
        search->tie = TIE * fabs(value);
    }
}

bool calc_layerwise_best_of(const calc_layerwise_stage *stage, calc_layerwise_aim *aim,
                            calc_layerwise_point *out, bool *proven)
{
    calc_layerwise_core *core = malloc(sizeof *core);
    *proven = false;
    if (!core) {
        return false;
    }
    calc_layerwise_core_make(core, stage, CALC_LAYERWISE_MICRO_AND_SYNC, 1, 1);
    valued v = {.aim = aim};
    calc_layerwise_search search = {
        .core = core,
        .alpha = aim->micro_weight,
        .beta = aim->sync_weight,
        .limit = aim->limit - aim->offset,
        .tie = aim->limit < INFINITY ? TIE * fabs(aim->limit) : 0,
        .found = keep_least,
        .data = &v,
        .most_nodes = aim->most_nodes,
    };
    *proven = calc_layerwise_look(&search);
    if (v.found) {
        *out = calc_layerwise_point_of(core, &v.answer);
    }
    free(core);
    return v.found;
}

double calc_layerwise_bound(const calc_layerwise_stage *stage, double micro_weight,
                            double sync_weight)
{
    calc_layerwise_core core;
    calc_layerwise_core_make(&core, stage, CALC_LAYERWISE_WEIGHTED, micro_weight, sync_weight);
    calc_layerwise_search search = {.core = &core, .alpha = 1};
    return calc_layerwise_least(&search);
}
