#include "variants.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "model/operators/transformer.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/format.h"
#include "spec/rules.h"
#include "spec/schedule.h"
#include "spec/serving_engine.h"
#include "units.h"

/* ---- Spreads of experts ---------------------------------------------------------------------- */

/* Whether no layout of a space chooses networks for its groups of ranks. */
static bool placed(const calc_space *space)
{
    const calc_values *orders = &space->axis[CALC_AXIS_rank_order];
    bool fine = !orders->all && orders->count > 0;
    for (size_t i = 0; i < orders->count; i++) {
        fine = fine && orders->value[i] != CALC_RANK_ORDER_NETWORKS;
    }
    return fine;
}

/* Whether a value divides some number of processors. Where there are many it is taken to. */
static bool divides(const calc_space *space, int64_t value)
{
    enum { MANY = 64 };
    const calc_values *procs = &space->axis[CALC_AXIS_num_procs];
    bool found = procs->count == 0 || procs->count > MANY;
    for (size_t i = 0; i < procs->count && !found; i++) {
        found = procs->value[i] % value == 0;
    }
    return found;
}

/* Add a divisor of the experts, if the space has layouts with it. */
static void add_spread(calc_spreads *s, const calc_space *space, int64_t value)
{
    if (calc_space_has(space, CALC_AXIS_expert_par, value) && divides(space, value)) {
        if (s->count < CALC_SPREADS) {
            s->expert_par[s->count] = value;
        }
        s->count++;
    }
}

calc_spreads calc_spreads_of(const calc_space *space, const calc_app *app)
{
    calc_spreads s = {0};
    bool serves = space->inference.phase != CALC_INFERENCE_PHASE_NONE;
    int64_t experts = app->num_experts;
    int64_t v = 1;
    const calc_values *asked = &space->axis[CALC_AXIS_expert_par];
    bool zero = asked->count > 0 && asked->value[0] == 0; /* which stands for 1 */
    if (experts == 0 || serves || zero || !placed(space)) {
        return s;
    }
    for (; v * v < experts; v++) {
        if (experts % v == 0) {
            add_spread(&s, space, v);
        }
    }
    for (; v > 0; v--) {
        if (experts % v == 0 && v * v <= experts) {
            add_spread(&s, space, experts / v);
        }
    }
    s.count = s.count > 1 && s.count <= CALC_SPREADS ? s.count : 0;
    return s;
}

calc_spreads calc_spreads_in(const calc_space *space, const calc_app *app, const calc_exec *base)
{
    calc_spreads s = calc_spreads_of(space, app);
    if (s.count == 0) {
        s.count = 1;
        s.expert_par[0] = base->strategy.expert_par;
    }
    return s;
}

/* ---- Variants -------------------------------------------------------------------------------- */

CALC_FREES(calc_variants_free, calc_variants, of->item)

void calc_variant_put_stages(const calc_exec *from, calc_exec *to)
{
    to->pipeline_balance = from->pipeline_balance;
    to->first_stage_blocks = from->first_stage_blocks;
    to->last_stage_blocks = from->last_stage_blocks;
}

/* The next legal value above `value` of an optional axis without a list of choices: context_par,
 * powers of two up to CALC_MOST_CONTEXT_PAR; expert_par, divisors of the experts;
 * expert_tensor_par, 1 and tensor_par. 0 if there is none. */
static int64_t next_known(const calc_app *app, const calc_exec *e, calc_axis axis, int64_t value)
{
    int64_t seq = e->seq_size > 0 ? e->seq_size : app->seq_size;
    int64_t most = axis == CALC_AXIS_context_par  ? CALC_MOST_CONTEXT_PAR
                   : axis == CALC_AXIS_expert_par ? app->num_experts
                                                  : 1;
    int64_t divided = axis == CALC_AXIS_context_par ? seq : app->num_experts;
    if (value == 0) {
        return 1;
    }
    for (int64_t v = value + 1; v <= most; v++) {
        bool power = (v & (v - 1)) == 0;
        if (divided % v == 0 && (power || axis != CALC_AXIS_context_par)) {
            return v;
        }
    }
    return 0;
}

bool calc_variant_legal(const calc_app *app, const calc_system *system, const calc_exec *e)
{
    calc_exec trial = *e;
    calc_strategy *s = &trial.strategy;
    trial.inference = (calc_inference){0}; /* cells look after it */
    trial.pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
    trial.pipeline_par = trial.pipeline_interleaving = 1;
    s->tensor_par = calc_ranks_or_one(s->tensor_par);
    s->data_par = calc_ranks_or_one(s->expert_par) * calc_ranks_or_one(s->expert_tensor_par);
    s->zero_stage = s->fsdp_par = 0;
    trial.microbatch_size = s->tensor_par * calc_ranks_or_one(s->context_par);
    trial.num_procs = trial.batch_size = trial.microbatch_size * s->data_par;
    s->activation_recompute =
        s->recompute_modules ? CALC_ACTIVATION_RECOMPUTE_MODULES : CALC_ACTIVATION_RECOMPUTE_NONE;
    s->tensor_par_comm_type =
        s->tensor_par > 1 ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG : CALC_TENSOR_PAR_COMM_TYPE_AR;
    if (s->dispatch_type == CALC_DISPATCH_TYPE_REPLICATED) {
        s->dispatch_type = CALC_DISPATCH_TYPE_ALL_TO_ALL;
    }
    calc_errors errors; /* large: not cleared */
    errors.count = errors.dropped = 0;
    (void)!calc_check(app, system, &trial, &errors);
    int64_t experts = app->num_experts + e->inference.redundant_experts;
    bool fine = errors.dropped == 0 && experts % calc_ranks_or_one(s->expert_par) == 0;
    for (int i = 0; i < errors.count; i++) {
        fine = fine && errors.item[i].kind != CALC_KIND_EXEC;
    }
    return fine;
}

/* Whether a variant is listed: it is legal, and Calculon's list of layers can describe it where a
 * rule asks for that. */
static bool legal(const calc_app *app, const calc_system *system, const calc_exec *e,
                  calc_compat compat)
{
    calc_strategy known = e->strategy;
    if (known.recompute_modules) {
        known.activation_recompute = CALC_ACTIVATION_RECOMPUTE_MODULES;
    }
    bool lacks = calc_compat_has(compat, CALC_COMPAT_LAYERS) && calc_calculon_lacks(app, &known);
    bool trains = e->training && e->inference.phase != CALC_INFERENCE_PHASE_NONE;
    return !lacks && !trains && calc_variant_legal(app, system, e);
}

/* Whether a space asks for an attention type. Every one stands for the one of a model that says how
 * many keys and values it has, and otherwise for those of Calculon if somebody asks for them: they
 * are different models. */
static bool wants(const calc_space *space, const calc_app *app, calc_attention_type type)
{
    if (!space->axis[CALC_AXIS_attention_type].all) {
        return calc_space_has(space, CALC_AXIS_attention_type, (int64_t)type);
    }
    if (app->kv_lora_rank > 0) {
        return type == CALC_ATTENTION_TYPE_MULTI_LATENT;
    }
    if (app->kv_heads > 0) {
        return type == CALC_ATTENTION_TYPE_GROUPED_QUERY;
    }
    return space->axis[CALC_AXIS_attention_type].standard ? type == CALC_ATTENTION_TYPE_MULTIHEAD
                                                          : type <= CALC_ATTENTION_TYPE_MULTIQUERY;
}

/* Places of the order in which axes are varied: every axis has two, and the fields of stages are
 * varied in the second, so that variants with the same rows are neighbours. */
enum { PLACES = 2 * CALC_AXIS_EXEC_COUNT };

/* Optional fields but those that rows, cells and lanes vary; rows do not ask which blocks a stage
 * has. @param spreads  rows spread experts */
static bool varies_at(int place, bool spreads)
{
    calc_axis axis = (calc_axis)(place % CALC_AXIS_EXEC_COUNT);
    bool of_stages = axis == CALC_AXIS_pipeline_balance || axis == CALC_AXIS_first_stage_blocks ||
                     axis == CALC_AXIS_last_stage_blocks;
    bool later = axis == CALC_AXIS_zero_stage || axis == CALC_AXIS_pipeline_par_overlap ||
                 axis == CALC_AXIS_param_gather_overlap ||
                 (axis == CALC_AXIS_expert_par && spreads);
    return calc_axis_is_optional(axis) && !later && of_stages == (place >= CALC_AXIS_EXEC_COUNT);
}

/* What is listed. */
typedef struct listing {
    const calc_space *space;
    const calc_app *app;
    const calc_system *system;
    calc_compat compat;
    calc_spreads spreads;
} listing;

/* Every combination of the values of the axes from `place` on.
 * @param first  calc_variant.first, once no other axis is left */
static bool list_from(calc_variants *v, const listing *l, int place, size_t first, calc_exec *exec)
{
    first = place <= CALC_AXIS_EXEC_COUNT ? v->count : first;
    while (place < PLACES && !varies_at(place, l->spreads.count > 0)) {
        place++;
    }
    if (place == PLACES) {
        const calc_variant variant = {*exec, first, 0};
        return !legal(l->app, l->system, exec, l->compat) ||
               CALC_PUSH(v->item, v->count, v->capacity, &variant);
    }
    calc_axis axis = (calc_axis)(place % CALC_AXIS_EXEC_COUNT);
    const calc_values *values = &l->space->axis[axis];
    bool fine = true;
    for (size_t i = 0; i < values->count && fine; i++) {
        calc_axis_put(exec, axis, values->value[i]);
        fine = list_from(v, l, place + 1, first, exec);
    }
    int64_t known = values->all ? next_known(l->app, exec, axis, 0) : 0;
    while (known > 0 && fine) {
        calc_axis_put(exec, axis, known);
        fine = list_from(v, l, place + 1, first, exec);
        known = next_known(l->app, exec, axis, known);
    }
    return fine;
}

size_t calc_served_count(const calc_space *space)
{
    size_t count = 1;
    for (int axis = CALC_AXIS_EXEC_COUNT; axis < CALC_AXIS_COUNT; axis++) {
        count *= space->axis[axis].count > 0 ? space->axis[axis].count : 1;
    }
    return count;
}

/* A size that has no effect is 0, whatever its values. @return whether it was the first of them */
static bool leave_out(const calc_values *values, int64_t *size)
{
    bool first = values->count == 0 || *size == values->value[0];
    *size = 0;
    return first;
}

bool calc_served_at(const calc_space *space, size_t index, calc_inference *out)
{
    const calc_values *v = space->axis;
    *out = space->inference;
    for (int axis = CALC_AXIS_COUNT; axis-- > CALC_AXIS_EXEC_COUNT;) { /* the last varies fastest */
        if (v[axis].count > 0) {
            const calc_field *field = calc_axis_field((calc_axis)axis);
            calc_axis_member_put(field, (char *)out + field->offset,
                                 v[axis].value[index % v[axis].count]);
            index /= v[axis].count;
        }
    }
    if (v[CALC_AXIS_inference_phase].count <= 1) {
        return true;
    }
    if (out->phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        return !v[CALC_AXIS_inference_chunk_size].standard ||
               leave_out(&v[CALC_AXIS_inference_chunk_size], &out->chunk_size);
    }
    out->prefill_system = (calc_other_system){{0}, NULL};
    bool listed = out->phase != CALC_INFERENCE_PHASE_DECODE ||
                  leave_out(&v[CALC_AXIS_inference_chunk_size], &out->chunk_size);
    listed &= leave_out(&v[CALC_AXIS_inference_prefill_procs], &out->prefill_procs);
    listed &= leave_out(&v[CALC_AXIS_inference_prefill_tensor_par], &out->prefill_tensor_par);
    return leave_out(&v[CALC_AXIS_inference_prefill_expert_par], &out->prefill_expert_par) &&
           listed;
}

/* Those of a datatype and an attention type. @param e  with nothing else */
static bool list_modes(calc_variants *v, const listing *l, calc_exec *e)
{
    size_t served = calc_served_count(l->space);
    bool fine = true;
    if (l->spreads.count > 0) {
        e->strategy.expert_par = l->spreads.expert_par[0];
    }
    for (int training = 0; training < 2; training++) {
        e->training = training != 0;
        for (size_t i = 0;
             i < served && fine && calc_space_has(l->space, CALC_AXIS_training, training); i++) {
            size_t before = v->count;
            if (calc_served_at(l->space, i, &e->inference)) {
                fine = list_from(v, l, 0, 0, e);
            }
            for (size_t n = before; n < v->count; n++) {
                v->item[n].served = i;
                calc_checkpoint_formats_take(l->app, l->system, &v->item[n].exec);
            }
        }
    }
    return fine;
}

calc_status calc_variants_list(calc_variants *v, const calc_space *space, const calc_app *app,
                               const calc_system *system, calc_compat compat)
{
    const listing all = {space, app, system, compat, calc_spreads_of(space, app)};
    const calc_values *datatypes = &space->axis[CALC_AXIS_datatype];
    bool fine = true;
    v->count = 0;
    for (int d = 0; d < CALC_DATATYPE_COUNT; d++) {
        bool has = system->chip.matrix[d].flop_per_s > 0 && system->chip.vector[d].flop_per_s > 0;
        bool wanted = datatypes->all ? d == (int)calc_units_datatype(system)
                                     : calc_space_has(space, CALC_AXIS_datatype, d);
        for (int type = 0; type < CALC_ATTENTION_TYPE_COUNT && has && wanted && fine; type++) {
            calc_exec e;
            calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &e);
            e.strategy.datatype = (calc_datatype)d;
            e.strategy.attention_type = (calc_attention_type)type;
            if (wants(space, app, (calc_attention_type)type)) {
                fine = list_modes(v, &all, &e);
            }
        }
    }
    return fine ? CALC_OK : CALC_ERR_NOMEM;
}

/* Whether it never is idle: the sizes of a cell. */
static bool is_size(calc_axis axis)
{
    return axis == CALC_AXIS_num_procs || axis == CALC_AXIS_pipeline_par ||
           axis == CALC_AXIS_data_par || axis == CALC_AXIS_batch_size ||
           axis == CALC_AXIS_first_stage_blocks || axis == CALC_AXIS_last_stage_blocks;
}

/* Tiles and lanes look after pipeline_par_overlap. */
calc_legal_axes calc_legal_axes_of(const calc_space *space)
{
    calc_legal_axes axes = {0};
    for (int i = 0; i < CALC_AXIS_EXEC_COUNT; i++) {
        calc_axis axis = (calc_axis)i;
        bool asked = space->axis[axis].count > 1 && axis != CALC_AXIS_pipeline_par_overlap;
        if (asked && !is_size(axis)) {
            axes.axis[axes.count++] = axis;
        }
    }
    return axes;
}

calc_legal_axes calc_legal_axes_in(const calc_legal_axes *axes, const calc_space *space,
                                   const calc_exec *base)
{
    calc_legal_axes left;
    left.count = 0;
    for (size_t i = 0; i < axes->count; i++) {
        calc_axis axis = axes->axis[i];
        /* Cells of a unit differ in the balance. */
        if (axis == CALC_AXIS_pipeline_balance ||
            calc_axis_get(base, axis) != space->axis[axis].value[0]) {
            left.axis[left.count++] = axis;
        }
    }
    return left;
}

/* Whether fields that change nothing have the first of their values, which stands for all. */
static bool first_of_idle(const calc_space *space, const calc_legal_axes *axes, const calc_app *app,
                          int64_t expert_par, calc_exec *exec)
{
    const int64_t own = exec->strategy.expert_par;
    const calc_tensor_par_overlap overlap = exec->strategy.tensor_par_overlap;
    bool first = true;
    exec->strategy.expert_par = expert_par;
    /* Rows choose the overlap; with tiles, the most depends on others. */
    if (calc_space_has(space, CALC_AXIS_tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_RING) ||
        calc_space_has(space, CALC_AXIS_tensor_par_overlap, CALC_TENSOR_PAR_OVERLAP_PIPE)) {
        exec->strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_RING;
    }
    for (size_t i = 0; i < axes->count && first; i++) {
        calc_axis axis = axes->axis[i];
        first = calc_axis_get(exec, axis) == space->axis[axis].value[0] ||
                !calc_idle(app, exec, calc_axis_field(axis));
    }
    exec->strategy.expert_par = own;
    exec->strategy.tensor_par_overlap = overlap;
    return first;
}

/* Whether the sizes of a cell go with the schedule, with sharding, and with what is trained. */
static bool stages_legal(const calc_exec *e)
{
    const calc_schedule_traits t = calc_schedule_traits_of(e->pipeline_schedule);
    int64_t microbatches = calc_microbatches(e);
    bool paired = e->pipeline_par % t.even == 0 && microbatches % t.even == 0 &&
                  microbatches >= t.least * e->pipeline_par;
    bool shards = e->strategy.fsdp_par <= 0 || e->num_procs % e->strategy.fsdp_par == 0;
    bool whole = e->pipeline_par <= 1 || !e->training || e->strategy.trained_blocks == 0;
    return paired && shards && whole;
}

/* Whether the sizes of a cell are compatible with the requests served. */
static bool served_legal(const calc_space *space, const calc_app *app, const calc_exec *exec)
{
    if (exec->inference.phase == CALC_INFERENCE_PHASE_NONE) {
        return true;
    }
    bool found = space->all_procs.count == 0; /* two pools have as many processors as there are */
    for (size_t i = 0; i < space->all_procs.count && !found; i++) {
        found = space->all_procs.value[i] == exec->num_procs + exec->inference.prefill_procs;
    }
    if (!found) {
        return false;
    }
    calc_exec e = *exec;
    calc_errors errors; /* large: not cleared */
    errors.count = errors.dropped = 0;
    e.strategy.tensor_par_comm_type = /* rows look after it */
        e.strategy.dispatch_type == CALC_DISPATCH_TYPE_REPLICATED ? CALC_TENSOR_PAR_COMM_TYPE_AR
                                                                  : CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    calc_rules_served(app, &e, &errors);
    calc_rules_inference(app, &e, &errors);
    return errors.count == 0 && !calc_serving_engine_refuses(app, exec);
}

bool calc_legal_cell(const calc_space *space, const calc_legal_axes *axes, const calc_app *app,
                     const calc_spreads *spreads, calc_exec *exec, bool *legal)
{
    bool any = false;
    bool fine = stages_legal(exec) && served_legal(space, app, exec);
    bool known[2] = {false}; /* whether fields are idle depends on several ranks of experts, */
    bool first[2] = {false}; /* and not on their number */
    for (size_t i = 0; i < spreads->count; i++) {
        bool split = spreads->expert_par[i] > 1;
        int64_t experts = calc_ranks_or_one(spreads->expert_par[i]) *
                          calc_ranks_or_one(exec->strategy.expert_tensor_par);
        legal[i] = fine && exec->num_procs / exec->pipeline_par % experts == 0;
        if (legal[i] && !known[split]) {
            first[split] = first_of_idle(space, axes, app, spreads->expert_par[i], exec);
            known[split] = true;
        }
        legal[i] = legal[i] && first[split];
        any = any || legal[i];
    }
    return any;
}

bool calc_legal_by_batch(const calc_exec *e)
{
    return e->pipeline_schedule != CALC_PIPELINE_SCHEDULE_1F1B || e->inference.requests > 0;
}
