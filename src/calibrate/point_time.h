/** @file point_time.h  Time of a measured operator by the model. */
#ifndef CALC_CALIBRATE_POINT_TIME_H
#define CALC_CALIBRATE_POINT_TIME_H

#include "calibrate/point.h"
#include "model/operators/collective.h"

/** Predicted time [s] of a point that is used, by the functions that cost a step: operators are
 *  built as for a block, and timed by calc_cost_kernel_s() and calc_collective_s().
 */
double calc_point_time_s(const calc_point *point, const calc_system *system);

/** Memory traffic of a memory-bound kernel [bytes]; 0 of anything else. */
double calc_point_bytes(const calc_point *point);

/** The operation of a collective. */
calc_collective_op calc_point_op(calc_point_class class);

/** The network with the deciding constants: the highest that its ranks span.
 *  @return its index; -1 for a kernel, and where ranks of several networks have a part */
int64_t calc_point_network(const calc_point *point, const calc_system *system);

#endif
