/** @file estimate.h  How long a sweep takes, and how much memory, measured on a few of its cells.
 */
#ifndef CALC_SWEEP_ESTIMATE_H
#define CALC_SWEEP_ESTIMATE_H

#include "calc.h"
#include "census.h"
#include "designs.h"
#include "space.h"
#include "sweep.h"

/* ---- Random points --------------------------------------------------------------------------- */

/* Random points of a space that is too large to finish, and estimates from them. */

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

/* ---- Estimates ------------------------------------------------------------------------------- */

/** What was measured. */
typedef struct calc_sweep_estimate {
    double cpu_s;        /**< of the whole sweep, on one otherwise idle core of this machine; */
    double cells_s;      /**< of it, to visit cells, */
    double rows_s;       /**< and to make the tables of units */
    size_t cells;        /**< that were timed */
    bool by_run;         /**< every layout needs calc_run() */
    double thread_bytes; /**< of memory that a thread takes */
    double found_bytes;  /**< memory of the results, with as many layouts in every group as in the
                              fullest so far */
} calc_sweep_estimate;

/** Draw rows of a space at random, the likelier the more layouts they have, evaluate them as the
 * sweep would, and extrapolate. Takes about a tenth of a second.
 *  @param census  of the space
 *  @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_estimate_of(const calc_space *space,
                                                 const calc_designs *designs,
                                                 const calc_sweep_options *options,
                                                 const calc_census *census,
                                                 calc_sweep_estimate *out, calc_errors *errors);

#endif
