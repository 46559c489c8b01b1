/* Kernels, measured and run, for tests: numbers only. */
#ifndef CALC_TESTS_KERNEL_CASE_H
#define CALC_TESTS_KERNEL_CASE_H

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/layout_kernels.h"

/* A multiplication in a pass. */
static inline calc_kernel_key kernel_case_matrix(double m, double k, double n, calc_pass pass)
{
    calc_kernel_key key = {.kind = CALC_KERNEL_MATRIX,
                           .pass = (int)pass,
                           .datatype = CALC_DATATYPE_BFLOAT16,
                           .variant = pass == CALC_PASS_WGRAD ? 4 : 0};
    calc_kernel_key_sizes(&key, (double[]){m, k, n, 1}, 4);
    return key;
}

static inline calc_kernel_key kernel_case_attention(double seq, double heads, calc_pass pass)
{
    calc_kernel_key key = {.kind = CALC_KERNEL_ATTENTION,
                           .pass = (int)pass,
                           .datatype = CALC_DATATYPE_BFLOAT16,
                           .variant = 1};
    calc_kernel_key_sizes(&key, (double[]){1, seq, heads, heads, 128, 128}, 6);
    return key;
}

/* It was measured to take exp(error) of what the model says. */
static inline calc_kernel_point kernel_case_point(calc_kernel_key key, double error)
{
    return (calc_kernel_point){key, 1e-3 * exp(error), error};
}

static inline calc_layout_kernel kernel_case_run(calc_kernel_key key, double time_s)
{
    return (calc_layout_kernel){true, key, time_s};
}

#endif
