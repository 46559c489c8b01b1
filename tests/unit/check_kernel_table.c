/* Kernels looked up among measured ones. */
#include "model/cost/kernel_table.h"

#include <math.h>

#include "frame.h"

static calc_kernel_key key(double m, double n)
{
    calc_kernel_key k = {.kind = CALC_KERNEL_MATRIX, .pass = 1, .datatype = 2, .variant = 4};
    calc_kernel_key_sizes(&k, (double[]){m, n}, 2);
    return k;
}

static calc_kernel_point points[8];
static calc_kernel_table table;

static void enter(void)
{
    table = (calc_kernel_table){points, 0};
}

const calc_test_frame calc_tests = {.setup = enter};

static void add(double m, double n, double measured_s, double ratio)
{
    points[table.count++] = (calc_kernel_point){key(m, n), measured_s, log(ratio)};
}

static double look_up(calc_kernel_key k, calc_kernel_source expected)
{
    calc_kernel_source source;
    double s = calc_kernel_table_s(&table, &k, 10, &source);
    ck_assert_str_eq(calc_kernel_source_text(source), calc_kernel_source_text(expected));
    return s;
}

CALC_TEST(what_was_measured_is_taken_as_it_is)
{
    add(64, 128, 7, 0.5);
    add(64, 129, 3, 0.5);
    ck_assert_double_eq(look_up(key(64, 128), CALC_KERNEL_EXACT), 7);
    add(64, 128, 9, 0.5); /* twice: their mean */
    ck_assert_double_eq(look_up(key(64, 128), CALC_KERNEL_EXACT), 8);
}

CALC_TEST(between_neighbours_the_model_is_corrected)
{
    add(64, 64, 1, 2);
    ck_assert_double_eq_tol(look_up(key(128, 64), CALC_KERNEL_INTERPOLATED), 20, 1e-12);
    add(256, 64, 1, 8);
    /* Half way in octaves: the geometric mean. */
    ck_assert_double_eq_tol(look_up(key(128, 64), CALC_KERNEL_INTERPOLATED), 40, 1e-12);
    /* Distances 1/2 and 3/2 octaves weigh as 9 to 1. */
    ck_assert_double_eq_tol(look_up(key(64 * sqrt(2), 64), CALC_KERNEL_INTERPOLATED),
                            10 * pow(2, 0.9) * pow(8, 0.1), 1e-10);
}

CALC_TEST(neighbours_are_within_two_octaves)
{
    add(64, 64, 1, 2);
    ck_assert_double_eq_tol(look_up(key(256, 64), CALC_KERNEL_INTERPOLATED), 20, 1e-12);
    ck_assert_double_eq(look_up(key(257, 64), CALC_KERNEL_CURVE), 10);
    ck_assert_double_eq(look_up(key(200, 200), CALC_KERNEL_CURVE), 10);
}

CALC_TEST(other_kinds_are_none)
{
    calc_kernel_key other = key(64, 64);
    ck_assert_double_eq(look_up(other, CALC_KERNEL_ROOFLINE), 10);
    add(64, 64, 1, 2);
    other.kind = CALC_KERNEL_GROUPED;
    ck_assert_double_eq(look_up(other, CALC_KERNEL_ROOFLINE), 10);
    other = key(64, 64);
    other.pass = 0;
    ck_assert_double_eq(look_up(other, CALC_KERNEL_ROOFLINE), 10);
    other = key(64, 64);
    other.datatype = 1;
    ck_assert_double_eq(look_up(other, CALC_KERNEL_ROOFLINE), 10);
    other = key(64, 64);
    other.variant = 2;
    ck_assert_double_eq(look_up(other, CALC_KERNEL_ROOFLINE), 10);
    other.variant = 4;
    ck_assert_double_eq(look_up(other, CALC_KERNEL_EXACT), 1);
}
