#include "model/cost/block_memory.h"

#include "model/cost/state.h"

calc_block_memory calc_block_memory_of(const calc_cost_context *c, const calc_strategy *strategy,
                                       const calc_cost *b, double shards)
{
    calc_state_bytes bytes = calc_state_bytes_of(strategy, c->shape, c->chip, c->training);
    bool full = strategy->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    double weights = b->dense_weights + b->expert_weights;
    calc_block_memory m = {
        .weight = weights * bytes.weight + b->matrix_weights * bytes.narrowed +
                  b->dense_frozen_bytes + b->expert_frozen_bytes,
        .working = b->working_bytes,
        .stored = full ? 0 : b->kept_bytes,
        .checkpoint = full ? b->kept_bytes : 0,
    };
    if (c->training) {
        m.whole_grad = weights * 4;
        m.grad = weights * bytes.grad / shards;
        m.optimizer = weights * calc_state_optimizer_bytes(&bytes) / shards;
        m.activation_grad = b->grad_bytes;
    }
    return m;
}

void calc_block_memory_lines(const calc_strategy *s, bool training, const calc_block_memory *b,
                             calc_rule_part *out)
{
    bool full = s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_block_memory stays = calc_block_memory_offloaded(training, b);
    double once = b->working - (training ? b->stored : 0);
    double flight = training ? b->stored + b->checkpoint : 0;
    calc_rule_line none = {0, 0};
    out->tier1 = none;
    out->tier2 = none;
    /* Gradients of the current block are not reduced yet. */
    out->fixed_bytes = b->activation_grad;
    out->fixed_away_bytes = 0;
    if (s->weight_offload) {
        out->fixed_bytes += stays.weight;
        out->tier2.block_bytes += b->weight;
    } else {
        out->tier1.block_bytes += b->weight;
    }
    if (s->activations_offload) {
        out->fixed_bytes += stays.stored + stays.checkpoint;
        /* The working activations of full recomputation are never offloaded. */
        out->fixed_away_bytes += full ? 0 : once;
        out->tier2.flight_bytes += flight;
    } else {
        out->fixed_bytes += once;
        out->tier1.flight_bytes += flight;
    }
    calc_block_memory_add_state(s->optimizer_offload, training, b, out);
}

calc_block_memory calc_block_memory_offloaded(bool training, const calc_block_memory *b)
{
    calc_block_memory m = *b;
    m.weight = 2 * b->weight;
    m.stored = b->working + b->stored;
    m.checkpoint = 2 * b->checkpoint;
    m.grad = training ? b->whole_grad + b->grad : 0;
    m.optimizer = 2 * b->optimizer;
    return m;
}

calc_block_memory calc_block_memory_whole(const calc_strategy *strategy, bool training,
                                          const calc_block_memory *b, double blocks,
                                          double in_flight)
{
    bool full = strategy->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    calc_block_memory m = {.weight = b->weight * blocks, .stored = b->working};
    if (!training) {
        return m;
    }
    if (full) {
        m.checkpoint = blocks * b->checkpoint * in_flight;
    } else {
        /* One block is being worked on; the others of all micro-batches in flight are stored. */
        m.stored += b->stored * (blocks * in_flight - 1);
    }
    m.activation_grad = b->activation_grad;
    m.grad = b->whole_grad + b->grad * (blocks - 1);
    m.optimizer = b->optimizer * blocks;
    return m;
}
