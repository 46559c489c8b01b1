/* Errors of a group: mean, median and the largest, and its weight. */
#include "validate/error_groups.h"

#include <math.h>

#include "frame.h"

CALC_TEST(errors_of_five_runs)
{
    double error[] = {0.10, -0.20, 0.05, -0.01, 0.40};
    calc_spread s = calc_spread_of(error, 5);
    ck_assert_uint_eq(s.count, 5);
    ck_assert_double_eq_tol(s.bias, 0.34 / 5, 1e-12);
    ck_assert_double_eq_tol(s.mean_abs, 0.76 / 5, 1e-12);
    ck_assert_double_eq_tol(s.median_abs, 0.10, 1e-12);
    ck_assert_double_eq_tol(s.p90_abs, 0.20 + 0.6 * 0.20, 1e-12); /* at place 3.6 of 0 to 4 */
    ck_assert_double_eq_tol(s.worst_abs, 0.40, 1e-12);
}

CALC_TEST(an_even_number_has_its_median_between_two)
{
    double error[] = {0.3, -0.1};
    calc_spread s = calc_spread_of(error, 2);
    ck_assert_double_eq_tol(s.median_abs, 0.2, 1e-12);
    ck_assert_double_eq_tol(s.bias, 0.1, 1e-12);
    ck_assert_double_eq_tol(s.p90_abs, 0.28, 1e-12);
}

CALC_TEST(one_run_is_all_of_them)
{
    double error[] = {-0.07};
    calc_spread s = calc_spread_of(error, 1);
    ck_assert(s.bias == -0.07 && s.mean_abs == 0.07 && s.median_abs == 0.07);
    ck_assert(s.p90_abs == 0.07 && s.worst_abs == 0.07);
}

CALC_TEST(no_run_has_no_error)
{
    calc_spread s = calc_spread_of(NULL, 0);
    ck_assert_uint_eq(s.count, 0);
    ck_assert(isnan(s.bias) && isnan(s.mean_abs) && isnan(s.median_abs) && isnan(s.worst_abs));
}

CALC_TEST(large_tables_count_for_less_than_their_size)
{
    ck_assert(calc_spread_weight(1) == 1);
    ck_assert_double_eq_tol(calc_spread_weight(32), 0.25, 1e-12);        /* 32^-0.4 = 2^-2 */
    ck_assert_double_eq_tol(1024 * calc_spread_weight(1024), 64, 1e-10); /* 1024^0.6 = 2^6 */
}
