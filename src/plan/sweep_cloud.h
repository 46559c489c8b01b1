/** @file sweep_cloud.h  Layouts of a sweep for a picture: all feasible ones of a small space,
 * random ones of a large space. */
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

#endif
