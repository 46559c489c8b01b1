#include "model/operator_stats.h"

#include <math.h>
#include <string.h>

#include "model/inference.h"

/* Rows under construction. */
typedef struct rows {
    const calc_cost_context *context;
    calc_state_bytes bytes;         /* of one number of each kind of state */
    double dense, expert;           /* replicas that share the optimizer's state */
    double dense_grad, expert_grad; /* and the gradients */
    calc_layer_stats *out;
    calc_operator_source *source; /* NULL: not wanted */
    size_t count, capacity;
    const char *name[CALC_MAX_LAYERS]; /* of the rows, also beyond the capacity */
} rows;

/* FLOP per byte; 0 for no arithmetic, infinite for arithmetic on nothing. */
static double intensity(double flop, double bytes)
{
    return flop == 0 ? 0 : flop / bytes;
}

/* Whether calc_cost_sum() counts a pass: vector operators have no weight pass of their own. */
static bool runs(const calc_cost_context *c, const calc_operator *o, calc_stage stage)
{
    bool wgrad = stage == CALC_STAGE_WGRAD;
    bool none = wgrad && o->kind != CALC_OPERATOR_COLLECTIVE &&
                (o->weights == 0 || o->kind == CALC_OPERATOR_VECTOR);
    return (stage == CALC_STAGE_FW || c->exec->training) && !none;
}

static double pass_s(const calc_cost_context *c, const calc_operator *o, calc_stage stage)
{
    return runs(c, o, stage) ? calc_cost_kernel_s(c, o, stage) : 0;
}

static void put_source(const calc_cost_context *c, const calc_operator *o,
                       calc_operator_source *out)
{
    calc_cost_context model = *c;
    model.measured = NULL;
    *out = (calc_operator_source){0};
    for (calc_stage stage = CALC_STAGE_FW; stage < CALC_STAGE_COUNT; stage++) {
        if (!runs(c, o, stage)) {
            continue;
        }
        if (o->kind == CALC_OPERATOR_COLLECTIVE) {
            out->model_s[stage] = calc_cost_link_s(&model, o, stage);
            out->time_s[stage] = calc_cost_link_from(c, o, stage, &out->source[stage]);
        } else {
            out->model_s[stage] = calc_cost_kernel_s(&model, o, stage);
            out->time_s[stage] = calc_cost_kernel_from(c, o, stage, &out->source[stage]);
        }
    }
}

static void put_kernel(const calc_cost_context *c, const calc_operator *o, calc_layer_stats *s)
{
    s->inputs_size = o->inputs;
    s->outputs_size = o->outputs;
    s->fw_flops = o->flop[CALC_STAGE_FW];
    s->fw_mem_accessed = o->bytes[CALC_STAGE_FW];
    s->fw_processing_time = pass_s(c, o, CALC_STAGE_FW);
    s->fw_arithmetic_intensity = intensity(s->fw_flops, s->fw_mem_accessed);
    if (!c->exec->training) {
        return;
    }
    s->agrad_flops = o->flop[CALC_STAGE_AGRAD];
    s->agrad_mem_accessed = o->bytes[CALC_STAGE_AGRAD];
    s->agrad_processing_time = pass_s(c, o, CALC_STAGE_AGRAD);
    s->wgrad_flops = o->flop[CALC_STAGE_WGRAD];
    s->wgrad_mem_accessed = o->bytes[CALC_STAGE_WGRAD];
    s->wgrad_processing_time = pass_s(c, o, CALC_STAGE_WGRAD);
    s->agrad_arithmetic_intensity = intensity(s->agrad_flops, s->agrad_mem_accessed);
    s->wgrad_arithmetic_intensity = intensity(s->wgrad_flops, s->wgrad_mem_accessed);
}

/* How many bytes a pass communicates; 0 for a pass without an operation. */
static double message_bytes(const calc_operator *o, calc_stage stage)
{
    bool none = o->kind != CALC_OPERATOR_COLLECTIVE || o->op[stage] == CALC_OP_NONE;
    return none ? 0 : calc_operator_message_bytes(o, stage) * o->times[stage];
}

/* Base and edge blocks communicate alike. What is exposed is known of all collectives of a group
 * together only. */
static void put_comm(const calc_cost_context *c, const calc_operator *o, unsigned recompute,
                     calc_layer_stats *s)
{
    bool training = c->exec->training;
    bool repeated = training && o->repeated_by & recompute;
    double fw_bytes = message_bytes(o, CALC_STAGE_FW);
    double fw_s = calc_cost_link_s(c, o, CALC_STAGE_FW);
    double bw_bytes =
        training ? message_bytes(o, CALC_STAGE_AGRAD) + message_bytes(o, CALC_STAGE_WGRAD) : 0;
    double bw_s = training ? calc_cost_link_s(c, o, CALC_STAGE_AGRAD) +
                                 calc_cost_link_s(c, o, CALC_STAGE_WGRAD)
                           : 0;
    double exposed_s = o->kind == CALC_OPERATOR_COLLECTIVE ? NAN : 0;
    s->baseblock_fw_tp_comm_size = s->edgeblock_fw_tp_comm_size = fw_bytes;
    s->baseblock_fw_tp_comm_time = s->edgeblock_fw_tp_comm_time = fw_s;
    s->baseblock_bw_tp_comm_size = s->edgeblock_bw_tp_comm_size = bw_bytes;
    s->baseblock_bw_tp_comm_time = s->edgeblock_bw_tp_comm_time = bw_s;
    s->baseblock_recomm_size = s->edgeblock_recomm_size = repeated ? fw_bytes : 0;
    s->baseblock_recomm_time = s->edgeblock_recomm_time = repeated ? fw_s : 0;
    s->baseblock_fw_tp_comm_time_exposed = s->edgeblock_fw_tp_comm_time_exposed = exposed_s;
    s->baseblock_bw_tp_comm_time_exposed = s->edgeblock_bw_tp_comm_time_exposed = exposed_s;
    s->baseblock_recomm_time_exposed = s->edgeblock_recomm_time_exposed = exposed_s;
}

static void put_space(const rows *r, const calc_operator *o, unsigned recompute,
                      calc_layer_stats *s)
{
    const calc_state_bytes *b = &r->bytes;
    s->weight = o->weights * b->weight;
    if (!r->context->exec->training) {
        return;
    }
    s->activation = o->dropped_by & recompute ? 0 : o->kept_bytes;
    s->weight_grad = o->weights * b->grad / (o->expert ? r->expert_grad : r->dense_grad);
    s->optimizer = o->weights * (b->master + 2 * b->moment) / (o->expert ? r->expert : r->dense);
    s->optim_flops = NAN;
    s->optim_mem_accessed = NAN;
    s->optim_arithmetic_intensity = NAN;
    s->optim_processing_time = NAN;
}

static bool is_listed(const rows *r, const char *name)
{
    for (size_t i = 0; i < r->count; i++) {
        if (strcmp(r->name[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* An operator that runs nothing says what the one before it keeps. */
static bool is_note(const calc_operator *o)
{
    return o->kind == CALC_OPERATOR_VECTOR && o->launches[CALC_STAGE_FW] == 0;
}

static void add(rows *r, const calc_operator *operators, size_t count, unsigned recompute)
{
    for (size_t i = 0; i < count; i++) {
        const calc_operator *o = &operators[i];
        if (is_listed(r, o->name) || is_note(o)) {
            continue;
        }
        if (r->count < r->capacity) {
            calc_layer_stats *s = &r->out[r->count];
            *s = (calc_layer_stats){.name = o->name};
            put_kernel(r->context, o, s);
            put_comm(r->context, o, recompute, s);
            put_space(r, o, recompute, s);
            if (r->source) {
                put_source(r->context, o, &r->source[r->count]);
            }
            if (i + 1 < count && is_note(o + 1) && r->context->exec->training) {
                s->activation += o[1].dropped_by & recompute ? 0 : o[1].kept_bytes;
            }
        }
        r->name[r->count++] = o->name;
    }
}

static rows start(const calc_cost_context *c, calc_layer_stats *out, size_t capacity)
{
    int64_t zero = calc_zero_stage(c->exec);
    double limit = c->exec->fsdp_par > 0 ? (double)c->exec->fsdp_par : INFINITY;
    double dense = fmin(c->groups.dense_data.ranks, limit);
    double expert = fmin(c->groups.expert_data.ranks, limit);
    bool grads = zero >= 2 || (zero >= 1 && c->exec->memory_model == CALC_MEMORY_MODEL_CALCULON);
    return (rows){.context = c,
                  .bytes = calc_state_bytes_of(c->exec, c->shape),
                  .dense = zero >= 1 ? dense : 1,
                  .expert = zero >= 1 ? expert : 1,
                  .dense_grad = grads ? dense : 1,
                  .expert_grad = grads ? expert : 1,
                  .out = out,
                  .capacity = capacity};
}

/* Of a pass of a layout that serves. */
static size_t served_stats(const calc_app *app, const calc_system *system, const calc_exec *exec,
                           calc_layer_stats *out, size_t capacity)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    calc_serving serving;
    calc_serving_of(app, system, exec, &serving);
    const calc_pass_model *m = &serving.model;
    const calc_pass_work *w = &serving.work;
    calc_shape shape = calc_pass_shape(m, w);
    calc_cost_context context = calc_cost_context_of(system, &m->exec, &shape);
    rows r = start(&context, out, capacity);
    double moe = calc_shape_moe_blocks(&shape);
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        if (kind == CALC_MOE_BLOCK ? moe > 0 : moe < shape.blocks) {
            add(&r, operators, calc_pass_block(m, &shape, w, kind, operators), 0);
        }
    }
    add(&r, operators, calc_transformer_embedding(&shape, &m->exec, operators), 0);
    add(&r, operators, calc_pass_head(m, &shape, w, operators), 0);
    if (shape.mtp_blocks > 0) {
        add(&r, operators, calc_transformer_mtp(&shape, &m->exec, operators), 0);
    }
    return r.count;
}

size_t calc_operator_stats(const calc_app *app, const calc_system *system, const calc_exec *exec,
                           calc_layer_stats *out, size_t capacity)
{
    return exec->inference.phase != CALC_INFERENCE_PHASE_NONE
               ? served_stats(app, system, exec, out, capacity)
               : calc_operator_stats_measured(app, system, exec, NULL, out, NULL, capacity);
}

size_t calc_operator_stats_measured(const calc_app *app, const calc_system *system,
                                    const calc_exec *exec, const calc_kernel_table *measured,
                                    calc_layer_stats *out, calc_operator_source *source,
                                    size_t capacity)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    calc_shape shape = calc_shape_of(app, exec);
    calc_cost_context context = calc_cost_context_of(system, exec, &shape);
    context.measured = measured;
    unsigned recompute = calc_transformer_recompute(exec);
    rows r = start(&context, out, capacity);
    r.source = source;
    double moe = calc_shape_moe_blocks(&shape);
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        if (kind == CALC_MOE_BLOCK ? moe > 0 : moe < shape.blocks) {
            size_t count = calc_transformer_block(&shape, system, exec, kind, operators);
            add(&r, operators, count, recompute);
        }
    }
    add(&r, operators, calc_transformer_embedding(&shape, exec, operators), 0);
    add(&r, operators, calc_transformer_head(&shape, exec, operators), 0);
    if (shape.mtp_blocks > 0) {
        add(&r, operators, calc_transformer_mtp(&shape, exec, operators), 0);
    }
    return r.count;
}
