/** @file point_time.h  Time of a measured operator, or block of them, by the model. */
#ifndef CALC_CALIBRATE_POINT_TIME_H
#define CALC_CALIBRATE_POINT_TIME_H

#include "calibrate/points.h"
#include "model/cost/kernel_table.h"
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

/** A model of one block, and a layout of one micro-batch on the ranks that share it. Every word of
 *  the point's shape sets a field of the two, as calc_set() does. Absent ones are as in a document,
 *  required ones 1, false or the first choice; heads share the width, and attention has the type
 *  that kv_heads implies.
 *  @param reason  filled if a word is of nothing that a block has
 *  @return whether none is */
bool calc_point_block_of(const calc_point *point, calc_app *app, calc_exec *exec,
                         char reason[CALC_POINT_REASON]);

/** Whether a machine can run it, by the rules of all layouts.
 *  @param reason  filled if not */
bool calc_point_block_runs(const calc_point *point, const calc_system *system,
                           char reason[CALC_POINT_REASON]);

/** Its key on a machine. */
calc_kernel_key calc_point_block_key(const calc_point *point, const calc_system *system);

#endif
