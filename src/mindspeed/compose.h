/** @file compose.h  The step of a configuration as calc has it, with the measured times of
 *  collectives or of whole modules where there are any. The step includes everything that calc
 *  models: embedding, head, gated feed-forward layers, the optimizer and the reduction of
 *  gradients. */
#ifndef CALC_MINDSPEED_COMPOSE_H
#define CALC_MINDSPEED_COMPOSE_H

#include "mindspeed/memory.h"
#include "mindspeed/operators.h"

/** A configuration as calc runs it. Borrows. */
typedef struct calc_mindspeed_layout {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec; /**< without lists of stages or layers */
} calc_mindspeed_layout;

/** The step time with measured collectives, where there are any [s]. */
double calc_mindspeed_compose_s(const calc_mindspeed_layout *layout, calc_mindspeed_comm *comm);

/** The step time from profiled modules [s]; a backward pass takes as much longer than a forward one
 *  as in the profile's whole step. The first chunk has the embedding; the last one has the
 *  final norm, the output layer and the loss. */
double calc_mindspeed_compose_modules_s(const calc_mindspeed_layout *layout,
                                        const calc_mindspeed_profile *modules);

#endif
