/** @file point_block.h  A measured block: the model and the layout that its row describes. */
#ifndef CALC_CALIBRATE_POINT_BLOCK_H
#define CALC_CALIBRATE_POINT_BLOCK_H

#include "calibrate/point.h"
#include "model/cost/kernel_table.h"

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

/** Time of its forward and backward pass by the model [s]. */
double calc_point_block_s(const calc_point *point, const calc_system *system);

/** Its key on a machine. */
calc_kernel_key calc_point_block_key(const calc_point *point, const calc_system *system);

#endif
