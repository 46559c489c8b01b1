/** @file result.h  The finds of threads, merged. Results as a whole: calc_sweep_merge() and
 *  calc_sweep_result_free() of sweep.h. */
#ifndef CALC_SWEEP_RESULT_H
#define CALC_SWEEP_RESULT_H

#include "sweep.h"
#include "worker.h"

void calc_result_add_counts(calc_sweep_counts *sum, const calc_sweep_counts *counts);

/** Merge the threads' finds of a group into the result, in order.
 *  @param g     position of the group among theirs
 *  @param last  they are done with it: the first that found something gives its front away, so that
 *               it is not kept twice
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_result_collect(const calc_sweep_options *options,
                                              calc_sweep_group *into, calc_worker *const *worker,
                                              int threads, size_t g, bool last);

#endif
