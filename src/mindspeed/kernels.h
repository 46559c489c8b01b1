/** @file kernels.h  Kernels of a real training step: a profiler's kernel_details.csv. */
#ifndef CALC_MINDSPEED_KERNELS_H
#define CALC_MINDSPEED_KERNELS_H

#include "mindspeed/shape.h"

/** Kernels shorter than this [us] are not looked at. */
#define CALC_MINDSPEED_KERNEL_LEAST_US 5.0

/** Those of the types that are modelled. Owns them; start with {0}. */
typedef struct calc_mindspeed_kernels {
    calc_mindspeed_timed *item;
    size_t count;
    size_t others; /**< rows of other types */
    size_t brief;  /**< rows of these types that were too short, */
    size_t odd;    /**< whose shapes are not those that are modelled, or half of a gradient */
} calc_mindspeed_kernels;

/** Read the columns Type, Input Shapes, Output Shapes and Duration(us). Two rows after one another
 *  that are of the gradient of a LayerNorm are one kernel.
 *  @return CALC_OK; CALC_ERR_TYPE for shapes or a duration that are none, or what
 *  calc_csv_table_read() returns. Errors name file, line and column. *out must be freed in any
 *  case. */
CALC_MUST_USE calc_status calc_mindspeed_kernels_read(calc_mindspeed_kernels *out, const char *path,
                                                      calc_errors *errors);

/** Free them; fine on {0}. */
void calc_mindspeed_kernels_free(calc_mindspeed_kernels *kernels);

#endif
