/** @file serving_memory.h  Memory of the pools that serve: weights, activations of the widest pass,
 *  and cached keys and values. Where requests queue, an engine admits what fits and lets the rest
 *  wait. It takes pages as sequences grow, so that those that run need room for their mean length
 *  in use, prompt and half of their output, or for all of it where the engine reserves that before
 *  it admits them; one alone needs all of its length. The reported use is
 *  the full length of all running sequences, or all the room there is. */
#ifndef CALC_MODEL_SERVING_MEMORY_H
#define CALC_MODEL_SERVING_MEMORY_H

#include "model/serve/inference.h"

/** Memory of the replicas that decode, or prefill alone, into serving->held. */
void calc_serving_hold(calc_serving *serving);

/** Memory of the replicas that only prefill. */
calc_serving_memory calc_serving_prefill_memory(const calc_serving *serving);

/** Let no more run than there is memory for.
 *  @return whether that changed what runs, so that it has to be evaluated again */
bool calc_serving_limit(calc_serving *serving);

#endif
