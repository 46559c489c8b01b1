/* Terms of the step of an extended layout: what its parts cost, in the groups and with the state of
 * one execution. */
#include <math.h>

#include "model/processor.h"
#include "model/stages.h"
#include "spec/format.h"

/* What the documentation of overlap_shares.fields.h gives for absent shares. */
#define DATA_PAR_WINDOW 0.7
#define PIPELINE_PAR_HIDDEN 0.85

/* ---- Groups ---------------------------------------------------------------------------------- */

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

calc_stage_lines calc_stage_lines_of(const calc_system *s, const calc_exec *exec,
                                     const calc_groups *g, double bytes)
{
    double limit = exec->fsdp_par > 0 ? (double)exec->fsdp_par : INFINITY;
    double node = s->ranks_per_node > 0 ? (double)s->ranks_per_node : (double)s->networks[0].size;
    double nodes = (double)exec->num_procs / calc_max(1, node);
    const calc_group *dense = &g->dense_data;
    const calc_group *expert = &g->expert_data;
    calc_group ends = g->pipeline;
    ends.ranks = 2;
    ends.stride *= g->pipeline.ranks - 1;
    calc_stage_lines l = {
        .sum_dense = calc_collective_line_of(s, CALC_OP_ALL_REDUCE, dense, bytes),
        .sum_expert = calc_collective_line_of(s, CALC_OP_ALL_REDUCE, expert, bytes),
        .message = calc_collective_line_of(s, CALC_OP_P2P, &g->pipeline, bytes),
        .ends = calc_collective_line_of(s, CALC_OP_ALL_REDUCE, &ends, bytes),
        .dense_ranks = dense->ranks,
        .expert_ranks = expert->ranks,
        .dense_shards = dense->ranks < limit ? dense->ranks : limit,
        .expert_shards = expert->ranks < limit ? expert->ranks : limit,
        .nodes_log2 = nodes > 1 ? log2(nodes) : 0,
    };
    l.shard_reduce_dense = shard_reduce(s, dense, l.dense_shards, bytes);
    l.shard_reduce_expert = shard_reduce(s, expert, l.expert_shards, bytes);
    l.shard_gather_dense = shard_gather(s, dense, l.dense_shards, bytes);
    l.shard_gather_expert = shard_gather(s, expert, l.expert_shards, bytes);
    return l;
}

/* ---- State ----------------------------------------------------------------------------------- */

int64_t calc_zero_stage(const calc_exec *exec)
{
    return exec->zero_stage > 0 ? exec->zero_stage : exec->optimizer_sharding;
}

calc_state_bytes calc_state_bytes_of(const calc_exec *e, const calc_shape *shape)
{
    double master = shape->weight_bytes < 4 ? 4 : 0;
    return (calc_state_bytes){
        .weight = shape->weight_bytes,
        .grad = shape->grad_bytes,
        .reduced = calc_format_bytes_or(e->grad_reduce_datatype, shape->grad_bytes),
        .master = calc_format_bytes_or(e->master_datatype, master),
        .moment = calc_format_bytes_or(e->optimizer_moment_datatype, 4),
    };
}

/* Seconds per byte to or from the second tier: transfers are large. */
static double tier2_byte_s(const calc_system *system)
{
    const calc_memory_tier *tier = &system->mem2;
    return 1 / (tier->bytes_per_s * tier->efficiency.efficiency[0]);
}

calc_stage_away calc_stage_away_of(const calc_exec *e)
{
    double share = calc_share_or(e->offload_share, 1);
    return (calc_stage_away){e->weight_offload ? share : 0, e->activations_offload ? share : 0,
                             e->optimizer_offload ? share : 0};
}

/* Bytes per element: what every rank holds, and what is split over the ranks that share it. */
static void set_state(const calc_exec *e, const calc_state_bytes *b, int64_t zero,
                      calc_stage_terms *t)
{
    bool calculon = e->memory_model == CALC_MEMORY_MODEL_CALCULON;
    double copies = e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE ? 2 : 1;
    calc_stage_away away = calc_stage_away_of(e);
    double weight = b->weight * (1 - away.weight);
    double optimizer = (b->master + 2 * b->moment) * (1 - away.optimizer);
    if (zero >= 3) {
        /* Sharded weights are gathered block by block, one ahead. */
        t->owned_bytes += copies * weight;
        t->gathered_ahead = copies * b->weight * 2;
    } else {
        /* Weights kept elsewhere come block by block, too. */
        t->held_bytes += copies * weight;
        t->gathered_ahead = copies * b->weight * 2 * away.weight;
    }
    if (!e->training) {
        return;
    }
    if (zero >= 2 || (calculon && zero >= 1)) {
        /* Gradients of the block at hand are whole. */
        t->owned_bytes += copies * b->grad;
        t->whole_block_bytes = copies * 4;
    } else {
        t->held_bytes += copies * b->grad;
    }
    if (zero >= 1) {
        t->owned_bytes += optimizer;
    } else {
        t->held_bytes += optimizer;
    }
}

/* Gradients are cleared and read for their norm, scaled, and read; state is read and written. */
static void set_optimizer(const calc_system *s, const calc_exec *e, const calc_state_bytes *b,
                          int64_t zero, calc_stage_terms *t)
{
    if (!e->training) {
        return;
    }
    const calc_memory_tier *memory = &s->mem1;
    double reached = calc_share_or(s->optimizer_efficiency, memory->efficiency.efficiency[0]);
    double byte_s = 1 / (memory->bytes_per_s * reached);
    double cleared = 2 * b->grad * byte_s;
    double updated = (3 * b->grad + 2 * (b->master + 2 * b->moment)) * byte_s;
    /* State kept elsewhere comes and goes while the rest is updated. */
    double moved = 2 * (b->master + 2 * b->moment) * calc_stage_away_of(e).optimizer;
    updated = calc_max(updated, moved * tier2_byte_s(s));
    t->optimizer_s = (zero >= 2 ? 0 : cleared) + (zero >= 1 ? 0 : updated);
    t->optimizer_owned_s = (zero >= 2 ? cleared : 0) + (zero >= 1 ? updated : 0);
}

static void set_reduction(const calc_exec *e, const calc_state_bytes *b, int64_t zero,
                          const calc_stage_lines *l, calc_stage_terms *t)
{
    t->reductions = 1;
    if (!e->training || zero >= 3) {
        return;
    }
    t->reduced_bytes = b->reduced;
    t->reduce_dense = zero >= 1 ? l->shard_reduce_dense : l->sum_dense;
    t->reduce_expert = zero >= 1 ? l->shard_reduce_expert : l->sum_expert;
    if (zero >= 1) {
        t->gathered_bytes = b->weight;
        t->gather_dense = l->shard_gather_dense;
        t->gather_expert = l->shard_gather_expert;
    }
    /* Sharded gradients are reduced with every micro-batch, unless a pipeline keeps many. */
    t->reductions = zero >= 2 && t->stages <= 1 ? t->microbatches : 1;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

calc_stage_sharded calc_stage_sharded_of(const calc_cost_context *c, const calc_exec *exec,
                                         const calc_cost *block, const calc_stage_lines *l)
{
    calc_stage_sharded out = {0};
    if (calc_zero_stage(exec) < 3 || l->dense_ranks <= 1) {
        return out;
    }
    calc_state_bytes b = calc_state_bytes_of(exec, c->shape);
    const calc_overlap_shares *o = &c->system->overlap;
    calc_stage_terms t = {.window_share = calc_share_or(o->data_par, DATA_PAR_WINDOW),
                          .contention = o->contention};
    double gather_s =
        calc_collective_line_s(&l->shard_gather_dense, b.weight * block->dense_weights) +
        calc_collective_line_s(&l->shard_gather_expert, b.weight * block->expert_weights);
    double reduce_s =
        calc_collective_line_s(&l->shard_reduce_dense, b.reduced * block->dense_weights) +
        calc_collective_line_s(&l->shard_reduce_expert, b.reduced * block->expert_weights);
    out.fw_s = calc_stage_exposed_s(&t, gather_s, calc_cost_fw_s(block), 0);
    out.link_s = gather_s;
    if (exec->training) {
        out.bw_s = calc_stage_exposed_s(&t, gather_s + reduce_s,
                                        calc_cost_agrad_s(block) + block->wgrad_s, 0);
        out.link_s += gather_s + reduce_s;
    }
    return out;
}

/* Host and processor take turns in being behind, kernel by kernel, so that a block takes longer
 * than the longer of the two sums: by 19 % where they are equal. A norm of fourth power stands for
 * that; of the powers 4, 6 and 8 it describes published runs best (docs/validation.md).
 * @param host  time of the host over that of the processor
 * @return factor on the latter */
static double host_wait(double host)
{
    double squared = host * host;
    return sqrt(sqrt(1 + squared * squared));
}

calc_stage_offload calc_stage_offload_of(const calc_cost_context *c, const calc_exec *e,
                                         const calc_cost *b)
{
    calc_stage_away away = calc_stage_away_of(e);
    if (away.weight + away.activation == 0) {
        return (calc_stage_offload){0};
    }
    calc_state_bytes bytes = calc_state_bytes_of(e, c->shape);
    double byte_s = tier2_byte_s(c->system);
    double weight_s = away.weight * bytes.weight * (b->dense_weights + b->expert_weights) * byte_s;
    double activation_s = e->training ? away.activation * b->kept_bytes * byte_s : 0;
    double fw_s = calc_max(weight_s, activation_s) - calc_cost_fw_s(b);
    double bw_s = weight_s + activation_s - calc_cost_agrad_s(b) - b->wgrad_s;
    return (calc_stage_offload){calc_max(0, fw_s), e->training ? calc_max(0, bw_s) : 0};
}

calc_stage_tier2 calc_stage_tier2_of(const calc_cost_context *c, const calc_stage_parts *p,
                                     const calc_stage_terms *t, const calc_stage_class *class,
                                     double chunks)
{
    const calc_exec *e = c->exec;
    calc_stage_away away = calc_stage_away_of(e);
    calc_state_bytes b = calc_state_bytes_of(e, c->shape);
    calc_stage_weights w = calc_stage_weights_sum(t, class);
    int64_t zero = calc_zero_stage(e);
    double held = w.dense + w.expert;
    double owned = w.dense / t->dense_shards + w.expert / t->expert_shards;
    double copies = e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE ? 2 : 1;
    calc_stage_tier2 out = {.weight = copies * away.weight * b.weight * (zero >= 3 ? owned : held)};
    if (e->training) {
        double stored = class->dense * p->block[CALC_DENSE_BLOCK].kept_bytes +
                        class->moe * p->block[CALC_MOE_BLOCK].kept_bytes;
        double in_flight = calc_stage_in_flight(t, e->pipeline_schedule, class->position, chunks);
        out.activation = away.activation * stored * in_flight;
        out.optimizer = away.optimizer * (b.master + 2 * b.moment) * (zero >= 1 ? owned : held);
    }
    return out;
}

/* What a block of the processor's `s` takes beside its host. */
static double beside_host(double s, double host_s)
{
    return s > 0 ? s * host_wait(host_s / s) : 0;
}

/* A block: its passes with what sharded weights expose, none shorter than the host issues it; every
 * pass waits in proportion. */
static void set_block(const calc_cost_context *c, const calc_exec *exec, const calc_cost *b,
                      double host_s, const calc_stage_lines *l, double speed, calc_stage_part *out)
{
    calc_stage_sharded s = calc_stage_sharded_of(c, exec, b, l);
    calc_stage_offload o = calc_stage_offload_of(c, exec, b);
    double fw_s = calc_cost_fw_s(b) + s.fw_s + o.fw_s;
    double agrad_s = calc_cost_agrad_s(b) + s.bw_s + o.bw_s;
    double away = calc_stage_away_of(exec).activation;
    double all_s = fw_s + agrad_s + b->wgrad_s;
    double factor = all_s > 0 ? beside_host(all_s, host_s) / all_s * speed : speed;
    double repeated_s = b->tensor.re_exposed_s + b->context.re_exposed_s + b->expert.re_exposed_s;
    /* A block that does not recompute waits for the host, too. */
    double without_s = beside_host(all_s - b->re_s - repeated_s, host_s);
    *out = (calc_stage_part){
        .fw_s = fw_s * factor,
        .agrad_s = agrad_s * factor,
        .wgrad_s = b->wgrad_s * factor,
        .spared_s = all_s * factor - without_s * speed,
        .weights = {b->dense_weights, b->expert_weights},
        /* A forward pass alone keeps nothing: a block's activations live while it runs. */
        .kept_bytes = exec->training ? b->kept_bytes * (1 - away) : 0,
        /* Of what is kept elsewhere two blocks are here: one going, one coming. */
        .whole_bytes = b->kept_whole_bytes + away * b->kept_bytes,
    };
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
    const calc_shape *shape = c->shape;
    double depth = shape->mtp_blocks;
    const calc_cost *extra = &p->block[shape->experts > 0 ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK];
    add_end(&p->embedding, 1, speed, &t->embedding);
    add_end(&p->head, 1 + depth, speed, &t->head);
    add_end(&p->mtp, depth, speed, &t->head);
    add_end(extra, depth, speed, &t->head);
    t->embedding.weights.dense = p->embedding.dense_weights;
    t->head.weights.dense =
        p->head.dense_weights + depth * (p->mtp.dense_weights + extra->dense_weights);
    t->head.weights.expert = depth * extra->expert_weights;
    t->head.kept_bytes = c->exec->training ? p->head.kept_bytes * (1 + depth) : p->head.kept_bytes;
    t->head.whole_bytes = depth * (p->mtp.kept_bytes + extra->kept_bytes);
}

bool calc_stage_gathers_beside(const calc_exec *exec)
{
    return exec->param_gather_overlap == CALC_CHOICE_AUTO
               ? exec->data_par_overlap
               : exec->param_gather_overlap == CALC_CHOICE_TRUE;
}

calc_stage_state calc_stage_state_of(const calc_cost_context *c, const calc_stage_terms *t,
                                     const calc_stages *stages, size_t index)
{
    const calc_exec *e = c->exec;
    const calc_stage_class *class = &stages->item[index];
    calc_state_bytes b = calc_state_bytes_of(e, c->shape);
    calc_stage_weights w = calc_stage_weights_sum(t, class);
    int64_t zero = calc_zero_stage(e);
    double copies = e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE ? 2 : 1;
    double held = w.dense + w.expert;
    double owned = w.dense / t->dense_shards + w.expert / t->expert_shards;
    double block = held / calc_max(1, class->dense + class->moe);
    calc_stage_away away = calc_stage_away_of(e);
    double weight = b.weight * (1 - away.weight);
    calc_stage_state s = {
        .weight = copies * weight * (zero >= 3 ? owned : held) + t->gathered_ahead * block,
    };
    if (e->training) {
        bool split = t->whole_block_bytes > 0;
        s.grad = copies * b.grad * (split ? owned : held) + t->whole_block_bytes * block;
        double state = (b.master + 2 * b.moment) * (1 - away.optimizer);
        s.optimizer = state * (zero >= 1 ? owned : held);
    }
    return s;
}

double calc_stage_exposed_messages(const calc_stage_terms *terms, const calc_exec *exec)
{
    return exec->pipeline_par_overlap ? 1 - terms->message_hidden : 1;
}

void calc_stage_terms_row(const calc_cost_context *c, const calc_exec *e, const calc_stage_parts *p,
                          calc_stage_terms *t)
{
    const calc_overlap_shares *o = &c->system->overlap;
    static const calc_stage_lines alone = {0};
    double speed = 1 / calc_share_or(e->software_efficiency, 1);
    int64_t zero = calc_zero_stage(e);
    calc_state_bytes b = calc_state_bytes_of(e, c->shape);
    *t = (calc_stage_terms){
        .training = e->training,
        .message_hidden = calc_share_or(o->pipeline_par, PIPELINE_PAR_HIDDEN),
        .recompute_blocks = (double)e->recompute_blocks,
        .window_share = calc_share_or(o->data_par, DATA_PAR_WINDOW),
        .contention = o->contention,
        .overhead_s = c->system->step_overhead_s,
        .framework_head_bytes = p->framework_head_bytes * e->training,
        .used_share = 1 + c->system->mem_fragmentation,
        .reserved_bytes = c->system->mem_reserved_bytes,
    };
    for (int dense = 0; dense < 2; dense++) {
        for (int moe = 0; moe < 2; moe++) {
            t->framework_bytes[dense][moe] = e->training ? p->framework_bytes[dense][moe] : 0;
        }
    }
    for (int kind = 0; kind < CALC_BLOCK_KINDS && zero < 3; kind++) {
        set_block(c, e, &p->block[kind], p->host_s[kind], &alone, speed, &t->block[kind]);
    }
    set_ends(c, p, speed, t);
    set_state(e, &b, zero, t);
    set_optimizer(c->system, e, &b, zero, t);
}

void calc_stage_terms_cell(const calc_cost_context *c, const calc_exec *e,
                           const calc_stage_parts *p, const calc_stage_lines *l,
                           calc_stage_terms *t)
{
    int64_t zero = calc_zero_stage(e);
    int64_t microbatches = e->batch_size / e->data_par / e->microbatch_size;
    calc_state_bytes b = calc_state_bytes_of(e, c->shape);
    double table = c->shape->vocab / c->shape->tensor_par * c->shape->hidden;
    t->stages = (double)e->pipeline_par;
    t->microbatches = (double)microbatches;
    t->ends_as_blocks = e->pipeline_par > 1 && e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS;
    t->dense_first = c->shape->dense_blocks > 0 && c->shape->moe_every == 1;
    t->growth = c->system->straggler_growth * l->nodes_log2;
    t->dense_shards = l->dense_shards;
    t->expert_shards = l->expert_shards;
    for (int kind = 0; kind < CALC_BLOCK_KINDS && zero >= 3; kind++) {
        double speed = 1 / calc_share_or(e->software_efficiency, 1);
        set_block(c, e, &p->block[kind], p->host_s[kind], l, speed, &t->block[kind]);
    }
    set_reduction(e, &b, zero, l, t);
    if (e->pipeline_par > 1) {
        t->message_s = calc_collective_line_s(&l->message, p->message_bytes);
        bool tied = c->shape->tied && c->shape->vocab > 0 && e->training;
        t->tied_s = tied ? calc_collective_line_s(&l->ends, b.reduced * table) : 0;
    } else if (c->shape->tied) {
        /* One table for both ends if they are tied and on the same stage. */
        t->head.weights.dense -= table;
    }
}

void calc_stage_terms_of(const calc_cost_context *c, const calc_exec *e, const calc_stage_parts *p,
                         const calc_stage_lines *l, calc_stage_terms *t)
{
    calc_stage_terms_row(c, e, p, t);
    calc_stage_terms_cell(c, e, p, l, t);
}
