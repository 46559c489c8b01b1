/** @file state.h  State that data parallelism keeps for each weight: number formats, and sharding.
 *  Sources: Micikevicius et al. 2018, arXiv 1710.03740 (master weights); Rajbhandari et al. 2020,
 *  arXiv 1910.02054 (ZeRO). */
#ifndef CALC_MODEL_STATE_H
#define CALC_MODEL_STATE_H

#include "model/operators/shape.h"
#include "spec/rules.h"

/** Bytes of one number of each kind of state. */
typedef struct calc_state_bytes {
    double weight;   /**< in training with memory_model megatron, narrow ones in all planes. Wider
                          ones than the computation's are sharded with zero_stage 3; with 2 a rank
                          holds what it gathered, and its shard is the master (PyTorch,
                          fully_shard with MixedPrecisionPolicy) */
    double narrowed; /**< more, of a matrix of blocks that is multiplied in fewer bits: the copy
                        that TransformerEngine makes in the first micro-batch of a step and keeps
                          (get_weight_workspace() of module/base.py); less, where narrow planes
                          take the place of `weight`, which is then that of the other weights */
    double sent; /**< of an updated weight; as it is computed with, if scales of blocks make both
                      planes anew (Megatron-LM, reuse_grad_buf_for_mxfp8_param_ag) */
    double grad, reduced, master, moment;
    double moments;  /**< how many: two of Adam, one of Muon */
    double gathered; /**< of a weight whose shards are gathered: in the format of the computation if
                          that is narrower, as with FSDP's mixed precision; or as told */
} calc_state_bytes;

/** The optimizer's state of a weight. */
static inline double calc_state_optimizer_bytes(const calc_state_bytes *b)
{
    return b->master + b->moments * b->moment;
}

calc_state_bytes calc_state_bytes_of(const calc_strategy *strategy, const calc_shape *shape,
                                     const calc_chip *chip, bool training);

#endif
