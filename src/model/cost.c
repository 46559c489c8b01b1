#include "model/cost.h"

#include <math.h>

#include "model/kernel_lookup.h"
#include "model/processor.h"
#include "spec/format.h"

/* What the documentation of overlap_shares.fields.h gives for absent shares. */
#define TENSOR_PAR_FUSED 0.8
#define TENSOR_PAR_ASYNC 0.5
#define EXPERT_PAR_HIDDEN 0.6

calc_cost_context calc_cost_context_of(const calc_system *system, const calc_exec *exec,
                                       const calc_shape *shape)
{
    calc_datatype narrow = calc_format_datatype(exec->matrix_datatype, exec->datatype);
    double sustained = calc_share_or(system->sustained, 1);
    double scaled = exec->scaling == CALC_SCALING_BLOCK && narrow != exec->datatype
                        ? calc_share_or(system->block_scaled_efficiency, 1)
                        : 1;
    return (calc_cost_context){
        .system = system,
        .exec = exec,
        .shape = shape,
        .groups = calc_groups_of(exec),
        .matrix = &system->matrix[narrow],
        .wide = &system->matrix[exec->datatype],
        .vector = &system->vector[calc_format_datatype(exec->vector_datatype, exec->datatype)],
        .matrix_rate = sustained * scaled,
        .sustained = sustained,
    };
}

/* Flash attention: its own share of the peak, or the matrix engine's curve. */
static double attention_s(const calc_cost_context *c, const calc_operator *o, calc_stage stage)
{
    const calc_attention_rates *rates = &c->system->attention;
    double own = stage == CALC_STAGE_FW ? rates->fw_efficiency : rates->bw_efficiency;
    double kernel = c->exec->attention_kernel == CALC_ATTENTION_KERNEL_GENERIC
                        ? calc_share_or(rates->generic_efficiency, 1)
                        : 1;
    double flop_s = own > 0 ? o->work[stage] / (c->wide->flop_per_s * own)
                            : calc_engine_s(c->wide, o->flop[stage]);
    return calc_max(flop_s / (kernel * c->sustained),
                    calc_memory_tier_s(&c->system->mem1, o->bytes[stage])) +
           rates->launch_s * o->launches[stage];
}

static double permute_s(const calc_cost_context *c, double bytes)
{
    const calc_memory_tier *memory = &c->system->mem1;
    double own = c->system->permute_efficiency;
    return own > 0 ? bytes / (memory->bytes_per_s * own) : calc_memory_tier_s(memory, bytes);
}

/* Without measured kernels. */
static double model_s(const calc_cost_context *c, const calc_operator *o, calc_stage stage)
{
    const calc_launch *launch = &c->system->launch;
    double unfused = c->system->attention.unfused_efficiency;
    double flop = o->flop[stage];
    double mem_s = calc_memory_tier_s(&c->system->mem1, o->bytes[stage]);
    double flop_s;
    switch (o->kind) {
    case CALC_OPERATOR_COLLECTIVE:
        return 0;
    case CALC_OPERATOR_ATTENTION:
        return flop > 0 ? attention_s(c, o, stage) : 0;
    case CALC_OPERATOR_PERMUTE:
        return permute_s(c, o->bytes[stage]) + launch->vector_s * o->launches[stage];
    case CALC_OPERATOR_VECTOR:
        flop_s = calc_engine_s(c->vector, flop) / c->sustained;
        return calc_max(flop_s, mem_s) + launch->vector_s * o->launches[stage];
    case CALC_OPERATOR_SCORES:
        flop_s =
            unfused > 0 ? flop / (c->wide->flop_per_s * unfused) : calc_engine_s(c->wide, flop);
        return flop_s / c->sustained + mem_s + launch->vector_s * o->launches[stage];
    case CALC_OPERATOR_GROUPED:
        /* Arithmetic and the experts' weights follow one another: the sum is nearer than the
         * larger (measured on 108 shapes, docs/model.md). */
        flop_s = calc_engine_s(c->matrix, flop) / c->matrix_rate;
        flop_s /= calc_share_or(c->system->grouped.efficiency, 1);
        return (c->system->grouped.processing_mode == CALC_GROUPED_MODE_ROOFLINE
                    ? calc_max(flop_s, mem_s)
                    : flop_s + mem_s) +
               launch->matrix_s * o->launches[stage];
    default:
        flop_s = o->kind == CALC_OPERATOR_HEAD ? calc_engine_s(c->wide, flop) / c->sustained
                                               : calc_engine_s(c->matrix, flop) / c->matrix_rate;
        return calc_processing_s(c->system->processing_mode, flop_s, mem_s) +
               launch->matrix_s * o->launches[stage];
    }
}

double calc_cost_kernel_from(const calc_cost_context *c, const calc_operator *o, calc_stage stage,
                             calc_kernel_source *source)
{
    double s = model_s(c, o, stage);
    *source = CALC_KERNEL_ROOFLINE;
    return c->measured && s > 0 ? calc_kernel_lookup_s(c, o, stage, s, source) : s;
}

double calc_cost_kernel_s(const calc_cost_context *c, const calc_operator *o, calc_stage stage)
{
    calc_kernel_source source;
    return c->measured ? calc_cost_kernel_from(c, o, stage, &source) : model_s(c, o, stage);
}

/* Copies of a token that are sent, over its experts: one per rank that has any of them, and of
 * those one per node between nodes, limited where routing is; otherwise one per expert. */
typedef struct copies {
    double sent;    /* to ranks */
    double outside; /* of those, to other nodes */
} copies;

static copies copies_per_token(const calc_cost_context *c, const calc_group *group)
{
    double k = c->shape->experts_per_token;
    if (c->exec->dispatch_type != CALC_DISPATCH_TYPE_NODE_LIMITED || k <= 1) {
        return (copies){1, 1};
    }
    double sent = calc_shape_reached(c->shape, group->ranks) / k;
    double nodes = group->ranks / calc_collective_inner_ranks(c->system, group);
    if (group->stride == 0 && group->network > 0) {
        nodes = group->ranks / (double)c->system->networks[0].size;
    }
    if (nodes <= 1) {
        return (copies){sent, 1};
    }
    double reached = calc_shape_reached(c->shape, nodes);
    double limit = c->shape->groups_per_token;
    double outside = (limit > 0 && limit < reached ? limit : reached) / k;
    return (copies){sent, outside / sent};
}

double calc_cost_link_from(const calc_cost_context *c, const calc_operator *o, calc_stage stage,
                           calc_kernel_source *source)
{
    *source = CALC_KERNEL_ROOFLINE;
    if (o->kind != CALC_OPERATOR_COLLECTIVE || o->op[stage] == CALC_OP_NONE) {
        return 0;
    }
    const calc_groups *g = &c->groups;
    const calc_group *const groups[CALC_OPERATOR_GROUPS] = {&g->tensor, &g->context, &g->expert,
                                                            &g->expert_tensor};
    calc_group group = *groups[o->group];
    if (o->sub_ranks > 0) {
        group.ranks = o->sub_ranks;
        group.stride *= o->sub_stride;
    }
    copies copied = o->group == CALC_IN_EXPERT ? copies_per_token(c, &group) : (copies){1, 1};
    double bytes = calc_operator_message_bytes(o, stage);
    double once_s =
        o->op[stage] == CALC_OP_ALL_TO_ALL
            ? calc_collective_all_to_all_s(c->system, &group, copied.sent * bytes, copied.outside)
            : calc_collective_s(c->system, o->op[stage], &group, bytes);
    if (c->measured && copied.outside >= 1) {
        once_s =
            calc_kernel_lookup_link_s(c, o->op[stage], &group, copied.sent * bytes, once_s, source);
    }
    return once_s * o->times[stage];
}

double calc_cost_link_s(const calc_cost_context *c, const calc_operator *o, calc_stage stage)
{
    calc_kernel_source source;
    return calc_cost_link_from(c, o, stage, &source);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static calc_cost_comm *comm_of(calc_cost *out, calc_operator_group group)
{
    return group == CALC_IN_TENSOR    ? &out->tensor
           : group == CALC_IN_CONTEXT ? &out->context
                                      : &out->expert;
}

static void add_collective(const calc_cost_context *c, const calc_operator *o, unsigned recompute,
                           calc_cost *out)
{
    calc_cost_comm *comm = comm_of(out, o->group);
    double fw_s = calc_cost_link_s(c, o, CALC_STAGE_FW);
    double ring = o->hidden_by_attention ? 1 : 0;
    comm->fw_link_s += fw_s;
    out->ring_fw_s += ring * fw_s;
    if (!c->exec->training) {
        return;
    }
    double bw_s =
        calc_cost_link_s(c, o, CALC_STAGE_AGRAD) + calc_cost_link_s(c, o, CALC_STAGE_WGRAD);
    double re_s = o->repeated_by & recompute ? fw_s : 0;
    comm->bw_link_s += bw_s;
    comm->re_link_s += re_s;
    out->ring_bw_s += ring * bw_s;
    out->ring_re_s += ring * re_s;
}

static void add_kernel(const calc_cost_context *c, const calc_operator *o, unsigned recompute,
                       calc_cost *out)
{
    bool counts = o->kind != CALC_OPERATOR_VECTOR && o->kind != CALC_OPERATOR_PERMUTE;
    bool attention = o->kind == CALC_OPERATOR_ATTENTION || o->kind == CALC_OPERATOR_SCORES;
    /* Shared experts hide the exchange of experts or tiles: not both. */
    bool beside_exchange =
        o->shared_expert && c->exec->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED;
    bool tiled = o->kind == CALC_OPERATOR_MATRIX && !beside_exchange;
    double s[CALC_STAGE_COUNT];
    int stages = c->exec->training ? CALC_STAGE_COUNT : CALC_STAGE_AGRAD;
    for (int stage = 0; stage < stages; stage++) {
        s[stage] = calc_cost_kernel_s(c, o, (calc_stage)stage);
        out->flop[stage] += counts ? o->flop[stage] : 0;
        out->bytes[stage] += o->bytes[stage];
    }
    out->fw_s += s[CALC_STAGE_FW];
    out->attention_fw_s += attention ? s[CALC_STAGE_FW] : 0;
    out->matrix_fw_s += tiled ? s[CALC_STAGE_FW] : 0;
    out->shared_fw_s += o->shared_expert ? s[CALC_STAGE_FW] : 0;
    if (!c->exec->training) {
        return;
    }
    out->agrad_s += s[CALC_STAGE_AGRAD];
    out->wgrad_s += o->weights > 0 && o->kind != CALC_OPERATOR_VECTOR ? s[CALC_STAGE_WGRAD] : 0;
    out->attention_bw_s += attention ? s[CALC_STAGE_AGRAD] : 0;
    out->matrix_bw_s += tiled ? s[CALC_STAGE_AGRAD] + s[CALC_STAGE_WGRAD] : 0;
    out->shared_bw_s += o->shared_expert ? s[CALC_STAGE_AGRAD] + s[CALC_STAGE_WGRAD] : 0;
    if (o->repeated_by & recompute) {
        out->re_s += s[CALC_STAGE_FW];
        out->attention_re_s += attention ? s[CALC_STAGE_FW] : 0;
        out->matrix_re_s += tiled ? s[CALC_STAGE_FW] : 0;
        out->shared_re_s += o->shared_expert ? s[CALC_STAGE_FW] : 0;
        out->re_flop += counts ? o->flop[CALC_STAGE_FW] : 0;
    }
}

static double over(double time_s, double window_s)
{
    return calc_max(0, time_s - window_s);
}

/* Tiles of a matrix multiplication: the first is exposed (pipe: and the last), and what they take
 * longer than it; tiles hide no more than kernels that were measured. */
static double tiled_s(const calc_cost_context *c, double link_s, double matrix_s, double fused)
{
    double tiles = c->shape->tensor_par;
    double ends = c->exec->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_PIPE ? 2 : 1;
    double exposed_s = calc_max(link_s * ends / tiles, link_s - matrix_s);
    return calc_max(exposed_s, link_s * (1 - fused));
}

static void hide_tensor(const calc_cost_context *c, calc_cost *out)
{
    const calc_overlap_shares *share = &c->system->overlap;
    calc_cost_comm *t = &out->tensor;
    double fused = calc_share_or(share->tensor_par_fused, TENSOR_PAR_FUSED);
    double async = calc_share_or(share->tensor_par_async, TENSOR_PAR_ASYNC);
    t->fw_exposed_s = t->fw_link_s;
    t->bw_exposed_s = t->bw_link_s;
    t->re_exposed_s = t->re_link_s;
    switch (c->exec->tensor_par_overlap) {
    case CALC_TENSOR_PAR_OVERLAP_FUSED:
        t->fw_exposed_s *= 1 - fused;
        t->re_exposed_s *= 1 - fused;
        t->bw_exposed_s *= 1 - calc_max(fused, async);
        break;
    case CALC_TENSOR_PAR_OVERLAP_ASYNC:
        t->bw_exposed_s *= 1 - async;
        break;
    case CALC_TENSOR_PAR_OVERLAP_NONE:
        break;
    default:
        if (c->shape->tensor_par > 1) {
            t->fw_exposed_s = tiled_s(c, t->fw_link_s, out->matrix_fw_s, fused);
            t->bw_exposed_s = tiled_s(c, t->bw_link_s, out->matrix_bw_s, fused);
            t->re_exposed_s = tiled_s(c, t->re_link_s, out->matrix_re_s, fused);
        }
    }
}

static void hide_expert(const calc_cost_context *c, calc_cost *out)
{
    calc_cost_comm *e = &out->expert;
    double share = calc_share_or(c->system->overlap.expert_par, EXPERT_PAR_HIDDEN);
    e->fw_exposed_s = e->fw_link_s;
    e->bw_exposed_s = e->bw_link_s;
    e->re_exposed_s = e->re_link_s;
    if (c->exec->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED) {
        e->fw_exposed_s = over(e->fw_link_s, out->shared_fw_s);
        e->bw_exposed_s = over(e->bw_link_s, out->shared_bw_s);
        e->re_exposed_s = over(e->re_link_s, out->shared_re_s);
    } else if (c->exec->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH) {
        e->fw_exposed_s *= 1 - share;
        e->bw_exposed_s *= 1 - share;
        e->re_exposed_s *= 1 - share;
    }
}

/* A ring runs beside the attention; all-to-alls and all-gathers come before it. */
static double beside_s(double link_s, double ring_s, double window_s)
{
    return link_s - ring_s + over(ring_s, window_s);
}

static void hide_context(calc_cost *out)
{
    calc_cost_comm *x = &out->context;
    x->fw_exposed_s = beside_s(x->fw_link_s, out->ring_fw_s, out->attention_fw_s);
    x->bw_exposed_s = beside_s(x->bw_link_s, out->ring_bw_s, out->attention_bw_s);
    x->re_exposed_s = beside_s(x->re_link_s, out->ring_re_s, out->attention_re_s);
}

void calc_cost_sum(const calc_cost_context *c, const calc_operator *operators, size_t count,
                   unsigned recompute, calc_cost *out)
{
    *out = (calc_cost){0};
    for (size_t i = 0; i < count; i++) {
        const calc_operator *o = &operators[i];
        if (o->kind == CALC_OPERATOR_COLLECTIVE) {
            add_collective(c, o, recompute, out);
        } else {
            add_kernel(c, o, recompute, out);
        }
        out->dense_weights += o->expert ? 0 : o->weights;
        out->expert_weights += o->expert ? o->weights : 0;
        out->kept_whole_bytes += o->kept_bytes;
        out->kept_bytes += o->dropped_by & recompute ? 0 : o->kept_bytes;
    }
    hide_tensor(c, out);
    hide_context(out);
    hide_expert(c, out);
}
