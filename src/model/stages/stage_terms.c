#include <math.h>

#include "model/cost/state.h"
#include "model/operators/adapter.h"
#include "model/operators/parameters.h"
#include "model/operators/processor.h"
#include "model/stages/stages.h"
#include "spec/schedule.h"

/* Operations of data parallelism and between stages: their cost in the groups of a layout. */

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
    return (calc_collective_line){within.latency_s + beyond.latency_s,
                                  within.s_per_byte + beyond.s_per_byte};
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

/* Whether a state is summed whole, and whether it is scattered and gathered. */
static bool sums(const calc_strategy *strategy)
{
    return calc_zero_stage(strategy) < 1 ||
           strategy->optimizer_shards != CALC_OPTIMIZER_SHARDS_EVEN;
}

static bool shards(const calc_strategy *strategy)
{
    return calc_zero_stage(strategy) >= 1;
}

/* @param limit  ranks that share a state */
static void set_group(const calc_system *s, const calc_strategy *strategy, const calc_group *group,
                      double limit, double bytes, calc_stage_group_lines *out)
{
    if (sums(strategy)) {
        out->sum = calc_collective_line_of(s, CALC_OP_ALL_REDUCE, group, bytes);
    }
    if (shards(strategy)) {
        calc_group inner = {limit, group->stride, group->network};
        out->reduce = shard_reduce(s, group, limit, bytes);
        out->gather = calc_collective_line_of(s, CALC_OP_ALL_GATHER, &inner, bytes);
    }
    if (sums(strategy) && shards(strategy)) {
        out->broadcast_s = broadcast_s(s, group, limit);
    }
}

void calc_stage_lines_time(const calc_system *s, const calc_strategy *strategy,
                           const calc_groups *g, double bytes, calc_stage_lines *out)
{
    calc_group ends = {2, g->pipeline.stride * (g->pipeline.ranks - 1), g->pipeline.network};
    out->message = calc_collective_next_line_of(s, &g->pipeline, bytes);
    out->ends = calc_collective_line_of(s, CALC_OP_ALL_REDUCE, &ends, bytes);
    set_group(s, strategy, &g->dense_data, out->dense_shards, bytes, &out->dense);
    set_group(s, strategy, &g->expert_data, out->expert_shards, bytes, &out->expert);
}

calc_stage_lines calc_stage_lines_of(const calc_system *s, const calc_exec *exec,
                                     const calc_strategy *strategy, const calc_groups *g,
                                     double bytes)
{
    calc_stage_lines l = {0};
    calc_stage_lines_ranks(s, exec, strategy, g, &l);
    calc_stage_lines_time(s, strategy, g, bytes, &l);
    return l;
}

static void set_data_links(const calc_shape *shape, const calc_exec *e, const calc_stage_lines *l,
                           calc_stage_links *out)
{
    int64_t zero = calc_zero_stage(&e->strategy);
    bool scattered = zero > 1 || !sums(&e->strategy);
    const calc_collective_line *dense = scattered ? &l->dense.reduce : &l->dense.sum;
    const calc_collective_line *expert = scattered ? &l->expert.reduce : &l->expert.sum;
    out->reduce_dense_latency_s = dense->latency_s;
    out->reduce_dense_s_per_byte = dense->s_per_byte;
    out->reduce_expert_latency_s = expert->latency_s;
    out->reduce_expert_s_per_byte = expert->s_per_byte;
    if (zero >= 1) {
        out->gather_dense_latency_s = l->dense.gather.latency_s;
        out->gather_dense_s_per_byte = l->dense.gather.s_per_byte;
        out->gather_expert_latency_s = l->expert.gather.latency_s;
        out->gather_expert_s_per_byte = l->expert.gather.s_per_byte;
    }
    if (zero == 1 && e->strategy.optimizer_shards == CALC_OPTIMIZER_SHARDS_TENSORS) {
        /* Every rank that holds tensors sends them, one after the other. */
        double held, experts;
        calc_parameters_tensors(shape, (double)e->pipeline_par, &held, &experts);
        held = calc_min(held, l->dense_shards);
        experts = calc_min(experts, l->expert_shards);
        out->gather_dense_latency_s = held * (l->dense.gather.latency_s + l->dense.broadcast_s);
        out->gather_expert_latency_s =
            experts * (l->expert.gather.latency_s + l->expert.broadcast_s);
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
        calc_state_bytes b = calc_state_bytes_of(&e->strategy, c->shape, c->chip, e->training);
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

calc_optimizer_step calc_stage_rules_optimizer(const calc_cost_context *c, const calc_strategy *s,
                                               const calc_stage_parts *p, calc_block_kind kind,
                                               double shards)
{
    calc_state_bytes b = calc_state_bytes_of(s, c->shape, c->chip, c->training);
    calc_optimizer_step none = {0};
    return c->training ? calc_optimizer_block(c, calc_state_optimizer_bytes(&b), p->weights[kind],
                                              p->layers[kind], shards)
                       : none;
}

calc_stage_travel calc_stage_rules_travel(const calc_strategy *s, bool training,
                                          const calc_block_memory *m)
{
    double weight = s->weight_offload ? m->weight : 0;
    double activation = s->activations_offload ? calc_block_memory_kept(s, m) : 0;
    double optimizer = s->optimizer_offload ? m->optimizer : 0;
    return (calc_stage_travel){
        .fw_bytes = calc_max(weight, activation),
        .bw_bytes = training ? weight + activation + optimizer : 0,
    };
}

static void set_times(const calc_cost *b, calc_rule_part *out)
{
    const calc_cost_comm *t = &b->tensor;
    const calc_cost_comm *x = &b->edge;
    const calc_cost_work *agrad = &b->work[CALC_PASS_AGRAD];
    const calc_cost_work *wgrad = &b->work[CALC_PASS_WGRAD];
    out->edge_fw_s = x->fw_exposed_s - t->fw_exposed_s;
    out->edge_bw_s = x->bw_exposed_s - t->bw_exposed_s + (x->re_exposed_s - t->re_exposed_s);
    out->fw_mem_s = b->work[CALC_PASS_FW].mem_s;
    out->bw_mem_s = agrad->mem_s + wgrad->mem_s;
    out->busy_s = agrad->mem_s + wgrad->mem_s + b->re.mem_s;
    out->compute_s = agrad->flop_s + wgrad->flop_s + b->re.flop_s;
    out->link_s = t->re_link_s + t->bw_link_s;
    out->edge_link_s = x->re_link_s + x->bw_link_s;
}

void calc_stage_rules_of(const calc_cost_context *c, const calc_strategy *strategy,
                         const calc_stage_parts *p, double dense_shards,
                         const calc_optimizer_step *optimizer, calc_stage_terms *t)
{
    bool sharded = calc_zero_stage(strategy) >= 1;
    double shards = sharded ? dense_shards : 1;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS && t->compat; kind++) {
        calc_rule_part *out = &t->rule[kind];
        const calc_cost *b = &p->block[kind];
        if (b->dense_weights + b->expert_weights <= 0) {
            continue; /* there are no such blocks */
        }
        calc_block_memory m = calc_block_memory_of(c, strategy, b, shards);
        set_times(b, out);
        if (calc_compat_has(t->compat, CALC_COMPAT_OPTIMIZER_ROOFLINE)) {
            /* Unless it is sharded, and so waits for all gradients, it starts block by block. */
            calc_optimizer_step s = optimizer
                                        ? optimizer[kind]
                                        : calc_stage_rules_optimizer(c, strategy, p, kind, shards);
            out->optimizer_s = s.step_s;
            out->optimizer_window_s = sharded ? 0 : s.step_s - s.mem_s;
            out->compute_s += sharded ? 0 : s.flop_s;
        }
        if (calc_compat_has(t->compat, CALC_COMPAT_OFFLOAD_EACH)) {
            calc_stage_travel travel = calc_stage_rules_travel(strategy, c->training, &m);
            out->fw_away_s = calc_memory_tier_s(&c->chip->mem2, travel.fw_bytes);
            out->bw_away_s = calc_memory_tier_s(&c->chip->mem2, travel.bw_bytes);
        }
        calc_block_memory_lines(strategy, c->training, &m, out);
    }
}

/* Terms of the step of a layout: the costs of its parts, in the groups and with the state of one
 * execution. */

/* The values of absent shares, as documented in overlap_shares.fields.h. */
#define DATA_PAR_WINDOW 0.7
#define PIPELINE_PAR_HIDDEN 0.85

/* ---- State ----------------------------------------------------------------------------------- */

/* Seconds per byte to or from the second tier: transfers are large. */
static double tier2_byte_s(const calc_chip *chip)
{
    const calc_memory_tier *tier = &chip->mem2;
    return 1 / (tier->bytes_per_s * tier->efficiency.efficiency[0]);
}

calc_stage_away calc_stage_away_of(const calc_strategy *s)
{
    double share = calc_share_or(s->offload_share, 1);
    double activation = s->activations_offload ? share : 0;
    return (calc_stage_away){s->weight_offload ? share : 0, activation,
                             s->optimizer_offload ? share : 0, activation};
}

calc_stage_away calc_stage_away_block(const calc_strategy *s, const calc_cost *block)
{
    double share = calc_share_or(s->offload_share, 1);
    calc_stage_away away = calc_stage_away_of(s);
    if (s->offload_modules && block->kept_bytes > 0) {
        away.activation = share * block->offload.away_bytes / block->kept_bytes;
        away.copied = share * block->offload.copied_bytes / block->kept_bytes;
    }
    return away;
}

/* Whether weights or activations come and go during the passes. */
static bool passes_move(const calc_strategy *s)
{
    return s->weight_offload || s->activations_offload || s->offload_modules;
}

/* Whether ranks that share weights hold a share of their gradients each. */
static bool splits_grad(const calc_strategy *s, int64_t zero)
{
    return zero >= 2 || (s->memory_model == CALC_MEMORY_MODEL_CALCULON && zero >= 1);
}

/* Share of the gradients that is kept in the second tier: with the state that they update. */
static double grad_away(const calc_strategy *s)
{
    return s->grad_offload ? calc_stage_away_of(s).optimizer : 0;
}

/* Blocks of multi-token prediction that have weights of their own. */
static double mtp_sets(const calc_shape *shape)
{
    return shape->mtp_shared ? calc_min(1, shape->mtp_blocks) : shape->mtp_blocks;
}

/* Such a block, where the model does not list it. */
static const calc_cost *mtp_block(const calc_cost_context *c, const calc_stage_parts *p)
{
    static const calc_cost none;
    bool listed = calc_shape_lists_mtp(c->shape) && c->training;
    return listed ? &none : &p->block[c->shape->experts > 0];
}

/* Bytes per element: the part on every rank, and the part split over the ranks that share it. */
static void set_state(const calc_exec *e, const calc_state_bytes *b, int64_t zero,
                      calc_stage_terms *t)
{
    double copies = calc_schedule_traits_of(e->pipeline_schedule).copies;
    calc_stage_away away = calc_stage_away_of(&e->strategy);
    double weight = b->weight * (1 - away.weight);
    double optimizer = calc_state_optimizer_bytes(b) * (1 - away.optimizer);
    /* Sharded weights are gathered block by block, one ahead; so come those kept elsewhere. */
    *(zero >= 3 ? &t->owned_bytes : &t->held_bytes) += copies * weight;
    t->gathered_ahead = zero >= 3 ? copies * b->gathered * 2 : copies * b->weight * 2 * away.weight;
    if (!e->training) {
        return;
    }
    double grad = b->grad * (1 - grad_away(&e->strategy));
    bool split = splits_grad(&e->strategy, zero);
    *(split ? &t->owned_bytes : &t->held_bytes) += copies * grad;
    if (split || grad_away(&e->strategy) > 0) {
        t->whole_block_bytes = copies * 4; /* those of the current block are whole */
    }
    *(zero >= 1 ? &t->owned_bytes : &t->held_bytes) += optimizer;
}

/* Gradients are cleared where they are whole or sharded, read for their norm, scaled, and read, by
 * their owner; state is read and written (Megatron-LM: reset() of param_and_grad_buffer.py,
 * clip_grads.py, distrib_optimizer.py). Buckets of 16 bits are scaled before each reduction, wider
 * ones by it (Megatron-FSDP, gradient_reduce_preprocessing()); no sum is read and written there. */
static void set_optimizer(const calc_chip *chip, const calc_exec *e, const calc_state_bytes *b,
                          int64_t zero, calc_stage_terms *t)
{
    if (!e->training) {
        return;
    }
    const calc_memory_tier *memory = &chip->mem1;
    double reached = calc_share_or(chip->optimizer_efficiency, memory->efficiency.efficiency[0]);
    double byte_s = 1 / (memory->bytes_per_s * reached);
    double once = b->grad * byte_s; /* cleared, or read for the norm, which the update waits for */
    double scaled = b->reduced < 4 ? calc_max(0, 2 * b->reduced - b->grad) * byte_s : 0;
    double updated = (3 * b->grad + 2 * calc_state_optimizer_bytes(b)) * byte_s;
    /* State kept elsewhere comes and goes while the rest is updated. */
    double moved = 2 * calc_state_optimizer_bytes(b) * calc_stage_away_of(&e->strategy).optimizer +
                   b->grad * grad_away(&e->strategy);
    updated = calc_max(updated, moved * tier2_byte_s(chip));
    t->optimizer_s = zero >= 3 ? 0 : zero == 2 ? scaled : once + (zero == 1 ? 0 : once + updated);
    t->optimizer_owned_s = zero >= 1 ? (zero >= 2 ? once : 0) + once + updated : 0;
}

/* Bytes in the second tier, per element. */
static void set_away(const calc_exec *e, const calc_state_bytes *b, int64_t zero,
                     calc_stage_terms *t)
{
    calc_stage_away away = calc_stage_away_of(&e->strategy);
    double copies = calc_schedule_traits_of(e->pipeline_schedule).copies;
    double buffers = calc_max(1, e->strategy.offload_buffers);
    double weight = copies * away.weight * b->weight * buffers;
    double state =
        away.optimizer * calc_state_optimizer_bytes(b) + grad_away(&e->strategy) * b->grad;
    double optimizer = e->training ? state * buffers : 0;
    t->away = passes_move(&e->strategy) || e->strategy.optimizer_offload;
    t->weight_held_away = zero >= 3 ? 0 : weight;
    t->weight_owned_away = zero >= 3 ? weight : 0;
    t->optimizer_held_away = zero >= 1 ? 0 : optimizer;
    t->optimizer_owned_away = zero >= 1 ? optimizer : 0;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* Whether weights come and go within the passes. */
static bool sharded(const calc_strategy *strategy, const calc_stage_lines *l)
{
    return calc_zero_stage(strategy) >= 3 && l->dense_ranks > 1;
}

calc_stage_keeping calc_stage_keeping_of(const calc_cost_context *c, const calc_strategy *strategy,
                                         const calc_stage_lines *l, double speed)
{
    calc_state_bytes b = calc_state_bytes_of(strategy, c->shape, c->chip, c->training);
    bool offloads = passes_move(strategy);
    return (calc_stage_keeping){
        .training = c->training,
        .sharded = sharded(strategy, l),
        .gathers_beside = calc_stage_gathers_beside(strategy),
        .reduces_beside = strategy->data_par_overlap,
        .offloads = offloads && !calc_compat_has(c->compat, CALC_COMPAT_OFFLOAD_EACH),
        .weight_bytes = b.weight,
        .gathered_bytes = b.gathered,
        .reduced_bytes = b.reduced,
        .gather_dense = l->dense.gather,
        .gather_expert = l->expert.gather,
        .reduce_dense = l->dense.reduce,
        .reduce_expert = l->expert.reduce,
        .window_share = calc_share_or(c->chip->overlap.data_par, DATA_PAR_WINDOW),
        .contention = c->chip->overlap.contention,
        .tier2_byte_s = offloads ? tier2_byte_s(c->chip) : 0,
        .speed = speed,
        .blocking = strategy->launch_blocking,
    };
}

calc_stage_sharded calc_stage_sharded_of(const calc_cost_context *c, const calc_strategy *strategy,
                                         const calc_cost *block, const calc_stage_lines *l)
{
    if (!sharded(strategy, l)) {
        return (calc_stage_sharded){0, 0, 0};
    }
    calc_stage_keeping k = calc_stage_keeping_of(c, strategy, l, 1);
    const calc_stage_weights frozen = {block->dense_frozen_bytes, block->expert_frozen_bytes};
    return calc_stage_shard(&k, block->dense_weights, block->expert_weights, &frozen,
                            calc_cost_fw_s(block), calc_cost_agrad_s(block) + block->wgrad_s);
}

calc_stage_offload calc_stage_offload_of(const calc_cost_context *c, const calc_strategy *s,
                                         const calc_cost *b, const calc_stage_sharded *sharded)
{
    static const calc_stage_lines none = {0};
    if (!passes_move(s)) {
        return (calc_stage_offload){0, 0};
    }
    calc_stage_away away = calc_stage_away_block(s, b);
    calc_stage_keeping k = calc_stage_keeping_of(c, s, &none, 1);
    const calc_stage_weights frozen = {b->dense_frozen_bytes, b->expert_frozen_bytes};
    return calc_stage_offload_sum(&k, &away, b->dense_weights + b->expert_weights, &frozen,
                                  b->kept_bytes, calc_cost_fw_s(b), calc_cost_agrad_s(b),
                                  b->wgrad_s, sharded);
}

calc_stage_source calc_stage_source_of(const calc_stage_parts *p, calc_block_kind kind)
{
    const calc_cost *b = &p->block[kind];
    return (calc_stage_source){
        .fw_s = calc_cost_fw_s(b),
        .agrad_s = calc_cost_agrad_s(b),
        .wgrad_s = b->wgrad_s,
        .host_s = p->host_s[kind],
        .host_once_s = p->host_once_s[kind],
        .dense_weights = b->dense_weights,
        .expert_weights = b->expert_weights,
        .frozen = {b->dense_frozen_bytes, b->expert_frozen_bytes},
        .kept_bytes = b->kept_bytes,
        .kept_whole_bytes = b->kept_whole_bytes,
        .passing_bytes = b->passing_bytes,
        .once_fw_s = calc_cost_fw_s(b),
        .once_agrad_s =
            b->agrad_s + b->tensor.bw_exposed_s + b->context.bw_exposed_s + b->expert.bw_exposed_s,
    };
}

/* The blocks of each kind. */
static void set_blocks(const calc_cost_context *c, const calc_strategy *strategy,
                       const calc_stage_parts *p, const calc_stage_lines *l, double speed,
                       calc_stage_terms *t)
{
    calc_stage_keeping k = calc_stage_keeping_of(c, strategy, l, speed);
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        calc_stage_away away = calc_stage_away_block(strategy, &p->block[kind]);
        calc_stage_source source = calc_stage_source_of(p, kind);
        t->block[kind] = calc_stage_block_of(&source, &k, &away);
    }
}

static void add_end(const calc_cost *end, double times, double speed, calc_stage_part *out)
{
    out->fw_s += times * calc_cost_fw_s(end) * speed;
    out->agrad_s += times * calc_cost_agrad_s(end) * speed;
    out->wgrad_s += times * end->wgrad_s * speed;
}

/* Embedding and head; the head with the blocks, projections and losses of multi-token prediction.
 * kept_bytes: once, however many micro-batches are in flight; whole_bytes: of each. */
static void set_ends(const calc_cost_context *c, const calc_stage_parts *p, double speed,
                     calc_stage_terms *t)
{
    double depth = c->shape->mtp_blocks;
    double sets = mtp_sets(c->shape);
    const calc_cost *extra = mtp_block(c, p);
    add_end(&p->embedding, 1, speed, &t->embedding);
    add_end(&p->head, 1 + depth, speed, &t->head);
    add_end(&p->mtp, depth, speed, &t->head);
    add_end(extra, depth, speed, &t->head);
    t->embedding.weights.dense = p->embedding.dense_weights;
    t->embedding.frozen.dense = p->embedding.dense_frozen_bytes;
    t->embedding.whole_bytes = p->embedding.kept_bytes;
    t->head.weights.dense =
        p->head.dense_weights + sets * (p->mtp.dense_weights + extra->dense_weights);
    t->head.weights.expert = sets * (p->mtp.expert_weights + extra->expert_weights);
    t->head.frozen.dense =
        p->head.dense_frozen_bytes + sets * (p->mtp.dense_frozen_bytes + extra->dense_frozen_bytes);
    t->head.frozen.expert = sets * (p->mtp.expert_frozen_bytes + extra->expert_frozen_bytes);
    t->head.kept_bytes = c->training ? p->head.kept_bytes * (1 + depth) : p->head.kept_bytes;
    t->head.whole_bytes = depth * (p->mtp.kept_bytes + extra->kept_bytes);
}

/* Elements of the table that both ends share. */
static double table_of(const calc_cost_context *c)
{
    const calc_shape *s = c->shape;
    bool none = !s->tied || calc_compat_has(c->compat, CALC_COMPAT_LAYERS);
    return none ? 0 : s->vocab / s->tensor_par * s->hidden;
}

double calc_stage_tied_weights(const calc_cost_context *c)
{
    bool frozen = calc_adapter_freezes(c->strategy, c->training);
    return frozen ? 0 : table_of(c);
}

/* One table for both ends if they are tied and on the same stage: the embedding has it. Of a head
 * that is trained alone the embedding needs none. */
static void share_table(const calc_cost_context *c, const calc_exec *exec, calc_stage_terms *t)
{
    bool frozen = calc_adapter_freezes(c->strategy, c->training);
    if (exec->pipeline_par > 1) {
        return;
    }
    t->head.weights.dense -= calc_stage_tied_weights(c);
    calc_stage_part *end =
        c->training && c->strategy->trained == CALC_TRAINED_HEAD ? &t->embedding : &t->head;
    end->frozen.dense -= frozen ? table_of(c) * c->shape->element_bytes : 0;
}

calc_stage_sharded_ends calc_stage_sharded_ends_of(const calc_cost_context *c,
                                                   const calc_exec *exec, const calc_stage_parts *p,
                                                   const calc_stage_lines *l)
{
    if (!sharded(&exec->strategy, l)) {
        return (calc_stage_sharded_ends){{0, 0, 0}, {0, 0, 0}};
    }
    calc_stage_terms t = {0};
    set_ends(c, p, 1, &t);
    share_table(c, exec, &t);
    const calc_stage_part *e = &t.embedding;
    const calc_stage_part *h = &t.head;
    calc_stage_keeping k = calc_stage_keeping_of(c, &exec->strategy, l, 1);
    return (calc_stage_sharded_ends){calc_stage_shard(&k, e->weights.dense, e->weights.expert,
                                                      &e->frozen, e->fw_s, e->agrad_s + e->wgrad_s),
                                     calc_stage_shard(&k, h->weights.dense, h->weights.expert,
                                                      &h->frozen, h->fw_s,
                                                      h->agrad_s + h->wgrad_s)};
}

static void add_sharded(const calc_stage_sharded *s, double speed, calc_stage_part *end)
{
    end->fw_s += s->fw_s * speed;
    end->agrad_s += s->bw_s * speed;
}

bool calc_stage_gathers_beside(const calc_strategy *strategy)
{
    return strategy->param_gather_overlap == CALC_CHOICE_AUTO
               ? strategy->data_par_overlap
               : strategy->param_gather_overlap == CALC_CHOICE_TRUE;
}

/* Fill terms whose ranks are, where weights are frozen. */
static void calc_stage_set_frozen(const calc_exec *e, const calc_stage_parts *p,
                                  calc_stage_terms *t)
{
    if (!calc_adapter_freezes(&e->strategy, e->training) && p->embedding.dense_frozen_bytes <= 0) {
        return;
    }
    double copies = calc_schedule_traits_of(e->pipeline_schedule).copies;
    bool sharded_weights = calc_zero_stage(&e->strategy) >= 3;
    double dense = copies / (sharded_weights ? t->dense_shards : 1);
    double expert = copies / (sharded_weights ? t->expert_shards : 1);
    double away = calc_stage_away_of(&e->strategy).weight;
    double here = 1 - away;
    double buffers = calc_max(1, e->strategy.offload_buffers);
    calc_stage_frozen *f = &t->frozen;
    f->any = true;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        const calc_cost *b = &p->block[kind];
        double bytes = b->dense_frozen_bytes * dense + b->expert_frozen_bytes * expert;
        f->block_bytes[kind] = bytes * here;
        f->block_away_bytes[kind] = bytes * away * buffers;
        f->ahead_bytes[kind] = 2 * copies * (b->dense_frozen_bytes + b->expert_frozen_bytes) *
                               (sharded_weights ? 1 : away);
    }
    double embedding = t->embedding.frozen.dense * dense;
    double head = t->head.frozen.dense * dense + t->head.frozen.expert * expert;
    f->embedding_bytes = embedding * here;
    f->head_bytes = head * here;
    f->embedding_away_bytes = embedding * away * buffers;
    f->head_away_bytes = head * away * buffers;
}

calc_stage_state calc_stage_state_of(const calc_cost_context *c, const calc_exec *e,
                                     const calc_stage_terms *t, const calc_stage_class *class)
{
    calc_state_bytes b = calc_state_bytes_of(&e->strategy, c->shape, c->chip, e->training);
    calc_stage_weights w = calc_stage_weights_sum(t, class);
    int64_t zero = calc_zero_stage(&e->strategy);
    double copies = calc_schedule_traits_of(e->pipeline_schedule).copies;
    double held = w.dense + w.expert;
    double owned = w.dense / t->dense_shards + w.expert / t->expert_shards;
    double block = held / calc_max(1, class->dense + class->moe);
    calc_stage_away away = calc_stage_away_of(&e->strategy);
    double weight = b.weight * (1 - away.weight);
    calc_stage_state s = {
        .weight = copies * weight * (zero >= 3 ? owned : held) + t->gathered_ahead * block +
                  calc_stage_narrowed_bytes(t, class) + calc_stage_frozen_of(t, class).here,
    };
    if (e->training) {
        double grad = b.grad * (1 - grad_away(&e->strategy));
        bool split = splits_grad(&e->strategy, zero);
        s.grad = copies * grad * (split ? owned : held) + t->whole_block_bytes * block;
        double state = calc_state_optimizer_bytes(&b) * (1 - away.optimizer);
        s.optimizer = state * (zero >= 1 ? owned : held) + calc_stage_muon_bytes(t, class).here;
    }
    return s;
}

double calc_stage_exposed_messages(const calc_stage_terms *terms, const calc_strategy *strategy)
{
    return strategy->pipeline_par_overlap ? 1 - terms->message_hidden : 1;
}

/* Terms that depend neither on the state nor on how it is shared. */
static void set_parts(const calc_cost_context *c, const calc_exec *e, const calc_stage_parts *p,
                      calc_stage_terms *t)
{
    const calc_overlap_shares *o = &c->chip->overlap;
    static const calc_stage_lines alone = {0};
    double speed = 1 / calc_share_or(e->software_efficiency, 1);
    *t = (calc_stage_terms){
        .compat = c->compat,
        .training = e->training,
        .message_hidden = calc_share_or(o->pipeline_par, PIPELINE_PAR_HIDDEN),
        .recompute_blocks = (double)e->recompute_blocks,
        .window_share = calc_share_or(o->data_par, DATA_PAR_WINDOW),
        .contention = o->contention,
        .overhead_s = c->system->step_overhead_s,
        .framework_head_bytes = p->framework_head_bytes * e->training,
        .used_share = 1 + c->chip->mem_fragmentation,
        .reserved_bytes = c->chip->mem_reserved_bytes,
    };
    for (int dense = 0; dense < 2; dense++) {
        for (int moe = 0; moe < 2; moe++) {
            t->framework_bytes[dense][moe] = e->training ? p->framework_bytes[dense][moe] : 0;
        }
    }
    set_blocks(c, &e->strategy, p, &alone, speed, t);
    set_ends(c, p, speed, t);
}

void calc_stage_terms_row(const calc_cost_context *c, const calc_exec *e, const calc_stage_parts *p,
                          const calc_stage_terms *like, const calc_optimizer_step *optimizer,
                          calc_stage_terms *t)
{
    int64_t zero = calc_zero_stage(&e->strategy);
    calc_state_bytes b = calc_state_bytes_of(&e->strategy, c->shape, c->chip, e->training);
    if (like) {
        *t = *like;
        t->held_bytes = t->owned_bytes = t->gathered_ahead = t->whole_block_bytes = 0;
        t->reduced_bytes = t->gathered_bytes = 0;
        t->optimizer_s = t->optimizer_owned_s = 0;
    } else {
        set_parts(c, e, p, t);
    }
    set_state(e, &b, zero, t);
    /* Multiplied copies of weights are of all blocks, and of those of multi-token prediction. */
    double bytes = calc_schedule_traits_of(e->pipeline_schedule).copies * b.narrowed;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        t->block[kind].narrowed_bytes = bytes * p->block[kind].matrix_weights;
    }
    t->head.narrowed_bytes =
        bytes * mtp_sets(c->shape) * (p->mtp.matrix_weights + mtp_block(c, p)->matrix_weights);
    set_optimizer(c->chip, e, &b, zero, t);
    set_away(e, &b, zero, t);
    if (e->training && zero < 3) {
        t->reduced_bytes = b.reduced;
        t->gathered_bytes = zero >= 1 ? b.sent : 0;
    }
    calc_stage_rules_of(c, &e->strategy, p, 1, optimizer, t);
}

void calc_stage_terms_pipeline(const calc_shape *shape, const calc_exec *e, calc_stage_terms *t)
{
    int64_t microbatches = calc_microbatches(e);
    int64_t rest = microbatches % e->pipeline_par;
    t->stages = (double)e->pipeline_par;
    t->microbatches = (double)microbatches;
    t->lost_rounds = rest > 0 ? (double)(e->pipeline_par - rest) : 0;
    t->head_as_blocks = calc_stages_head_blocks((int64_t)shape->blocks, e);
    t->dense_first = shape->dense_blocks > 0 && shape->moe_every == 1 &&
                     e->pipeline_balance != CALC_PIPELINE_BALANCE_FREE;
}

/* Fill terms whose pipeline and head are, where the execution defers any.
 * The buffers take the first micro-batches of a step; the head runs once for the next token and
 * once for each that is predicted beyond. The part of the last micro-batch is held in any case
 * while it passes. */
static void calc_stage_set_deferred(const calc_cost_context *c, const calc_exec *e,
                                    const calc_stage_parts *p, calc_stage_terms *t)
{
    const calc_shape *s = c->shape;
    bool none = e->deferred_head_wgrad == 0 || !e->training || e->pipeline_par <= 1 ||
                e->pipeline_schedule != CALC_PIPELINE_SCHEDULE_1F1B || s->words <= 0;
    if (none) {
        return;
    }
    double runs = t->microbatches * (1 + s->mtp_blocks);
    double limit = e->deferred_head_wgrad < 0 ? runs : (double)e->deferred_head_wgrad;
    double deferred = calc_min(limit, runs);
    bool split = e->strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    double input = s->hidden / (split ? s->tensor_par : 1);
    t->deferred.any = true;
    t->deferred.all_s = deferred * p->head.wgrad_s / calc_share_or(e->software_efficiency, 1);
    t->deferred.bytes = calc_min(deferred, runs - 1) * s->tokens *
                        (input + s->words / s->tensor_par) * s->element_bytes;
    t->head.wgrad_s -= t->deferred.all_s / t->microbatches;
}

/* Fill terms whose ranks are, where Muon is the optimizer. */
static void calc_stage_set_muon(const calc_cost_context *c, const calc_exec *e,
                                const calc_stage_parts *p, calc_stage_terms *t)
{
    if (!e->training || e->strategy.optimizer != CALC_OPTIMIZER_MUON) {
        return;
    }
    const calc_shape *s = c->shape;
    const calc_memory_tier *memory = &c->chip->mem1;
    calc_state_bytes b = calc_state_bytes_of(&e->strategy, s, c->chip, true);
    bool shared = calc_zero_stage(&e->strategy) >= 1;
    double dense = shared ? t->dense_shards : 1;
    double expert = shared ? t->expert_shards : 1;
    double tied = e->pipeline_par <= 1 ? calc_stage_tied_weights(c) : 0;
    double embedding = p->embedding.dense_weights / dense;
    double head = (p->head.dense_weights - tied) / dense;
    double reached = calc_share_or(c->chip->optimizer_efficiency, memory->efficiency.efficiency[0]);
    double moved_s = 2 * b.moment / (memory->bytes_per_s * reached);
    calc_stage_muon *m = &t->muon;
    m->any = true;
    m->longest_s = p->mtp_muon.longest_s;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        const calc_muon *block = &p->muon[kind];
        m->block_s[kind] = block->dense_s / dense + block->expert_s / expert;
        m->longest_s = calc_max(m->longest_s, block->longest_s);
    }
    m->head_s = s->mtp_blocks * (m->block_s[s->experts > 0] + p->mtp_muon.dense_s / dense);
    m->embedding_adam_s = moved_s * embedding;
    m->head_adam_s = moved_s * head;
    m->embedding_bytes = b.moment * embedding;
    m->head_bytes = b.moment * head;
    m->away = calc_stage_away_of(&e->strategy).optimizer;
}

void calc_stage_terms_cell(const calc_cost_context *c, const calc_exec *e,
                           const calc_stage_parts *p, const calc_stage_lines *l,
                           const calc_optimizer_step *optimizer, calc_stage_terms *t)
{
    int64_t zero = calc_zero_stage(&e->strategy);
    calc_stage_terms_pipeline(c->shape, e, t);
    t->growth = c->system->straggler_growth * l->nodes_log2;
    t->dense_shards = l->dense_shards;
    t->expert_shards = l->expert_shards;
    if (zero >= 3) {
        double speed = 1 / calc_share_or(e->software_efficiency, 1);
        set_blocks(c, &e->strategy, p, l, speed, t);
        calc_stage_sharded_ends ends = calc_stage_sharded_ends_of(c, e, p, l);
        add_sharded(&ends.embedding, speed, &t->embedding);
        add_sharded(&ends.head, speed, &t->head);
    }
    share_table(c, e, t);
    calc_stage_set_deferred(c, e, p, t);
    calc_stage_set_muon(c, e, p, t);
    calc_stage_set_frozen(e, p, t);
    /* Nobody holds the sum of sharded gradients: they are reduced with every micro-batch. */
    bool each = e->training && zero == 2;
    t->reductions = each ? t->microbatches : 1;
    if (zero >= 1) {
        calc_stage_rules_of(c, &e->strategy, p, l->dense_shards, optimizer, t);
    }
}

void calc_stage_terms_of(const calc_cost_context *c, const calc_exec *e, const calc_stage_parts *p,
                         const calc_stage_lines *l, calc_stage_terms *t, calc_stage_links *links)
{
    calc_stage_terms_row(c, e, p, NULL, NULL, t);
    calc_stage_terms_cell(c, e, p, l, NULL, t);
    *links = calc_stage_links_of(c, e, p->message_bytes, l);
}
