#include "model/cost/cost.h"

#include <math.h>

#include "model/cost/cost_kernel.h"
#include "model/cost/kernel_lookup.h"
#include "model/operators/processor.h"
#include "spec/format.h"

/* What the documentation of overlap_shares.fields.h gives for absent shares. */
#define TENSOR_PAR_FUSED 0.8
#define TENSOR_PAR_ASYNC 0.5
#define EXPERT_PAR_HIDDEN 0.6

calc_cost_context calc_cost_context_for(const calc_system *system, const calc_chip *chip,
                                        const calc_exec *exec, const calc_strategy *strategy,
                                        const calc_shape *shape, calc_compat compat)
{
    calc_groups groups = calc_groups_of(exec, strategy);
    calc_datatype narrow = calc_format_datatype(strategy->matrix_datatype, strategy->datatype);
    double scaled = strategy->scaling == CALC_SCALING_BLOCK && narrow != strategy->datatype
                        ? calc_share_or(chip->block_scaled_efficiency, 1)
                        : 1;
    return (calc_cost_context){
        .system = system,
        .chip = chip,
        .strategy = strategy,
        .shape = shape,
        .training = exec->training,
        .compat = compat,
        .groups = groups,
        .matrix = &chip->matrix[narrow],
        .vector =
            &chip->vector[calc_format_datatype(strategy->vector_datatype, strategy->datatype)],
        .matrix_rate = calc_share_or(chip->sustained, 1) * scaled,
        .usage =
            system->networks[calc_collective_top_network(system, &groups.tensor)].processor_usage,
    };
}

calc_cost_context calc_cost_context_of(const calc_system *system, const calc_exec *exec,
                                       const calc_shape *shape, calc_compat compat)
{
    return calc_cost_context_for(system, &system->chip, exec, &exec->strategy, shape, compat);
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
    if (c->strategy->dispatch_type != CALC_DISPATCH_TYPE_NODE_LIMITED || k <= 1) {
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

/* One of a collective's operations, with what processors add up and copy for it. */
static double operation_s(const calc_cost_context *c, const calc_operator *o, calc_pass pass,
                          calc_collective_op op, calc_kernel_source *source)
{
    *source = CALC_KERNEL_ROOFLINE;
    if (o->kind != CALC_OPERATOR_COLLECTIVE) {
        return 0;
    }
    double own_s =
        o->flop[pass] + o->bytes[pass] > 0 ? calc_cost_kernel_model(c, o, pass).all_s : 0;
    if (op == CALC_OP_NONE) {
        return own_s;
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
    double bytes = calc_operator_message_bytes(o, pass);
    double once_s =
        op == CALC_OP_ALL_TO_ALL
            ? calc_collective_all_to_all_s(c->system, &group, copied.sent * bytes, copied.outside)
            : calc_collective_s(c->system, op, &group, bytes);
    if (c->measured && copied.outside >= 1) {
        once_s = calc_kernel_lookup_link_s(c, op, &group, copied.sent * bytes, once_s, source);
    }
    return once_s * o->times[pass] + own_s;
}

double calc_cost_link_from(const calc_cost_context *c, const calc_operator *o, calc_pass pass,
                           calc_kernel_source *source)
{
    return operation_s(c, o, pass, o->op[pass], source);
}

double calc_cost_link_s(const calc_cost_context *c, const calc_operator *o, calc_pass pass,
                        bool edge)
{
    calc_kernel_source source;
    return operation_s(c, o, pass, edge && o->has_edge ? o->edge_op[pass] : o->op[pass], &source);
}

/* ---- Overlap of tensor parallelism ----------------------------------------------------------- */

calc_cost_tiles calc_cost_tiles_of(const calc_cost_context *c, const calc_operator *matrix,
                                   calc_pass pass, double link_s)
{
    calc_kernel_source source;
    calc_cost_kernel k = calc_cost_kernel_of(c, matrix, pass, &source);
    calc_cost_tiles out = {k.all_s, 0};
    if (link_s == 0) {
        return out;
    }
    bool theirs = calc_compat_has(c->compat, CALC_COMPAT_TILES);
    bool pipe = c->strategy->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_PIPE;
    double tiles = c->shape->tensor_par;
    double slowed_flop_s = k.flop_s / (1 - c->usage);
    calc_processing_mode mode = c->chip->processing_mode;
    double slowed_s = k.all_s + (calc_processing_s(mode, slowed_flop_s, k.mem_s) -
                                 calc_processing_s(mode, k.flop_s, k.mem_s));
    double link_tile_s = link_s / tiles;
    double tile_s = k.all_s / tiles;
    double excess_s = link_tile_s - (theirs ? slowed_flop_s : slowed_s) / tiles;
    if (excess_s > 0) {
        out.time_s = tile_s + (tiles - 1) * (slowed_s / tiles);
        out.exposed_s = (tiles - 1) * excess_s;
    } else {
        /* While it communicates its arithmetic is slower; continuous with the case above. */
        double share = theirs ? c->usage : slowed_s > 0 ? 1 - k.all_s / slowed_s : 0;
        out.time_s = tile_s + (tiles - 1) * tile_s + (tiles - 1) * link_tile_s * share;
    }
    out.exposed_s += pipe ? link_tile_s : 0;
    if (theirs) {
        out.time_s += pipe ? link_tile_s : 0;
        return out;
    }
    double fused = calc_share_or(c->chip->overlap.tensor_par_fused, TENSOR_PAR_FUSED);
    out.exposed_s = calc_max(out.exposed_s, link_s * (1 - fused));
    return out;
}

/* Share of a pass's communication that is exposed, where it does not run in tiles. */
static double exposed_share(const calc_cost_context *c, bool backward)
{
    const calc_overlap_shares *share = &c->chip->overlap;
    double fused = calc_share_or(share->tensor_par_fused, TENSOR_PAR_FUSED);
    double async = calc_share_or(share->tensor_par_async, TENSOR_PAR_ASYNC);
    switch (c->strategy->tensor_par_overlap) {
    case CALC_TENSOR_PAR_OVERLAP_FUSED:
        return 1 - (backward ? calc_max(fused, async) : fused);
    case CALC_TENSOR_PAR_OVERLAP_ASYNC:
        return backward ? 1 - async : 1;
    default:
        return 1;
    }
}

static bool in_tiles(const calc_cost_context *c, const calc_operator *o)
{
    /* Shared experts hide the exchange of experts or tiles: not both. */
    bool exchange = c->strategy->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED;
    return o->kind == CALC_OPERATOR_COLLECTIVE && o->beside != 0 &&
           calc_operator_tiled(c->strategy) && !(o->shared_expert && exchange) &&
           o[o->beside].kind == CALC_OPERATOR_MATRIX && c->shape->tensor_par > 1;
}

const calc_operator *calc_cost_tiles_beside(const calc_cost_context *c, const calc_operator *list,
                                            size_t count, size_t i)
{
    if (i > 0 && list[i - 1].beside == 1 && in_tiles(c, &list[i - 1])) {
        return &list[i - 1];
    }
    return i + 1 < count && list[i + 1].beside == -1 && in_tiles(c, &list[i + 1]) ? &list[i + 1]
                                                                                  : NULL;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static calc_cost_comm *comm_of(calc_cost *out, calc_operator_group group)
{
    return group == CALC_IN_TENSOR    ? &out->tensor
           : group == CALC_IN_CONTEXT ? &out->context
                                      : &out->expert;
}

/* The exposed part of a pass. */
static double exposed_s(const calc_cost_context *c, const calc_operator *o, calc_pass pass,
                        double link_s)
{
    if (o->group != CALC_IN_TENSOR) {
        return link_s;
    }
    return in_tiles(c, o) ? calc_cost_tiles_of(c, o + o->beside, pass, link_s).exposed_s
                          : link_s * exposed_share(c, pass != CALC_PASS_FW);
}

static void add_comm(calc_cost_comm *sum, const calc_cost_comm *x)
{
    sum->fw_bytes += x->fw_bytes;
    sum->bw_bytes += x->bw_bytes;
    sum->re_bytes += x->re_bytes;
    sum->fw_link_s += x->fw_link_s;
    sum->bw_link_s += x->bw_link_s;
    sum->re_link_s += x->re_link_s;
    sum->fw_exposed_s += x->fw_exposed_s;
    sum->bw_exposed_s += x->bw_exposed_s;
    sum->re_exposed_s += x->re_exposed_s;
}

calc_cost_comm calc_cost_passes_of(const calc_cost_context *c, const calc_operator *o,
                                   unsigned recompute, bool edge)
{
    calc_cost_comm x = {0};
    bool tiles = in_tiles(c, o);
    bool repeated = (o->repeated_by & recompute) != 0;
    double link_s[CALC_PASS_COUNT];
    double exposed[CALC_PASS_COUNT];
    int stages = c->training ? CALC_PASS_COUNT : CALC_PASS_AGRAD;
    for (calc_pass pass = CALC_PASS_FW; (int)pass < stages; pass++) {
        link_s[pass] = calc_cost_link_s(c, o, pass, edge);
        double hidden_by_tiles_s =
            tiles && edge ? calc_cost_link_s(c, o, pass, false) : link_s[pass];
        exposed[pass] = exposed_s(c, o, pass, hidden_by_tiles_s);
    }
    x.fw_bytes = calc_operator_sent_bytes(o, CALC_PASS_FW, edge);
    x.fw_link_s = link_s[CALC_PASS_FW];
    x.fw_exposed_s = exposed[CALC_PASS_FW];
    if (!c->training) {
        return x;
    }
    x.bw_bytes = calc_operator_sent_bytes(o, CALC_PASS_AGRAD, edge);
    x.bw_link_s = link_s[CALC_PASS_AGRAD];
    x.bw_exposed_s = exposed[CALC_PASS_AGRAD];
    if (!o->repeats) {
        x.bw_bytes += calc_operator_sent_bytes(o, CALC_PASS_WGRAD, edge);
        x.bw_link_s += link_s[CALC_PASS_WGRAD];
        x.bw_exposed_s += exposed[CALC_PASS_WGRAD];
    }
    if (repeated) {
        calc_pass again = o->repeats ? CALC_PASS_WGRAD : CALC_PASS_FW;
        x.re_bytes = calc_operator_sent_bytes(o, again, edge);
        x.re_link_s = link_s[again];
        bool hidden = tiles && (o->repeats || o[o->beside].repeated_by & recompute);
        x.re_exposed_s = hidden ? x.fw_exposed_s : tiles ? x.re_link_s : exposed[again];
    }
    return x;
}

static void add_work(calc_cost_work *sum, const calc_operator *o, calc_pass pass,
                     const calc_cost_kernel *k)
{
    bool counts = o->kind != CALC_OPERATOR_VECTOR && o->kind != CALC_OPERATOR_PERMUTE;
    sum->flop += counts ? o->flop[pass] : 0;
    sum->flop_s += k->flop_s;
    sum->bytes += o->bytes[pass];
    sum->mem_s += k->mem_s;
}

static void add_collective(const calc_cost_context *c, const calc_operator *o, unsigned recompute,
                           calc_cost *out)
{
    calc_cost_comm x = calc_cost_passes_of(c, o, recompute, false);
    add_comm(comm_of(out, o->group), &x);
    if (o->hidden_by_attention) {
        out->ring_fw_s += x.fw_link_s;
        out->ring_bw_s += x.bw_link_s;
        out->ring_re_s += x.re_link_s;
    }
    if (o->group == CALC_IN_TENSOR) {
        calc_cost_comm edge = o->has_edge ? calc_cost_passes_of(c, o, recompute, true) : x;
        add_comm(&out->edge, &edge);
    }
    int stages = c->training ? CALC_PASS_WGRAD : CALC_PASS_AGRAD;
    for (calc_pass pass = CALC_PASS_FW; (int)pass < stages && o->name; pass++) {
        calc_cost_kernel k = calc_cost_kernel_model(c, o, pass);
        add_work(&out->work[pass], o, pass, &k);
    }
}

/* Bandwidth at which tiles take as long as the matrix beside them. */
static void require(const calc_cost_context *c, const calc_operator *tiles, calc_pass pass,
                    double flop_s, calc_cost *out)
{
    double slowed_tile_s = flop_s / (1 - c->usage) / c->shape->tensor_par;
    for (int edge = 0; edge < 2; edge++) {
        double tile_bytes = calc_operator_sent_bytes(tiles, pass, edge) / c->shape->tensor_par;
        out->required_bytes_per_s = calc_max(out->required_bytes_per_s, tile_bytes / slowed_tile_s);
    }
}

/* @param tiles  communication that runs beside it, or NULL */
static void add_kernel(const calc_cost_context *c, const calc_operator *o,
                       const calc_operator *tiles, unsigned recompute, calc_cost *out)
{
    bool attention = o->kind == CALC_OPERATOR_ATTENTION || o->kind == CALC_OPERATOR_SCORES;
    double s[CALC_PASS_COUNT] = {0, 0, 0};
    calc_cost_work fw = {0, 0, 0, 0};
    int stages = c->training ? CALC_PASS_COUNT : CALC_PASS_AGRAD;
    for (calc_pass pass = CALC_PASS_FW; (int)pass < stages; pass++) {
        if (!calc_operator_runs(o, pass)) {
            continue;
        }
        calc_kernel_source source;
        calc_cost_kernel k = calc_cost_kernel_of(c, o, pass, &source);
        s[pass] = k.all_s;
        if (tiles) {
            bool none =
                pass == CALC_PASS_WGRAD && tiles->repeats && !(tiles->repeated_by & recompute);
            double link_s = none ? 0 : calc_cost_link_s(c, tiles, pass, false);
            s[pass] = calc_cost_tiles_of(c, o, pass, link_s).time_s;
            if (pass != CALC_PASS_WGRAD || !tiles->repeats) {
                require(c, tiles, pass, k.flop_s, out);
            }
        }
        add_work(pass == CALC_PASS_FW ? &fw : &out->work[pass], o, pass, &k);
    }
    out->work[CALC_PASS_FW].flop += fw.flop;
    out->work[CALC_PASS_FW].flop_s += fw.flop_s;
    out->work[CALC_PASS_FW].bytes += fw.bytes;
    out->work[CALC_PASS_FW].mem_s += fw.mem_s;
    out->fw_s += s[CALC_PASS_FW];
    out->attention_fw_s += attention ? s[CALC_PASS_FW] : 0;
    out->shared_fw_s += o->shared_expert ? s[CALC_PASS_FW] : 0;
    if (!c->training) {
        return;
    }
    out->agrad_s += s[CALC_PASS_AGRAD];
    out->wgrad_s += s[CALC_PASS_WGRAD];
    out->attention_bw_s += attention ? s[CALC_PASS_AGRAD] : 0;
    out->shared_bw_s += o->shared_expert ? s[CALC_PASS_AGRAD] + s[CALC_PASS_WGRAD] : 0;
    if (o->repeated_by & recompute) {
        out->re_s += s[CALC_PASS_FW];
        out->attention_re_s += attention ? s[CALC_PASS_FW] : 0;
        out->shared_re_s += o->shared_expert ? s[CALC_PASS_FW] : 0;
        if (calc_compat_has(c->compat, CALC_COMPAT_RECOMPUTE_SUMS)) {
            fw = out->work[CALC_PASS_FW];
        }
        out->re.flop += fw.flop;
        out->re.flop_s += fw.flop_s;
        out->re.bytes += fw.bytes;
        out->re.mem_s += fw.mem_s;
    }
}

static double over(double time_s, double window_s)
{
    return calc_max(0, time_s - window_s);
}

static void hide_expert(const calc_cost_context *c, calc_cost *out)
{
    calc_cost_comm *e = &out->expert;
    double share = calc_share_or(c->chip->overlap.expert_par, EXPERT_PAR_HIDDEN);
    if (c->strategy->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED) {
        e->fw_exposed_s = over(e->fw_link_s, out->shared_fw_s);
        e->bw_exposed_s = over(e->bw_link_s, out->shared_bw_s);
        e->re_exposed_s = over(e->re_link_s, out->shared_re_s);
    } else if (c->strategy->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH) {
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
            add_kernel(c, o, calc_cost_tiles_beside(c, operators, count, i), recompute, out);
        }
        out->dense_weights += o->expert ? 0 : o->weights;
        out->expert_weights += o->expert ? o->weights : 0;
        out->kept_whole_bytes += o->kept_bytes;
        out->kept_bytes += o->kept_bytes - (o->dropped_by & recompute ? o->dropped_bytes : 0);
        out->working_bytes += o->working_bytes;
        out->grad_bytes += c->training ? o->grad_bytes : 0;
    }
    /* The backward pass goes from the last operator to the first, and drops what it has used. */
    double dropped_bytes = 0;
    for (size_t i = count; i-- > 0;) {
        out->passing_bytes =
            calc_max(out->passing_bytes, operators[i].passing_bytes - dropped_bytes);
        dropped_bytes += operators[i].kept_bytes;
    }
    hide_context(out);
    hide_expert(c, out);
}
