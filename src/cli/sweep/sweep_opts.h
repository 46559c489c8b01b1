/** @file sweep_opts.h  The options of `calc sweep`, for the files that share them. */
#ifndef CALC_CLI_SWEEP_SWEEP_OPTS_H
#define CALC_CLI_SWEEP_SWEEP_OPTS_H

#include "cli/shell/command.h"

/** Rows of calc_sweep_opts. */
typedef enum calc_sweep_opt {
    CALC_SWEEP_OPT_AXIS,
    CALC_SWEEP_OPT_PROCS,
    CALC_SWEEP_OPT_BATCH,
    CALC_SWEEP_OPT_OBJECTIVES,
    CALC_SWEEP_OPT_TOP,
    CALC_SWEEP_OPT_TOP_BY,
    CALC_SWEEP_OPT_PER,
    CALC_SWEEP_OPT_WHERE,
    CALC_SWEEP_OPT_COMPAT,
    CALC_SWEEP_OPT_OUT,
    CALC_SWEEP_OPT_SUMMARY,
    CALC_SWEEP_OPT_SAVE_BEST,
    CALC_SWEEP_OPT_ALL,
    CALC_SWEEP_OPT_HTML,
    CALC_SWEEP_OPT_PLOT,
    CALC_SWEEP_OPT_PLAN,
    CALC_SWEEP_OPT_SAMPLE,
    CALC_SWEEP_OPT_SEED,
    CALC_SWEEP_OPT_NO_PRUNE,
    CALC_SWEEP_OPT_VERIFY,
    CALC_SWEEP_OPT_THREADS,
    CALC_SWEEP_OPT_CPU,
    CALC_SWEEP_OPT_TIME_LIMIT,
    CALC_SWEEP_OPT_PROGRESS,
    CALC_SWEEP_OPT_CHECKPOINT,
    CALC_SWEEP_OPT_EVERY,
    CALC_SWEEP_OPT_RESUME,
    CALC_SWEEP_OPT_SHARD,
    CALC_SWEEP_OPT_MERGE
} calc_sweep_opt;

extern const calc_opt calc_sweep_opts[];
extern const calc_arg calc_sweep_args[];

#endif
