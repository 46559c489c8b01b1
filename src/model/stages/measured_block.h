/** @file measured_block.h  A whole block among measured ones: the time between the start of its
 *  forward and the end of its backward pass over one micro-batch, less what other blocks do between
 *  the two. It includes recomputation, tensor- and context-parallel communication that the passes
 *  wait for, and waiting for the host, as a profiler's range around a layer does; it excludes
 *  sharded weights, offload, and messages between stages. */
#ifndef CALC_MODEL_MEASURED_BLOCK_H
#define CALC_MODEL_MEASURED_BLOCK_H

#include "model/stages/stages.h"

/** The time of a block. */
typedef struct calc_measured_block {
    double model_s; /**< by the model */
    double time_s;  /**< by its measurements; model_s if there are none of it or near it */
    calc_kernel_source source;
    bool measured; /**< whether time_s comes from measurements */
} calc_measured_block;

/** Time of a block without experts by the model, measured kernels not looked up [s]. */
double calc_measured_block_model_s(const calc_cost_context *context);

/** The key of such a block: its sizes, of the whole model; blocks compare if they have the same
 *  structure, formats and recomputation, and the same kind of ranks. */
calc_kernel_key calc_measured_block_key(const calc_cost_context *context);

/** Look it up in context->measured. None is measured if that is NULL, with experts, or in a forward
 *  pass alone. */
calc_measured_block calc_measured_block_of(const calc_cost_context *context);

/** Give the block of the parts its measured time, if there is one: all passes over it in
 *  proportion, and none of the host. Blocks that do not recompute among others that do get the
 *  correction of the others.
 *  @param speed  factor on all times that the measured one does not get: software */
void calc_measured_block_put(const calc_cost_context *context, double speed,
                             calc_stage_parts *parts);

#endif
