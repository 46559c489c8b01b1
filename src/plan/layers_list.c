#include "plan/layers_list.h"

#include <math.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "model/operators/processor.h"
#include "parallel.h"
#include "spec/layer_list.h"
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
    bool failed; /* without memory */
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

static uint64_t key_of(const maker *m, const calc_exec *e)
{
    int64_t value = calc_layer_list_sequences(e);
    uint64_t hash = calc_hash(CALC_HASH_START, &value, sizeof value);
    for (size_t i = 0; i < m->keys; i++) {
        value = calc_axis_get(e, m->key[i]);
        hash = calc_hash(hash, &value, sizeof value);
    }
    return hash;
}

/* ---- Candidates ------------------------------------------------------------------------------ */

static calc_layers_candidate *candidate_of(maker *m, const calc_exec *e)
{
    calc_layers_list *l = m->out;
    uint64_t key = key_of(m, e);
    for (size_t i = l->count; i > 0; i--) { /* neighbours are alike */
        if (l->candidate[i - 1].key == key) {
            return &l->candidate[i - 1];
        }
    }
    calc_layers_candidate *grown = calc_grown(l->candidate, l->count, &l->room, sizeof *grown);
    if (!grown) {
        return NULL;
    }
    l->candidate = grown;
    grown[l->count] = (calc_layers_candidate){.key = key, .uniform_s = INFINITY};
    return &grown[l->count++];
}

static int64_t size_of(int64_t par)
{
    return par > 1 ? par : 1;
}

calc_layer_strategy calc_layers_strategy_of(const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    int64_t zero = s->zero_stage > 0 ? s->zero_stage : s->optimizer_sharding;
    return (calc_layer_strategy){
        .tensor_par = (int16_t)s->tensor_par,
        .context_par = (int16_t)size_of(s->context_par),
        .expert_par = (int16_t)size_of(s->expert_par),
        .context_par_type = s->context_par > 1 ? (int8_t)s->context_par_type : 0,
        .zero_stage = (int8_t)zero,
        .recompute = (int8_t)s->activation_recompute,
        .modules = (uint16_t)s->recompute_modules,
    };
}

static bool add_strategy(calc_layers_candidate *c, const calc_layer_strategy *s)
{
    for (size_t i = 0; i < c->strategies; i++) {
        if (calc_layer_list_alike(&c->strategy[i], s)) {
            return true;
        }
    }
    calc_layer_strategy *grown =
        calc_grown(c->strategy, c->strategies, &c->strategy_room, sizeof *grown);
    if (grown) {
        c->strategy = grown;
        grown[c->strategies++] = *s;
    }
    return grown != NULL;
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
    for (size_t i = 0; i < m->count && !m->failed; i++) {
        const calc_exec *e = &m->exec[i];
        calc_layers_candidate *c = candidate_of(m, e);
        const calc_layer_strategy strategy = calc_layers_strategy_of(e);
        m->failed = !c || !add_strategy(c, &strategy);
        if (!m->failed) {
            take_base(c, e);
            take_uniform(m->out, c, &m->planner->chip[0].system, e, &m->stats[i]);
        }
    }
    m->out->layouts += m->count;
    m->count = 0;
}

/* calc_worker_visit: all layouts of a row that networks connect. */
static void visit_row(void *context, const calc_worker_place *place)
{
    maker *m = context;
    for (uint64_t i = place->first; i < place->worker->counts.total && !m->failed; i++) {
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
               .exec = malloc(BATCH * sizeof *m.exec),
               .stats = malloc(BATCH * sizeof *m.stats)};
    calc_status status = CALC_ERR_NOMEM;
    if (m.exec && m.stats) {
        calc_sweep_counts counts;
        /* Other axes distinguish candidates if somebody gave them several values. */
        for (int axis = 0; axis < CALC_AXIS_EXEC_COUNT; axis++) {
            const calc_values *v = &planner->space->axis[axis];
            if (!is_of_layers((calc_axis)axis) && !v->last && (v->all || v->count > 1)) {
                m.key[m.keys++] = (calc_axis)axis;
            }
        }
        status = calc_units_walk(planner->space, &planner->design, CALC_COMPAT_NONE, visit_row, &m,
                                 &counts);
        flush(&m);
    }
    free(m.exec);
    free(m.stats);
    return status == CALC_OK && m.failed ? CALC_ERR_NOMEM : status;
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

calc_layers_common calc_layers_common_of(const calc_layout *l)
{
    const calc_stage_terms *t = &l->terms;
    const calc_shape *shape = &l->shape;
    bool turns = calc_shape_alternating(shape) > 0;
    int moe = turns ? (int)shape->blocks : (int)calc_shape_moe_blocks(shape);
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
        .held_bytes = t->used_share * (t->held_bytes * held + t->owned_bytes * owned),
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

void calc_layers_option_of(const calc_layout *l, calc_layers_option *out)
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
