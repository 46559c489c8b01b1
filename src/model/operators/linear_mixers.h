/** @file linear_mixers.h  Mixers that keep a state of fixed size instead of keys and values:
 *  Mamba-1 and -2, gated delta nets, Kimi delta attention, lightning attention, short convolutions.
 */
#ifndef CALC_MODEL_LINEAR_MIXERS_H
#define CALC_MODEL_LINEAR_MIXERS_H

#include "model/operators/build.h"

/** Append the operators of a mixer between the norm of its layer and the residual sum.
 *  @param b  whose shape is that of the part */
void calc_linear_mixer(calc_build *b);

#endif
