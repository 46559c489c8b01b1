/** @file muon.h  Muon's step on the matrices of a block: five iterations of Newton and Schulz make
 *  the momentum of each orthogonal. For a matrix of m rows and n >= m columns an iteration is three
 * multiplications, A = X X', B = b A + c A A, X = a X + B X: 4 m^2 n + 2 m^3 operations. Sources:
 * Jordan et al. 2024, https://kellerjordan.github.io/posts/muon; NVIDIA Emerging-Optimizers,
 * muon_utils.py (the multiplications take 16 bits, the momentum is in 32); Megatron-LM,
 * emerging_optimizers.py (`duplicated`: ranks of tensor parallelism gather the momentum of a matrix
 * that they split, and each makes all of it orthogonal; queries, keys and values by themselves). */
#ifndef CALC_MODEL_MUON_H
#define CALC_MODEL_MUON_H

#include "model/cost/cost.h"

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
