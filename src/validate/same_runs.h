/** @file same_runs.h  Measured runs of a layout: published ones that have its sizes. */
#ifndef CALC_VALIDATE_SAME_RUNS_H
#define CALC_VALIDATE_SAME_RUNS_H

#include "validate/run_map.h"

/** A run and what it took. */
typedef struct calc_same_run {
    const calc_runs_row *row; /**< borrowed */
    const char *source;       /**< name of its table */
    double step_s;
} calc_same_run;

/** Find the runs on that machine, of a model with the same shape, with the same processors,
 *  parallel sizes, interleaving, batches, sequence, formats of matrices and recomputation. They may
 *  differ in what tables seldom print: overlaps, kernels, where groups are.
 *  @param machine  name of the system
 *  @return how many there are; the first of them, `room` at most, are in `out` */
size_t calc_same_runs_find(calc_same_run *out, size_t room, const calc_runs *runs,
                           const calc_app *app, const char *machine, const calc_exec *exec);

#endif
