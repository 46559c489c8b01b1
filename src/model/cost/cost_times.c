#include "model/cost/cost_times.h"

#include <stddef.h>

#include "model/cost/cost_kernel.h"
#include "model/cost/kernel_lookup.h"
#include "model/operators/processor.h"

/* Adding up and copying by processors is part of a collective's time, and counted as a kernel
 * unless the operator is part of another. */
static void time_collective(const calc_cost_context *c, const calc_operator *o, int passes,
                            calc_cost_links *known, calc_cost_times *out)
{
    for (calc_pass pass = CALC_PASS_FW; (int)pass < passes; pass++) {
        calc_cost_kernel k = {0, 0, 0};
        if (o->flop[pass] + o->bytes[pass] > 0) {
            k = calc_cost_kernel_model(c, o, pass);
            if (o->name && pass != CALC_PASS_WGRAD) {
                calc_cost_kernel_put(o, pass, &k, out);
            }
        }
        out->link_s[pass] = calc_cost_link_once_s(c, o, pass, o->op[pass], known) * o->times[pass];
        out->link_s[pass] += k.all_s;
        out->edge_s[pass] = out->link_s[pass];
        if (o->has_edge) {
            out->edge_s[pass] =
                calc_cost_link_once_s(c, o, pass, o->edge_op[pass], known) * o->times[pass] +
                k.all_s;
        }
    }
}

/* The times of the share of an operator that a mean block has, in the passes from `first` on. */
static void take_share(double share, calc_pass first, calc_cost_times *t)
{
    for (calc_pass pass = first; pass < CALC_PASS_COUNT; pass++) {
        calc_cost_work *w = &t->work[pass];
        w->flop *= share;
        w->flop_s *= share;
        w->bytes *= share;
        w->mem_s *= share;
        t->all_s[pass] *= share;
        t->link_s[pass] *= share;
        t->edge_s[pass] *= share;
    }
}

static void time_operator(const calc_cost_context *c, const calc_operator *o,
                          calc_cost_links *known, calc_cost_times *out)
{
    int passes = c->training ? CALC_PASS_COUNT : CALC_PASS_AGRAD;
    *out = (calc_cost_times){0};
    if (o->kind == CALC_OPERATOR_COLLECTIVE) {
        time_collective(c, o, passes, known, out);
    } else {
        bool third = passes < CALC_PASS_WGRAD || calc_operator_runs(o, CALC_PASS_WGRAD);
        calc_cost_kernel_times(c, o, third ? passes : CALC_PASS_WGRAD, out);
    }
    if (o->without != 0) {
        take_share(calc_operator_share(o), CALC_PASS_FW, out);
    }
    if (o->untouched > 0) {
        take_share(1 - o->untouched, CALC_PASS_AGRAD, out);
    }
}

void calc_cost_times_of(const calc_cost_context *c, const calc_operator *operators, size_t count,
                        calc_cost_links *known, calc_cost_times *out)
{
    for (size_t i = 0; i < count; i++) {
        time_operator(c, &operators[i], known, &out[i]);
    }
}

/* Time of an operator's collective on its group's networks. */

static calc_cost_copies copies_per_token(const calc_cost_context *c, const calc_group *group)
{
    double k = c->shape->experts_per_token;
    if (c->strategy->dispatch_type != CALC_DISPATCH_TYPE_NODE_LIMITED || k <= 1) {
        return (calc_cost_copies){1, 1};
    }
    double sent = calc_shape_reached(c->shape, group->ranks) / k;
    double nodes = group->ranks / calc_collective_inner_ranks(c->system, group);
    if (group->stride == 0 && group->network > 0) {
        nodes = group->ranks / (double)c->system->networks[0].size;
    }
    return (calc_cost_copies){sent, nodes > 1 ? calc_shape_reached(c->shape, nodes) / k / sent : 1};
}

static const calc_group *group_of(const calc_cost_context *c, const calc_operator *o)
{
    switch (o->group) {
    case CALC_IN_TENSOR:
        return &c->groups.tensor;
    case CALC_IN_CONTEXT:
        return &c->groups.context;
    case CALC_IN_EXPERT:
        return &c->groups.expert;
    default:
        return &c->groups.expert_tensor;
    }
}

static double once_s(const calc_cost_context *c, const calc_operator *o, calc_collective_op op,
                     double bytes, calc_cost_links *known, calc_kernel_source *source)
{
    calc_group group = *group_of(c, o);
    if (o->sub_ranks > 0) {
        group.ranks = o->sub_ranks;
        group.stride *= o->sub_stride;
    }
    calc_cost_copies copied = {1, 1};
    if (o->group == CALC_IN_EXPERT) {
        copied = known && known->copies.sent > 0 ? known->copies : copies_per_token(c, &group);
        if (known) {
            known->copies = copied;
        }
    }
    double model_s =
        op == CALC_OP_ALL_TO_ALL
            ? calc_collective_all_to_all_s(c->system, &group, copied.sent * bytes, copied.outside)
            : calc_collective_s(c->system, op, &group, bytes);
    if (c->serving) {
        model_s = calc_pass_link_s(c->system, op, &group, bytes, model_s);
    }
    return c->measured && copied.outside >= 1
               ? calc_kernel_lookup_link_s(c, op, &group, copied.sent * bytes, model_s, source)
               : model_s;
}

double calc_cost_link_once_s(const calc_cost_context *c, const calc_operator *o, calc_pass pass,
                             calc_collective_op op, calc_cost_links *known)
{
    calc_kernel_source source;
    double bytes = calc_operator_message_bytes(o, pass);
    if (op == CALC_OP_NONE) {
        return 0;
    }
    for (size_t i = 0; i < known->count; i++) {
        const calc_cost_known_link *k = &known->item[i];
        if (k->bytes == bytes && k->op == op && k->group == o->group &&
            k->sub_ranks == o->sub_ranks && k->sub_stride == o->sub_stride) {
            return k->once_s;
        }
    }
    calc_cost_known_link link = {o->group,      op,    o->sub_ranks,
                                 o->sub_stride, bytes, once_s(c, o, op, bytes, known, &source)};
    if (known->count < CALC_COST_LINKS) {
        known->item[known->count++] = link;
    }
    return link.once_s;
}

/* One of a collective's operations, with the time in which processors add up and copy for it. */
static double operation_s(const calc_cost_context *c, const calc_operator *o, calc_pass pass,
                          calc_collective_op op, calc_kernel_source *source)
{
    *source = CALC_KERNEL_ROOFLINE;
    if (o->kind != CALC_OPERATOR_COLLECTIVE) {
        return 0;
    }
    double own_s = calc_cost_kernel_model(c, o, pass).all_s;
    return op == CALC_OP_NONE
               ? own_s
               : once_s(c, o, op, calc_operator_message_bytes(o, pass), NULL, source) *
                         o->times[pass] +
                     own_s;
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

/* Tensor-parallel communication in tiles beside a matrix. Source: Isaev et al. 2023 (SC'23). */

bool calc_cost_tiles_has(const calc_cost_context *c, const calc_operator *o)
{
    /* Shared experts hide the exchange of experts or tiles: not both. */
    const calc_strategy *s = c->strategy;
    bool exchange = s->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED &&
                    (s->expert_tensor_par > 1 ||
                     (s->expert_par > 1 && s->dispatch_type != CALC_DISPATCH_TYPE_REPLICATED));
    return o->kind == CALC_OPERATOR_COLLECTIVE && o->beside != 0 && calc_operator_tiled(s) &&
           !(o->shared_expert && exchange) && o[o->beside].kind == CALC_OPERATOR_MATRIX &&
           c->shape->tensor_par > 1;
}

const calc_operator *calc_cost_tiles_beside(const calc_cost_context *c, const calc_operator *list,
                                            size_t count, size_t i)
{
    if (i > 0 && list[i - 1].beside == 1 && calc_cost_tiles_has(c, &list[i - 1])) {
        return &list[i - 1];
    }
    return i + 1 < count && list[i + 1].beside == -1 && calc_cost_tiles_has(c, &list[i + 1])
               ? &list[i + 1]
               : NULL;
}

/* A matrix in tiles; its pass takes flop_s, mem_s and all_s alone. */
static calc_cost_tiles tiles_of(const calc_cost_context *c, double flop_s, double mem_s,
                                double all_s, double link_s)
{
    calc_cost_tiles out = {all_s, 0};
    if (link_s == 0) {
        return out;
    }
    bool theirs = calc_compat_has(c->compat, CALC_COMPAT_TILES);
    bool pipe = c->strategy->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_PIPE;
    double tiles = c->shape->tensor_par;
    double slowed_flop_s = flop_s / (1 - c->usage);
    calc_processing_mode mode = c->chip->processing_mode;
    double slowed_s = all_s + (calc_processing_s(mode, slowed_flop_s, mem_s) -
                               calc_processing_s(mode, flop_s, mem_s));
    double link_tile_s = link_s / tiles;
    double tile_s = all_s / tiles;
    double excess_s = link_tile_s - (theirs ? slowed_flop_s : slowed_s) / tiles;
    if (excess_s > 0) {
        out.time_s = tile_s + (tiles - 1) * (slowed_s / tiles);
        out.exposed_s = (tiles - 1) * excess_s;
    } else {
        /* While it communicates its arithmetic is slower; continuous with the case above. */
        double share = theirs ? c->usage : slowed_s > 0 ? 1 - all_s / slowed_s : 0;
        out.time_s = tile_s + (tiles - 1) * tile_s + (tiles - 1) * link_tile_s * share;
    }
    out.exposed_s += pipe ? link_tile_s : 0;
    if (theirs) {
        out.time_s += pipe ? link_tile_s : 0;
        return out;
    }
    double most = calc_share_or(c->chip->overlap.tensor_par_fused, 1);
    out.exposed_s = calc_max(out.exposed_s + link_tile_s, link_s * (1 - most));
    return out;
}

calc_cost_tiles calc_cost_tiles_of(const calc_cost_context *c, const calc_operator *matrix,
                                   calc_pass pass, double link_s)
{
    calc_kernel_source source;
    calc_cost_kernel k = calc_cost_kernel_of(c, matrix, pass, &source);
    return tiles_of(c, k.flop_s, k.mem_s, k.all_s, link_s);
}

calc_cost_tiles calc_cost_tiles_timed(const calc_cost_context *c, const calc_operator *matrix,
                                      const calc_cost_times *t, calc_pass pass, double link_s)
{
    const calc_cost_work *w = &t->work[pass];
    return calc_operator_runs(matrix, pass)
               ? tiles_of(c, w->flop_s, w->mem_s, t->all_s[pass], link_s)
               : calc_cost_tiles_of(c, matrix, pass, link_s);
}
