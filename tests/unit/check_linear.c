#include "gauss/process.h"

#include <math.h>

#include "frame.h"

/* 4 12 -16; 12 37 -43; -16 -43 98 = L L' with L = 2; 6 1; -8 5 3. */
static const double matrix[9] = {4, 12, -16, 12, 37, -43, -16, -43, 98};

CALC_TEST(a_factor_of_whole_numbers)
{
    double a[9], x[3] = {1, 2, 3};
    for (int i = 0; i < 9; i++) {
        a[i] = matrix[i];
    }
    ck_assert(calc_gauss_factor(a, 3));
    const double expected[9] = {2, 0, 0, 6, 1, 0, -8, 5, 3};
    for (int i = 0; i < 9; i++) {
        ck_assert_double_eq_tol(a[i], expected[i], 1e-14);
    }
    ck_assert_double_eq_tol(calc_gauss_log_det(a, 3), log(36), 1e-14);
    calc_gauss_times_lower(a, 3, x);
    ck_assert_double_eq_tol(x[2], -8 + 10 + 9, 1e-14);
    calc_gauss_solve_lower(a, 3, x);
    ck_assert_double_eq_tol(x[2], 3, 1e-13);
    double b[3] = {4 + 24 - 48, 12 + 74 - 129, -16 - 86 + 294};
    calc_gauss_solve(a, 3, b);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(b[i], i + 1, 1e-10);
    }
}

CALC_TEST(what_is_not_positive_definite_is_refused)
{
    double a[4] = {1, 2, 2, 1};
    ck_assert(!calc_gauss_factor(a, 2));
    ck_assert(calc_gauss_factor(NULL, 0));
}

/* 2 -1 0; -1 2 -1; 0 -1 2 has 2 - sqrt 2, 2, 2 + sqrt 2. */
CALC_TEST(eigenvalues_of_a_chain)
{
    double a[9] = {2, -1, 0, -1, 2, -1, 0, -1, 2}, value[3];
    ck_assert(calc_gauss_eigenvalues(a, 3, value));
    ck_assert_double_eq_tol(value[0], 2 - sqrt(2), 1e-14);
    ck_assert_double_eq_tol(value[1], 2, 1e-14);
    ck_assert_double_eq_tol(value[2], 2 + sqrt(2), 1e-14);
    double b[4] = {1, 2, 2, 1};
    ck_assert(calc_gauss_eigenvalues(b, 2, value));
    ck_assert_double_eq_tol(value[0], -1, 1e-14);
    double c[4] = {1, NAN, NAN, 1};
    ck_assert(!calc_gauss_eigenvalues(c, 2, value));
    ck_assert(calc_gauss_eigenvalues(NULL, 0, NULL));
}
