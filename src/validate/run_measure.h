/** @file run_measure.h  The measured time of a step from what was printed: the time itself, tokens
 *  per second, or FLOP per second with the FLOP that the publication counts. */
#ifndef CALC_VALIDATE_RUN_MEASURE_H
#define CALC_VALIDATE_RUN_MEASURE_H

#include "validate/run_assume.h"

/** Fill map->step_s and map->printed; they stay as they are if nothing usable was printed. Needs
 *  the shape of the model, the number of GPUs and the batch. */
void calc_run_measure_step(calc_run_map *map);

#endif
