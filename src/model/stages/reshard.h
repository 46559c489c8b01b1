/** @file reshard.h  Activations rearranged between layers that are split in different ways. */
#ifndef CALC_MODEL_STAGES_RESHARD_H
#define CALC_MODEL_STAGES_RESHARD_H

#include "calc.h"

/** For one micro-batch [s]; both 0 where the layers hold the same. */
typedef struct calc_reshard {
    double fw_s, bw_s; /**< activations, and their gradients on the way back */
} calc_reshard;

/** From layers of one strategy to those of the next.
 *
 *  A rank gathers the shards it needs and slices: d = tensor_par * context_par ranks share a
 *  sequence, s of them hold different tokens of it (all with sequence parallelism, else
 *  context_par). From layers a to layers b it gathers the shards of lcm(d_a, d_b) / d_a * s_a /
 *  gcd(s_a, s_b) ranks, and nothing where that is 1. Gradients go the other way. Not hidden behind
 *  anything.
 *
 *  @param a, b  executions of the strategies, as calc_layer_list_exec() makes them */
calc_reshard calc_reshard_of(const calc_app *app, const calc_system *system, const calc_exec *a,
                             const calc_exec *b);

/** How many ranks' shards a rank gathers from layers a to layers b: 1, if none. */
int64_t calc_reshard_ranks(const calc_exec *a, const calc_exec *b);

#endif
