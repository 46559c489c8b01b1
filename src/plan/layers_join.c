#include "plan/layers_join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/schedule/schedule_steady.h"
#include "plan/layers_case.h"

enum {
    LABELS = 16,        /* labels kept per layer */
    MOST_STATES = 40000 /* stages times layers: beyond it only the slowest stage counts */
};

/* ---- An answer ------------------------------------------------------------------------------- */

/* Time of the pipeline from the times of its stages: simulated, with chunks in closed form. */
static double pipeline_s(const calc_layers_case *c, const calc_layers_answer *a)
{
    const calc_layers_common *m = &c->common;
    const calc_schedule_shape shape = {.kind = m->schedule,
                                       .stages = a->stages,
                                       .chunks = 1,
                                       .microbatches = (int64_t)m->microbatches};
    calc_schedule_pass pass[CALC_MAX_PLACES];
    double slowest_s = 0;
    double sum_s = 0;
    for (int i = 0; i < a->stages; i++) {
        const calc_layers_part *x = &a->stage[i].sum;
        slowest_s = fmax(slowest_s, x->micro_s);
        sum_s += x->micro_s;
        pass[i < CALC_MAX_PLACES ? i : 0] =
            (calc_schedule_pass){x->fw_s, x->micro_s - x->fw_s - x->wgrad_s, x->wgrad_s};
    }
    if (m->chunks > 1 || a->stages > CALC_MAX_PLACES || !calc_schedule_steady_fits(&shape)) {
        return m->microbatches * slowest_s + (sum_s - slowest_s) / m->chunks;
    }
    return calc_schedule_steady_s(&shape, pass);
}

double calc_layers_planned_s(const calc_layers_case *c, const calc_layers_answer *a)
{
    double exposed_s = 0;
    double optimizer_s = 0;
    for (int i = 0; i < a->stages; i++) {
        const calc_layers_part *x = &a->stage[i].sum;
        exposed_s = fmax(exposed_s, calc_layers_exposed_s(&c->common, x));
        optimizer_s = fmax(optimizer_s, x->optimizer_s);
    }
    return (1 + c->common.growth) * pipeline_s(c, a) + exposed_s + optimizer_s + c->common.after_s +
           c->option[a->ends].tied_s;
}

/* Take a division if it is quicker. */
static void take(calc_layers_table *t, const int *count, calc_layers_answer *out)
{
    calc_layers_answer a = {.ends = out->ends, .stages = t->stages, .stage = t->stage};
    int from = 0;
    for (int i = 0; i < t->stages; i++) {
        const calc_layers_stage *s = calc_layers_cell(t, i, from, count[i]);
        t->stage[i] = s ? *s : (calc_layers_stage){0};
        from += count[i];
    }
    a.planned_s = calc_layers_planned_s(t->c, &a);
    if (a.planned_s >= out->planned_s) {
        return;
    }
    out->planned_s = a.planned_s;
    memcpy(out->stage, t->stage, (size_t)t->stages * sizeof *t->stage);
    from = 0;
    for (int i = 0; i < t->stages; i++) {
        calc_layers_table_split(t, i, from, count[i], out->layers[i]);
        from += count[i];
    }
}

/* ---- All stages ------------------------------------------------------------------------------ */

/* A label: one way to spread the layers before a layer over the stages before a stage, with the
 * lengths of its paths through the pipeline as in calc_layers_allowed_s(). */
typedef struct label {
    double sum_s;      /* a micro-batch on all stages */
    double first_s;    /* all micro-batches on a stage, with the first one's way there */
    double others_s;   /* all but the first on a stage, but for forwards that fit between */
    double end_s;      /* of a step, in addition to micro-batches */
    int count, before; /* layers of the last stage; number of the label before it */
} label;

typedef struct state {
    int labels;
    label label[LABELS];
} state;

static double step_of(const calc_layers_table *t, const label *l)
{
    double pipeline_s = fmax(l->first_s, l->sum_s + l->others_s);
    return (1 + t->c->common.growth) * pipeline_s + l->end_s;
}

static label after(const calc_layers_table *t, const label *l, int stage,
                   const calc_layers_stage *s)
{
    const calc_layers_common *m = &t->c->common;
    bool line = m->schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    bool gpipe = m->schedule == CALC_PIPELINE_SCHEDULE_GPIPE;
    double later = line ? t->stages - 1 - stage : 0;
    double end_s = calc_layers_exposed_s(m, &s->sum) + s->sum.optimizer_s;
    double others_s = (m->microbatches - 1) * s->sum.micro_s - later * s->sum.fw_s;
    return (label){
        .sum_s = l->sum_s + (line || gpipe ? s->sum.micro_s : s->sum.fw_s),
        .first_s = fmax(l->first_s, l->sum_s + m->microbatches * s->sum.micro_s),
        .others_s = line || gpipe ? fmax(l->others_s, others_s) : l->others_s,
        .end_s = fmax(l->end_s, end_s),
    };
}

static bool is_covered(const label *a, const label *by)
{
    return by->sum_s <= a->sum_s && by->first_s <= a->first_s && by->others_s <= a->others_s &&
           by->end_s <= a->end_s;
}

static void enter(const calc_layers_table *t, state *s, const label *l)
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
        s->label[worst] = *l; /* later labels have not been extended yet */
    }
}

/* Extend labels by a stage, for every layer that it may begin with.
 * @param least_s  least time of a layer, whatever its memory
 * @param limit_s  only steps below it are looked for */
static void advance(calc_layers_table *t, int stage, const state *here, state *next, double least_s,
                    double limit_s)
{
    int later = t->stages - 1 - stage;
    for (int from = stage; from + later < t->layers; from++) {
        if (here[from].labels == 0) {
            continue;
        }
        int most = later > 0 ? t->layers - later - from : t->layers - from;
        for (int n = later > 0 ? 1 : most; n <= most; n++) {
            const calc_layers_stage *s = calc_layers_cell(t, stage, from, n);
            if (!s || s->least_s >= t->limit_s) {
                break;
            }
            for (int i = 0; i < here[from].labels && s->fits; i++) {
                label l = after(t, &here[from].label[i], stage, s);
                l.count = n;
                l.before = i;
                label end = l;
                end.sum_s += least_s * (t->layers - from - n);
                if (step_of(t, &end) < limit_s) {
                    enter(t, &next[from + n], &l);
                }
            }
        }
    }
}

/* Improve a division.
 * @param limit_s  of the pipeline, with the work of the last stage after it
 * @param count    room for the layers of each stage */
static void improve(calc_layers_table *t, double least_s, double limit_s, int *count,
                    calc_layers_answer *out)
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
    all[0].labels = 1;
    for (int stage = 0; stage < t->stages; stage++) {
        advance(t, stage, &all[(size_t)stage * width], &all[((size_t)stage + 1) * width], least_s,
                limit_s);
    }
    const state *end = &all[(size_t)t->stages * width + (size_t)t->layers];
    for (int i = 0; i < end->labels && !t->failed; i++) {
        int at = t->layers;
        int number = i;
        for (int stage = t->stages; stage > 0; stage--) {
            const label *l = &all[(size_t)stage * width + (size_t)at].label[number];
            count[stage - 1] = l->count;
            at -= l->count;
            number = l->before;
        }
        take(t, count, out);
    }
    free(all);
}

/* ---- The join -------------------------------------------------------------------------------- */

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

static calc_status join(calc_layers_table *t, int *count, calc_layers_answer *out)
{
    double limit_s = t->want->limit_s;
    out->bound_s = calc_layers_shortest(t, true, count);
    if (out->bound_s >= limit_s || !isfinite(calc_layers_shortest(t, false, count))) {
        return t->failed ? CALC_ERR_NOMEM : CALC_ERR_RULE;
    }
    take(t, count, out);
    if (t->stages > 1 && t->chunks == 1) {
        double best_s = fmin(limit_s, out->planned_s);
        t->limit_s = (best_s - t->floor.after_s) / t->c->micro_weight;
        improve(t, least_layer_s(t->c), best_s - t->floor.after_s, count, out);
    }
    out->bound_s = fmin(out->bound_s, out->planned_s);
    return t->failed ? CALC_ERR_NOMEM : CALC_OK;
}

calc_status calc_layers_join(const calc_layers_case *c, const calc_layers_want *want,
                             calc_layers_answer *out)
{
    size_t stages = (size_t)c->common.stages;
    calc_layers_table t;
    *out = (calc_layers_answer){
        .ends = want->ends, .stages = (int)stages, .planned_s = INFINITY, .bound_s = INFINITY};
    calc_status status = calc_layers_table_make(c, want, &t);
    int *count = calloc(stages, sizeof *count);
    out->stage = calloc(stages, sizeof *out->stage);
    out->layers = calloc(stages, sizeof *out->layers);
    bool room = count && out->stage && out->layers;
    status = room ? status : CALC_ERR_NOMEM;
    if (status == CALC_OK) {
        status = join(&t, count, out);
    }
    free(count);
    calc_layers_table_free(&t);
    return status;
}

void calc_layers_answer_free(calc_layers_answer *a)
{
    free(a->stage);
    free(a->layers);
    *a = (calc_layers_answer){0};
}

/* ---- Spread over stages ---------------------------------------------------------------------- */

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
    int each = t->layers / t->stages;
    for (int stage = 0; stage < t->stages; stage++) {
        count[stage] = t->chunks == 1 ? most_layers(t, stage, from, step_s, bound)
                       : has_time(t, stage, from, each, step_s, bound) ? each
                                                                       : 0;
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
