/** @file sweep_cloud.h  A sweep for pictures: its layouts, all feasible ones of a small space,
 * random ones of a large space; and its parts by tensor and pipeline parallelism, or by number of
 * processors, swept separately. */
#ifndef CALC_PLAN_SWEEP_CLOUD_H
#define CALC_PLAN_SWEEP_CLOUD_H

#include "plan/sweep_found.h"

enum {
    CALC_SWEEP_CLOUD_POINTS = 20000, /**< that a picture holds */
    CALC_SWEEP_CLOUD_ALL = 200000    /**< spaces with more layouts than this, feasible or not, are
                                          sampled */
};

/** A feasible layout that meets the constraints. */
typedef struct calc_sweep_cloud_point {
    uint64_t design;
    calc_exec exec;
    calc_stats stats;
} calc_sweep_cloud_point;

/** Points. Owns them. Start with {0}. */
typedef struct calc_sweep_cloud {
    calc_sweep_cloud_point *point;
    size_t count;
    uint64_t seen; /**< feasible layouts that were seen; equal to count if all of them are here */
    bool all;      /**< every layout was evaluated; else they were drawn at random */
} calc_sweep_cloud;

/** Collect points. They depend on the study alone.
 *  @return CALC_OK, or CALC_ERR_NOMEM with an error; *out must be freed in any case */
CALC_MUST_USE calc_status calc_sweep_cloud_make(calc_sweep_cloud *out,
                                                const calc_sweep_study *study, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_sweep_cloud_free(calc_sweep_cloud *cloud);

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
