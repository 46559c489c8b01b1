/** @file compose.h  A step of a configuration, put together from its operators: calc's step, in
 *  which errors of operators are drawn, and collectives are as measured where they were. All that
 *  calc has, embedding, head, gated feed-forward layers, the optimizer and the reduction of
 *  gradients, is part of it. */
#ifndef CALC_MINDSPEED_COMPOSE_H
#define CALC_MINDSPEED_COMPOSE_H

#include "mindspeed/comm.h"
#include "mindspeed/operators.h"

/** A configuration as calc runs it. Borrows. */
typedef struct calc_mindspeed_layout {
    const calc_mindspeed_config *config;
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec; /**< without lists of stages or layers */
} calc_mindspeed_layout;

/** Times of one module each, for a micro-batch on one processor [s]: a profile of modules. */
typedef struct calc_mindspeed_module_times {
    double embedding_s, layer_s, norm_s, head_s, loss_s; /**< forward */
    double backward; /**< a backward pass over a forward one: of the profile's whole step */
} calc_mindspeed_module_times;

/** Samples of the step's time [s].
 *  @param operators  NULL: calc's times, all samples alike
 *  @param comm       NULL: nothing was measured
 *  @param samples_s  operators->sampling.samples numbers, or `count` that are alike
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_compose(const calc_mindspeed_layout *layout,
                                                 calc_mindspeed_operators *operators,
                                                 calc_mindspeed_comm *comm, double *samples_s,
                                                 size_t count);

/** The step of profiled modules [s]: the first chunk has the embedding, the last the final norm,
 *  the output layer and the loss. */
double calc_mindspeed_compose_modules_s(const calc_mindspeed_layout *layout,
                                        const calc_mindspeed_module_times *modules);

#endif
