/** @file kernels.h  Errors of layouts' compute times learnt from measured kernels, instead of the
 *  prior's field.
 *
 *  The errors of each class of kernels are a Gaussian process over the logarithms
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

#include "gauss/process.h"
#include "model/cost/kernel_table.h"
#include "model/layout_kernels.h"
#include "tune/model.h"

/** A cell. Its kernels are the caller's, or of calc_tune_kernel_cells. */
typedef struct calc_tune_kernel_cell {
    double coordinate[CALC_TUNE_COORDINATES]; /**< of its first candidate */
    double busy; /**< share of kernels in the time that kernels or hosts determine */
    const calc_layout_kernel *kernel;
    size_t kernels;
} calc_tune_kernel_cell;

/** Owns its lists; start with {0}. */
typedef struct calc_tune_kernel_cells {
    calc_tune_kernel_cell *cell;
    size_t count;
    calc_layout_kernel *kernel;
} calc_tune_kernel_cells;

/** The execution of a candidate. */
typedef calc_exec (*calc_tune_exec_of)(const void *context, size_t candidate);

/** Find the cells of candidates, in the order of their coordinates; each has the kernels of its
 *  first candidate. */
void calc_tune_kernel_cells_make(calc_tune_kernel_cells *out, const calc_app *app,
                                 const calc_system *system, const calc_tune_candidate *candidate,
                                 size_t count, calc_tune_exec_of exec, const void *context);

/** Free what it owns; fine on {0}. */
void calc_tune_kernel_cells_free(calc_tune_kernel_cells *cells);

/* ---- Classes of kernels ---------------------------------------------------------------------- */

/* Classes of kernels with correlated errors: within a class the correlation falls with the
 * distance of shapes, between classes there is none. A class is a type of kernel (matrix
 * multiplications, grouped ones of experts, attention forward, attention backward, elementwise
 * kernels) in one number format. */

enum {
    CALC_TUNE_KERNEL_CLASSES = 24, /**< more than layouts of one model can have */
    CALC_TUNE_KERNEL_FIT = 100,    /**< measured shapes to fit hyper-parameters to, at most */
    CALC_TUNE_KERNEL_WORDS = 64
};

typedef struct calc_tune_kernel_class {
    calc_kernel_kind kind;
    bool backward; /**< attention */
    bool causal;   /**< attention */
    int datatype;  /**< a calc_datatype; 0 where it does not matter */
} calc_tune_kernel_class;

/** The class of a kernel. */
calc_tune_kernel_class calc_tune_kernel_class_of(const calc_kernel_key *key);

bool calc_tune_kernel_class_is(const calc_tune_kernel_class *a, const calc_tune_kernel_class *b);

/** Words of a class: "matrix multiplications in bfloat16". @return text */
char *calc_tune_kernel_class_words(const calc_tune_kernel_class *class,
                                   char text[CALC_TUNE_KERNEL_WORDS]);

/** The coordinates of a kernel in its class: the binary logarithms of its sizes; for
 *  multiplications then whether it is a gradient of activations, and the bytes of a number that
 *  gradients of weights are added to (0 for other passes).
 *  @param point  CALC_PROCESS_DIMENSIONS numbers
 *  @return how many it has */
size_t calc_tune_kernel_class_point(const calc_kernel_key *key, double *point);

/** Learn the errors of a class, logarithms of measured over predicted, from measurements. If there
 *  are more than CALC_PROCESS_DATA, the ones nearest to `wanted` are used; the hyper-parameters are
 *  fitted to CALC_TUNE_KERNEL_FIT of them, spread evenly over the table.
 *  @param wanted    points of the class, one after the other
 *  @param prior_sd  standard deviation of an error where measurements do not determine it
 *  @param out       without data if the table has none of the class
 *  @param measured  filled: rows of the table that are of the class
 *  @return CALC_OK, or what calc_process_add() and calc_process_fit() return; free *out with
 *  calc_process_free() in any case */
CALC_MUST_USE calc_status calc_tune_kernel_class_learn(
    calc_process *out, const calc_tune_kernel_class *class, const calc_kernel_table *table,
    const double *wanted, size_t count, double prior_sd, size_t *measured, calc_errors *errors);

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
    calc_tune_kernels kernels; /**< for calc_tune_options */
    calc_tune_kernels_class class[CALC_TUNE_KERNEL_CLASSES];
    size_t classes;
    double unmeasured; /**< share of compute time without a class: kernels that are never measured
                            as one, and hosts; the mean of the cells */
} calc_tune_kernels_learnt;

/** Learn.
 *  @param measured  on the machine, with its predictions
 *  @return CALC_OK, or what calc_tune_kernel_class_learn() returns; free *out in any case */
CALC_MUST_USE calc_status calc_tune_kernels_learn(calc_tune_kernels_learnt *out,
                                                  const calc_tune_prior *prior,
                                                  const calc_kernel_table *measured,
                                                  const calc_tune_kernel_cell *cell, size_t cells,
                                                  calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_tune_kernels_free(calc_tune_kernels_learnt *kernels);

#endif
