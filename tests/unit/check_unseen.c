/* Residuals of runs against predictions of fits that have not seen them. */
#include "calibrate/calibration.h"
#include "calibrate_case.h"

#include <stdlib.h>

#include "frame.h"

static calc_calibration *c;
static calc_errors errors;
static double before[2 * CASE_ROWS]; /* a run may have two results */
static calc_results results;
static calc_residuals residuals;

static const char *const some[] = {"matrix.bfloat16", "host.block", NULL};
static const double truth[] = {0.62, 3e-3};

static void enter(void)
{
    case_layouts();
    case_measure(some, truth, 2, 0.01);
    c = calloc(1, sizeof *c);
    errors = (calc_errors){0};
}

static void leave(void)
{
    calc_residuals_free(&residuals);
    calc_results_free(&results);
    free(c);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* Calibrate the first machines, predict with them, and write and read the residuals. */
static calc_status make(size_t machines)
{
    const calc_calibration_plan plan = {.fields = some, .starts = case_starts(), .most = 10};
    calc_measured_runs runs = case_of_runs();
    calc_text text = {0};
    calc_output *out;
    ck_assert_int_eq(calc_calibration_start(c, case_machine, machines, &runs, &errors), CALC_OK);
    ck_assert_int_eq(calc_calibrate(c, &plan, &runs, before, NULL, &errors), CALC_OK);
    ck_assert_int_eq(case_results(&results, &errors), CALC_OK);
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    ck_assert_int_eq(calc_unseen_write(out, c, 1, &runs, &results, &errors), CALC_OK);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    return calc_residuals_parse(&residuals, text, "new", &errors);
}

CALC_TEST(each_run_has_those_of_cross_validation)
{
    static const calc_cross by[] = {CALC_CROSS_WIDTH, CALC_CROSS_SOURCE};
    calc_measured_runs runs = case_of_runs();
    ck_assert_int_eq(make(CASE_MACHINES), CALC_OK);
    ck_assert_uint_eq(residuals.count, CASE_ROWS);
    for (int u = 0; u < CALC_UNSEEN_CROSSED; u++) {
        double unseen[CASE_ROWS];
        int fold[CASE_ROWS];
        ck_assert_int_eq(calc_calibration_cross(c, by[u], &runs, unseen, fold, &errors), CALC_OK);
        for (int i = 0; i < CASE_ROWS; i++) {
            const calc_residual *r = &residuals.item[i];
            ck_assert_str_eq(r->id, case_id[i]);
            ck_assert(r->fold[u] >= 0);
            for (int k = 0; k < i; k++) {
                ck_assert((residuals.item[k].fold[u] == r->fold[u]) == (fold[k] == fold[i]));
            }
            ck_assert_double_eq_tol(r->value[u], log(case_row[i].measured_s / unseen[i]), 5.1e-5);
            ck_assert(r->value[u] != 0);
        }
    }
}

CALC_TEST(traits_and_names_are_those_of_the_run)
{
    ck_assert_int_eq(make(CASE_MACHINES), CALC_OK);
    const calc_residual *r = &residuals.item[1];
    ck_assert_str_eq(r->machine, "a100_sxm_40g");
    ck_assert_str_eq(r->traits.family, "A100");
    ck_assert_str_eq(r->source, "other");
    ck_assert(!r->traits.experts && r->traits.bits == 16 && r->traits.processors == 8);
}

CALC_TEST(memory_is_as_far_off_as_it_is_predicted)
{
    case_row[5].measured_mem_gib = 10;
    ck_assert_int_eq(make(CASE_MACHINES), CALC_OK);
    const calc_residual *r = calc_residuals_find(&residuals, case_id[5], CALC_QUANTITY_MEMORY);
    ck_assert_ptr_nonnull(r);
    double bytes = 0;
    for (size_t i = 0; i < results.count; i++) {
        bytes =
            results.item[i].quantity == CALC_QUANTITY_MEMORY ? results.item[i].predicted : bytes;
    }
    ck_assert_double_eq_tol(r->value[CALC_UNSEEN_WIDTH], log(10 * 0x1p30 / bytes), 5.1e-5);
    ck_assert(r->value[CALC_UNSEEN_SOURCE] == r->value[CALC_UNSEEN_WIDTH]);
    /* A width of 2,048 is in the fold of the times of its models. */
    ck_assert_int_eq(r->fold[CALC_UNSEEN_WIDTH], 4);
}

CALC_TEST(machines_that_are_not_calibrated_have_none)
{
    case_row[2].confidence = "low"; /* on the first machine, not scored */
    ck_assert_int_eq(make(1), CALC_OK);
    ck_assert_uint_eq(residuals.count, CASE_ROWS / 2 - 1);
    for (size_t i = 0; i < residuals.count; i++) {
        ck_assert_str_eq(residuals.item[i].machine, "a100_sxm_80g");
    }
}

CALC_TEST(a_run_that_every_fit_has_seen_has_none)
{
    for (int i = 0; i < CASE_ROWS; i++) {
        /* A single source is dealt by tensor parallelism: one fold. */
        case_row[i].source = case_row[i].publisher = "other";
        case_row[i].document->exec.strategy.tensor_par = 1;
        case_row[i].document->exec.strategy.data_par = 8;
    }
    ck_assert_int_eq(make(CASE_MACHINES), CALC_OK);
    ck_assert_uint_eq(residuals.count, 0);
}
