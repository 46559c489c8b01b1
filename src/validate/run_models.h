/** @file run_models.h  The model of a published run: its columns, or known properties of the
 *  model's family where a column is blank. */
#ifndef CALC_VALIDATE_RUN_MODELS_H
#define CALC_VALIDATE_RUN_MODELS_H

#include "validate/run_assume.h"

/** Fill map->app. The row must have layers, width, heads and sequence length. */
void calc_run_models_app(calc_run_map *map);

#endif
