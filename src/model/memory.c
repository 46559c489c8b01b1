#include "model/memory.h"

calc_memory_parts calc_memory_whole(const calc_exec *exec, const calc_block *block,
                                    const calc_optimizer_block *optimizer, double blocks,
                                    double in_flight)
{
    calc_memory_parts parts = {
        .weight = block->weight_bytes * blocks,
        .activation = block->activation_working_bytes,
    };
    if (!exec->training) {
        return parts;
    }
    if (exec->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL) {
        parts.checkpoint = blocks * block->checkpoint_bytes * in_flight;
    } else {
        /* One block is being worked on; the others of all micro-batches in flight are stored. */
        parts.activation += block->activation_storage_bytes * (blocks * in_flight - 1);
    }
    parts.activation_grad = block->activation_grad_bytes;
    /* Gradients of the block at hand are not reduced yet. */
    parts.weight_grad = block->weight_grad_bytes + optimizer->grad_bytes * (blocks - 1);
    parts.optimizer = optimizer->state_bytes * blocks;
    return parts;
}

calc_memory_parts calc_memory_offloaded(const calc_exec *exec, const calc_block *block,
                                        const calc_optimizer_block *optimizer)
{
    calc_memory_parts parts = {
        .weight = block->weight_bytes * 2,
        .activation = block->activation_working_bytes + block->activation_storage_bytes,
        .checkpoint = block->checkpoint_bytes * 2,
    };
    if (exec->training) {
        parts.activation_grad = block->activation_grad_bytes;
        parts.weight_grad = block->weight_grad_bytes + optimizer->grad_bytes;
        parts.optimizer = optimizer->state_bytes * 2;
    }
    return parts;
}

/* Activations and checkpoints, wherever they are. */
static calc_memory_line activations(const calc_exec *exec, const calc_block *block, double blocks)
{
    calc_memory_line line = {.fixed = block->activation_working_bytes};
    if (exec->training) {
        /* Zero under full recomputation, where checkpoints are stored instead. */
        line.fixed -= block->activation_storage_bytes;
        line.per_flight = blocks * (block->activation_storage_bytes + block->checkpoint_bytes);
    }
    return line;
}

calc_memory_need calc_memory_need_of(const calc_exec *exec, const calc_block *block,
                                     const calc_optimizer_block *optimizer, double blocks)
{
    calc_memory_parts kept = calc_memory_offloaded(exec, block, optimizer);
    calc_memory_line activation = activations(exec, block, blocks);
    double weight = block->weight_bytes * blocks;
    double state = optimizer->state_bytes * blocks;
    double grad =
        exec->training ? block->weight_grad_bytes + optimizer->grad_bytes * (blocks - 1) : 0;
    calc_memory_need need = {{0, 0}, {0, 0}};
    if (exec->weight_offload) {
        need.tier1.fixed += kept.weight;
        need.tier2.fixed += weight;
    } else {
        need.tier1.fixed += weight;
    }
    if (exec->activations_offload) {
        bool full = exec->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
        need.tier1.fixed += kept.activation + kept.checkpoint;
        /* The working activations of full recomputation are never offloaded. */
        need.tier2.fixed += full ? 0 : activation.fixed;
        need.tier2.per_flight += activation.per_flight;
    } else {
        need.tier1.fixed += activation.fixed;
        need.tier1.per_flight += activation.per_flight;
    }
    if (exec->optimizer_offload) {
        need.tier1.fixed += kept.weight_grad + kept.optimizer;
        need.tier2.fixed += optimizer->grad_bytes * blocks + state;
    } else {
        need.tier1.fixed += grad + state;
    }
    need.tier1.fixed += kept.activation_grad;
    return need;
}
