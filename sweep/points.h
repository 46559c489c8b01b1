/** @file points.h  Layouts evaluated one by one, for cases that the kernel does not cover. */
#ifndef CALC_SWEEP_POINTS_H
#define CALC_SWEEP_POINTS_H

#include "worker.h"

/** Evaluate every point of the rows from `first` to before `last` in worker->cell that networks and
 *  chunks allow. */
void calc_points_run(calc_worker *worker, size_t first, size_t last, calc_sweep_group *group);

#endif
