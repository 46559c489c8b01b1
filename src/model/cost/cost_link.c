#include "model/cost/cost_link.h"

#include "model/cost/cost_kernel.h"
#include "model/cost/kernel_lookup.h"
#include "model/cost/pass_kernel.h"

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
    if (nodes <= 1) {
        return (calc_cost_copies){sent, 1};
    }
    double reached = calc_shape_reached(c->shape, nodes);
    double limit = c->shape->groups_per_token;
    double outside = (limit > 0 && limit < reached ? limit : reached) / k;
    return (calc_cost_copies){sent, outside / sent};
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

/* @param known  asked first, and told; or NULL */
static calc_cost_copies copies_of(const calc_cost_context *c, const calc_group *group,
                                  calc_cost_links *known)
{
    if (!known) {
        return copies_per_token(c, group);
    }
    if (!known->copied) {
        known->copies = copies_per_token(c, group);
        known->copied = true;
    }
    return known->copies;
}

static double once_s(const calc_cost_context *c, const calc_operator *o, calc_collective_op op,
                     double bytes, calc_cost_links *known, calc_kernel_source *source)
{
    calc_group group = *group_of(c, o);
    if (o->sub_ranks > 0) {
        group.ranks = o->sub_ranks;
        group.stride *= o->sub_stride;
    }
    calc_cost_copies copied =
        o->group == CALC_IN_EXPERT ? copies_of(c, &group, known) : (calc_cost_copies){1, 1};
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
