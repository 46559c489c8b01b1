/** @file point.h  One point of a lane: whether it matters, and its entry into the result. */
#ifndef CALC_SWEEP_POINT_H
#define CALC_SWEEP_POINT_H

#include "calc.h"
#include "sweep.h"
#include "worker.h"

/** An evaluated point, as far as the kernel knows it. */
typedef struct calc_point {
    double total_s, tier1_bytes, tier2_bytes;
} calc_point;

/** Whether a point at least this good in everything could still matter. Only if shorter and smaller
 *  is never worse (worker->bounded) does "at least this good" say anything. */
bool calc_point_matters(const calc_worker *worker, calc_sweep_group *group, const calc_point *p);

/** What to do with a point. */
typedef enum calc_point_purpose {
    CALC_POINT_ENTER,  /**< enter those that matter among the best, if they meet the conditions */
    CALC_POINT_VERIFY, /**< compare them with calc_run() */
    CALC_POINT_RUN     /**< evaluate them with calc_run(), filter, and enter */
} calc_point_purpose;

/** Do that with one point. */
void calc_point_take(calc_worker *worker, calc_sweep_group *group, const calc_exec *exec,
                     const calc_point *p, calc_point_purpose what);

/** Enter a layout among the best, if it is one of them. @return false: it does not run
 *  (calc_sweep_options.runs) */
bool calc_point_enter(calc_worker *worker, calc_sweep_group *group, const calc_exec *exec,
                      double top_objective, const double *objective);

/** Whether to verify the next tile, a panel with an interleaving: evenly spread over those of a
 *  thread. */
bool calc_point_verifies(calc_worker *worker);

void calc_result_add_counts(calc_sweep_counts *sum, const calc_sweep_counts *counts);

#endif
