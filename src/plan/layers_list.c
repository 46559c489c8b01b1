#include "plan/layers_list.h"

#include <math.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "parallel.h"
#include "spec/layer_list.h"
#include "units.h"
#include "worker.h"

enum { BATCH = 512 /* layouts evaluated at a time */ };

/* A list under construction. */
typedef struct maker {
    const calc_planner_layers *planner;
    calc_layers_list *out;
    calc_axis key[CALC_AXIS_COUNT]; /* fields in which candidates differ */
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

/* Other axes distinguish candidates if somebody gave them several values. */
static void set_keys(maker *m)
{
    for (int axis = 0; axis < CALC_AXIS_COUNT; axis++) {
        const calc_values *v = &m->planner->space->axis[axis];
        if (!is_of_layers((calc_axis)axis) && !v->last && (v->all || v->count > 1)) {
            m->key[m->keys++] = (calc_axis)axis;
        }
    }
}

static uint64_t mixed(uint64_t hash, int64_t value)
{
    hash ^= (uint64_t)value;
    hash *= 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 29);
}

static uint64_t key_of(const maker *m, const calc_exec *e)
{
    uint64_t hash = mixed(0, calc_layer_list_sequences(e));
    for (size_t i = 0; i < m->keys; i++) {
        hash = mixed(hash, calc_axis_get(e, m->key[i]));
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
    bool both_ends = e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_ZB_V ||
                     e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE ||
                     e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
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
    calc_run(m->planner->app, m->planner->system, &m->exec[i], CALC_COMPAT_NONE, &m->stats[i]);
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
            take_uniform(m->out, c, m->planner->system, e, &m->stats[i]);
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

calc_status calc_layers_list_make(const calc_planner_layers *planner, calc_layers_list *list)
{
    *list = (calc_layers_list){.count = 0};
    maker m = {.planner = planner,
               .out = list,
               .exec = malloc(BATCH * sizeof *m.exec),
               .stats = malloc(BATCH * sizeof *m.stats)};
    calc_status status = CALC_ERR_NOMEM;
    if (m.exec && m.stats) {
        calc_sweep_counts counts;
        set_keys(&m);
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
