/* Least squares: against problems whose minimum and errors can be written down. */
#include "calibrate/fit.h"

#include <math.h>
#include <string.h>

#include "frame.h"

enum { POINTS = 5 };

/* y = a + b t through (-2..2, y): residuals model - y. */
static void line(void *context, const double *x, double *residual)
{
    const double *y = context;
    for (int i = 0; i < POINTS; i++) {
        residual[i] = x[0] + x[1] * (i - 2) - y[i];
    }
}

static calc_least_squares problem(calc_least_squares_residuals f, void *context, size_t count)
{
    return (calc_least_squares){.residuals = f,
                                .context = context,
                                .parameters = 2,
                                .count = count,
                                .step = 1e-4,
                                .most = 50};
}

CALC_TEST(a_line_is_that_of_the_normal_equations)
{
    double y[POINTS] = {1, 3, 2, 5, 4};
    double x[2] = {9, -9};
    double error[2];
    calc_least_squares p = problem(line, y, POINTS);
    ck_assert_int_eq(calc_least_squares_solve(&p, x, error, NULL), CALC_OK);
    /* a = mean y, b = sum t y / sum t^2; errors 1/sqrt(5) and 1/sqrt(10). */
    ck_assert_double_eq_tol(x[0], 3, 1e-6);
    ck_assert_double_eq_tol(x[1], 0.8, 1e-6);
    ck_assert_double_eq_tol(error[0], 0.44721359549995794, 1e-6);
    ck_assert_double_eq_tol(error[1], 0.31622776601683794, 1e-6);
}

/* Rosenbrock 1960: minimum 0 at (1, 1), at the end of a bent valley. */
static void valley(void *context, const double *x, double *residual)
{
    (void)context;
    residual[0] = 10 * (x[1] - x[0] * x[0]);
    residual[1] = 1 - x[0];
}

CALC_TEST(a_bent_valley_is_followed_to_its_end)
{
    double x[2] = {-1.2, 1};
    double error[2];
    calc_least_squares p = problem(valley, NULL, 2);
    ck_assert_int_eq(calc_least_squares_solve(&p, x, error, NULL), CALC_OK);
    ck_assert_double_eq_tol(x[0], 1, 1e-3);
    ck_assert_double_eq_tol(x[1], 1, 1e-3);
    p.most = 1;
    double early[2] = {-1.2, 1};
    ck_assert_int_eq(calc_least_squares_solve(&p, early, error, NULL), CALC_OK);
    ck_assert(fabs(early[0] - 1) > 0.1);
}

static void broken(void *context, const double *x, double *residual)
{
    (void)context;
    residual[0] = x[0];
    residual[1] = (double)NAN;
}

CALC_TEST(residuals_that_are_no_numbers_are_an_error)
{
    double x[2] = {1, 2};
    double error[2];
    calc_errors errors = {0};
    calc_least_squares p = problem(broken, NULL, 2);
    ck_assert_int_eq(calc_least_squares_solve(&p, x, error, &errors), CALC_ERR_RULE);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_ptr_nonnull(strstr(errors.item[0].text, "least squares: "));
    ck_assert(x[0] == 1 && x[1] == 2);
}

static void sum_alone(void *context, const double *x, double *residual)
{
    (void)context;
    residual[0] = x[0] + x[1] - 3;
    residual[1] = 0;
}

CALC_TEST(parameters_that_nothing_determines_are_an_error)
{
    double x[2] = {0, 0};
    double error[2];
    calc_errors errors = {0};
    calc_least_squares p = problem(sum_alone, NULL, 2);
    p.step = 0.5;
    ck_assert_int_eq(calc_least_squares_solve(&p, x, error, &errors), CALC_ERR_RULE);
    ck_assert_ptr_nonnull(strstr(errors.item[0].text, "do not determine"));
}

CALC_TEST(nothing_to_fit_is_fine)
{
    calc_least_squares p = problem(broken, NULL, 2);
    p.parameters = 0;
    ck_assert_int_eq(calc_least_squares_solve(&p, NULL, NULL, NULL), CALC_OK);
}
