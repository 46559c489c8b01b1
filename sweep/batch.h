/** @file batch.h  Points that need all their statistics, calc_run(): one by one, or where they are
 *  shown (options.point) many at a time, by all threads, and then in order. */
#ifndef CALC_SWEEP_BATCH_H
#define CALC_SWEEP_BATCH_H

#include "worker.h"

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
