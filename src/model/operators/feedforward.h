/** @file feedforward.h  The feed-forward layer of a block: dense, or routed and shared experts.
 *  Sources: DeepSeek-V3 (arXiv 2412.19437), Megatron-LM's grouped multiplication. */
#ifndef CALC_MODEL_FEEDFORWARD_H
#define CALC_MODEL_FEEDFORWARD_H

#include "model/operators/build.h"

/** Append a dense feed-forward layer, split over the tensor-parallel ranks. */
void calc_feedforward_dense(calc_build *b);

/** Append router and shared experts. */
void calc_feedforward_router(calc_build *b);

/** Append the operators that follow: exchange of tokens, routed experts and the way back. */
void calc_feedforward_experts(calc_build *b);

#endif
