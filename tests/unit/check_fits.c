/* How sure it is that a layout fits: known errors of memory beside a known need. */
#include "residuals_case.h"
#include "shipped_case.h"
#include "validate/residuals.h"

#include <math.h>

#include "frame.h"

static shipped_case layout;

static void enter(void)
{
    layout = load_case("gpt3-175B", "a100_80g", "3072_t4_p64_d12_mbs4_full");
    case_residuals = (calc_residuals){0};
    case_begin();
    /* Of 39 runs the i-th needed exp(i / 100) times what was predicted, as an unseen publisher. */
    for (int i = 1; i <= 39; i++) {
        calc_residual run = case_run("one", 0.005 * i);
        run.quantity = CALC_QUANTITY_MEMORY;
        run.traits.processors = 3072;
        case_add(run);
        run.quantity = CALC_QUANTITY_STEP_TIME; /* of no matter */
        case_add(run);
    }
    case_end();
}

static void leave(void)
{
    calc_residuals_free(&case_residuals);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static const calc_residual *without;

static calc_fits fits(double need_bytes)
{
    const calc_fits_query query = {&layout.app, &layout.system, &layout.exec,
                                   "H100",      need_bytes,     without};
    return calc_fits_of(&case_residuals, &query);
}

CALC_TEST(a_share_of_comparable_runs_would_fit)
{
    double capacity = layout.system.chip.mem1.capacity_bytes;
    ck_assert_double_eq_tol(fits(capacity * exp(-0.205)).share, 20. / 40, 1e-9);
    ck_assert_double_eq_tol(fits(capacity * exp(-0.395)).share, 39. / 40, 1e-9);
    ck_assert_double_eq(fits(capacity * 1.01).share, 0);
    /* 36 of 40 are nine of ten, and these needed exp(0.36) at most. */
    double sure = fits(capacity).sure_bytes;
    ck_assert_double_eq_tol(sure, capacity * exp(-0.36), 1e-3 * sure);
    ck_assert_double_ge(fits(sure * (1 - 1e-9)).share, CALC_FITS_SURE - 1e-12);
    ck_assert_double_lt(fits(sure * 1.001).share, CALC_FITS_SURE - 1e-12);
}

/* Of eager PyTorch all other software tells, whatever its runs are of: needs of exp(0.01) to
 * exp(0.4) times what was predicted, the upper half of another publisher. */
CALC_TEST(eager_pytorch_is_compared_with_other_software)
{
    calc_errors errors = {0};
    calc_text text = {0};
    calc_output *out;
    ck_assert_int_eq(calc_output_open_memory(&out, &text, NULL), CALC_OK);
    calc_output_text(out, "id,quantity,source,publisher,machine,family,kind,bits,processors,"
                          "unseen_software\n");
    for (int i = 1; i <= 40; i++) {
        const char *of = i > 20 ? "second" : "first";
        calc_output_printf(out, "other_%d,memory,%s,%s,l40s,Ada,dense,16,1,%.2f\n", i, of, of,
                           0.01 * i);
        calc_output_printf(out, "other_%d,step_time,%s,%s,l40s,Ada,dense,16,1,%.2f\n", i, of, of,
                           -1.0); /* of no matter */
    }
    ck_assert_int_eq(calc_output_close(out, NULL), CALC_OK);
    ck_assert_int_eq(calc_residuals_add_software(&case_residuals, text, "case", &errors), CALC_OK);
    double capacity = layout.system.chip.mem1.capacity_bytes;
    ck_assert_double_eq_tol(fits(capacity * exp(-0.205)).share, 20. / 40, 1e-9);
    layout.exec.strategy.eager = true;
    ck_assert_double_eq_tol(fits(capacity * exp(-0.205)).share, 20. / 41, 1e-9);
    ck_assert_double_eq_tol(fits(capacity).sure_bytes, capacity * exp(-0.37), 1e-9 * capacity);
    without = calc_residuals_find(&case_residuals, "other_40", CALC_QUANTITY_MEMORY);
    ck_assert_ptr_nonnull(without);
    ck_assert_double_eq_tol(fits(capacity * exp(-0.105)).share, 10. / 21, 1e-9);
    without = NULL;
    layout.exec.strategy.eager = false;
}

CALC_TEST(a_machine_without_runs_has_those_of_the_one_it_was_fitted_to)
{
    ck_assert_str_eq(calc_fits_family(&case_residuals, "h100_sxm", "h100_sxm"), "H100");
    ck_assert_str_eq(calc_fits_family(&case_residuals, "h200", "h100_sxm"), "H100");
    ck_assert_str_eq(calc_fits_family(&case_residuals, "h200", ""), "");
    ck_assert_str_eq(calc_fits_family(&case_residuals, "h200", "tpu"), "");
}

CALC_TEST(where_nothing_is_measured_nothing_is_known)
{
    ck_assert(isnan(fits(0).share));
    layout.exec.training = false;
    ck_assert(isnan(fits(1e9).share) && isnan(fits(1e9).sure_bytes));
    layout.exec.training = true;
    leave();
    case_residuals = (calc_residuals){0};
    case_begin();
    case_end();
    ck_assert(isnan(fits(1e9).share) && isnan(fits(1e9).sure_bytes));
}
