/** @file layers_plan.h  Plans a strategy for each layer (`calc plan --layers`). */
#ifndef CALC_CLI_PLAN_LAYERS_PLAN_H
#define CALC_CLI_PLAN_LAYERS_PLAN_H

#include "cli/plan/plan_task.h"
#include "cli/sweep/sweep_watch.h"

/** Checks --layers against options for plans of stages only. @return the mistake; NULL if there is
 *  none */
const char *calc_plan_layers_complaint(const calc_args *args);

/** Search, write the files that are asked for, and the table.
 *  @param task   loaded, with --layers and its progress
 *  @param watch  begun; ended here */
calc_exit calc_plan_layers(calc_plan_task *task, calc_sweep_watch *watch, calc_errors *errors);

#endif
