/* Operations of data parallelism and between stages: their cost in the groups of a layout. */
#include <math.h>

#include "model/operators/parameters.h"
#include "model/operators/processor.h"
#include "model/stages/stages.h"

static calc_collective_line sum_of(calc_collective_line a, calc_collective_line b)
{
    return (calc_collective_line){a.latency_s + b.latency_s, a.s_per_byte + b.s_per_byte};
}

/* Gradients of a state that `limit` ranks of a group share: scattered among them, summed beyond. */
static calc_collective_line shard_reduce(const calc_system *system, const calc_group *group,
                                         double limit, double bytes)
{
    calc_group inner = *group;
    calc_group outer = {group->ranks / limit, group->stride * limit, group->network};
    inner.ranks = limit;
    calc_collective_line within =
        calc_collective_line_of(system, CALC_OP_REDUCE_SCATTER, &inner, bytes);
    calc_collective_line beyond =
        calc_collective_line_of(system, CALC_OP_ALL_REDUCE, &outer, bytes / limit);
    beyond.s_per_byte /= limit;
    return sum_of(within, beyond);
}

static calc_collective_line shard_gather(const calc_system *system, const calc_group *group,
                                         double limit, double bytes)
{
    calc_group inner = *group;
    inner.ranks = limit;
    return calc_collective_line_of(system, CALC_OP_ALL_GATHER, &inner, bytes);
}

/* The value of an absent hop_latency, as documented in network.fields.h. */
#define RING_HOP_S 4e-6

static double broadcast_s(const calc_system *system, const calc_group *group, double limit)
{
    calc_group inner = *group;
    inner.ranks = limit;
    int64_t top = calc_collective_top_network(system, &inner);
    return limit * calc_share_or(system->networks[top].hop_s, top > 0 ? RING_HOP_S : 0);
}

void calc_stage_lines_ranks(const calc_system *s, const calc_exec *exec,
                            const calc_strategy *strategy, const calc_groups *g,
                            calc_stage_lines *out)
{
    double limit = strategy->fsdp_par > 0 ? (double)strategy->fsdp_par : INFINITY;
    double node = s->ranks_per_node > 0 ? (double)s->ranks_per_node : (double)s->networks[0].size;
    double nodes = (double)exec->num_procs / calc_max(1, node);
    out->dense_ranks = g->dense_data.ranks;
    out->expert_ranks = g->expert_data.ranks;
    out->dense_shards = calc_min(out->dense_ranks, limit);
    out->expert_shards = calc_min(out->expert_ranks, limit);
    out->nodes_log2 = nodes > 1 ? log2(nodes) : 0;
}

/* Between stages. */
static void set_stages(const calc_system *s, const calc_groups *g, double bytes,
                       calc_stage_lines *out)
{
    calc_group ends = g->pipeline;
    ends.ranks = 2;
    ends.stride *= g->pipeline.ranks - 1;
    out->message = calc_collective_next_line_of(s, &g->pipeline, bytes);
    out->ends = calc_collective_line_of(s, CALC_OP_ALL_REDUCE, &ends, bytes);
}

/* Whether a state is summed whole, and whether it is scattered and gathered. */
static bool sums(const calc_strategy *strategy)
{
    return calc_zero_stage(strategy) < 1 ||
           strategy->optimizer_shards == CALC_OPTIMIZER_SHARDS_TENSORS;
}

static bool shards(const calc_strategy *strategy)
{
    return calc_zero_stage(strategy) >= 1;
}

static void set_dense(const calc_system *s, const calc_strategy *strategy, const calc_group *dense,
                      double bytes, calc_stage_lines *out)
{
    if (sums(strategy)) {
        out->sum_dense = calc_collective_line_of(s, CALC_OP_ALL_REDUCE, dense, bytes);
    }
    if (shards(strategy)) {
        out->shard_reduce_dense = shard_reduce(s, dense, out->dense_shards, bytes);
        out->shard_gather_dense = shard_gather(s, dense, out->dense_shards, bytes);
    }
    if (sums(strategy) && shards(strategy)) {
        out->broadcast_dense_s = broadcast_s(s, dense, out->dense_shards);
    }
}

static void set_expert(const calc_system *s, const calc_strategy *strategy,
                       const calc_group *expert, double bytes, calc_stage_lines *out)
{
    if (sums(strategy)) {
        out->sum_expert = calc_collective_line_of(s, CALC_OP_ALL_REDUCE, expert, bytes);
    }
    if (shards(strategy)) {
        out->shard_reduce_expert = shard_reduce(s, expert, out->expert_shards, bytes);
        out->shard_gather_expert = shard_gather(s, expert, out->expert_shards, bytes);
    }
    if (sums(strategy) && shards(strategy)) {
        out->broadcast_expert_s = broadcast_s(s, expert, out->expert_shards);
    }
}

static void copy_dense(const calc_strategy *strategy, const calc_stage_lines *from,
                       calc_stage_lines *out)
{
    out->message = from->message;
    out->ends = from->ends;
    if (sums(strategy)) {
        out->sum_dense = from->sum_dense;
    }
    if (shards(strategy)) {
        out->shard_reduce_dense = from->shard_reduce_dense;
        out->shard_gather_dense = from->shard_gather_dense;
    }
    if (sums(strategy) && shards(strategy)) {
        out->broadcast_dense_s = from->broadcast_dense_s;
    }
}

void calc_stage_lines_time(const calc_system *s, const calc_strategy *strategy,
                           const calc_groups *g, double bytes, const calc_stage_lines *like,
                           calc_stage_lines *out)
{
    if (like) {
        copy_dense(strategy, like, out);
    } else {
        set_stages(s, g, bytes, out);
        set_dense(s, strategy, &g->dense_data, bytes, out);
    }
    set_expert(s, strategy, &g->expert_data, bytes, out);
}

calc_stage_lines calc_stage_lines_of(const calc_system *s, const calc_exec *exec,
                                     const calc_strategy *strategy, const calc_groups *g,
                                     double bytes)
{
    calc_stage_lines l = {0};
    calc_stage_lines_ranks(s, exec, strategy, g, &l);
    calc_stage_lines_time(s, strategy, g, bytes, NULL, &l);
    return l;
}

/* Every rank that holds tensors sends them, one after the other. */
static void set_broadcasts(const calc_shape *shape, const calc_exec *e, const calc_stage_lines *l,
                           calc_stage_links *out)
{
    double dense, expert;
    calc_parameters_tensors(shape, (double)e->pipeline_par, &dense, &expert);
    dense = calc_min(dense, l->dense_shards);
    expert = calc_min(expert, l->expert_shards);
    out->gather_dense_latency_s = dense * (l->shard_gather_dense.latency_s + l->broadcast_dense_s);
    out->gather_expert_latency_s =
        expert * (l->shard_gather_expert.latency_s + l->broadcast_expert_s);
}

static void set_data_links(const calc_shape *shape, const calc_exec *e, const calc_stage_lines *l,
                           calc_stage_links *out)
{
    int64_t zero = calc_zero_stage(&e->strategy);
    bool whole = zero == 1 && e->strategy.optimizer_shards == CALC_OPTIMIZER_SHARDS_TENSORS;
    bool scattered = zero >= 1 && !whole;
    const calc_collective_line *dense = scattered ? &l->shard_reduce_dense : &l->sum_dense;
    const calc_collective_line *expert = scattered ? &l->shard_reduce_expert : &l->sum_expert;
    out->reduce_dense_latency_s = dense->latency_s;
    out->reduce_dense_s_per_byte = dense->s_per_byte;
    out->reduce_expert_latency_s = expert->latency_s;
    out->reduce_expert_s_per_byte = expert->s_per_byte;
    if (zero >= 1) {
        out->gather_dense_latency_s = l->shard_gather_dense.latency_s;
        out->gather_dense_s_per_byte = l->shard_gather_dense.s_per_byte;
        out->gather_expert_latency_s = l->shard_gather_expert.latency_s;
        out->gather_expert_s_per_byte = l->shard_gather_expert.s_per_byte;
    }
    if (whole) {
        set_broadcasts(shape, e, l, out);
    }
}

calc_stage_links calc_stage_links_of(const calc_cost_context *c, const calc_exec *e,
                                     double message_bytes, const calc_stage_lines *l)
{
    calc_stage_links out = {0};
    int64_t zero = calc_zero_stage(&e->strategy);
    if (e->training && zero < 3) {
        set_data_links(c->shape, e, l, &out);
    }
    const calc_network *message = &c->system->networks[e->pipeline_par_net];
    bool idle = e->pipeline_par <= 1 && calc_compat_has(c->compat, CALC_COMPAT_IDLE_MESSAGE);
    bool backward = e->training || calc_compat_has(c->compat, CALC_COMPAT_INFERENCE_MESSAGE);
    out.usage = c->system->networks[e->strategy.data_par_net].processor_usage;
    out.collides = e->strategy.data_par_net == e->pipeline_par_net;
    out.same_link = e->strategy.data_par_net == e->strategy.tensor_par_net;
    if (e->pipeline_par > 1) {
        calc_state_bytes b = calc_state_bytes_of(&e->strategy, c->shape, e->training);
        out.message_s = calc_collective_line_s(&l->message, message_bytes);
        out.back_message_s = e->training ? out.message_s : backward ? message->latency_s : 0;
        out.tied_s = e->training
                         ? calc_collective_line_s(&l->ends, b.reduced * calc_stage_tied_weights(c))
                         : 0;
    } else if (idle) {
        out.message_s = message->latency_s;
        out.back_message_s = backward ? message->latency_s : 0;
    }
    return out;
}
