/** @file run_map.h  A published run in the terms of the model: application, system and execution,
 *  with all that had to be assumed; or why it cannot be predicted. */
#ifndef CALC_VALIDATE_RUN_MAP_H
#define CALC_VALIDATE_RUN_MAP_H

#include "validate/run_assume.h"

/** Map a row. Never fails: what cannot be mapped has a reason. */
void calc_run_map_row(calc_run_map *out, const calc_runs_row *row);

#endif
