/** @file schedule_two.h  Interleaved 1F1B on two stages, slot by slot: the simulation of
 *  schedule_sim.h for this case, without an order and without memory. */
#ifndef CALC_MODEL_SCHEDULE_TWO_H
#define CALC_MODEL_SCHEDULE_TWO_H

#include "model/schedule/schedule_sim.h"

/** Whether a shape is of that kind: two stages, two chunks at least, and whole rounds. */
bool calc_schedule_two_fits(const calc_schedule_shape *shape);

/** Time of a step [s]: that of calc_schedule_sim_s() without messages, to the bit.
 *  @param shape  one that calc_schedule_two_fits() accepts
 *  @param pass   [2 * chunks] as in calc_schedule_sim */
double calc_schedule_two_s(const calc_schedule_shape *shape, const calc_schedule_pass *pass);

#endif
