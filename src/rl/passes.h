/** @file passes.h  Passes over the sequences of a step: the training model of calc_run() on
 *  micro-batches of packed sequences. All sequences are as long as the one whose attention takes
 *  the mean time per token, and as many as have the tokens of the step. */
#ifndef CALC_RL_PASSES_H
#define CALC_RL_PASSES_H

#include "rl/lengths.h"

/** The sequences of a step. */
typedef struct calc_rl_tokens {
    double prompt;           /**< tokens of a prompt */
    calc_rl_lengths lengths; /**< of the responses */
} calc_rl_tokens;

/** The execution of a pass: the layout of a role, on these sequences.
 *  @param sequences     of the pass, on all replicas
 *  @param micro_tokens  of a micro-batch of a replica; 0: as many sequences as the layout says
 *  @param training      with gradients and an optimizer step */
calc_exec calc_rl_pass_exec(const calc_exec *exec, const calc_rl_tokens *tokens, double sequences,
                            int64_t micro_tokens, bool training);

/** Tensors of weights of a model that serves or trains in this layout, and their bytes there, as
 *  one copy [bytes]. */
double calc_rl_tensors(const calc_app *app, const calc_exec *exec);
double calc_rl_weight_bytes(const calc_app *app, const calc_exec *exec, calc_format format);

#endif
