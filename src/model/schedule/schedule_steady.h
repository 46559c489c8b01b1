/** @file schedule_steady.h  The step of unequal stages: simulated with few micro-batches, and
 *  extrapolated exactly from there. */
#ifndef CALC_MODEL_SCHEDULE_STEADY_H
#define CALC_MODEL_SCHEDULE_STEADY_H

#include "model/schedule/schedule_sim.h"

/** Whether the simulation has room for a shape: about 64 stages of two chunks. */
bool calc_schedule_steady_fits(const calc_schedule_shape *shape);

/** Time of a step [s], without messages beside the passes.
 *
 *  The time is the longest path through the operations, so that each further period of
 *  micro-batches (p interleaved, 2 with DualPipe, else 1) adds no less than the one before, until
 *  it adds the time of the busiest stage. A step of 2p micro-batches mostly does so; where it does
 *  not, more are simulated: twice as many, and so on, at most all. So the result equals that of
 *  calc_schedule_sim_s() up to rounding. Allocates nothing.
 *  @param shape  one that calc_schedule_check() and calc_schedule_steady_fits() accept
 *  @param pass   [stages * chunks] as in calc_schedule_sim */
double calc_schedule_steady_s(const calc_schedule_shape *shape, const calc_schedule_pass *pass);

/** The same in a workspace of the caller's.
 *  @param bytes  of it: calc_schedule_sim_bytes() of 2p micro-batches and a period more at least */
double calc_schedule_steady_in(const calc_schedule_shape *shape, const calc_schedule_pass *pass,
                               void *workspace, size_t bytes);

/* Interleaved 1F1B on two stages, slot by slot: the simulation of
 * schedule_sim.h for this case, without an order and without memory. */

/** Whether a shape is of that kind: two stages, two chunks at least, and whole rounds. */
bool calc_schedule_two_fits(const calc_schedule_shape *shape);

/** Time of a step [s]: that of calc_schedule_sim_s() without messages, to the bit.
 *  @param shape  one that calc_schedule_two_fits() accepts
 *  @param pass   [2 * chunks] as in calc_schedule_sim */
double calc_schedule_two_s(const calc_schedule_shape *shape, const calc_schedule_pass *pass);

#endif
