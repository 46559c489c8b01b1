/** @file kernels.h  Errors of layouts' compute times learnt from measured kernels, instead of the
 *  prior's field.
 *
 *  The errors of each class of kernels (kernel_class.h) are a Gaussian process over the logarithms
 *  of their shapes. To first order the error of the logarithm of a sum of times is the sum of the
 *  errors of its parts, each times its share, so that the cells of layouts are jointly normal:
 *
 *      mean = W mu        covariance = W C W' + (u u' + v v' / 4) * (the prior's field)
 *
 *  where mu and C are the processes' mean and covariance at all shapes of all cells (kernels of
 *  different classes are independent), W is the share of each shape in the time of a cell, u is the
 *  share that was not measured (kernels of classes without a measurement, and waiting for hosts),
 *  and v the rest, since kernels in a step behave differently from kernels alone. Two cells share
 *  the errors of the kernels that they have in common, and partly those of similar ones. */
#ifndef CALC_TUNE_KERNELS_H
#define CALC_TUNE_KERNELS_H

#include "tune/kernel_cells.h"
#include "tune/kernel_class.h"
#include "tune/model.h"

/** What became of a class. */
typedef struct calc_tune_kernels_class {
    calc_tune_kernel_class class;
    size_t measured; /**< rows of measurements; 0: the prior is used */
    size_t shapes;   /**< distinct shapes that layouts run */
    size_t exact;    /**< of these, measured themselves */
    double share;    /**< of compute time, as the mean of the cells; 0 to 1 */
    double error; /**< of its kernels in these layouts: expected log(measured / predicted), averaged
                       by their time; NaN: nothing was measured */
} calc_tune_kernels_class;

/** The result. Owns its arrays; start with {0}. */
typedef struct calc_tune_kernels_learnt {
    calc_tune_kernels kernels; /**< for calc_tune_options; its arrays are these: */
    double (*coordinate)[CALC_TUNE_CELL_COORDINATES];
    double *mean, *covariance;
    calc_tune_kernels_class class[CALC_TUNE_KERNEL_CLASSES];
    size_t classes;
    double unmeasured; /**< share of compute time without a class: kernels that are never measured
                            as one, and hosts; the mean of the cells */
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
