/** @file run_measure.h  The measured time of a step from the printed quantity: the time itself,
 *  tokens per second, or FLOP per second with the FLOP that the publication counts. */
#ifndef CALC_VALIDATE_RUN_MEASURE_H
#define CALC_VALIDATE_RUN_MEASURE_H

#include "validate/run_assume.h"

/** Fill map->step_s and map->printed; they stay as they are if nothing usable was printed. Needs
 *  the shape of the model, the number of GPUs and the batch. */
void calc_run_measure_step(calc_run_map *map);

/** Whether only a rate of FLOP is left to measure by: it needs the layout, too. */
bool calc_run_measure_has_rate(const calc_run_map *map);

/** The time from that rate, as `tflops_counting` says FLOP are counted: "model" counts matrices and
 *  the whole square of attention ("causal": half of it); "recompute" and "hardware" also count
 *  recomputation. map->app and map->exec must be filled.
 *  @return NULL, or why the rate says nothing */
const char *calc_run_measure_rate(calc_run_map *map);

#endif
