/** @file layout_kernels.h  The kernels that a layout's blocks run in training, each with its key
 *  among measured ones. */
#ifndef CALC_MODEL_LAYOUT_KERNELS_H
#define CALC_MODEL_LAYOUT_KERNELS_H

#include "model/cost/kernel_table.h"
#include "model/operators/operator.h"

/** A pass over an operator. */
typedef struct calc_layout_kernel {
    bool keyed; /**< whether it could have been measured as one kernel of finite sizes */
    calc_kernel_key key;
    double time_s; /**< predicted, of one micro-batch in all blocks of the model that have it,
                        including repeats by recomputation [s] */
} calc_layout_kernel;

enum { CALC_LAYOUT_KERNELS = 2 * 2 * CALC_PASS_COUNT * CALC_MAX_OPERATORS };

/** List the kernels of dense blocks and of blocks with experts, without embedding and head. Neither
 *  communication nor waiting for a host is among them, nor does communication in tiles slow a
 * matrix down. For a layout that lists stages or layers, the kernels of its general strategy.
 *  @param out  CALC_LAYOUT_KERNELS
 *  @return their number; 0 for layouts that serve */
size_t calc_layout_kernels(const calc_app *app, const calc_system *system, const calc_exec *exec,
                           calc_layout_kernel *out);

#endif
