/** @file estimate.h  How long a sweep takes, and how much memory, measured on a few of its cells.
 */
#ifndef CALC_SWEEP_ESTIMATE_H
#define CALC_SWEEP_ESTIMATE_H

#include "census.h"
#include "designs.h"
#include "sweep.h"

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
