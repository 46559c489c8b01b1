/** @file linear_mixers.h  Mixers that keep a state of fixed size instead of keys and values:
 *  Mamba-1 (Gu and Dao 2023, arXiv 2312.00752) and -2 (Dao and Gu 2024, 2405.21060), gated delta
 * nets (Yang et al. 2024, 2412.06464), Kimi delta attention (2510.26692), lightning attention
 *  (2501.08313), short convolutions (LFM2). */
#ifndef CALC_MODEL_LINEAR_MIXERS_H
#define CALC_MODEL_LINEAR_MIXERS_H

#include "model/operators/build.h"

/** Numbers per token that the projection of a linear mixer's input gives, all heads: what its
 *  convolution, its recurrence and its gate read. */
double calc_linear_projection(const calc_shape *shape);

/** Of them, those that the causal convolution runs over. */
double calc_linear_channels(const calc_shape *shape);

/** Arithmetic per token of the recurrence as published counts have it, and of the convolution,
 *  forward [FLOP]: 7 per number of the state for Mamba-2, 9 for Mamba-1, 8 for delta rules, 4 for
 *  lightning attention; none of chunks. */
double calc_linear_flop(const calc_shape *shape);

/** Append the operators of a mixer between the norm of its layer and the residual sum.
 *  @param b  whose shape is that of the part */
void calc_linear_mixer(calc_build *b);

#endif
