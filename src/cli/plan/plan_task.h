/** @file plan_task.h  Reads the task of `calc plan`: model, chips, space. */
#ifndef CALC_CLI_PLAN_PLAN_TASK_H
#define CALC_CLI_PLAN_PLAN_TASK_H

#include "cli/plan/plan_opts.h"
#include "designs.h"
#include "plan/planner_layers.h"
#include "validate/fits.h"

/** Owns its lists; points into itself: not to be copied. Start with {0}. */
typedef struct calc_plan_task {
    const calc_args *args;
    char app_name[256], exec_name[256];
    calc_app app;
    int chips;
    calc_planner_chip chip[CALC_MAX_CHIPS];
    calc_planner_chip planned[CALC_MAX_CHIPS]; /**< with the memory that is planned for */
    char fitted[CALC_MAX_CHIPS][64]; /**< machine whose runs a chip's constants were fitted to */
    calc_residuals known;            /**< runs that tell what fits; empty: none do */
    calc_exec only;
    calc_space space;
    calc_designs_builder builder;
    calc_planner planner;
    bool listed;                /**< layers are to be listed: */
    calc_planner_layers layers; /**< this is what is wanted, and not planner */
} calc_plan_task;

/** Fill it from the command line. All errors are collected.
 *  @return CALC_OK, or the status of the first error; free it in any case */
CALC_MUST_USE calc_status calc_plan_task_load(calc_plan_task *task, const calc_args *args,
                                              calc_errors *errors);
void calc_plan_task_free(calc_plan_task *task);

#endif
