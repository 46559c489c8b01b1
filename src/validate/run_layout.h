/** @file run_layout.h  How a published run was laid out and with which features of its software. */
#ifndef CALC_VALIDATE_RUN_LAYOUT_H
#define CALC_VALIDATE_RUN_LAYOUT_H

#include "validate/run_assume.h"

/** Fill map->exec; map->app must be filled. A batch that is not a multiple of data parallelism
 *  times micro-batch is rounded up, and map->step_s grows with it.
 *  @return NULL, or why the row is not a layout */
const char *calc_run_layout_exec(calc_run_map *map);

#endif
