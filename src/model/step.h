/** @file step.h  The time of one step, put together from the times of one block: all blocks of all
 *  chunks for all micro-batches, the pipeline's bubble, and the reduction of gradients.
 *
 *  Elementwise arithmetic on doubles only, in small inline functions: the sweep evaluates many
 *  layouts at once with these same functions. */
#ifndef CALC_MODEL_STEP_H
#define CALC_MODEL_STEP_H

#include "calc.h"
#include "model/block.h"
#include "model/processor.h"

/** What a step needs of a block: one micro-batch, without offload or pipeline message [s]. */
typedef struct calc_step_block {
    double fw_base_s, fw_edge_s;     /**< forward of a base and of an edge block, exposed
                                          communication included */
    double bw_base_s, bw_edge_s;     /**< backward, recomputation included */
    double fw_mem_s, bw_mem_s;       /**< memory time that offload cannot hide behind */
    double busy_s;                   /**< memory time that gradients cannot hide behind */
    double compute_s;                /**< arithmetic of the backward pass */
    double link_base_s, link_edge_s; /**< tensor-parallel communication of the backward pass */
} calc_step_block;

static inline calc_step_block calc_step_block_of(const calc_block *b)
{
    enum { BASE = CALC_BASE_BLOCK, EDGE = CALC_EDGE_BLOCK };
    double bw_s = b->recompute.time_s + b->agrad.time_s + b->wgrad.time_s;
    return (calc_step_block){
        .fw_base_s = b->fw.time_s + b->fw_comm[BASE].exposed_s,
        .fw_edge_s = b->fw.time_s + b->fw_comm[EDGE].exposed_s,
        .bw_base_s = bw_s + b->recomm[BASE].exposed_s + b->agrad_comm[BASE].exposed_s,
        .bw_edge_s = bw_s + b->recomm[EDGE].exposed_s + b->agrad_comm[EDGE].exposed_s,
        .fw_mem_s = b->fw.mem_s,
        .bw_mem_s = b->agrad.mem_s + b->wgrad.mem_s,
        .busy_s = b->agrad.mem_s + b->wgrad.mem_s + b->recompute.mem_s,
        .compute_s = b->agrad.flop_s + b->wgrad.flop_s + b->recompute.flop_s,
        .link_base_s = b->recomm[BASE].link_s + b->agrad_comm[BASE].link_s,
        .link_edge_s = b->recomm[EDGE].link_s + b->agrad_comm[EDGE].link_s,
    };
}

/** One pass over a chunk: its base blocks and then its edge block [s]. */
typedef struct calc_step_pass {
    double base_s, edge_s; /**< of a base and of the edge block */
    double chunk_s;        /**< of all */
} calc_step_pass;

/** A pass with its pipeline message and its offload. A block takes the longer of its own time and
 *  that of its offload, which its own memory traffic delays.
 *  @param base_s, edge_s  of a block without either
 *  @param mem_s           memory time of the block
 *  @param base_blocks     of the chunk */
static inline calc_step_pass calc_step_pass_of(double base_s, double edge_s, double mem_s,
                                               double message_s, double offload_s,
                                               double base_blocks)
{
    calc_step_pass pass;
    pass.base_s = calc_max(base_s, offload_s + mem_s);
    pass.edge_s = calc_max(edge_s + message_s, offload_s + mem_s);
    pass.chunk_s = base_blocks * pass.base_s + pass.edge_s;
    return pass;
}

/** Time by which offload prolongs a block of `block_s` [s]. */
static inline double calc_step_offload_overhead_s(double block_s, double mem_s, double offload_s)
{
    return calc_max(0, offload_s + mem_s - block_s);
}

/** Time that missing blocks give back in the bubble [s]: half a base and half an edge block each,
 *  or an edge block if a chunk has no other. */
static inline double calc_step_missing_s(const calc_step_pass *fw, const calc_step_pass *bw,
                                         double missing_blocks, double base_blocks)
{
    double pair_s = fw->base_s + fw->edge_s + bw->base_s + bw->edge_s;
    double edge_s = fw->edge_s + bw->edge_s;
    return base_blocks > 0 ? missing_blocks * pair_s / 2 : missing_blocks * edge_s;
}

/** The step without the reduction of gradients [s].
 *  @param rounds       chunks the first stage is busy or idle for: calc_pipeline.rounds
 *  @param optimizer_s  of all blocks of a processor
 *  @param uncharged_s  messages that count in a chunk but not in the step (compat calculon) */
static inline double calc_step_partial_s(const calc_step_pass *fw, const calc_step_pass *bw,
                                         double rounds, double missing_s, double optimizer_s,
                                         double uncharged_s)
{
    return rounds * (fw->chunk_s + bw->chunk_s) - missing_s + optimizer_s - uncharged_s;
}

/** Messages that count in a chunk but are not charged to the step: Calculon adds a latency where
 *  none is sent (docs/calculon.md) [s].
 *  @param chunks            of a step: micro-batches times chunks
 *  @param fw_sent, bw_sent  1 if the message is sent, else 0 */
static inline double calc_step_uncharged_s(double chunks, double fw_message_s, double fw_sent,
                                           double bw_message_s, double bw_sent)
{
    return chunks * (fw_message_s * (1 - fw_sent) + bw_message_s * (1 - bw_sent));
}

#endif
