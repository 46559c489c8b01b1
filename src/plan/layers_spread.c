#include "plan/layers_spread.h"

#include <math.h>
#include <stdlib.h>

enum {
    HALVES = 40, /* of an interval of times */
    MOST_CELLS = 1 << 22
};

void calc_layers_split(const calc_layers_case *c, int from, int count, int layers[2])
{
    int dense = c->common.layers[0] - from;
    dense = dense < 0 ? 0 : dense > count ? count : dense;
    layers[0] = dense;
    layers[1] = count - dense;
}

/* Layers of a stage: consecutive ones or, with several chunks, a share of each round. */
void calc_layers_table_split(const calc_layers_table *t, int stage, int from, int count,
                             int layers[2])
{
    if (t->chunks == 1) {
        calc_layers_split(t->c, from, count, layers);
        return;
    }
    int each = count / t->chunks;
    layers[0] = layers[1] = 0;
    for (int chunk = 0; chunk < t->chunks; chunk++) {
        int part[2];
        calc_layers_split(t->c, (chunk * t->stages + stage) * each, each, part);
        layers[0] += part[0];
        layers[1] += part[1];
    }
}

/* The answer for a number of layers on a stage, counted from a first one; NULL without memory. */
const calc_layers_stage *calc_layers_cell(calc_layers_table *t, int stage, int from, int count)
{
    calc_layers_ask ask = {.stage = stage,
                           .ends = t->want->ends,
                           .group = t->want->group,
                           .spare_bytes = t->want->spare_bytes[stage],
                           .limit_s = t->limit_s};
    calc_layers_table_split(t, stage, from, count, ask.layers);
    int moe = t->layers - t->dense;
    size_t at =
        ((size_t)stage * (size_t)(t->dense + 1) + (size_t)ask.layers[0]) * (size_t)(moe + 1) +
        (size_t)ask.layers[1];
    if (!t->cell[at]) {
        t->cell[at] = malloc(sizeof **t->cell);
        t->failed = t->failed || !t->cell[at];
        if (t->cell[at]) {
            calc_layers_stage_best(t->c, &ask, t->cell[at]);
        }
    }
    return t->cell[at];
}

static size_t cells(const calc_layers_table *t)
{
    return (size_t)t->stages * (size_t)(t->dense + 1) * (size_t)(t->layers - t->dense + 1);
}

calc_status calc_layers_table_make(const calc_layers_case *c, const calc_layers_want *want,
                                   calc_layers_table *t)
{
    *t = (calc_layers_table){.c = c,
                             .want = want,
                             .floor = calc_layers_floor_of(c, want->ends),
                             .stages = (int)c->common.stages,
                             .chunks = (int)c->common.chunks,
                             .layers = c->common.layers[0] + c->common.layers[1],
                             .dense = c->common.layers[0]};
    t->limit_s = (want->limit_s - t->floor.after_s) / c->micro_weight;
    bool even = t->layers % (t->stages * t->chunks) == 0;
    if (t->stages > t->layers || (t->chunks > 1 && !even) || cells(t) > MOST_CELLS) {
        return CALC_ERR_RULE;
    }
    t->cell = calloc(cells(t), sizeof *t->cell);
    t->stage = calloc((size_t)t->stages, sizeof *t->stage);
    return t->cell && t->stage ? CALC_OK : CALC_ERR_NOMEM;
}

void calc_layers_table_free(calc_layers_table *t)
{
    for (size_t i = 0; t->cell && i < cells(t); i++) {
        free(t->cell[i]);
    }
    free(t->cell);
    free(t->stage);
}

/* ---- A step of some length ------------------------------------------------------------------- */

/* Whether a stage has time for a number of layers in a step. @param bound  use the lower bound of
 * its time instead of the time found */
static bool has_time(calc_layers_table *t, int stage, int from, int count, double step_s,
                     bool bound)
{
    const calc_layers_stage *s = calc_layers_cell(t, stage, from, count);
    double allowed_s = calc_layers_allowed_s(t->c, &t->floor, stage, step_s);
    return s && (bound ? s->least_s : s->weighted_s) <= allowed_s;
}

static bool spread_evenly(calc_layers_table *t, double step_s, bool bound, int *count)
{
    int each = t->layers / t->stages;
    bool fits = true;
    for (int stage = 0; stage < t->stages && fits; stage++) {
        count[stage] = each;
        fits = has_time(t, stage, stage * each, each, step_s, bound);
    }
    return fits;
}

/* The most layers that a stage has time for. Small numbers are tried first, since they are quick to
 * solve. 0: none */
static int most_layers(calc_layers_table *t, int stage, int from, double step_s, bool bound)
{
    int low = 0;
    int high = t->layers - from - (t->stages - 1 - stage);
    int by = (t->layers + t->stages - 1) / t->stages;
    while (low < high) {
        int next = low + by < high ? low + by : high;
        next = low == 0 ? 1 : next;
        if (has_time(t, stage, from, next, step_s, bound)) {
            low = next;
        } else {
            high = next - 1;
            by = by > 1 ? (by + 1) / 2 : 1;
        }
    }
    return low;
}

/* Give every stage as many layers as it has time for, so that fewer are left for those behind.
 * @param count  of each stage, filled
 * @return whether these are all layers */
static bool spread(calc_layers_table *t, double step_s, bool bound, int *count)
{
    int from = 0;
    if (t->chunks > 1) {
        return spread_evenly(t, step_s, bound, count);
    }
    for (int stage = 0; stage < t->stages; stage++) {
        count[stage] = most_layers(t, stage, from, step_s, bound);
        from += count[stage];
        if (count[stage] == 0) {
            return false;
        }
    }
    return from == t->layers;
}

/* The shortest step in which all stages have time; INFINITY if none below the limit fits.
 * @param count  the layers of each stage in that step */
double calc_layers_shortest(calc_layers_table *t, bool bound, int *count)
{
    double high_s = t->want->limit_s;
    double low_s = t->floor.after_s;
    if (!isfinite(high_s)) {
        high_s = low_s + 1;
        for (int i = 0; i < HALVES && !spread(t, high_s, bound, count); i++) {
            high_s *= 4;
        }
    }
    if (!spread(t, high_s, bound, count)) {
        return INFINITY;
    }
    for (int i = 0; i < HALVES && high_s - low_s > 1e-10 * high_s; i++) {
        double mid_s = (low_s + high_s) / 2;
        bool fits = spread(t, mid_s, bound, count);
        high_s = fits ? mid_s : high_s;
        low_s = fits ? low_s : mid_s;
    }
    (void)spread(t, high_s, bound, count);
    return bound ? low_s : high_s;
}
