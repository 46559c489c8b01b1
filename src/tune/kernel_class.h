/** @file kernel_class.h  Classes of kernels with correlated errors: within a class the correlation
 *  falls with the distance of shapes, between classes there is none. A class is a type of kernel
 *  (matrix multiplications, grouped ones of experts, attention forward, attention backward,
 *  elementwise kernels) in one number format. */
#ifndef CALC_TUNE_KERNEL_CLASS_H
#define CALC_TUNE_KERNEL_CLASS_H

#include "gauss/process.h"
#include "model/cost/kernel_table.h"

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
 *  @return CALC_OK, or CALC_ERR_NOMEM; free *out with calc_process_free() in any case */
CALC_MUST_USE calc_status calc_tune_kernel_class_learn(
    calc_process *out, const calc_tune_kernel_class *class, const calc_kernel_table *table,
    const double *wanted, size_t count, double prior_sd, size_t *measured, calc_errors *errors);

#endif
