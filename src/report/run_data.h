/** @file run_data.h  What the page of a run draws beyond the run itself: passes, stages, parts of
 * time and memory, the pipeline, and the effects of changes. */
#ifndef CALC_REPORT_RUN_DATA_H
#define CALC_REPORT_RUN_DATA_H

#include "calc.h"
#include "io/json_put.h"

/** A run that was evaluated. Borrows everything. */
typedef struct calc_run_data {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    calc_compat compat;
    const calc_stats *stats;
    const calc_stage_stats *stage; /**< of every stage */
    size_t stages;                 /**< 0: they are not known */
    const calc_exec *own; /**< `exec` whose stages follow changes of the system; NULL: no stage runs
                               on it */
    /** Evaluates `exec` on a changed system; NULL: calc_run() does. */
    calc_status (*run)(const void *context, const calc_system *system, const calc_exec *exec,
                       calc_stats *stats, calc_errors *errors);
    const void *context;
} calc_run_data;

/** Write the members of the open object.
 *  @return CALC_OK, or CALC_ERR_NOMEM, or what `run` returns, with an error */
CALC_MUST_USE calc_status calc_run_data_put(calc_put *put, const calc_run_data *data,
                                            calc_errors *errors);

#endif
