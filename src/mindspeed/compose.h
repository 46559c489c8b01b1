/** @file compose.h  Composes the step of a configuration from its operators: calc's step, with
 *  sampled errors of operators and with measured collectives where available. The step includes
 *  everything that calc models: embedding, head, gated feed-forward layers, the optimizer and the
 *  reduction of gradients. */
#ifndef CALC_MINDSPEED_COMPOSE_H
#define CALC_MINDSPEED_COMPOSE_H

#include "mindspeed/operators.h"
#include "model/stages/layout.h"

/** A configuration as calc runs it. Borrows. */
typedef struct calc_mindspeed_layout {
    const calc_mindspeed_config *config;
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec; /**< without lists of stages or layers */
} calc_mindspeed_layout;

/** A profile of modules: times of one module each, for a micro-batch on one processor [s]. */
typedef struct calc_mindspeed_module_times {
    double embedding_s, layer_s, norm_s, head_s, loss_s; /**< forward */
    double backward; /**< backward time divided by forward time, from the profile's whole step */
} calc_mindspeed_module_times;

/** Computes samples of the step time [s].
 *  @param operators  NULL: calc's times, all samples equal
 *  @param comm       NULL: nothing was measured
 *  @param samples_s  operators->sampling.samples numbers, or `count` equal ones
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_compose(const calc_mindspeed_layout *layout,
                                                 calc_mindspeed_operators *operators,
                                                 calc_mindspeed_comm *comm, double *samples_s,
                                                 size_t count);

/** The step time from profiled modules [s]. The first chunk has the embedding; the last one has the
 *  final norm, the output layer and the loss. */
double calc_mindspeed_compose_modules_s(const calc_mindspeed_layout *layout,
                                        const calc_mindspeed_module_times *modules);

/* Collects the kernels and collectives of a layout's blocks and ends for which
 * there are measurements, and applies the measurements to the costs of these parts. */

/** One pass of one kernel. */
typedef struct calc_mindspeed_part {
    calc_mindspeed_shape shape;
    int list; /**< index of the cost that contains it: a kind of block, embedding, head */
    int pass; /**< a calc_pass */
    bool attention, shared, repeated;
    double model_s;       /**< its time in calc's step */
    double alone_s;       /**< the time that errors are relative to */
    const double *errors; /**< draws */
} calc_mindspeed_part;

enum { CALC_MINDSPEED_PARTS = 128 /**< multiplications, attention and norms, in all passes */ };

typedef struct calc_mindspeed_parts {
    calc_mindspeed_part item[CALC_MINDSPEED_PARTS];
    size_t count;
} calc_mindspeed_parts;

/** Collects the kernels of types with modelled errors.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_parts_of(calc_mindspeed_parts *out,
                                                  const calc_mindspeed_layout *layout,
                                                  const calc_layout *taken_apart,
                                                  calc_mindspeed_operators *operators);

#endif
