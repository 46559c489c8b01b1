#include "plan/layers_join.h"

#include <math.h>
#include <stdlib.h>

#include "plan/layers_bound.h"

enum {
    HALVES = 40,         /* of an interval of times */
    LABELS = 16,         /* ways to get to a layer that are kept */
    MOST_STATES = 40000, /* stages times layers: with more the slowest stage alone is looked at */
    MOST_CELLS = 1 << 22
};

/* Stages with layers, each solved when it is first asked for. */
typedef struct table {
    const calc_layers_case *c;
    int ends, stages, layers, dense;
    int chunks; /* of a stage: with several, stages have equally many layers */
    const calc_layers_want *want;
    calc_layers_stage **cell;
    double limit_s; /* weighted, of a stage: from this on nothing is of interest */
    bool failed;    /* without memory */
} table;

/* ---- The table ------------------------------------------------------------------------------- */

void calc_layers_split(const calc_layers_case *c, int from, int count, int layers[2])
{
    int dense = c->common.layers[0] - from;
    dense = dense < 0 ? 0 : dense > count ? count : dense;
    layers[0] = dense;
    layers[1] = count - dense;
}

/* Layers of a stage: from one on, or where it has several chunks, a share of each round. */
static void split(const table *t, int stage, int from, int count, int layers[2])
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

/* So many layers from one on, on a stage; NULL without memory. */
static const calc_layers_stage *cell(table *t, int stage, int from, int count)
{
    calc_layers_ask ask = {.stage = stage,
                           .ends = t->ends,
                           .group = t->want->group,
                           .spare_bytes = t->want->spare_bytes[stage],
                           .limit_s = t->limit_s};
    split(t, stage, from, count, ask.layers);
    int moe = t->layers - t->dense;
    size_t at = ((size_t)stage * (size_t)(t->dense + 1) + (size_t)ask.layers[0]) * (size_t)(moe + 1) +
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

static size_t cells(const table *t)
{
    return (size_t)t->stages * (size_t)(t->dense + 1) * (size_t)(t->layers - t->dense + 1);
}

static void free_table(table *t)
{
    for (size_t i = 0; t->cell && i < cells(t); i++) {
        free(t->cell[i]);
    }
    free(t->cell);
}

/* ---- The slowest stage ----------------------------------------------------------------------- */

/* What of a cell is looked at: its time, or a bound on it. */
static double time_of(table *t, int stage, int from, int count, bool bound)
{
    const calc_layers_stage *s = cell(t, stage, from, count);
    if (!s) {
        return INFINITY;
    }
    return bound ? s->least_s : s->weighted_s;
}

static bool spread_evenly(table *t, double most_s, bool bound, int *count)
{
    int each = t->layers / t->stages;
    bool fits = true;
    for (int stage = 0; stage < t->stages && fits; stage++) {
        count[stage] = each;
        fits = time_of(t, stage, stage * each, each, bound) <= most_s;
    }
    return fits;
}

/* Every stage has as many layers as it can do in a time: what comes after it has fewer to do.
 * @param count  of each stage, filled
 * @return whether that is all of them */
static bool spread(table *t, double most_s, bool bound, int *count)
{
    int from = 0;
    if (t->chunks > 1) {
        return spread_evenly(t, most_s, bound, count);
    }
    for (int stage = 0; stage < t->stages; stage++) {
        int later = t->stages - 1 - stage;
        int high = t->layers - from - later;
        int low = 0;
        if (high <= 0) {
            return false;
        }
        if (time_of(t, stage, from, 1, bound) > most_s) {
            return false;
        }
        low = 1;
        /* Ask for few layers first: these are the quick questions. */
        int step = (t->layers + t->stages - 1) / t->stages;
        while (low < high) {
            int next = low + step < high ? low + step : high;
            if (time_of(t, stage, from, next, bound) <= most_s) {
                low = next;
            } else {
                high = next - 1;
                step = step > 1 ? (step + 1) / 2 : 1;
            }
        }
        count[stage] = low;
        from += low;
    }
    return from == t->layers;
}

/* The least time of the slowest stage; INFINITY if nothing fits.
 * @param count  the layers of each stage then */
static double slowest(table *t, bool bound, int *count)
{
    double high_s = t->limit_s;
    double low_s = 0;
    if (!isfinite(high_s)) {
        high_s = 1;
        for (int i = 0; i < 2 * HALVES && !spread(t, high_s, bound, count); i++) {
            high_s *= 8;
        }
    }
    if (!spread(t, high_s, bound, count)) {
        return INFINITY;
    }
    for (int i = 0; i < HALVES && high_s - low_s > 1e-9 * high_s; i++) {
        double mid_s = (low_s + high_s) / 2;
        bool fits = spread(t, mid_s, bound, count);
        high_s = fits ? mid_s : high_s;
        low_s = fits ? low_s : mid_s;
    }
    (void)spread(t, high_s, bound, count);
    return bound ? low_s : high_s;
}

/* ---- All stages ------------------------------------------------------------------------------ */

/* A way to spread layers before one over stages before one. */
typedef struct label {
    double sum_s, slowest_s; /* micro-batch */
    double end_s;            /* of a step, beside micro-batches */
    int count, before;       /* layers of the last stage; number of the label before it */
} label;

typedef struct state {
    int labels;
    label label[LABELS];
} state;

static double step_of(const table *t, const label *l)
{
    const calc_layers_common *m = &t->c->common;
    double others_s = calc_layers_fill_share(t->c) * (l->sum_s - l->slowest_s);
    return t->c->micro_weight * l->slowest_s + (1 + m->growth) * others_s + l->end_s;
}

static label after(const table *t, const label *l, int number, int count, const calc_layers_stage *s)
{
    double end_s = calc_layers_exposed_s(&t->c->common, &s->sum) + s->sum.optimizer_s;
    return (label){l->sum_s + s->sum.micro_s, fmax(l->slowest_s, s->sum.micro_s),
                   fmax(l->end_s, end_s), count, number};
}

static bool is_covered(const label *a, const label *by)
{
    return by->sum_s <= a->sum_s && by->slowest_s <= a->slowest_s && by->end_s <= a->end_s;
}

static void enter(const table *t, state *s, const label *l)
{
    int kept = 0;
    for (int i = 0; i < s->labels; i++) {
        if (is_covered(l, &s->label[i])) {
            return;
        }
    }
    for (int i = 0; i < s->labels; i++) {
        if (!is_covered(&s->label[i], l)) {
            s->label[kept++] = s->label[i];
        }
    }
    s->labels = kept;
    if (kept < LABELS) {
        s->label[s->labels++] = *l;
        return;
    }
    int worst = 0;
    for (int i = 1; i < LABELS; i++) {
        worst = step_of(t, &s->label[i]) > step_of(t, &s->label[worst]) ? i : worst;
    }
    if (step_of(t, l) < step_of(t, &s->label[worst])) {
        s->label[worst] = *l; /* labels that come later have not been continued yet */
    }
}

/* A stage from every layer that it may begin with.
 * @param least_s  a layer takes, whatever memory there is
 * @param limit_s  steps from this on are of no interest */
static void advance(table *t, int stage, const state *here, state *next, double least_s,
                    double limit_s)
{
    int later = t->stages - 1 - stage;
    for (int from = stage; from + later < t->layers; from++) {
        if (here[from].labels == 0) {
            continue;
        }
        int most = later > 0 ? t->layers - later - from : t->layers - from;
        for (int n = later > 0 ? 1 : most; n <= most; n++) {
            const calc_layers_stage *s = cell(t, stage, from, n);
            if (!s || s->least_s >= t->limit_s || (!s->fits && s->least_s == INFINITY)) {
                break;
            }
            for (int i = 0; i < here[from].labels && s->fits; i++) {
                label l = after(t, &here[from].label[i], i, n, s);
                label end = l;
                end.sum_s += least_s * (t->layers - from - n);
                if (step_of(t, &end) < limit_s) {
                    enter(t, &next[from + n], &l);
                }
            }
        }
    }
}

/* Improve a division. @param count  of each stage, the best so far; its step is limit_s */
static void improve(table *t, double least_s, double limit_s, int *count)
{
    size_t width = (size_t)t->layers + 1;
    if (((size_t)t->stages + 1) * width > MOST_STATES) {
        return;
    }
    state *all = calloc(((size_t)t->stages + 1) * width, sizeof *all);
    if (!all) {
        t->failed = true;
        return;
    }
    all[0] = (state){1, {{0, 0, 0, 0, 0}}};
    for (int stage = 0; stage < t->stages; stage++) {
        advance(t, stage, &all[(size_t)stage * width], &all[((size_t)stage + 1) * width], least_s,
                limit_s);
    }
    const state *end = &all[(size_t)t->stages * width + (size_t)t->layers];
    int best = 0;
    for (int i = 1; i < end->labels; i++) {
        best = step_of(t, &end->label[i]) < step_of(t, &end->label[best]) ? i : best;
    }
    int at = t->layers;
    for (int stage = t->stages; stage > 0 && end->labels > 0; stage--) {
        const label *l = &all[(size_t)stage * width + (size_t)at].label[best];
        count[stage - 1] = l->count;
        at -= l->count;
        best = l->before;
    }
    free(all);
}

/* ---- The answer ------------------------------------------------------------------------------ */

double calc_layers_planned_s(const calc_layers_case *c, const calc_layers_answer *a)
{
    double slowest_s = 0;
    double sum_s = 0;
    double exposed_s = 0;
    double optimizer_s = 0;
    for (int i = 0; i < a->stages; i++) {
        const calc_layers_part *x = &a->stage[i].sum;
        slowest_s = fmax(slowest_s, x->micro_s);
        sum_s += x->micro_s;
        exposed_s = fmax(exposed_s, calc_layers_exposed_s(&c->common, x));
        optimizer_s = fmax(optimizer_s, x->optimizer_s);
    }
    return calc_layers_step_s(c, a->ends, slowest_s, sum_s) + exposed_s + optimizer_s;
}

/* Fill the stages of a division. */
static void put(table *t, const int *count, calc_layers_answer *out)
{
    int from = 0;
    for (int i = 0; i < t->stages; i++) {
        const calc_layers_stage *s = cell(t, i, from, count[i]);
        split(t, i, from, count[i], out->layers[i]);
        out->stage[i] = s ? *s : (calc_layers_stage){0};
        from += count[i];
    }
    out->planned_s = calc_layers_planned_s(t->c, out);
}

static double least_layer_s(const calc_layers_case *c)
{
    double least_s = INFINITY;
    for (int i = 0; i < c->options; i++) {
        for (int kind = 0; kind < 2; kind++) {
            const calc_layers_option *o = &c->option[i];
            least_s = o->layers[kind] ? fmin(least_s, o->part[kind].micro_s) : least_s;
        }
    }
    return least_s;
}

static calc_status join(table *t, double limit_s, int *count, calc_layers_answer *out)
{
    const calc_layers_case *c = t->c;
    double through_s = calc_layers_through_s(c, t->ends);
    double rest_s = calc_layers_step_s(c, t->ends, 0, 0);
    double bound_s = slowest(t, true, count);
    out->bound_s = isfinite(bound_s)
                       ? calc_layers_step_s(c, t->ends, bound_s, fmax(bound_s, through_s))
                       : INFINITY;
    if (out->bound_s >= limit_s || !isfinite(slowest(t, false, count))) {
        return CALC_ERR_RULE;
    }
    put(t, count, out);
    if (t->stages > 1 && t->chunks == 1) {
        double best_s = fmin(limit_s, out->planned_s);
        t->limit_s = (best_s - rest_s) / c->micro_weight;
        improve(t, least_layer_s(c), best_s - rest_s, count);
        put(t, count, out);
    }
    return t->failed ? CALC_ERR_NOMEM : CALC_OK;
}

calc_status calc_layers_join(const calc_layers_case *c, const calc_layers_want *want,
                             calc_layers_answer *out)
{
    double rest_s = calc_layers_step_s(c, want->ends, 0, 0);
    table t = {.c = c,
               .want = want,
               .ends = want->ends,
               .stages = (int)c->common.stages,
               .layers = c->common.layers[0] + c->common.layers[1],
               .dense = c->common.layers[0],
               .limit_s = (want->limit_s - rest_s) / c->micro_weight};
    *out = (calc_layers_answer){.ends = want->ends, .stages = t.stages, .bound_s = INFINITY};
    t.chunks = (int)c->common.chunks;
    bool even = t.layers % (t.stages * t.chunks) == 0;
    if (t.stages > t.layers || (t.chunks > 1 && !even) || cells(&t) > MOST_CELLS) {
        return CALC_ERR_RULE;
    }
    int *count = calloc((size_t)t.stages, sizeof *count);
    t.cell = calloc(cells(&t), sizeof *t.cell);
    out->stage = calloc((size_t)t.stages, sizeof *out->stage);
    out->layers = calloc((size_t)t.stages, sizeof *out->layers);
    calc_status status = count && t.cell && out->stage && out->layers ? CALC_OK : CALC_ERR_NOMEM;
    if (status == CALC_OK) {
        status = join(&t, want->limit_s, count, out);
    }
    free(count);
    free_table(&t);
    return status;
}

void calc_layers_answer_free(calc_layers_answer *a)
{
    free(a->stage);
    free(a->layers);
    *a = (calc_layers_answer){0};
}
