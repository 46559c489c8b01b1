/** @file tune_task.h  Reads the task of `calc tune`: candidates, measurements so far, how to
 *  decide. */
#ifndef CALC_CLI_TUNE_TUNE_TASK_H
#define CALC_CLI_TUNE_TUNE_TASK_H

#include "base/rng.h"
#include "cli/sweep/sweep_watch.h"
#include "cli/tune/tune_journal.h"
#include "cli/tune/tune_layouts.h"
#include "cli/tune/tune_operators.h"
#include "cli/tune/tune_opts.h"
#include "cli/tune/tune_program.h"

/** How layouts are measured. */
typedef enum calc_tune_way {
    CALC_TUNE_WAY_ASK, /**< by others: what to try is shown */
    CALC_TUNE_WAY_NEXT,
    CALC_TUNE_WAY_COMMAND,
    CALC_TUNE_WAY_SIMULATE
} calc_tune_way;

/** A task. Owns its lists; points into itself: not to be copied. Start with {0}. */
typedef struct calc_tune_task {
    const calc_args *args;
    calc_tune_way way;
    calc_sweep_study study;
    calc_designs exact; /**< the study's designs as they are; it is swept with 10 % more memory */
    calc_app app;
    calc_system system;
    const char *app_name, *system_name;
    calc_sweep_result result;
    calc_residuals known; /**< runs that tell what fits */
    calc_tune_layouts layouts;
    calc_tune_prior prior;
    calc_tune_options options;
    calc_tune_operators operators; /**< of --operators */
    calc_tune_rows rows;
    calc_tune_journal journal;
    size_t measurements, room, most; /**< most: how many there may be */
    calc_tune_measurement *measurement;
    int *line;                 /**< of each measurement in the state; 0: it was made now */
    calc_tune_program program; /**< CALC_TUNE_WAY_COMMAND */
    uint64_t truth_seed;       /**< CALC_TUNE_WAY_SIMULATE */
    double *truth_s, *truth_bytes;
    calc_rng noise;
    size_t table_rows;
    const char *folder;
    bool interrupted;
} calc_tune_task;

/** Checks how the options combine. @return the mistake; NULL if there is none */
const char *calc_tune_task_complaint(const calc_args *args);

/** Take the options, and prepare the sweep. All errors are collected.
 *  @return CALC_OK, or the status of the first error; free it in any case */
CALC_MUST_USE calc_status calc_tune_task_load(calc_tune_task *task, const calc_args *args,
                                              calc_errors *errors);

/** Sweep, and evaluate the candidates. @param watch  begun
 *  @return as calc_sweep() */
CALC_MUST_USE calc_status calc_tune_task_sweep(calc_tune_task *task, calc_sweep_watch *watch,
                                               calc_errors *errors);

/** Add a measurement. @param line  of the state; 0: none
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_tune_task_add(calc_tune_task *task,
                                             const calc_tune_measurement *measurement, int line,
                                             calc_errors *errors);

/** Learn what measured kernels say of all candidates, if there are some.
 *  @return CALC_OK, or what learning returns */
CALC_MUST_USE calc_status calc_tune_task_learn(calc_tune_task *task, calc_errors *errors);

void calc_tune_task_free(calc_tune_task *task);

#endif
