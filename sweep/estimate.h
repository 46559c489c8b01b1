/** @file estimate.h  How long a sweep takes, and how much memory, measured on a few of its units.
 */
#ifndef CALC_SWEEP_ESTIMATE_H
#define CALC_SWEEP_ESTIMATE_H

#include "calc.h"
#include "designs.h"
#include "space.h"
#include "sweep.h"
#include "worker.h"

/* The points of a space, counted without evaluation, and by number.
 *
 * Counting depends on few properties of a system: calc_census_system(). Designs that agree in
 * these form a kind (calc_designs.kinds) and are counted once, so that a study of a million
 * systems is counted as quickly as one of them. Points are numbered kind by kind, in a kind design
 * by design, in a
 * design in the order in which a sweep meets them. */

/** The counts. Free with calc_census_free(). */
typedef struct calc_census {
    calc_sweep_counts counts; /**< total and points rejected before evaluation */
    double units;             /**< of work, of all designs */
    size_t most_rows;         /**< of one unit's table */
    struct calc_census_walk *walk;
} calc_census;

/** Count a space, with all processors of the machine. Borrows space and designs.
 *  @param out  to be freed in any case
 *  @return CALC_OK; CALC_ERR_NOMEM; CALC_ERR_RANGE for more interleavings than a cell takes, or
 * 2^64 points or more; with an error */
CALC_MUST_USE calc_status calc_census_take(calc_census *out, const calc_space *space,
                                           const calc_designs *designs, calc_compat compat,
                                           calc_errors *errors);

void calc_census_free(calc_census *census);

/** Whether that is the same of two. */
bool calc_census_alike(const calc_system *first, const calc_system *second);

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

/** Evaluate points of a space by number, without walking through the whole space.
 *  @param point  with their index, below counts.total; put in ascending order, the rest is filled
 *  @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_census_points(const calc_census *census, calc_sample_point *point,
                                             size_t count, calc_errors *errors);

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
    double cpu_s;        /**< of the whole sweep, on one otherwise idle core of this machine */
    double layouts;      /**< that were timed */
    bool by_run;         /**< every layout needs calc_run() */
    double thread_bytes; /**< of memory that a thread takes */
    double found_bytes;  /**< memory of the results, with as many layouts in every group as in the
                              fullest so far */
} calc_sweep_estimate;

/** Sweep a few units, then several times as many, until that takes some tenths of a second, and
 *  extrapolate.
 *  @param census  of the space
 *  @return as calc_sweep() */
CALC_MUST_USE calc_status calc_sweep_estimate_of(const calc_space *space,
                                                 const calc_designs *designs,
                                                 const calc_sweep_options *options,
                                                 const calc_census *census,
                                                 calc_sweep_estimate *out, calc_errors *errors);

#endif
