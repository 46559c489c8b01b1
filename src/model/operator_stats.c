#include "model/operator_stats.h"

#include <math.h>
#include <string.h>

#include "model/cost/block.h"
#include "model/cost/cost_kernel.h"
#include "model/cost/cost_times.h"
#include "model/cost/optimizer.h"
#include "model/serve/inference.h"
#include "model/stages/measured_block.h"

/* Rows under construction. */
typedef struct rows {
    const calc_cost_context *context;
    calc_state_bytes bytes;         /* of one number of each kind of state */
    double dense, expert;           /* replicas that share the optimizer's state */
    double dense_grad, expert_grad; /* and the gradients */
    calc_layer_stats *out;
    calc_operator_source *source; /* NULL: not wanted */
    bool whole;                   /* a measured block has the time of the operators added */
    size_t count, capacity;
    /* of the rows, also beyond the capacity: name, and that of the part it belongs to */
    const char *name[CALC_MAX_LAYERS], *part[CALC_MAX_LAYERS];
} rows;

/* FLOP per byte; 0 for no arithmetic, infinite for arithmetic on nothing. */
static double intensity(double flop, double bytes)
{
    return flop == 0 ? 0 : flop / bytes;
}

static bool runs(const calc_cost_context *c, const calc_operator *o, calc_pass pass)
{
    return (pass == CALC_PASS_FW || c->training) && calc_operator_runs(o, pass);
}

/* A pass over a kernel, slowed down by communication in tiles beside it; collectives have none. */
static double pass_s(const calc_cost_context *c, const calc_operator *o, const calc_operator *tiles,
                     unsigned recompute, calc_pass pass)
{
    if (!runs(c, o, pass) || o->kind == CALC_OPERATOR_COLLECTIVE) {
        return 0;
    }
    bool beside =
        tiles && (pass != CALC_PASS_WGRAD || !tiles->repeats || tiles->repeated_by & recompute);
    return beside ? calc_cost_tiles_of(c, o, pass, calc_cost_link_s(c, tiles, pass, false)).time_s
                  : calc_cost_kernel_s(c, o, pass);
}

static void put_source(const calc_cost_context *c, const calc_operator *o,
                       calc_operator_source *out)
{
    calc_cost_context model = *c;
    model.measured = NULL;
    *out = (calc_operator_source){0};
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        if (!runs(c, o, pass)) {
            continue;
        }
        if (o->kind == CALC_OPERATOR_COLLECTIVE) {
            out->model_s[pass] = calc_cost_link_s(&model, o, pass, false);
            out->time_s[pass] = calc_cost_link_from(c, o, pass, &out->source[pass]);
        } else {
            out->model_s[pass] = calc_cost_kernel_s(&model, o, pass);
            out->time_s[pass] = calc_cost_kernel_from(c, o, pass, &out->source[pass]);
        }
    }
}

static void put_kernel(const calc_cost_context *c, const calc_operator *o,
                       const calc_operator *tiles, unsigned recompute, calc_layer_stats *s)
{
    s->inputs_size = o->inputs;
    s->outputs_size = o->outputs;
    s->fw_flops = o->flop[CALC_PASS_FW];
    s->fw_mem_accessed = o->bytes[CALC_PASS_FW];
    s->fw_processing_time = pass_s(c, o, tiles, recompute, CALC_PASS_FW);
    s->fw_arithmetic_intensity = intensity(s->fw_flops, s->fw_mem_accessed);
    if (!c->training) {
        return;
    }
    s->agrad_flops = o->flop[CALC_PASS_AGRAD];
    s->agrad_mem_accessed = o->bytes[CALC_PASS_AGRAD];
    s->agrad_processing_time = pass_s(c, o, tiles, recompute, CALC_PASS_AGRAD);
    s->wgrad_flops = o->flop[CALC_PASS_WGRAD];
    s->wgrad_mem_accessed = o->bytes[CALC_PASS_WGRAD];
    s->wgrad_processing_time = pass_s(c, o, tiles, recompute, CALC_PASS_WGRAD);
    s->agrad_arithmetic_intensity = intensity(s->agrad_flops, s->agrad_mem_accessed);
    s->wgrad_arithmetic_intensity = intensity(s->wgrad_flops, s->wgrad_mem_accessed);
}

/* Communication of a collective, or in tiles beside `matrix`; the exposed time of single operators
 * is known for tensor parallelism only. */
static void put_comm(const calc_cost_context *c, const calc_operator *o,
                     const calc_operator *matrix, unsigned recompute, calc_layer_stats *s)
{
    calc_cost_comm base = calc_cost_passes_of(c, o, recompute, false);
    calc_cost_comm edge = calc_cost_passes_of(c, o, recompute, true);
    double known = o->group == CALC_IN_TENSOR ? 1 : NAN;
    double tiles = matrix ? c->shape->tensor_par : 1;
    double re_exposed_s = base.re_exposed_s;
    if (matrix && o->repeats && o->repeated_by & recompute) {
        re_exposed_s = calc_cost_tiles_of(c, matrix, CALC_PASS_WGRAD, base.re_link_s).exposed_s;
    }
#define PUT(block, x)                                                                              \
    s->block##_fw_tp_comm_tile = (x).fw_bytes / tiles;                                             \
    s->block##_fw_tp_comm_size = (x).fw_bytes;                                                     \
    s->block##_fw_tp_comm_time = (x).fw_link_s;                                                    \
    s->block##_fw_tp_comm_time_exposed = known * (x).fw_exposed_s;                                 \
    s->block##_bw_tp_comm_tile = (x).bw_bytes / tiles;                                             \
    s->block##_bw_tp_comm_size = (x).bw_bytes;                                                     \
    s->block##_bw_tp_comm_time = (x).bw_link_s;                                                    \
    s->block##_bw_tp_comm_time_exposed = known * (x).bw_exposed_s;                                 \
    s->block##_recomm_tile = (x).re_bytes / tiles;                                                 \
    s->block##_recomm_size = (x).re_bytes;                                                         \
    s->block##_recomm_time = (x).re_link_s
    PUT(baseblock, base);
    PUT(edgeblock, edge);
#undef PUT
    s->baseblock_recomm_time_exposed = known * re_exposed_s;
    s->edgeblock_recomm_time_exposed = known * (matrix ? re_exposed_s : edge.re_exposed_s);
}

static void put_space(const rows *r, const calc_operator *o, unsigned recompute,
                      calc_layer_stats *s)
{
    const calc_state_bytes *b = &r->bytes;
    const calc_cost_context *c = r->context;
    bool listed = calc_compat_has(c->compat, CALC_COMPAT_LAYERS);
    double narrowed = calc_operator_narrowed(o) ? b->narrowed : 0;
    s->weight = o->weights * (b->weight + narrowed) + o->frozen_bytes;
    if (!c->training) {
        return;
    }
    s->activation = o->dropped_by & recompute && !listed ? 0 : o->kept_bytes;
    s->activation += recompute & CALC_RECOMPUTE_OP ? o->saved_bytes : 0;
    s->activation_grad = listed ? o->grad_bytes : (double)NAN;
    s->weight_grad = o->weights * b->grad / (o->expert ? r->expert_grad : r->dense_grad);
    s->optimizer = o->weights * calc_state_optimizer_bytes(b) / (o->expert ? r->expert : r->dense);
    s->optim_flops = NAN;
    s->optim_mem_accessed = NAN;
    s->optim_arithmetic_intensity = NAN;
    s->optim_processing_time = NAN;
    if (calc_compat_has(c->compat, CALC_COMPAT_OPTIMIZER_ROOFLINE)) {
        calc_optimizer_step step =
            calc_optimizer_layer(c, calc_state_optimizer_bytes(b), o->weights, r->dense);
        s->optim_flops = step.flop;
        s->optim_mem_accessed = step.bytes;
        s->optim_arithmetic_intensity = intensity(step.flop, step.bytes);
        s->optim_processing_time = step.step_s;
    }
}

/* Count an operator that is listed already once more. @return whether it is */
static bool is_listed(rows *r, const calc_operator *o, double runs)
{
    for (size_t i = 0; i < r->count; i++) {
        if (strcmp(r->name[i], o->name) == 0 && r->part[i] == o->part) {
            if (i < r->capacity) {
                r->out[i].runs += runs;
            }
            return true;
        }
    }
    return false;
}

/* An operator that runs nothing has the activations that the one before it keeps. */
static bool is_note(const calc_operator *o)
{
    return o->kind == CALC_OPERATOR_VECTOR && o->launches[CALC_PASS_FW] == 0;
}

/* @param runs  how often the model runs them */
static void add(rows *r, const calc_operator *operators, size_t count, unsigned recompute,
                double runs)
{
    const calc_cost_context *c = r->context;
    bool listed = calc_compat_has(c->compat, CALC_COMPAT_LAYERS);
    for (size_t i = 0; i < count; i++) {
        const calc_operator *o = &operators[i];
        double times = runs * calc_operator_share(o);
        if (!o->name || is_note(o) || (!listed && is_listed(r, o, times))) {
            continue;
        }
        if (r->count < r->capacity) {
            calc_layer_stats *s = &r->out[r->count];
            *s = (calc_layer_stats){.name = o->name, .runs = times};
            const calc_operator *tiles = calc_cost_tiles_beside(c, operators, count, i);
            bool inside = tiles && !tiles->name;
            put_kernel(c, o, tiles, recompute, s);
            if (inside || o->kind == CALC_OPERATOR_COLLECTIVE) {
                put_comm(c, inside ? tiles : o, inside ? o : NULL, recompute, s);
            }
            put_space(r, o, recompute, s);
            if (r->source && r->whole) {
                r->source[r->count] = (calc_operator_source){0};
            } else if (r->source) {
                put_source(r->context, o, &r->source[r->count]);
            }
            if (i + 1 < count && is_note(o + 1) && r->context->training) {
                s->activation += o[1].dropped_by & recompute ? 0 : o[1].kept_bytes;
            }
        }
        r->part[r->count] = o->part;
        r->name[r->count++] = o->name;
    }
}

static rows start(const calc_cost_context *c, calc_layer_stats *out, size_t capacity)
{
    int64_t zero = calc_zero_stage(c->strategy);
    double limit = c->strategy->fsdp_par > 0 ? (double)c->strategy->fsdp_par : INFINITY;
    double dense = fmin(c->groups.dense_data.ranks, limit);
    double expert = fmin(c->groups.expert_data.ranks, limit);
    bool grads =
        zero >= 2 || (zero >= 1 && c->strategy->memory_model == CALC_MEMORY_MODEL_CALCULON);
    return (rows){.context = c,
                  .bytes = calc_state_bytes_of(c->strategy, c->shape, c->chip, c->training),
                  .dense = zero >= 1 ? dense : 1,
                  .expert = zero >= 1 ? expert : 1,
                  .dense_grad = grads ? dense : 1,
                  .expert_grad = grads ? expert : 1,
                  .out = out,
                  .capacity = capacity};
}

/* Blocks of a kind in the whole model. */
static double blocks_of(const calc_shape *s, calc_block_kind kind)
{
    double moe = s->moe_blocks;
    return kind == CALC_MOE_BLOCK ? moe : s->blocks - moe;
}

/* Of a pass of a layout that serves. */
static size_t served_stats(const calc_app *app, const calc_system *system, const calc_exec *exec,
                           calc_layer_stats *out, size_t capacity)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    calc_serving serving;
    calc_serving_of(app, system, exec, &serving);
    const calc_inference_pass_model *m = &serving.model;
    const calc_inference_pass_work *w = &serving.work;
    calc_shape shape = calc_inference_pass_shape(m, w);
    calc_cost_context context = calc_inference_pass_context(m, &shape);
    rows r = start(&context, out, capacity);
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        double blocks = blocks_of(&shape, kind);
        if (blocks > 0) {
            size_t count = calc_inference_pass_block(m, &context, w, kind, operators);
            add(&r, operators, count, 0, blocks);
        }
    }
    add(&r, operators, calc_transformer_embedding(&shape, &m->exec->strategy, operators), 0, 1);
    add(&r, operators, calc_inference_pass_head(m, &shape, w, operators), 0, 1);
    if (shape.mtp_blocks > 0) {
        add(&r, operators, calc_transformer_mtp(&shape, &m->exec->strategy, operators), 0,
            w->drafts);
    }
    return r.count;
}

size_t calc_layers(const calc_app *app, const calc_system *system, const calc_exec *exec,
                   calc_compat compat, calc_layer_stats *out, size_t capacity)
{
    return exec->inference.phase != CALC_INFERENCE_PHASE_NONE
               ? served_stats(app, system, exec, out, capacity)
               : calc_operator_stats_measured(app, system, exec, compat, NULL, out, NULL, capacity);
}

size_t calc_operator_stats_measured(const calc_app *app, const calc_system *system,
                                    const calc_exec *exec, calc_compat compat,
                                    const calc_kernel_table *measured, calc_layer_stats *out,
                                    calc_operator_source *source, size_t capacity)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    calc_exec e = *exec;
    /* Calculon's rows have all passes, whatever is run. */
    e.training = e.training || calc_compat_has(compat, CALC_COMPAT_LAYERS);
    calc_shape shape = calc_shape_of(app, &e.strategy, e.microbatch_size, e.seq_size);
    calc_cost_context context = calc_cost_context_of(system, &e, &shape, compat);
    context.measured = measured;
    unsigned recompute = calc_operator_recompute(&e.strategy, e.training);
    rows r = start(&context, out, capacity);
    r.source = source;
    double depth = shape.mtp_blocks; /* each a block of the last kind and a head of its own */
    calc_block_kind last = shape.experts > 0 ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        double blocks = blocks_of(&shape, kind);
        if (blocks > 0) {
            size_t count = calc_block_operators(&context, kind, operators);
            r.whole = last == CALC_DENSE_BLOCK && calc_measured_block_of(&context).measured;
            add(&r, operators, count, recompute,
                blocks + (kind == last && !calc_shape_lists_mtp(&shape) ? depth : 0));
        }
    }
    r.whole = false;
    add(&r, operators, calc_block_embedding(&context, operators), 0, 1);
    add(&r, operators, calc_block_head(&context, operators), 0, 1 + depth);
    if (depth > 0) {
        add(&r, operators, calc_block_mtp(&context, true, operators), 0, depth);
    }
    return r.count;
}
