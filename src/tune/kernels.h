/** @file kernels.h  What measured kernels say of the errors of what layouts compute, instead of the
 *  prior's field.
 *
 *  Of each class of kernels (kernel_class.h) the errors are a Gaussian process over the logarithms
 * of their shapes. To first order the logarithm of a sum of times is off by the sum of the errors
 * of its parts, each times its share, so that the cells of layouts are jointly normal:
 *
 *      mean = W mu        covariance = W C W' + (u u' + v v' / 4) * (the prior's field)
 *
 *  with mu and C of the processes at all shapes of all cells (kernels of different classes are
 *  independent), W the share of each shape in the time of a cell, u the share of what was not
 *  measured: kernels of classes without a measurement, and waiting for hosts; v the rest, as
 *  kernels in a step are not quite what they are alone. What two cells share, or have alike, is
 *  wrong in both of them. */
#ifndef CALC_TUNE_KERNELS_H
#define CALC_TUNE_KERNELS_H

#include "tune/kernel_cells.h"
#include "tune/kernel_class.h"
#include "tune/model.h"

/** What became of a class. */
typedef struct calc_tune_kernels_class {
    calc_tune_kernel_class class;
    size_t measured; /**< rows of measurements; 0: the prior stands for it */
    size_t shapes;   /**< different ones that layouts run */
    size_t exact;    /**< of those, measured themselves */
    double share;    /**< of what is computed, in the mean of the cells; 0 to 1 */
    double error; /**< of its kernels in these layouts: expected log(measured / predicted), in the
                       mean weighted by their time; NaN: nothing was measured */
} calc_tune_kernels_class;

/** What was learnt. Owns its arrays; start with {0}. */
typedef struct calc_tune_kernels_learnt {
    calc_tune_kernels kernels; /**< for calc_tune_options; its arrays are these: */
    double (*coordinate)[CALC_TUNE_CELL_COORDINATES];
    double *mean, *covariance;
    calc_tune_kernels_class class[CALC_TUNE_KERNEL_CLASSES];
    size_t classes;
    double unmeasured; /**< share of what is computed that no class is for: kernels that are never
                            measured as one, and hosts; in the mean of the cells */
} calc_tune_kernels_learnt;

/** Learn.
 *  @param measured  on the machine, with its predictions
 *  @return CALC_OK or CALC_ERR_NOMEM; free *out in any case */
CALC_MUST_USE calc_status calc_tune_kernels_learn(calc_tune_kernels_learnt *out,
                                                  const calc_tune_prior *prior,
                                                  const calc_kernel_table *measured,
                                                  const calc_tune_kernel_cell *cell, size_t cells,
                                                  calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_tune_kernels_free(calc_tune_kernels_learnt *kernels);

#endif
