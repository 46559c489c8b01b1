/** @file run_map.h  A published run in the terms of the model: application, system and execution,
 *  with all that had to be assumed; or why it cannot be predicted. */
#ifndef CALC_VALIDATE_RUN_MAP_H
#define CALC_VALIDATE_RUN_MAP_H

#include "validate/run_assume.h"

/** Map a row. Never fails: a row that cannot be mapped has a reason. */
void calc_run_map_row(calc_run_map *out, const calc_runs_row *row);

/** The machine of a run: `system`, or a copy of it in *own whose outermost network has the printed
 *  rate. */
const calc_system *calc_run_map_system(const calc_run_map *map, const calc_system *system,
                                       calc_system *own);

#endif
