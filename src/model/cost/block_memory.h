/** @file block_memory.h  Rule `block-memory`: memory of a block on a processor, by purpose.
 *  Sources: Korthikanti et al. 2022, arXiv 2205.05198 (activations); Rajbhandari et al. 2020, arXiv
 *  1910.02054 (state); Isaev et al. (Calculon), SC'23. */
#ifndef CALC_MODEL_BLOCK_MEMORY_H
#define CALC_MODEL_BLOCK_MEMORY_H

#include "calc.h"
#include "model/cost/cost.h"

/** Need of a memory tier as a line over the micro-batches in flight, for each block [bytes]. */
typedef struct calc_rule_line {
    double block_bytes, flight_bytes;
} calc_rule_line;

/** One block of a kind, one micro-batch. */
typedef struct calc_rule_part {
    double edge_fw_s, edge_bw_s; /**< by how much longer the last block of a chunk takes */
    double fw_mem_s, bw_mem_s;   /**< memory time that offload cannot hide behind */
    double fw_away_s, bw_away_s; /**< to or from the second memory tier */
    double busy_s;               /**< memory time that gradients cannot hide behind */
    double compute_s;            /**< backward arithmetic that gradients slow down, with that of
                                      the optimizer where it runs block by block */
    double link_s, edge_link_s;  /**< tensor-parallel communication backward */
    double optimizer_s;          /**< step of the block */
    double optimizer_window_s;   /**< the part of it that can hide gradients; 0 if sharded */
    calc_rule_line tier1, tier2; /**< optimizer_sharding and offload included */
    double fixed_bytes, fixed_away_bytes; /**< the same, once on a stage */
} calc_rule_part;

/** One block [bytes]. Gradients and state are 0 in inference. */
typedef struct calc_block_memory {
    double weight;
    double whole_grad;      /**< before reduction and sharding, 4 bytes each */
    double grad, optimizer; /**< reduced and sharded gradients; state, sharded */
    double working;         /**< activations while the block is computed */
    double stored;          /**< of them, those kept for the backward pass */
    double checkpoint;      /**< input kept for full recomputation */
    double activation_grad;
} calc_block_memory;

/** A block of a layout.
 *  @param shards  ranks that share its state */
calc_block_memory calc_block_memory_of(const calc_cost_context *context,
                                       const calc_strategy *strategy, const calc_cost *block,
                                       double shards);

/** Need of both tiers: the parts of a calc_rule_part that hold bytes. */
void calc_block_memory_lines(const calc_strategy *strategy, bool training,
                             const calc_block_memory *block, calc_rule_part *out);

/** The part of the need that depends on the ranks that share the state: gradients and optimizer; it
 *  is added last. calc_block_memory_offloaded() also has the share of it that stays.
 *  @param away  the optimizer is offloaded
 *  @param out   without it */
static inline void calc_block_memory_add_state(bool away, bool training, const calc_block_memory *b,
                                               calc_rule_part *out)
{
    double reduced = b->grad + b->optimizer;
    if (away) {
        out->fixed_bytes += (training ? b->whole_grad + b->grad : 0) + 2 * b->optimizer;
        out->tier2.block_bytes += reduced;
    } else {
        out->tier1.block_bytes += reduced;
        out->fixed_bytes += b->whole_grad - b->grad;
    }
}

/** Bytes that can travel to the second tier: stored activations, or the checkpoint. */
static inline double calc_block_memory_kept(const calc_strategy *strategy,
                                            const calc_block_memory *block)
{
    return strategy->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL ? block->checkpoint
                                                                            : block->stored;
}

/** The share of an offloaded kind that stays in the first tier: the current block's, and the next
 *  one's. */
calc_block_memory calc_block_memory_offloaded(bool training, const calc_block_memory *block);

/** Everything that a number of blocks hold, in either tier; activations in `stored`.
 *  @param in_flight  micro-batches whose activations they hold */
calc_block_memory calc_block_memory_whole(const calc_strategy *strategy, bool training,
                                          const calc_block_memory *block, double blocks,
                                          double in_flight);

#endif
