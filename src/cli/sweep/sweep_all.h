/** @file sweep_all.h  --all: a row for every feasible layout, made by all threads and written in
 *  order. */
#ifndef CALC_CLI_SWEEP_SWEEP_ALL_H
#define CALC_CLI_SWEEP_SWEEP_ALL_H

#include "io/output.h"
#include "plan/study.h"

/** The rows under way. Start with {0}. */
typedef struct calc_sweep_all {
    const calc_sweep_study *study; /**< borrowed */
    calc_output *file;             /**< borrowed */
    calc_output **row;             /**< by place: CALC_SWEEP_PLACES of them, in memory */
} calc_sweep_all;

/** Write the names of the columns, and have a sweep write its layouts.
 *  @param options  the points of which are seen by `all`
 *  @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_all_begin(calc_sweep_all *all, const calc_sweep_study *study,
                                               calc_output *file, calc_sweep_options *options,
                                               calc_errors *errors);

/** Free what it owns. Fine on {0}. */
void calc_sweep_all_free(calc_sweep_all *all);

#endif
