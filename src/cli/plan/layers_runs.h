/** @file layers_runs.h  Writes the layers of a layout as JSON: the strategy of each run of equal
 *  layers, and the time to rearrange activations where the strategy changes. */
#ifndef CALC_CLI_PLAN_LAYERS_RUNS_H
#define CALC_CLI_PLAN_LAYERS_RUNS_H

#include "cli/plan/plan_task.h"
#include "io/json_put.h"

/** "layers", with an entry per run, and "ends", the embedding and the head. Without a list of
 *  layers all of them are one run. */
void calc_layers_runs_put(calc_put *put, const calc_plan_task *task, const calc_exec *exec);

#endif
