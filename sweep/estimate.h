/** @file estimate.h  How long a sweep takes, measured on a few of its cells. */
#ifndef CALC_SWEEP_ESTIMATE_H
#define CALC_SWEEP_ESTIMATE_H

#include "designs.h"
#include "sweep.h"

/** What was measured. */
typedef struct calc_sweep_estimate {
    double cpu_s; /**< of the whole sweep, on one core of this machine that does nothing else */
    size_t cells; /**< that were timed */
    bool by_run;  /**< every layout needs calc_run() */
} calc_sweep_estimate;

/** Draw rows of a space at random, the likelier the more layouts they have, evaluate them as the
 * sweep would, and extrapolate. Takes as long as counting the space does, and about a tenth of a
 * second.
 *  @param total  layouts of the space: calc_sweep_count()
 *  @return CALC_OK, CALC_ERR_NOMEM, or CALC_ERR_RANGE for more interleavings than a cell takes
 */
CALC_MUST_USE calc_status calc_sweep_estimate_of(const calc_space *space,
                                                 const calc_designs *designs,
                                                 const calc_sweep_options *options, uint64_t total,
                                                 calc_sweep_estimate *out);

#endif
