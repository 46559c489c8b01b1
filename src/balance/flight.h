/** @file flight.h  How many micro-batches of each chunk a stage has in flight, from the start of
 *  their forward to the end of their weight gradient, all through its order of operations. */
#ifndef CALC_BALANCE_FLIGHT_H
#define CALC_BALANCE_FLIGHT_H

#include "balance/problem.h"

/** Parts of the model whose activations a stage holds: its chunks; with DualPipe its own part and
 *  the opposite stage's. */
int calc_balance_held_parts(const calc_schedule_shape *shape);

/** Place of such a part. */
int calc_balance_part_place(const calc_schedule_shape *shape, int stage, int part);

/** For each stage, the counts that no other counts of it exceed in every part. The peak memory of a
 *  stage is the maximum over them. */
typedef struct calc_balance_flights {
    int parts;
    int first[CALC_BALANCE_STAGES + 1]; /**< first row of a stage in live; [stages] is the end */
    int *live;                          /**< [row][part] */
} calc_balance_flights;

/** @return CALC_OK or CALC_ERR_NOMEM; in either case calc_balance_flights_end() may be called */
calc_status calc_balance_flights_begin(calc_balance_flights *flights,
                                       const calc_balance_problem *problem);
void calc_balance_flights_end(calc_balance_flights *flights);

/** The most that a stage holds. @param share  [places] */
double calc_balance_flights_bytes(const calc_balance_flights *flights,
                                  const calc_balance_problem *problem, int stage,
                                  const calc_balance_share *share);

#endif
