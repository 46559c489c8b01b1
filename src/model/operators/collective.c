#include "model/operators/collective.h"

#include <math.h>

#include "model/operators/processor.h"
#include "model/operators/shape.h"

/* A network field that may be absent. */
static int64_t net_or(int64_t net, int64_t otherwise)
{
    return net < 0 ? otherwise : net;
}

static calc_groups networked(const calc_exec *e, const calc_strategy *s)
{
    double dense = (double)s->data_par * calc_par_size(s->context_par);
    double expert = calc_par_size(s->expert_par);
    double expert_tensor = calc_par_size(s->expert_tensor_par);
    double replicas = (double)e->num_procs / ((double)e->pipeline_par * expert * expert_tensor);
    return (calc_groups){
        .tensor = {(double)s->tensor_par, 0, s->tensor_par_net},
        .context = {calc_par_size(s->context_par), 0,
                    net_or(s->context_par_net, s->tensor_par_net)},
        .expert = {expert, 0, net_or(s->expert_par_net, s->data_par_net)},
        .expert_tensor = {expert_tensor, 0, net_or(s->expert_tensor_par_net, s->tensor_par_net)},
        .pipeline = {(double)e->pipeline_par, 0, e->pipeline_par_net},
        .dense_data = {dense, 0, s->data_par_net},
        .expert_data = {calc_max(1, replicas), 0, net_or(s->expert_data_par_net, s->data_par_net)},
    };
}

calc_groups calc_groups_of(const calc_exec *e, const calc_strategy *s)
{
    calc_groups g = networked(e, s);
    if (e->rank_order == CALC_RANK_ORDER_NETWORKS) {
        return g;
    }
    /* Fastest first: tensor, context, (expert,) data, pipeline; experts fold into the first ones.
     */
    bool stages_inside = e->rank_order == CALC_RANK_ORDER_TP_CP_EP_PP_DP;
    double replica = g.tensor.ranks * g.context.ranks;
    double spread = stages_inside ? g.pipeline.ranks : 1;
    g.tensor.stride = 1;
    g.context.stride = g.tensor.ranks;
    g.expert_tensor.stride = 1;
    g.expert.stride = g.expert_tensor.ranks;
    g.dense_data.stride = g.tensor.ranks;
    g.expert_data.stride = g.expert_tensor.ranks * g.expert.ranks * spread;
    g.pipeline.stride = stages_inside ? replica : replica * (double)s->data_par;
    if (stages_inside && g.dense_data.ranks > g.context.ranks) {
        g.dense_data.stride *= spread;
    }
    return g;
}

/* Ranks of a group that one instance of a network connects. */
static double inside(const calc_network *network, const calc_group *group)
{
    double fit = (double)network->size / group->stride;
    return fit < 1 ? 1 : fit < group->ranks ? fit : group->ranks;
}

double calc_collective_inner_ranks(const calc_system *system, const calc_group *group)
{
    if (group->stride == 0) {
        return group->network == 0 ? group->ranks : 1;
    }
    return inside(&system->networks[0], group);
}

int64_t calc_collective_top_network(const calc_system *system, const calc_group *group)
{
    int64_t i = group->network;
    if (group->stride > 0) {
        i = 0;
        while (i + 1 < system->networks_count &&
               inside(&system->networks[i], group) < group->ranks) {
            i++;
        }
    }
    return i;
}

bool calc_collective_adds(const calc_system *system, const calc_group *tensor, calc_compat compat)
{
    int64_t network = calc_collective_top_network(system, tensor);
    return system->networks[network].processor_usage > 0 ||
           calc_compat_has(compat, CALC_COMPAT_REDUCTION_FLOP);
}

static const calc_op_rate *rate_of(const calc_network *network, calc_collective_op op)
{
    const calc_op_rates *rates = &network->op_parameters;
    switch (op) {
    case CALC_OP_REDUCE_SCATTER:
        return &rates->reduce_scatter;
    case CALC_OP_ALL_GATHER:
        return &rates->all_gather;
    case CALC_OP_ALL_REDUCE:
        return &rates->all_reduce;
    case CALC_OP_ALL_TO_ALL:
        return &rates->all_to_all;
    default:
        return &rates->p2p;
    }
}

static calc_network_op cost_of(const calc_network *network, calc_collective_op op)
{
    static const calc_network_op plain = {1, -1};
    const calc_network_ops *ops = &network->ops;
    switch (op) {
    case CALC_OP_REDUCE_SCATTER:
        return ops->reduce_scatter;
    case CALC_OP_ALL_GATHER:
        return ops->all_gather;
    case CALC_OP_ALL_REDUCE:
        return network->reduction_in_network ? plain : ops->all_reduce;
    case CALC_OP_ALL_TO_ALL:
        return ops->all_to_all.scalar > 0 ? ops->all_to_all : plain;
    default:
        return ops->p2p;
    }
}

/* Latency of an operation: its own, or the network's. */
static double latency_s(const calc_network *network, calc_collective_op op, double ranks)
{
    const calc_op_rate *rate = rate_of(network, op);
    double growth_s = network->latency_log2_s > 0 ? network->latency_log2_s * log2(ranks) : 0;
    if (rate->latency_fixed_s > 0 || rate->latency_step_s > 0) {
        bool reduced = op == CALC_OP_ALL_REDUCE && network->reduction_in_network;
        double steps = op == CALC_OP_P2P || reduced ? 1 : ranks - 1;
        steps *= op == CALC_OP_ALL_REDUCE && !reduced ? 2 : 1;
        return rate->latency_fixed_s + rate->latency_step_s * steps + growth_s;
    }
    return network->latency_s + growth_s;
}

/* Bandwidth an operation of `bytes` reaches [bytes/s]. */
static double bytes_per_s(const calc_network *network, calc_collective_op op, double bytes)
{
    const calc_op_rate *rate = rate_of(network, op);
    double efficiency = rate->efficiency > 0 ? rate->efficiency : network->efficiency;
    double reached = network->bytes_per_s * efficiency;
    if (network->oversubscription > 1) {
        reached /= network->oversubscription;
    }
    if (network->bandwidth_curve.count > 0) {
        reached *= calc_curve_at(&network->bandwidth_curve, bytes);
    }
    return reached;
}

/* Time on the wire of one tier, per byte; the bandwidth is that of messages of `bytes`. */
static double s_per_byte(const calc_network *network, calc_collective_op op, double bytes,
                         double ranks)
{
    calc_network_op cost = cost_of(network, op);
    return cost.scalar * (1 + cost.offset / ranks) / bytes_per_s(network, op, bytes);
}

calc_collective_line calc_collective_line_of(const calc_system *system, calc_collective_op op,
                                             const calc_group *group, double bytes)
{
    calc_collective_line line = {0};
    if (op == CALC_OP_NONE || group->ranks <= 1) {
        return line;
    }
    if (op == CALC_OP_P2P || group->stride == 0) {
        const calc_network *network = &system->networks[calc_collective_top_network(system, group)];
        double ranks = op == CALC_OP_P2P ? 2 : group->ranks;
        line.latency_s = latency_s(network, op, ranks);
        line.s_per_byte = s_per_byte(network, op, bytes, ranks);
        return line;
    }
    double below = 1;
    for (int64_t i = 0; i < system->networks_count && below < group->ranks; i++) {
        const calc_network *network = &system->networks[i];
        double reach = i + 1 == system->networks_count ? group->ranks : inside(network, group);
        double ranks = reach / below;
        if (ranks > 1) {
            double slope = s_per_byte(network, op, bytes / below, ranks) / below;
            line.s_per_byte = calc_max(line.s_per_byte, slope);
            line.latency_s += latency_s(network, op, ranks);
            below = reach;
        }
    }
    return line;
}

calc_collective_line calc_collective_next_line_of(const calc_system *system,
                                                  const calc_group *group, double bytes)
{
    if (group->stride == 0) {
        return calc_collective_line_of(system, CALC_OP_P2P, group, bytes);
    }
    calc_collective_line line = {0};
    int64_t top = calc_collective_top_network(system, group);
    double crossing = group->ranks > 1 ? 1 : 0;
    for (int64_t i = 0; i <= top; i++) {
        const calc_network *network = &system->networks[i];
        double beyond = i < top ? 1 / inside(network, group) : 0;
        line.latency_s += (crossing - beyond) * latency_s(network, CALC_OP_P2P, 2);
        line.s_per_byte += (crossing - beyond) * s_per_byte(network, CALC_OP_P2P, bytes, 2);
        crossing = beyond;
    }
    return line;
}

double calc_collective_s(const calc_system *system, calc_collective_op op, const calc_group *group,
                         double bytes)
{
    calc_collective_line line = calc_collective_line_of(system, op, group, bytes);
    return calc_collective_line_s(&line, bytes);
}

double calc_collective_all_to_all_s(const calc_system *system, const calc_group *group,
                                    double bytes, double copies)
{
    if (group->ranks <= 1 || bytes <= 0) {
        return 0;
    }
    if (group->stride == 0) {
        double sent = group->network > 0 ? bytes * copies : bytes;
        return calc_collective_s(system, CALC_OP_ALL_TO_ALL, group, sent);
    }
    double below = 1;
    double slowest_s = 0;
    double latencies_s = 0;
    for (int64_t i = 0; i < system->networks_count && below < group->ranks; i++) {
        const calc_network *network = &system->networks[i];
        double reach = i + 1 == system->networks_count ? group->ranks : inside(network, group);
        double ranks = reach / below;
        if (ranks > 1) {
            /* Every rank has a port of its own: traffic that leaves the node shares none. */
            double sent = below > 1 || i > 0 ? bytes * copies : bytes;
            slowest_s =
                calc_max(slowest_s, sent * s_per_byte(network, CALC_OP_ALL_TO_ALL, sent, ranks));
            latencies_s += latency_s(network, CALC_OP_ALL_TO_ALL, ranks);
            below = reach;
        }
    }
    return slowest_s + latencies_s;
}
