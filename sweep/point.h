/** @file point.h  One point of a lane: whether it matters, and its entry into the result; points
 * that need all their statistics, calc_run(). */
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

/** Whether to verify the next tile, a panel with an interleaving: evenly spread over those of a
 *  thread. */
bool calc_point_verifies(calc_worker *worker);

void calc_result_add_counts(calc_sweep_counts *sum, const calc_sweep_counts *counts);

/* Points that need calc_run(): one by one, or where they are shown (options.point) many at a time,
 * by all threads, and then in order. */

/** The points of a batch; made where they are shown. */
typedef struct calc_batch calc_batch;

/** A batch for `threads` threads, to be freed; NULL if memory is short. */
calc_batch *calc_batch_create(int threads);

/** Evaluate a point, filter it, show it and enter it among the best: now, or when the worker's
 *  batch is full. */
void calc_batch_take(calc_worker *worker, calc_sweep_group *group, const calc_exec *exec);

/** The same for a layout that serves, with the data it shares with others of its row (serve.h). */
void calc_batch_serve(calc_worker *worker, calc_sweep_group *group, const calc_exec *exec);

enum { CALC_BATCH_LOOK = 256 /**< points between two looks */ };

/** Look whether the sweep is to stop. */
void calc_batch_look(calc_worker *worker);

/** Do that with the points that are left of a batch. */
void calc_batch_end(calc_worker *worker);

#endif
