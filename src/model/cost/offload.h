/** @file offload.h  Activations of single operators in the second memory tier (offload_modules).
 *  While a module runs forward, what it saves for the backward pass is copied out, and before its
 *  backward pass it is copied back, on a stream per direction. Source: Megatron-LM,
 *  core/pipeline_parallel/fine_grained_activation_offload.py and the modules that enter it. */
#ifndef CALC_MODEL_OFFLOAD_H
#define CALC_MODEL_OFFLOAD_H

#include "model/operators/operator.h"

/** Activations of a block and a micro-batch [bytes]. */
typedef struct calc_offload {
    double away_bytes;   /**< of those that are kept, in the second tier */
    double copied_bytes; /**< copied there in the forward pass, and back in the backward pass */
} calc_offload;

/** @param recompute  bits of calc_operator_recompute() */
calc_offload calc_offload_of(const calc_strategy *strategy, const calc_operator *operators,
                             size_t count, unsigned recompute);

#endif
