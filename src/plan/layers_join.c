#include "plan/layers_join.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/make.h"
#include "model/schedule/schedule_sim.h"
#include "plan/layers_list.h"
#include "spec/layer_list.h"
#include "spec/stage_list.h"

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
        t->stage[i] = *calc_layers_cell(t, i, from, count[i]);
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
            if (s->least_s >= t->limit_s) {
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
    state *all = calc_make(((size_t)t->stages + 1) * width, sizeof *all);
    all[0].labels = 1;
    for (int stage = 0; stage < t->stages; stage++) {
        advance(t, stage, &all[(size_t)stage * width], &all[((size_t)stage + 1) * width], least_s,
                limit_s);
    }
    const state *end = &all[(size_t)t->stages * width + (size_t)t->layers];
    for (int i = 0; i < end->labels; i++) {
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

static calc_status join(calc_layers_table *t, int *count, calc_layers_answer *out)
{
    double limit_s = t->want->limit_s;
    out->bound_s = calc_layers_shortest(t, true, count);
    if (out->bound_s >= limit_s || !isfinite(calc_layers_shortest(t, false, count))) {
        return CALC_ERR_RULE;
    }
    take(t, count, out);
    if (t->stages > 1 && t->chunks == 1) {
        double best_s = fmin(limit_s, out->planned_s);
        t->limit_s = (best_s - t->floor.after_s) / t->c->micro_weight;
        double least_s = INFINITY; /* of a layer */
        for (int i = 0; i < 2 * t->c->options; i++) {
            const calc_layers_option *o = &t->c->option[i / 2];
            least_s = o->layers[i % 2] ? fmin(least_s, o->part[i % 2].micro_s) : least_s;
        }
        improve(t, least_s, best_s - t->floor.after_s, count, out);
    }
    out->bound_s = fmin(out->bound_s, out->planned_s);
    return CALC_OK;
}

calc_status calc_layers_join(const calc_layers_case *c, const calc_layers_want *want,
                             calc_layers_answer *out)
{
    size_t stages = (size_t)c->common.stages;
    calc_layers_table t;
    *out = (calc_layers_answer){
        .ends = want->ends, .stages = (int)stages, .planned_s = INFINITY, .bound_s = INFINITY};
    calc_status status = calc_layers_table_make(c, want, &t);
    int *count = calc_make(stages, sizeof *count);
    out->stage = calc_make(stages, sizeof *out->stage);
    out->layers = calc_make(stages, sizeof *out->layers);
    status = status == CALC_OK ? join(&t, count, out) : status;
    free(count);
    calc_layers_table_free(&t);
    return status;
}

CALC_FREES(calc_layers_answer_free, calc_layers_answer, of->stage, of->layers)

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
        t->cell[at] = calc_make(1, sizeof **t->cell);
        calc_layers_stage_best(t->c, &ask, t->cell[at]);
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
    t->cell = calc_make(cells(t), sizeof(calc_layers_stage *));
    t->stage = calc_make((size_t)t->stages, sizeof *t->stage);
    return CALC_OK;
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
    return (bound ? s->least_s : s->weighted_s) <= allowed_s;
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

/* Relative difference that the planner's step and calc_run()'s may have: lists slower than the best
 * found by no more than this are evaluated, too. */
#define NEAR 1.005

/* Free memory that the planner does not see justifies another search from this share of memory
 * on. */
#define LESS 0.002

/* ---- The execution --------------------------------------------------------------------------- */

/* Members that are the same everywhere are left to the execution. */
#define LEAVE(list, base, member)                                                                  \
    do {                                                                                           \
        bool same = (list)->ends.member == (base)->member;                                         \
        for (int32_t i = 0; i < (list)->count; i++) {                                              \
            same = same && (list)->run[i].strategy.member == (base)->member;                       \
        }                                                                                          \
        for (int32_t i = -1; same && i < (list)->count; i++) {                                     \
            (i < 0 ? &(list)->ends : &(list)->run[i].strategy)->member = CALC_LAYER_AS_EXEC;       \
        }                                                                                          \
    } while (0)

static void put_stages(const calc_layers_answer *a, calc_exec *e)
{
    calc_stage_run run[CALC_MAX_PLACES];
    bool equal = true;
    for (int i = 0; i < a->stages && i < CALC_MAX_PLACES; i++) {
        int blocks = a->layers[i][0] + a->layers[i][1];
        run[i] = (calc_stage_run){1, (int16_t)blocks, CALC_STAGE_AS_EXEC, CALC_STAGE_AS_EXEC, 0, 0};
        equal = equal && blocks == run[0].blocks;
    }
    if (!equal &&
        (a->stages > CALC_MAX_PLACES || !calc_stage_list_pack(run, a->stages, &e->stages))) {
        e->layers.count = 0;
    }
}

/* A stage's layers one by one, kind by kind. */
typedef struct walk {
    const calc_layers_stage *stage;
    int pick[2], taken[2]; /* for each kind: its current pick, and how many of its layers are used
                              up */
} walk;

/* The next layers of a kind that have the same option. @return its number */
static int next_option(walk *w, int kind, int most, int *count)
{
    const calc_layerwise_pick *p = &w->stage->pick[kind][w->pick[kind]];
    int left = p->layers - w->taken[kind];
    *count = left < most ? left : most;
    w->taken[kind] += *count;
    if (*count == left) {
        w->pick[kind]++;
        w->taken[kind] = 0;
    }
    return p->option;
}

/* Layers of a chunk. @return false if the list is full */
static bool add_chunk(const calc_layers_case *c, const int layers[2], walk *w,
                      calc_layer_list *list)
{
    for (int kind = 0; kind < 2; kind++) {
        for (int left = layers[kind], some; left > 0; left -= some) {
            int option = next_option(w, kind, left, &some);
            calc_layer_run run[CALC_MAX_LAYER_RUNS + 1];
            memcpy(run, list->run, (size_t)list->count * sizeof *run);
            run[list->count] = (calc_layer_run){(int16_t)some, c->option[option].strategy};
            if (!calc_layer_list_pack(run, list->count + 1, list)) {
                return false;
            }
        }
    }
    return true;
}

calc_exec calc_layers_exec_of(const calc_layers_case *c, const calc_layers_answer *a)
{
    calc_exec e = c->candidate->base;
    int chunks = (int)c->common.chunks;
    int from = 0;
    bool room = true;
    walk *at = calc_make((size_t)a->stages, sizeof *at);
    e.layers = (calc_layer_list){.ends = c->option[a->ends].strategy};
    for (int place = 0; room && place < a->stages * chunks; place++) {
        int stage = place % a->stages;
        int layers[2];
        at[stage].stage = &a->stage[stage];
        calc_layers_split(c, from, (a->layers[stage][0] + a->layers[stage][1]) / chunks, layers);
        room = add_chunk(c, layers, &at[stage], &e.layers);
        from += layers[0] + layers[1];
    }
    if (!room) {
        e.layers.count = 0;
    } else {
        const calc_layer_strategy base = calc_layers_strategy_of(&e);
        LEAVE(&e.layers, &base, tensor_par);
        LEAVE(&e.layers, &base, context_par);
        LEAVE(&e.layers, &base, context_par_type);
        LEAVE(&e.layers, &base, expert_par);
        LEAVE(&e.layers, &base, zero_stage);
        put_stages(a, &e);
    }
    free(at);
    return e;
}

/* ---- calc_run() ------------------------------------------------------------------------------ */

/* A candidate at work. */
typedef struct bench {
    const calc_planner *planner;
    const calc_layers_case *c;
    double limit_s;
    double *spare_bytes;     /* [stages] */
    calc_stage_stats *stage; /* [stages] */
    calc_exec resolved;      /* the list that is judged */
} bench;

/* Memory that must stay free on the stages, since they need more by calc_run() than by the
 * planner's numbers.
 * @param times  factor on what they lack, which grows with the number of attempts
 * @return whether that is worth another round */
static bool correct(bench *b, const calc_layers_answer *a, bool fits, int times)
{
    size_t stages = (size_t)a->stages;
    double capacity_bytes = b->c->common.capacity_bytes;
    bool any = false;
    size_t count = calc_each_stage(b->planner->app, &b->planner->chip[0].system, &b->resolved,
                                   CALC_COMPAT_NONE, b->stage, stages);
    for (size_t i = 0; i < stages && i < count; i++) {
        double over_bytes = b->stage[i].mem_tier1 - capacity_bytes;
        double more_bytes = b->stage[i].mem_tier1 - a->stage[i].bytes;
        if (over_bytes > 0) {
            b->spare_bytes[i] += over_bytes * times;
            any = true;
        } else if (fits && more_bytes < -LESS * capacity_bytes) {
            b->spare_bytes[i] = more_bytes;
            any = true;
        }
    }
    return any;
}

static uint64_t groups_of(const calc_layers_case *c, const calc_layers_answer *a)
{
    uint64_t groups = 0;
    for (int i = 0; i < a->stages; i++) {
        for (int kind = 0; kind < 2; kind++) {
            for (int k = 0; k < a->stage[i].picks[kind]; k++) {
                groups |= (uint64_t)1 << c->option[a->stage[i].pick[kind][k].option].group;
            }
        }
    }
    return groups;
}

/* The execution of a list, as it is and resolved, and its run. @return whether it is a legal layout
 */
static bool judge(const calc_planner *p, const calc_layers_case *c, const calc_layers_answer *a,
                  calc_exec *listed, calc_exec *resolved, calc_stats *stats)
{
    calc_errors ignored = {0};
    *listed = *resolved = calc_layers_exec_of(c, a);
    if (listed->layers.count == 0) {
        return false;
    }
    calc_resolve(p->app, &p->chip[0].system, resolved);
    if (calc_check(p->app, &p->chip[0].system, resolved, &ignored) != CALC_OK) {
        return false;
    }
    calc_run(p->app, &p->chip[0].system, resolved, CALC_COMPAT_NONE, stats);
    return true;
}

/* The best list for a set of wishes.
 * @param least_s  lowered to the bound of that list
 * @param used     a bit for each group of the list that was judged last */
static void solve_want(bench *b, int ends, int group, double *least_s, uint64_t *used,
                       calc_planner_found *best)
{
    bool open = true;
    for (size_t i = 0; i < (size_t)b->c->common.stages; i++) {
        b->spare_bytes[i] = 0;
    }
    for (int round = 0; round <= CALC_LAYERS_ROUNDS && open; round++) {
        const calc_layers_want want = {ends, group, b->spare_bytes, b->limit_s * NEAR};
        calc_layers_answer a;
        calc_planner_found f = {.rounds = round};
        calc_status status = calc_layers_join(b->c, &want, &a);
        *least_s = round == 0 ? fmin(*least_s, a.bound_s) : *least_s;
        f.planned_s = a.planned_s;
        open = status == CALC_OK && judge(b->planner, b->c, &a, &f.exec, &b->resolved, &f.stats);
        bool fits = open && f.stats.verdict == CALC_VERDICT_OK;
        if (fits && f.stats.total_time < b->limit_s) {
            *best = f;
            b->limit_s = f.stats.total_time;
        }
        if (open) {
            *used = groups_of(b->c, &a);
            bool full = f.stats.verdict == CALC_VERDICT_MEM1_CAPACITY;
            /* Search once more with free memory that the planner did not see. */
            open = (full || (fits && round == 0)) && correct(b, &a, fits, round + 1);
        }
        calc_layers_answer_free(&a);
    }
}

/* The best list with some ends. The switch from the layers of a stage to those of the next is not
 * known while each stage is solved by itself: where layers are split in several ways, lists that
 * use only one of them may be better. */
static void solve_ends(bench *b, int ends, double *least_s, calc_planner_found *best)
{
    uint64_t used = 0;
    uint64_t ignored;
    double other_s = INFINITY;
    solve_want(b, ends, -1, least_s, &used, best);
    bool several = b->c->common.stages > 1 && (used & (used - 1)) != 0;
    for (int g = 0; g < b->c->groups && several; g++) {
        if (used >> g & 1) {
            solve_want(b, ends, g, &other_s, &ignored, best);
        }
    }
}

/* ---- A candidate ----------------------------------------------------------------------------- */

/* Ends, those with the least bound first. */
typedef struct order {
    int ends;
    double bound_s;
} order;

static CALC_ORDER_BY(compare, order, bound_s, ends)

calc_status calc_layers_solve(const calc_planner *planner, const calc_layers_case *c,
                              double limit_s, calc_planner_found *found)
{
    size_t stages = (size_t)c->common.stages;
    order *ends = calc_make((size_t)c->options, sizeof *ends);
    bench b = {.planner = planner,
               .c = c,
               .limit_s = limit_s,
               .spare_bytes = calc_make(stages, sizeof *b.spare_bytes),
               .stage = calc_make(stages, sizeof *b.stage)};
    double least_s = INFINITY;
    int count = 0;
    for (int i = 0; i < c->options; i++) {
        if (c->option[i].ends) {
            ends[count++] = (order){i, calc_layers_bound_s(c, i)};
        }
    }
    if (count > 0) {
        CALC_SORT(ends, (size_t)count, compare);
    }
    *found = (calc_planner_found){.stats = {.total_time = INFINITY}};
    for (int i = 0; i < count; i++) {
        if (ends[i].bound_s >= b.limit_s) {
            least_s = fmin(least_s, ends[i].bound_s);
            break;
        }
        solve_ends(&b, ends[i].ends, &least_s, found);
    }
    free(ends);
    free(b.spare_bytes);
    free(b.stage);
    found->bound_s = least_s;
    found->proven = found->rounds == 0 && found->planned_s <= least_s * (1 + 1e-9);
    return isfinite(found->stats.total_time) ? CALC_OK : CALC_ERR_RULE;
}

/* ---- Step over memory ------------------------------------------------------------------------ */

enum {
    MOST = 100,  /* lists for each amount of working memory */
    BUDGETS = 48 /* of several stages */
};

/* Factor by which the curve goes beyond the memory available: it shows the gain from more. */
#define MORE 1.25

typedef struct curve {
    const calc_planner *planner;
    const calc_layers_case *c;
    calc_planner_layers_point *point;
    size_t count, room;
} curve;

/* Numbers of a list by calc_run(); none where it is no legal layout. */
static void add_point(curve *v, const calc_layers_answer *a)
{
    calc_exec listed, resolved;
    calc_stats stats;
    if (judge(v->planner, v->c, a, &listed, &resolved, &stats)) {
        const calc_planner_layers_point point = {stats.proc_mem_tier1_cap_req, stats.total_time,
                                                 listed};
        CALC_ADD(v->point, v->count, v->room, &point);
    }
}

static CALC_ORDER_BY(compare_points, calc_planner_layers_point, needs_bytes, step_s)

/* Keep only lists that are quicker than all that need less. */
static void keep_best(curve *v)
{
    size_t kept = 0;
    CALC_SORT(v->point, v->count, compare_points);
    for (size_t i = 0; i < v->count; i++) {
        if (kept == 0 || v->point[i].step_s < v->point[kept - 1].step_s) {
            v->point[kept++] = v->point[i];
        }
    }
    v->count = kept;
}

/* One stage: the whole curve. */
static void add_lists(curve *v, int ends)
{
    const calc_layers_common *m = &v->c->common;
    const calc_layers_ask ask = {.layers = {m->layers[0], m->layers[1]},
                                 .ends = ends,
                                 .group = -1,
                                 .spare_bytes = (1 - MORE) * m->capacity_bytes,
                                 .limit_s = INFINITY};
    calc_layers_stage *list;
    size_t count;
    int layers[1][2] = {{m->layers[0], m->layers[1]}};
    calc_layers_stage_curve(v->c, &ask, MOST, &list, &count);
    for (size_t i = 0; i < count; i++) {
        const calc_layers_answer a = {
            .ends = ends, .stages = 1, .stage = &list[i], .layers = layers};
        add_point(v, &a);
    }
    free(list);
}

/* Several stages: one list for each of many budgets. */
static void add_budgets(curve *v, int ends)
{
    const calc_layers_common *m = &v->c->common;
    double *spare_bytes = calc_make((size_t)m->stages, sizeof *spare_bytes);
    calc_status status = CALC_OK;
    for (int i = BUDGETS; i > 0 && status == CALC_OK; i--) {
        for (int k = 0; k < (int)m->stages; k++) {
            spare_bytes[k] = (1 - MORE * i / BUDGETS) * m->capacity_bytes;
        }
        const calc_layers_want want = {ends, -1, spare_bytes, INFINITY};
        calc_layers_answer a;
        status = calc_layers_join(v->c, &want, &a);
        if (status == CALC_OK) {
            add_point(v, &a);
        }
        calc_layers_answer_free(&a);
    }
    free(spare_bytes);
}

/* The option that the ends of a layout have. */
static int ends_of(const calc_layers_case *c, const calc_exec *e)
{
    calc_layer_strategy s = calc_layers_strategy_of(e);
    if (e->layers.count > 0) {
        calc_exec ends = calc_layer_list_exec(e, &e->layers.ends);
        s = calc_layers_strategy_of(&ends);
    }
    s.recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    s.modules = 0;
    for (int i = 0; i < c->options; i++) {
        if (calc_layer_list_alike(&c->option[i].strategy, &s)) {
            return i;
        }
    }
    return 0;
}

void calc_layers_curve_of(const calc_planner *planner, const calc_layers_case *c,
                          const calc_exec *exec, calc_planner_layers_point **point, size_t *count)
{
    curve v = {.planner = planner, .c = c};
    int ends = ends_of(c, exec);
    (c->common.stages > 1 ? add_budgets : add_lists)(&v, ends);
    if (v.count > 0) {
        keep_best(&v);
    }
    *point = v.point;
    *count = v.count;
}
