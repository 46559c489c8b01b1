/* The fit of a calibration: what is used, what is free, and the prior. */
#include "calibrate/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate_case.h"
#include "frame.h"

static const char *const fields[] = {"matrix.bfloat16", "host.block", NULL};
static const double truth[] = {0.78, 3e-3};
static calc_results results;
static calc_evidence evidence;
static calc_family *family;
static calc_unknowns unknowns;
static bool use[CASE_ROWS];
static bool is_free[2];
static calc_errors the_errors;

static void enter(void)
{
    case_layouts();
    case_measure(fields, truth, 2, 0);
    family = calloc(1, sizeof *family);
    *family = (calc_family){.name = "A100", .machines = CASE_MACHINES, .measured = 3};
    for (int m = 0; m < CASE_MACHINES; m++) {
        family->machine[m] = case_machine[m];
        family->system[m] = calc_documents_get(&case_systems, case_machine[m])->system;
    }
    the_errors = (calc_errors){0};
    ck_assert_int_eq(case_results(&results, &the_errors), CALC_OK);
    evidence = calc_evidence_of(&results, case_machine, CASE_MACHINES);
    calc_unknowns_make(&unknowns, family, fields, case_starts());
    ck_assert_uint_eq(unknowns.count, 2);
    for (int i = 0; i < CASE_ROWS; i++) {
        use[i] = true;
    }
    is_free[0] = is_free[1] = true;
}

static void leave(void)
{
    calc_evidence_free(&evidence);
    calc_results_free(&results);
    free(family);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static calc_status fit(void)
{
    calc_fit f = {&evidence, use, family, 50};
    return calc_fit_unknowns(&f, &unknowns, is_free, &the_errors);
}

static const calc_unknown *matrix(void)
{
    return &unknowns.item[0];
}

static const calc_unknown *host(void)
{
    return &unknowns.item[1];
}

CALC_TEST(runs_without_noise_give_their_constants_but_for_the_prior)
{
    ck_assert_int_eq(fit(), CALC_OK);
    ck_assert_double_eq_tol(matrix()->value, truth[0], 0.02 * truth[0]);
    ck_assert_double_eq_tol(host()->value, truth[1], 0.02 * truth[1]);
    ck_assert(matrix()->determined && matrix()->indicated);
    ck_assert(host()->determined && host()->indicated);
    /* The prior pulls towards 0.82 and 2.2 ms. */
    ck_assert(matrix()->value > truth[0] && host()->value < truth[1]);
}

CALC_TEST(what_is_not_free_stays)
{
    is_free[1] = false;
    ck_assert_int_eq(fit(), CALC_OK);
    ck_assert(host()->value == host()->start && isnan(host()->error));
    ck_assert(matrix()->value != matrix()->start);
}

CALC_TEST(without_runs_only_the_prior_is_left)
{
    for (int i = 0; i < CASE_ROWS; i++) {
        use[i] = false;
    }
    ck_assert_int_eq(fit(), CALC_OK);
    for (int k = 0; k < 2; k++) {
        const calc_unknown *p = &unknowns.item[k];
        ck_assert_double_eq_tol(p->value, p->start, 1e-9);
        ck_assert_double_eq_tol(p->error, p->constant->spread, 1e-6);
        ck_assert(!p->determined && !p->indicated);
    }
}

CALC_TEST(a_run_off_by_far_bends_the_rest_little)
{
    ck_assert_int_eq(fit(), CALC_OK);
    double clean = matrix()->value;
    evidence.row[7].log_measured += 3; /* 20 times as slow */
    ck_assert_int_eq(fit(), CALC_OK);
    ck_assert(matrix()->value != clean);
    ck_assert_double_eq_tol(matrix()->value, clean, 0.1 * clean);
}

CALC_TEST(a_run_that_cannot_be_predicted_is_an_error)
{
    evidence.row[3].log_measured = (double)NAN;
    ck_assert_int_eq(fit(), CALC_ERR_RULE);
    use[3] = false;
    ck_assert_int_eq(fit(), CALC_OK);
}

/* Least squares: against problems whose minimum and errors can be written down. */

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

static void falling(void *context, const double *x, double *residual)
{
    (void)context;
    *residual = exp(-*x);
}

/* A residual that falls for ever: each step is 1, as that of Newton's method for x = -log(r), until
 * the slope exp(-2 x) is below 1e-8 / x, which it is from x = 10.38 on. */
CALC_TEST(a_fit_ends_where_the_slope_does)
{
    const calc_least_squares problem = {falling, NULL, 1, 1, 1e-6, 50, 0};
    double x = 0, error;
    ck_assert_int_eq(calc_least_squares_solve(&problem, &x, &error, &the_errors), CALC_OK);
    ck_assert_double_ge(x, 10.37);
    ck_assert_double_le(x, 11.4);
}
