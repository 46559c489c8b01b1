/** @file point.h  One point of a tile: its layout, whether it matters, and what becomes of it. */
#ifndef CALC_SWEEP_POINT_H
#define CALC_SWEEP_POINT_H

#include "calc.h"
#include "model/memory.h"
#include "worker.h"

/** An evaluated point, as far as the kernel knows it. */
typedef struct calc_point {
    double total_s, tier1_bytes, tier2_bytes;
} calc_point;

/** A tile's place: which row, which flags, which group, and the memory of its lanes. */
typedef struct calc_point_place {
    const calc_row *row;
    const calc_cell_combo *combo;
    const calc_cell_networks *networks;
    calc_sweep_group *group;
    calc_memory_need need;
} calc_point_place;

/** Whether a point at least this good in everything could still matter. Only if shorter and smaller
 *  is never worse (worker->bounded) does "at least this good" say anything. */
bool calc_point_matters(const calc_worker *worker, calc_sweep_group *group, const calc_point *p);

/** Whether a point's memory fits: CALC_VERDICT_OK, or which tier is too small. */
calc_verdict calc_point_fits(const calc_worker *worker, const calc_point *p);

/** The layout of a point of worker->cell. */
calc_exec calc_point_exec(const calc_worker *worker, const calc_row *row,
                          const calc_cell_combo *combo, size_t lane, size_t data_network,
                          bool overlapped);

/** What to do with the points of a lane. */
typedef enum calc_point_purpose {
    CALC_POINT_ENTER,  /**< enter those that matter among the best; the lane must be feasible */
    CALC_POINT_VERIFY, /**< compare them with calc_run() */
    CALC_POINT_RUN     /**< evaluate them with calc_run(), filter, and enter */
} calc_point_purpose;

/** Do that with one point. */
void calc_point_take(calc_worker *worker, calc_sweep_group *group, const calc_exec *exec,
                     const calc_point *p, calc_point_purpose what);

/** Whether to verify the next tile: evenly spread over the tiles of a thread. */
bool calc_point_verifies(calc_worker *worker);

/** Visit the points of a lane that the networks allow. */
void calc_point_visit(calc_worker *worker, const calc_point_place *at, size_t lane,
                      calc_point_purpose what);

#endif
