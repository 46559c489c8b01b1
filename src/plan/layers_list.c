#include "plan/layers_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "base/make.h"
#include "model/operators/processor.h"
#include "model/stages/placed.h"
#include "model/verdict.h"
#include "parallel.h"
#include "spec/layer_list.h"
#include "spec/rules.h"
#include "spec/schedule.h"
#include "units.h"
#include "worker.h"

enum { BATCH = 512 /* layouts evaluated at a time */ };

/* A list under construction. */
typedef struct maker {
    const calc_planner *planner;
    calc_layers_list *out;
    calc_axis key[CALC_AXIS_EXEC_COUNT]; /* fields in which candidates differ */
    size_t keys;
    calc_exec *exec; /* [BATCH] */
    calc_stats *stats;
    size_t count;
} maker;

/* ---- Differences of candidates --------------------------------------------------------------- */

/* Fields that each layer may set for itself, and those that follow from them. */
static bool is_of_layers(calc_axis axis)
{
    switch (axis) {
    case CALC_AXIS_tensor_par:
    case CALC_AXIS_context_par:
    case CALC_AXIS_context_par_type:
    case CALC_AXIS_expert_par:
    case CALC_AXIS_data_par:
    case CALC_AXIS_microbatch_size:
    case CALC_AXIS_zero_stage:
    case CALC_AXIS_optimizer_sharding:
    case CALC_AXIS_activation_recompute:
    case CALC_AXIS_recompute_modules:
    case CALC_AXIS_pipeline_balance:
        return true;
    default:
        return false;
    }
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static calc_layers_candidate *candidate_of(maker *m, const calc_exec *e)
{
    calc_layers_list *l = m->out;
    int64_t value = calc_layer_list_sequences(e);
    uint64_t key = calc_hash(CALC_HASH_START, &value, sizeof value);
    for (size_t i = 0; i < m->keys; i++) {
        value = calc_axis_get(e, m->key[i]);
        key = calc_hash(key, &value, sizeof value);
    }
    for (size_t i = l->count; i > 0; i--) { /* neighbours are alike */
        if (l->candidate[i - 1].key == key) {
            return &l->candidate[i - 1];
        }
    }
    const calc_layers_candidate candidate = {.key = key, .uniform_s = INFINITY};
    CALC_ADD(l->candidate, l->count, l->room, &candidate);
    return &l->candidate[l->count - 1];
}

calc_layer_strategy calc_layers_strategy_of(const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    int64_t zero = s->zero_stage > 0 ? s->zero_stage : s->optimizer_sharding;
    return (calc_layer_strategy){
        .tensor_par = (int16_t)s->tensor_par,
        .context_par = (int16_t)calc_ranks_or_one(s->context_par),
        .expert_par = (int16_t)calc_ranks_or_one(s->expert_par),
        .context_par_type = s->context_par > 1 ? (int16_t)s->context_par_type : 0,
        .zero_stage = (int16_t)zero,
        .recompute = (int16_t)s->activation_recompute,
        .modules = (int16_t)s->recompute_modules,
    };
}

/* How many fields a layout supplies that others leave out: calc_layer_list_exec() turns off what
 * does not apply to a strategy, but turns nothing on. */
static int said(const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    return (s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG) +
           (s->tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_NONE) + s->seq_par_ag_redo +
           s->data_par_overlap + s->optimizer_sharding +
           (s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_NONE);
}

static void take_base(calc_layers_candidate *c, const calc_exec *e)
{
    bool both_ends = calc_schedule_traits_of(e->pipeline_schedule).both_ends;
    bool plain = e->training && !both_ends && e->pipeline_balance == CALC_PIPELINE_BALANCE_BLOCKS;
    if (plain && (!c->listed || said(e) > said(&c->base))) {
        c->base = *e;
        c->listed = true;
    }
}

static void take_uniform(calc_layers_list *l, calc_layers_candidate *c, const calc_system *system,
                         const calc_exec *e, const calc_stats *s)
{
    double has_bytes = system->chip.mem1.capacity_bytes;
    double needs_bytes = s->proc_mem_tier1_cap_req;
    if (s->verdict == CALC_VERDICT_MEM1_CAPACITY &&
        (l->has_bytes == 0 || needs_bytes < l->needs_bytes)) {
        l->needs_bytes = needs_bytes;
        l->has_bytes = has_bytes;
        l->lacking = *e;
    }
    bool less = s->total_time < c->uniform_s ||
                (s->total_time == c->uniform_s && needs_bytes < c->uniform_bytes);
    if (s->verdict == CALC_VERDICT_OK && less) {
        c->uniform = *e;
        c->uniform_s = s->total_time;
        c->uniform_bytes = needs_bytes;
    }
}

/* ---- Layouts --------------------------------------------------------------------------------- */

static void evaluate(void *context, size_t i)
{
    maker *m = context;
    calc_run(m->planner->app, &m->planner->chip[0].system, &m->exec[i], CALC_COMPAT_NONE,
             &m->stats[i]);
}

static void flush(maker *m)
{
    calc_parallel_for(m->planner->threads, m->count, evaluate, m);
    for (size_t i = 0; i < m->count; i++) {
        const calc_exec *e = &m->exec[i];
        calc_layers_candidate *c = candidate_of(m, e);
        const calc_layer_strategy strategy = calc_layers_strategy_of(e);
        bool known = false;
        for (size_t k = 0; k < c->strategies && !known; k++) {
            known = calc_layer_list_alike(&c->strategy[k], &strategy);
        }
        if (!known) {
            CALC_ADD(c->strategy, c->strategies, c->strategy_room, &strategy);
        }
        take_base(c, e);
        take_uniform(m->out, c, &m->planner->chip[0].system, e, &m->stats[i]);
    }
    m->out->layouts += m->count;
    m->count = 0;
}

/* calc_worker_visit: all layouts of a row that networks connect. */
static void visit_row(void *context, const calc_worker_place *place)
{
    maker *m = context;
    for (uint64_t i = place->first; i < place->worker->counts.total; i++) {
        if (calc_worker_decode(place, i - place->first, &m->exec[m->count]) == CALC_VERDICT_OK &&
            ++m->count == BATCH) {
            flush(m);
        }
    }
}

calc_status calc_layers_list_make(const calc_planner *planner, calc_layers_list *list)
{
    *list = (calc_layers_list){.count = 0};
    maker m = {.planner = planner,
               .out = list,
               .exec = calc_make(BATCH, sizeof *m.exec),
               .stats = calc_make(BATCH, sizeof *m.stats)};
    calc_sweep_counts counts;
    /* Other axes distinguish candidates if somebody gave them several values. */
    for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
        const calc_values *v = &planner->space->axis[axis];
        if (!is_of_layers((calc_axis)axis) && !v->last && (v->all || v->count > 1)) {
            m.key[m.keys++] = (calc_axis)axis;
        }
    }
    calc_status status =
        calc_units_walk(planner->space, &planner->design, CALC_COMPAT_NONE, visit_row, &m, &counts);
    flush(&m);
    free(m.exec);
    free(m.stats);
    return status;
}

void calc_layers_list_free(calc_layers_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->candidate[i].strategy);
    }
    free(list->candidate);
    *list = (calc_layers_list){.count = 0};
}

/* ---- Options --------------------------------------------------------------------------------- */

static calc_layers_common common_of(const calc_layout *l)
{
    const calc_stage_terms *t = &l->terms;
    const calc_shape *shape = &l->shape;
    bool turns = calc_shape_alternating(shape) > 0;
    int moe = turns ? (int)shape->blocks : (int)shape->moe_blocks;
    moe = shape->experts > 0 ? moe : 0;
    return (calc_layers_common){
        .stages = t->stages,
        .chunks = l->stages.chunks,
        .microbatches = t->microbatches,
        .growth = t->growth,
        .after_s = t->overhead_s,
        .contention = t->contention,
        .last_share = CALC_STAGE_LAST_BUCKET,
        .used_share = t->used_share,
        .reserved_bytes = t->reserved_bytes,
        .capacity_bytes = l->system->chip.mem1.capacity_bytes,
        .layers = {(int)shape->blocks - moe, moe},
        .terms = *t,
        .schedule = l->exec->pipeline_schedule,
    };
}

double calc_layers_in_flight(const calc_layers_common *c, int stage)
{
    return c->terms.training ? calc_stage_in_flight(&c->terms, c->schedule, stage, c->chunks) : 0;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static void set_link(const calc_layout *l, calc_layers_part *out, const calc_stage_part *p)
{
    const calc_stage_terms *t = &l->terms;
    const calc_stage_links *k = &l->links;
    double windows = calc_max(1, t->reductions);
    out->reduce_s = t->reductions * t->reduced_bytes *
                    (k->reduce_dense_s_per_byte * p->weights.dense +
                     k->reduce_expert_s_per_byte * p->weights.expert);
    out->gather_s = t->gathered_bytes * (k->gather_dense_s_per_byte * p->weights.dense +
                                         k->gather_expert_s_per_byte * p->weights.expert);
    bool beside = l->exec->strategy.data_par_overlap;
    out->reduce_room_s = beside ? t->window_share * windows * (p->agrad_s + p->wgrad_s) : 0;
    beside = calc_stage_gathers_beside(&l->exec->strategy);
    out->gather_room_s = beside ? t->window_share * p->fw_s : 0;
}

static calc_layers_part part_of(const calc_layout *l, const calc_stage_part *p)
{
    const calc_stage_terms *t = &l->terms;
    const calc_stage_weights *w = &p->weights;
    double held = w->dense + w->expert;
    double owned = w->dense / t->dense_shards + w->expert / t->expert_shards;
    calc_layers_part out = {
        .micro_s = p->fw_s + p->agrad_s + p->wgrad_s,
        .fw_s = p->fw_s,
        .wgrad_s = p->wgrad_s,
        .optimizer_s = t->optimizer_s * t->reductions * held + t->optimizer_owned_s * owned,
        .held_bytes =
            t->used_share * (t->held_bytes * held + t->owned_bytes * owned + p->narrowed_bytes),
        .passing_bytes = t->used_share * (t->gathered_ahead + t->whole_block_bytes) * held,
    };
    set_link(l, &out, p);
    return out;
}

static calc_layers_part block_of(const calc_layout *l, const calc_stage_part *p)
{
    const calc_stage_terms *t = &l->terms;
    calc_layers_part out = part_of(l, p);
    out.flight_bytes = t->used_share * p->kept_bytes;
    out.working_bytes = t->used_share * (p->whole_bytes - p->kept_bytes + p->passing_bytes);
    return out;
}

void calc_layers_part_add(calc_layers_part *sum, const calc_layers_part *p, double times)
{
    sum->micro_s += times * p->micro_s;
    sum->fw_s += times * p->fw_s;
    sum->wgrad_s += times * p->wgrad_s;
    sum->reduce_s += times * p->reduce_s;
    sum->gather_s += times * p->gather_s;
    sum->reduce_room_s += times * p->reduce_room_s;
    sum->gather_room_s += times * p->gather_room_s;
    sum->optimizer_s += times * p->optimizer_s;
    sum->held_bytes += times * p->held_bytes;
    sum->flight_bytes += times * p->flight_bytes;
    if (times > 0) {
        sum->working_bytes = fmax(sum->working_bytes, p->working_bytes);
        sum->passing_bytes = fmax(sum->passing_bytes, p->passing_bytes);
    }
}

/* Muon: matrices of blocks, one by one; second moments of the ends. */
static void add_muon(const calc_layout *l, calc_layers_option *out)
{
    const calc_stage_terms *t = &l->terms;
    const calc_stage_class only[] = {[CALC_LAYERS_DENSE] = {.dense = 1},
                                     [CALC_LAYERS_MOE] = {.moe = 1},
                                     [CALC_LAYERS_EMBEDDING] = {.first = 1},
                                     [CALC_LAYERS_HEAD] = {.last = 1}};
    for (size_t i = 0; i < sizeof only / sizeof *only && t->muon.any; i++) {
        out->part[i].optimizer_s += calc_stage_muon_s(t, &only[i]);
        out->part[i].held_bytes += t->used_share * calc_stage_muon_bytes(t, &only[i]).here;
    }
}

/* What follows from a layout with one strategy everywhere: all from .part on. */
static void put_option(const calc_layout *l, calc_layers_option *out)
{
    const calc_stage_terms *t = &l->terms;
    double dense = calc_shape_alternating(&l->shape);
    calc_layers_part kind[2] = {block_of(l, &t->block[0]), block_of(l, &t->block[1])};
    out->part[CALC_LAYERS_DENSE] = kind[0];
    out->part[CALC_LAYERS_MOE] = kind[1];
    if (dense > 0) {
        calc_layers_part mean = {0};
        calc_layers_part_add(&mean, &kind[0], dense);
        calc_layers_part_add(&mean, &kind[1], 1 - dense);
        out->part[CALC_LAYERS_MOE] = mean;
    }
    out->part[CALC_LAYERS_EMBEDDING] = part_of(l, &t->embedding);
    out->part[CALC_LAYERS_EMBEDDING].flight_bytes = t->used_share * t->embedding.whole_bytes;
    calc_layers_part *head = &out->part[CALC_LAYERS_HEAD];
    *head = part_of(l, &t->head); /* it has freed its logits when a pass runs through a block */
    head->flight_bytes = t->used_share * t->head.whole_bytes;
    head->working_bytes = t->used_share * t->head.kept_bytes;
    add_muon(l, out);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            out->framework_bytes[i][k] = t->used_share * t->framework_bytes[i][k];
        }
    }
    out->framework_head_bytes = t->used_share * t->framework_head_bytes;
    double both_ways_s = l->links.message_s + l->links.back_message_s;
    out->message_s = t->stages > 1 ? l->stages.chunks * both_ways_s * l->exposed : 0;
    out->tied_s = l->links.tied_s;
}

/* ---- Exposed communication ------------------------------------------------------------------- */

static double exposed_s(const calc_layers_common *c, double link_s, double room_s)
{
    double window_s = room_s > 0 ? room_s / c->terms.window_share : 0;
    return fmax(c->last_share * link_s, link_s - room_s) + c->contention * fmin(link_s, window_s);
}

double calc_layers_exposed_s(const calc_layers_common *c, const calc_layers_part *p)
{
    return exposed_s(c, p->reduce_s, p->reduce_room_s) +
           exposed_s(c, p->gather_s, p->gather_room_s);
}

/* With a window W, a share w of which hides communication, contention k and a last share r of a
 * link's time R, the exposed time is max(r R, R - w W) + k min(R, W). Where w <= 1 - r, neither (r
 * + k) R nor R - w W + k w W / (1 - r) is above it: they meet it where R (1 - r) = w W, and min(R,
 * W) is no less than R on the one side and w W / (1 - r) on the other. */
double calc_layers_exposed_line_s(const calc_layers_common *c, double link_s, double room_s,
                                  double share)
{
    double rest = 1 - c->last_share;
    double slow = c->terms.window_share <= rest ? c->contention : 0;
    double hidden_s = (c->last_share + (room_s > 0 ? slow : 0)) * link_s;
    double longer_s = link_s - room_s * (1 - slow / rest);
    return hidden_s + share * (longer_s - hidden_s);
}

bool calc_layers_is_longer(const calc_layers_common *c, double link_s, double room_s)
{
    return link_s * (1 - c->last_share) > room_s;
}

/* ---- Options that matter --------------------------------------------------------------------- */

/* Whether a is no worse than b in anything. */
static bool covers(const calc_layers_part *a, const calc_layers_part *b)
{
    return a->micro_s <= b->micro_s && a->reduce_s <= b->reduce_s && a->gather_s <= b->gather_s &&
           a->reduce_room_s >= b->reduce_room_s && a->gather_room_s >= b->gather_room_s &&
           a->optimizer_s <= b->optimizer_s && a->held_bytes <= b->held_bytes &&
           a->flight_bytes <= b->flight_bytes && a->working_bytes <= b->working_bytes &&
           a->passing_bytes <= b->passing_bytes;
}

static bool covers_ends(const calc_layers_option *a, const calc_layers_option *b)
{
    return covers(&a->part[CALC_LAYERS_EMBEDDING], &b->part[CALC_LAYERS_EMBEDDING]) &&
           covers(&a->part[CALC_LAYERS_HEAD], &b->part[CALC_LAYERS_HEAD]);
}

/* The first of equal ones is kept. */
static void drop_covered(calc_layers_case *c)
{
    for (int i = 0; i < c->options; i++) {
        calc_layers_option *o = &c->option[i];
        for (int k = 0; k < c->options; k++) {
            const calc_layers_option *other = &c->option[k];
            if (k == i || other->group != o->group) {
                continue;
            }
            for (int kind = 0; kind < 2; kind++) {
                bool tie = covers(&o->part[kind], &other->part[kind]);
                if (other->layers[kind] && covers(&other->part[kind], &o->part[kind]) &&
                    (!tie || k < i)) {
                    o->layers[kind] = false;
                }
            }
            bool tie = covers_ends(o, other);
            if (other->ends && covers_ends(other, o) && (!tie || k < i)) {
                o->ends = false;
            }
        }
    }
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Options with the same distribution of activations form a group. @return false if there are too
 * many groups */
static bool set_groups(const calc_planner *p, calc_layers_case *c)
{
    calc_exec first[CALC_LAYERWISE_GROUPS];
    calc_layer_strategy of[CALC_LAYERWISE_GROUPS];
    c->groups = 0;
    for (int i = 0; i < c->options; i++) {
        calc_layers_option *o = &c->option[i];
        int g = 0;
        while (g < c->groups && (of[g].tensor_par != o->strategy.tensor_par ||
                                 of[g].context_par != o->strategy.context_par)) {
            g++;
        }
        if (g == CALC_LAYERWISE_GROUPS) {
            return false;
        }
        if (g == c->groups) {
            of[g] = o->strategy;
            first[g] = calc_layer_list_exec(&c->candidate->base, &o->strategy);
            c->groups++;
        }
        o->group = g;
    }
    int n = c->groups;
    for (int i = 0; i < n * n; i++) {
        calc_reshard r = calc_reshard_of(p->app, &p->chip[0].system, &first[i / n], &first[i % n]);
        c->switch_s[i] = i / n == i % n ? 0 : r.fw_s + r.bw_s;
    }
    /* Activations may be rearranged in several steps, which may take less than one. */
    memcpy(c->detour_s, c->switch_s, sizeof c->detour_s);
    for (int by = 0; by < n; by++) {
        for (int i = 0; i < n * n; i++) {
            double s = c->detour_s[i / n * n + by] + c->detour_s[by * n + i % n];
            c->detour_s[i] = fmin(c->detour_s[i], s);
        }
    }
    return true;
}

/* ---- The case -------------------------------------------------------------------------------- */

/* A layout with a strategy everywhere. @return whether it is legal */
static bool add_option(const calc_planner *p, const calc_layer_strategy *strategy,
                       calc_layout *room, calc_layers_case *c)
{
    calc_errors ignored = {0};
    calc_exec e = calc_layer_list_exec(&c->candidate->base, strategy);
    if (calc_check(p->app, &p->chip[0].system, &e, &ignored) != CALC_OK ||
        calc_verdict_networks(&p->chip[0].system, &e) != CALC_VERDICT_OK) {
        return false;
    }
    calc_layout_of(p->app, &p->chip[0].system, &e, CALC_COMPAT_NONE, NULL, NULL, room);
    if (c->options == 0) {
        c->common = common_of(room);
    }
    calc_layers_option *o = &c->option[c->options++];
    o->strategy = *strategy;
    o->layers[0] = c->common.layers[0] > 0;
    o->layers[1] = c->common.layers[1] > 0;
    o->ends = strategy->recompute == CALC_ACTIVATION_RECOMPUTE_NONE;
    put_option(room, o);
    return true;
}

calc_status calc_layers_case_of(const calc_planner *planner, const calc_layers_candidate *candidate,
                                calc_layers_case *c)
{
    size_t most = candidate->strategies;
    *c = (calc_layers_case){.candidate = candidate, .cut = most > CALC_LAYERWISE_OPTIONS};
    most = c->cut ? CALC_LAYERWISE_OPTIONS : most;
    c->option = calc_make(most + 1, sizeof *c->option);
    calc_layout *room = calc_make(1, sizeof *room);
    for (size_t i = 0; candidate->listed && i < most; i++) {
        add_option(planner, &candidate->strategy[i], room, c);
    }
    free(room);
    if (c->options == 0 || !set_groups(planner, c)) {
        return CALC_ERR_RULE;
    }
    /* Where layers always recompute, the ends have their strategy. */
    bool ends = false;
    for (int i = 0; i < c->options; i++) {
        ends = ends || c->option[i].ends;
    }
    c->option[0].ends = c->option[0].ends || !ends;
    drop_covered(c);
    c->micro_weight = c->common.microbatches * (1 + c->common.growth);
    return CALC_OK;
}

void calc_layers_case_free(calc_layers_case *c)
{
    free(c->option);
    c->option = NULL;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

calc_layers_part calc_layers_ends_of(const calc_layers_case *c, int ends, int stage)
{
    const calc_layers_option *o = &c->option[ends];
    calc_layers_part sum = {.micro_s = o->message_s, .fw_s = o->message_s / 2};
    if (calc_layers_is_first(stage)) {
        calc_layers_part_add(&sum, &o->part[CALC_LAYERS_EMBEDDING], 1);
    }
    if (calc_layers_is_last(c, stage)) {
        calc_layers_part_add(&sum, &o->part[CALC_LAYERS_HEAD], 1);
    }
    return sum;
}

double calc_layers_room_bytes(const calc_layers_case *c, int ends, int stage, const int layers[2])
{
    const calc_layers_common *m = &c->common;
    const calc_layers_option *o = &c->option[ends];
    calc_layers_part part = calc_layers_ends_of(c, ends, stage);
    double framework = o->framework_bytes[layers[0] > 0][layers[1] > 0] +
                       calc_layers_is_last(c, stage) * o->framework_head_bytes;
    return m->capacity_bytes - m->reserved_bytes - framework -
           calc_layers_bytes(&part, calc_layers_in_flight(m, stage));
}

double calc_layers_least_s(const calc_layers_case *c, const calc_layers_part *p, double reduce,
                           double gather)
{
    const calc_layers_common *m = &c->common;
    double exposed_s = calc_layers_exposed_line_s(m, p->reduce_s, p->reduce_room_s, reduce) +
                       calc_layers_exposed_line_s(m, p->gather_s, p->gather_room_s, gather);
    return p->micro_s + (exposed_s + p->optimizer_s) / c->micro_weight;
}

double calc_layers_weighted_s(const calc_layers_case *c, const calc_layers_part *p)
{
    return p->micro_s + (calc_layers_exposed_s(&c->common, p) + p->optimizer_s) / c->micro_weight;
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

enum { STEPS = 50 /* to a length of the step */ };

/* A unit of work with an option, or a mixture of options. */
typedef struct corner {
    double s, bytes;
} corner;

/* A stage of the relaxed problem, with fractions of layers. */
typedef struct water {
    double fixed_s, room_bytes;
    int corners;
    corner *corner; /* convex: bytes ascending, seconds descending */
} water;

/* ---- A stage --------------------------------------------------------------------------------- */

static void insert(water *w, corner x)
{
    int at = w->corners++;
    while (at > 0 && (w->corner[at - 1].bytes > x.bytes ||
                      (w->corner[at - 1].bytes == x.bytes && w->corner[at - 1].s > x.s))) {
        w->corner[at] = w->corner[at - 1];
        at--;
    }
    w->corner[at] = x;
}

static void make_convex(water *w)
{
    int kept = 0;
    for (int i = 0; i < w->corners; i++) {
        corner x = w->corner[i];
        if (kept > 0 && x.s >= w->corner[kept - 1].s) {
            continue;
        }
        for (; kept > 1; kept--) {
            corner a = w->corner[kept - 2], b = w->corner[kept - 1];
            if ((b.s - a.s) * (x.bytes - a.bytes) < (x.s - a.s) * (b.bytes - a.bytes)) {
                break; /* b is below the line from a to x */
            }
        }
        w->corner[kept++] = x;
    }
    w->corners = kept;
}

/* Ends: the least memory and time of each over all options that they may have. */
static void set_fixed(const calc_layers_case *c, int ends, int stage, double working,
                      double passing, water *w)
{
    w->fixed_s = INFINITY;
    w->room_bytes = -INFINITY;
    for (int i = 0; i < c->options; i++) {
        if (ends >= 0 ? i != ends : !c->option[i].ends) {
            continue;
        }
        calc_layers_part part = calc_layers_ends_of(c, i, stage);
        double room = fmax(calc_layers_room_bytes(c, i, stage, (const int[2]){1, 0}),
                           calc_layers_room_bytes(c, i, stage, (const int[2]){0, 1}));
        /* The logits have been freed when a pass runs through a layer. */
        room -= fmax(working, part.working_bytes) + passing;
        w->fixed_s = fmin(w->fixed_s, calc_layers_least_s(c, &part, 0, 0));
        w->room_bytes = fmax(w->room_bytes, room);
    }
}

/* @param unit  of work in a layer of each kind */
static void make(const calc_layers_case *c, int ends, int stage, const double unit[2], water *w)
{
    double in_flight = calc_layers_in_flight(&c->common, stage);
    double working = INFINITY;
    double passing = INFINITY;
    w->corners = 0;
    for (int i = 0; i < c->options; i++) {
        const calc_layers_option *o = &c->option[i];
        for (int kind = 0; kind < 2; kind++) {
            if (o->layers[kind]) {
                const calc_layers_part *p = &o->part[kind];
                working = fmin(working, p->working_bytes);
                passing = fmin(passing, p->passing_bytes);
                insert(w, (corner){calc_layers_least_s(c, p, 0, 0) / unit[kind],
                                   calc_layers_bytes(p, in_flight) / unit[kind]});
            }
        }
    }
    set_fixed(c, ends, stage, working, passing, w);
    make_convex(w);
}

/* The most work that a stage does in a time. Between two corners time is linear in work: the more
 * work there is, the larger the share of the corner that holds less. */
static double most_work(const water *w, double s, double all)
{
    double rest_s = s - w->fixed_s;
    double fits = 0; /* work with this corner, and with quicker ones */
    double work = 0;
    if (rest_s <= 0 || w->room_bytes <= 0) {
        return 0;
    }
    for (int i = w->corners - 1; i >= 0 && work >= fits; i--) {
        corner a = w->corner[i];
        corner b = w->corner[i + 1 < w->corners ? i + 1 : i];
        double price = b.bytes > a.bytes ? (b.s - a.s) / (b.bytes - a.bytes) : 0;
        fits = a.bytes > 0 ? w->room_bytes / a.bytes : all;
        work = (rest_s - price * w->room_bytes) / (a.s - price * a.bytes);
    }
    return fmin(all, fmin(work, fits));
}

/* ---- The pipeline ---------------------------------------------------------------------------- */

/* The least that a micro-batch takes on all stages, messages included. */
static double through_s(const calc_layers_case *c, int ends)
{
    double sum = INFINITY;
    for (int i = 0; i < c->options; i++) {
        const calc_layers_option *o = &c->option[i];
        if (ends >= 0 ? i == ends : o->ends) {
            sum =
                fmin(sum, c->common.stages * o->message_s + o->part[CALC_LAYERS_EMBEDDING].micro_s +
                              o->part[CALC_LAYERS_HEAD].micro_s);
        }
    }
    for (int kind = 0; kind < 2; kind++) {
        double least = INFINITY;
        for (int i = 0; i < c->options; i++) {
            const calc_layers_option *o = &c->option[i];
            least = o->layers[kind] ? fmin(least, o->part[kind].micro_s) : least;
        }
        sum += c->common.layers[kind] > 0 ? c->common.layers[kind] * least : 0;
    }
    return sum;
}

static double forward_of(const calc_layers_part *p)
{
    return p->micro_s > 0 ? p->fw_s / p->micro_s : 0;
}

calc_layers_floor calc_layers_floor_of(const calc_layers_case *c, int ends)
{
    const calc_layers_common *m = &c->common;
    bool waits = calc_schedule_traits_of(m->schedule).wgrad_apart;
    calc_layers_floor f = {.through_s = through_s(c, ends), .stage_s = INFINITY};
    double tied_s = INFINITY, message_s = 0, switch_s = 0;
    for (int i = 0; i < c->groups * c->groups; i++) {
        switch_s = fmax(switch_s, c->switch_s[i]);
    }
    for (int i = 0; i < c->options; i++) {
        const calc_layers_option *o = &c->option[i];
        message_s = fmax(message_s, o->message_s);
        if (ends >= 0 ? i == ends : o->ends) {
            f.forward = fmax(f.forward, forward_of(&o->part[CALC_LAYERS_EMBEDDING]));
            f.forward = fmax(f.forward, forward_of(&o->part[CALC_LAYERS_HEAD]));
            tied_s = fmin(tied_s, o->tied_s);
        }
        for (int kind = 0; kind < 2; kind++) {
            if (o->layers[kind]) {
                const calc_layers_part *p = &o->part[kind];
                f.stage_s = fmin(f.stage_s, waits ? p->fw_s : p->micro_s);
                f.forward = fmax(f.forward, forward_of(p));
            }
        }
    }
    f.between_s = message_s / 2 + switch_s;
    f.after_s = m->after_s + tied_s;
    return f;
}

double calc_layers_allowed_s(const calc_layers_case *c, const calc_layers_floor *f, int stage,
                             double step_s)
{
    const calc_layers_common *m = &c->common;
    double grown = 1 + m->growth;
    double rest_s = step_s - f->after_s;
    double first_s = (rest_s - grown * stage * f->stage_s) / c->micro_weight;
    bool line = m->chunks == 1 && m->schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    bool gpipe = m->schedule == CALC_PIPELINE_SCHEDULE_GPIPE;
    double later = line ? m->stages - 1 - stage : 0;
    double others = m->microbatches - 1 - later * f->forward;
    if ((line || gpipe) && others > 0) {
        double all_s = f->through_s - later * f->between_s;
        first_s = fmin(first_s, (rest_s - grown * all_s) / (grown * others));
    }
    return first_s;
}

/* The least step in which all stages together do all work; INFINITY if it does not fit. */
static double least_step_s(const calc_layers_case *c, const calc_layers_floor *f,
                           const water *stage, double work, double high_s)
{
    double low_s = 0;
    for (int step = -1; step < STEPS; step++) {
        double mid_s = step < 0 ? high_s : (low_s + high_s) / 2;
        double sum = 0;
        for (int i = 0; i < (int)c->common.stages; i++) {
            sum += most_work(&stage[i], calc_layers_allowed_s(c, f, i, mid_s), work);
        }
        bool enough = sum >= work * (1 - 1e-9);
        if (step < 0 && !enough) {
            return INFINITY;
        }
        high_s = enough ? mid_s : high_s;
        low_s = enough ? low_s : mid_s;
    }
    return low_s;
}

double calc_layers_bound_s(const calc_layers_case *c, int ends)
{
    const calc_layers_common *m = &c->common;
    int stages = (int)m->stages;
    double unit[2] = {0, 0};
    double work = 0;
    const calc_layers_floor f = calc_layers_floor_of(c, ends);
    for (int kind = 0; kind < 2; kind++) {
        double least_s = INFINITY; /* weighted time of a layer */
        for (int i = 0; i < c->options; i++) {
            const calc_layers_option *o = &c->option[i];
            least_s = o->layers[kind] ? fmin(least_s, calc_layers_least_s(c, &o->part[kind], 0, 0))
                                      : least_s;
        }
        unit[kind] = m->layers[kind] > 0 ? least_s : 0;
        work += m->layers[kind] * unit[kind];
    }
    water *stage = calc_make((size_t)stages, sizeof *stage);
    size_t room = 2 * (size_t)c->options;
    corner *all = calc_make((size_t)stages * room, sizeof *all);
    double high_s = 0;
    for (int i = 0; i < stages; i++) {
        stage[i].corner = all + (size_t)i * room;
        make(c, ends, i, unit, &stage[i]);
        high_s += stage[i].fixed_s + (stage[i].corners > 0 ? work * stage[i].corner[0].s : 0);
    }
    high_s = 2 * (c->micro_weight + stages) * high_s + f.after_s;
    double bound_s = least_step_s(c, &f, stage, work, high_s);
    free(stage);
    free(all);
    return bound_s;
}
