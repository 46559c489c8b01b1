/** @file optimizer.h  Rule `optimizer-roofline`: the step of Adam layer by layer, each taking its
 *  arithmetic and its state's traffic once. Source: Isaev et al. (Calculon), SC'23. */
#ifndef CALC_MODEL_OPTIMIZER_H
#define CALC_MODEL_OPTIMIZER_H

#include "model/cost/cost.h"

/** The optimizer step of one layer, or of all layers of a block. */
typedef struct calc_optimizer_step {
    double flop, flop_s; /**< arithmetic, and its time alone */
    double bytes, mem_s; /**< memory traffic, which is the state, and its time alone */
    double step_s;
} calc_optimizer_step;

/** The step of a layer of `weights` elements that `shards` ranks share. */
calc_optimizer_step calc_optimizer_layer(const calc_cost_context *context, double state_bytes,
                                         double weights, double shards);

/** The sum over the layers of a block.
 *  @param state_bytes  of one weight: master weight and two moments */
calc_optimizer_step calc_optimizer_block(const calc_cost_context *context, double state_bytes,
                                         const double *weights, size_t count, double shards);

/** Time of the matrices of a list of operators [s], all on one rank. */
typedef struct calc_muon {
    double dense_s, expert_s;
    double longest_s; /**< of one matrix: it is never split over ranks that share a state */
} calc_muon;

/** One matrix [s].
 *  @param ranks   that split it, of a group
 *  @param inner, columns  whole, of at least one element */
double calc_muon_matrix_s(const calc_cost_context *context, double inner, double columns,
                          const calc_group *group);

/** All matrices of a list of operators but the router's bias and norms. */
calc_muon calc_muon_of(const calc_cost_context *context, const calc_operator *operators,
                       size_t count);

#endif
