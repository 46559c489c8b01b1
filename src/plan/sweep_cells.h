/** @file sweep_cells.h  A sweep divided into parts that are swept separately: by tensor and
 *  pipeline parallelism, or by number of processors. */
#ifndef CALC_PLAN_SWEEP_CELLS_H
#define CALC_PLAN_SWEEP_CELLS_H

#include "plan/sweep_cloud.h"

enum {
    CALC_SWEEP_CELLS_SIDE = 16,     /**< values of a side that are shown */
    CALC_SWEEP_CELLS_LONGEST_S = 60 /**< a sweep that takes longer is not swept again */
};

/** One part: its counts, and its best by the study's top_by. */
typedef struct calc_sweep_cell {
    int64_t tensor_par, pipeline_par, num_procs; /**< 0: any */
    calc_sweep_counts counts;
    bool found; /**< a feasible layout: `best` */
    calc_found best;
} calc_sweep_cell;

/** Parts. Owns them. Start with {0}. */
typedef struct calc_sweep_cells {
    calc_sweep_cell *item;
    size_t count;
    bool counted; /**< counts are exact: no layout was skipped by its bound */
} calc_sweep_cells;

/** Sweep the splits whose values appear in a cloud and among the best.
 *  @param result  of the whole sweep
 *  @return CALC_OK, or the status of an error that was added; *out must be freed in any case */
CALC_MUST_USE calc_status calc_sweep_cells_splits(calc_sweep_cells *out,
                                                  const calc_sweep_study *study,
                                                  const calc_sweep_result *result,
                                                  const calc_sweep_cloud *cloud,
                                                  calc_errors *errors);

/** Sweep numbers of processors, if there are several: at most 2 * CALC_SWEEP_CELLS_SIDE, evenly
 *  spread. */
CALC_MUST_USE calc_status calc_sweep_cells_procs(calc_sweep_cells *out,
                                                 const calc_sweep_study *study,
                                                 const calc_sweep_result *result,
                                                 calc_errors *errors);

/** Free what they own; fine on {0}. */
void calc_sweep_cells_free(calc_sweep_cells *cells);

#endif
