/** @file kernels.h  Reads the kernels of a real training step from a profiler's
 *  kernel_details.csv. */
#ifndef CALC_MINDSPEED_KERNELS_H
#define CALC_MINDSPEED_KERNELS_H

#include "mindspeed/shape.h"

/** Kernels shorter than this [us] are ignored. */
#define CALC_MINDSPEED_KERNEL_LEAST_US 5.0

/** Kernels of modelled types. Owns its list; start with {0}. */
typedef struct calc_mindspeed_kernels {
    calc_mindspeed_timed *item;
    size_t count;
    size_t others; /**< rows of other types */
    size_t brief;  /**< rows of modelled types that were too short */
    size_t odd;    /**< rows with other shapes than the modelled ones, or with half of a gradient */
} calc_mindspeed_kernels;

/** Reads the columns Type, Input Shapes, Output Shapes and Duration(us). Two successive rows for
 *  the gradient of a LayerNorm are one kernel.
 *  @return CALC_OK; CALC_ERR_TYPE for malformed shapes or durations, or the status of
 *  calc_csv_table_read(). Errors name file, line and column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_mindspeed_kernels_read(calc_mindspeed_kernels *out, const char *path,
                                                      calc_errors *errors);

/** Frees the list; {0} is allowed. */
void calc_mindspeed_kernels_free(calc_mindspeed_kernels *kernels);

#endif
