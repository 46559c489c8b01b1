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
bool calc_point_matters(const calc_worker *worker, const calc_point *p);

/** Enter a point that the kernel evaluated among the best of worker->group, if it matters and meets
 *  the conditions; one that does not meet them is counted, unless all are counted. */
void calc_point_enter(calc_worker *worker, const calc_exec *exec, const calc_point *p);

/** Compare it with calc_run(): every bit of time and memory must agree. */
void calc_point_verify(calc_worker *worker, const calc_exec *exec, const calc_point *p);

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

/** Evaluate a point, filter it, show it and enter it among the best of worker->group: now, or when
 * the worker's batch is full. */
void calc_batch_take(calc_worker *worker, const calc_exec *exec);

/** The same for a layout that serves, with the data it shares with others of its row (serve.h). */
void calc_batch_serve(calc_worker *worker, const calc_exec *exec);

enum { CALC_BATCH_LOOK = 256 /**< points between two looks */ };

/** Look whether the sweep is to stop. */
void calc_batch_look(calc_worker *worker);

/** Do that with the points that are left of a batch. */
void calc_batch_end(calc_worker *worker);

#endif
