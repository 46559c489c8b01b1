/** @file sweep_all.h  Writes a row for every feasible layout (--all): all threads make rows, which
 *  are written in order. */
#ifndef CALC_CLI_SWEEP_SWEEP_ALL_H
#define CALC_CLI_SWEEP_SWEEP_ALL_H

#include "io/output.h"
#include "plan/study.h"

/** Rows in progress. Start with {0}. */
typedef struct calc_sweep_all {
    const calc_sweep_study *study; /**< borrowed */
    calc_output *file;             /**< borrowed */
    calc_output **row;             /**< by place: CALC_SWEEP_PLACES of them, in memory */
} calc_sweep_all;

/** Write the names of the columns, and make a sweep write its layouts.
 *  @param options  filled: `all` receives its points
 *  @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_all_begin(calc_sweep_all *all, const calc_sweep_study *study,
                                               calc_output *file, calc_sweep_options *options,
                                               calc_errors *errors);

/** Free what it owns. Fine on {0}. */
void calc_sweep_all_free(calc_sweep_all *all);

#endif
