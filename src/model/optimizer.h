/** @file optimizer.h  The optimizer step (Adam, mixed precision) and what it keeps.
 *  Source: Kingma & Ba 2015, arXiv 1412.6980; Micikevicius et al. 2018, arXiv 1710.03740 (master
 *  weights); Rajbhandari et al. 2020, arXiv 1910.02054 (sharded state, stage 1). */
#ifndef CALC_MODEL_OPTIMIZER_H
#define CALC_MODEL_OPTIMIZER_H

#include "calc.h"
#include "model/layer.h"

/** What the functions below need to know. Borrows. */
typedef struct calc_optimizer {
    double shards;        /**< ranks the state is sharded over; 1 without sharding */
    double element_bytes; /**< of the datatype */
    calc_processing_mode mode;
    const calc_memory_tier *memory; /**< tier 1 */
    const calc_engine *vector;      /**< in the datatype */
} calc_optimizer;

/** The optimizer step of one block. */
typedef struct calc_optimizer_block {
    double flop, flop_s; /**< arithmetic, and its time alone */
    double bytes, mem_s; /**< memory traffic, and its time alone */
    double step_s;       /**< time of the step */
    double state_bytes;  /**< master weights and two moments */
    double grad_bytes;   /**< gradients, sharded, in the datatype */
} calc_optimizer_block;

/** Fill the context of a layout. */
calc_optimizer calc_optimizer_of(const calc_system *system, const calc_exec *exec);

/** 11 FLOP per sharded weight. */
double calc_optimizer_flop(const calc_optimizer *optimizer, const calc_layer *layer);

/** State of a layer, which is also what a step reads and writes [bytes]: two moments, and master
 *  weights if the datatype is narrower, of 4 bytes each. */
double calc_optimizer_bytes(const calc_optimizer *optimizer, const calc_layer *layer);

/** Gradients of a layer kept for reduction, sharded, in the datatype [bytes]. */
double calc_optimizer_grad_bytes(const calc_optimizer *optimizer, const calc_layer *layer);

/** Time of the step of one layer [s]; flop_s and mem_s are filled with its two parts. */
double calc_optimizer_layer_s(const calc_optimizer *optimizer, const calc_layer *layer,
                              double *flop_s, double *mem_s);

/** Sum over the layers of a block. */
void calc_optimizer_profile(const calc_optimizer *optimizer, const calc_layer *layers, size_t count,
                            calc_optimizer_block *out);

/** Time of a block's step that gradients can hide behind [s]: without its memory time; none if the
 *  state is sharded, because then the step waits for all gradients. */
static inline double calc_optimizer_window_s(const calc_exec *exec,
                                             const calc_optimizer_block *block)
{
    return exec->optimizer_sharding ? 0 : block->step_s - block->mem_s;
}

/** Arithmetic that the reduction of gradients slows down [s]: that of the backward pass, and of the
 *  optimizer step where it overlaps. */
static inline double calc_optimizer_slowed_s(const calc_exec *exec,
                                             const calc_optimizer_block *block, double backward_s)
{
    return backward_s + (exec->optimizer_sharding ? 0 : block->flop_s);
}

#endif
