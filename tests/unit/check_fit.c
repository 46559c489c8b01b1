/* The fit of a calibration: what is used, what is free, and the prior. */
#include "calibrate/fit.h"
#include "calibrate_case.h"

#include <stdlib.h>

#include "frame.h"

static const char *const fields[] = {"matrix.bfloat16", "host.block", NULL};
static const double truth[] = {0.78, 3e-3};
static calc_results results;
static calc_evidence evidence;
static calc_family *family;
static calc_unknowns unknowns;
static bool use[CASE_ROWS];
static bool is_free[2];
static calc_errors errors;

static void enter(void)
{
    case_layouts();
    case_measure(fields, truth, 2, 0);
    family = calloc(1, sizeof *family);
    *family = (calc_family){.name = "A100", .machines = CASE_MACHINES, .measured = 3};
    for (int m = 0; m < CASE_MACHINES; m++) {
        family->machine[m] = case_machine[m];
        family->system[m] = calc_systems_get(&case_systems, case_machine[m])->system;
    }
    errors = (calc_errors){0};
    ck_assert_int_eq(
        calc_results_make(&results, &case_runs, 1, &case_remarks, &case_systems, &errors), CALC_OK);
    ck_assert_int_eq(calc_evidence_make(&evidence, &results, case_machine, CASE_MACHINES, &errors),
                     CALC_OK);
    calc_unknowns_make(&unknowns, family, fields, true);
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
    return calc_fit_unknowns(&f, &unknowns, is_free, &errors);
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
