/** @file sample.h  Random points of a space that is too large to finish, and estimates from them.
 */
#ifndef CALC_SWEEP_SAMPLE_H
#define CALC_SWEEP_SAMPLE_H

#include "calc.h"
#include "space.h"
#include "sweep.h"

/** One point. */
typedef struct calc_sample_point {
    uint64_t index; /**< in the space */
    uint64_t design;
    calc_verdict verdict;
    calc_exec exec;   /**< of no use if the interleaving does not fit */
    calc_stats stats; /**< if the verdict is ok or about memory */
} calc_sample_point;

/** Draw `count` points uniformly, with replacement, from all points of a space, feasible or not,
 *  and evaluate them. The points depend on space and seed alone. In order of their index.
 *  @param out    filled with `count` points
 *  @param total  filled with the points of the space
 *  @return CALC_OK; CALC_ERR_NOMEM; CALC_ERR_RANGE for an empty space. One error is added. */
CALC_MUST_USE calc_status calc_sample(const calc_space *space, const calc_designs *designs,
                                      calc_compat compat, uint64_t seed, size_t count,
                                      calc_sample_point *out, uint64_t *total, calc_errors *errors);

#endif
