/* Calibration to the published operators that calc ships, and the file that it writes. */
#include "calibrate/points.h"
#include "point_case.h"
#include "validate/error_groups.h"

#include "frame.h"

static calc_system machine;
static calc_point_calibration *c;

static void enter(void)
{
    c = calloc(1, sizeof *c);
}

static void leave(void)
{
    calc_point_calibration_free(c);
    free(c);
    leave_points();
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* Rates from before any calibration to these operators, whatever the file says by now. */
static void set_rates(double matrix, double memory, double grouped, double sustained)
{
    machine.chip.sustained = sustained;
    machine.chip.matrix[CALC_DATATYPE_BFLOAT16].efficiency =
        (calc_curve){.count = 1, .threshold = {0}, .efficiency = {matrix}};
    machine.chip.mem1.efficiency =
        (calc_curve){.count = 1, .threshold = {0}, .efficiency = {memory}};
    machine.chip.launch.matrix_s = 6e-6;
    machine.chip.grouped = (calc_grouped_rates){.efficiency = grouped};
    machine.networks[0].efficiency = 0.72;
    machine.networks[0].latency_s = 3e-5;
}

static void calibrate(const char *rows, const char *system)
{
    errors = (calc_errors){0};
    machine = load_system(system);
    if (strcmp(rows, "b200") == 0) {
        set_rates(0.628, 0.581, 1.11, 0.832);
        machine.chip.attention = (calc_attention_rates){
            .fw_efficiency = 0.54, .bw_efficiency = 0.42, .launch_s = 3e-5, .softmax_size = 40};
    } else {
        set_rates(0.869, 0.804, 0.9, 1);
        machine.chip.attention = (calc_attention_rates){
            .fw_efficiency = 0.64, .bw_efficiency = 0.49, .launch_s = 3e-5, .softmax_size = 22.1};
    }
    ck_assert_int_eq(
        calc_points_read(&points, CALC_DATA_DIR_SOURCE "/tests/measured/operators.csv", &errors),
        CALC_OK);
    ck_assert_int_eq(calc_points_select(&points, rows, &machine, &errors), CALC_OK);
    ck_assert_int_eq(calc_point_calibrate(c, &points, system, &machine, &errors), CALC_OK);
}

/* Mean absolute error of a class. */
static double mean(calc_point_class class, calc_point_view view)
{
    static double error[1024];
    size_t count = 0;
    for (size_t i = 0; i < points.count; i++) {
        const calc_point *p = &points.item[i];
        if (calc_point_is_used(p) && p->class == class) {
            ck_assert_uint_lt(count, 1024);
            error[count++] = c->predicted_s[view][i] / p->measured_s - 1;
        }
    }
    return calc_spread_of(error, count).mean_abs;
}

/* Sums over a class: of what is predicted, of how far it is off, of what was measured. */
typedef struct sums {
    double predicted_s, off_s, measured_s;
} sums;

static sums sums_of(calc_point_class class, calc_point_view view)
{
    sums s = {0};
    for (size_t i = 0; i < points.count; i++) {
        const calc_point *p = &points.item[i];
        if (calc_point_is_used(p) && p->class == class) {
            s.predicted_s += c->predicted_s[view][i];
            s.off_s += fabs(c->predicted_s[view][i] - p->measured_s);
            s.measured_s += p->measured_s;
        }
    }
    return s;
}

/* What the fit makes small: of multiplications the seconds that they are off, of others errors. */
static double off(calc_point_class class, calc_point_view view)
{
    sums s = sums_of(class, view);
    return class == CALC_POINT_MATRIX ? s.off_s / s.measured_s : mean(class, view);
}

/* Errors of the shipped file, of shapes that the calibration has not seen, and with neighbours. */
static void falls(calc_point_class class, double file, double unseen, double lookup)
{
    ck_assert_double_eq_tol(mean(class, CALC_POINT_FILE), file, 0.0006);
    ck_assert_double_eq_tol(mean(class, CALC_POINT_UNSEEN), unseen, 0.0006);
    ck_assert_double_eq_tol(mean(class, CALC_POINT_LOOKUP), lookup, 0.0006);
    ck_assert_double_lt(mean(class, CALC_POINT_LOOKUP), mean(class, CALC_POINT_UNSEEN));
    ck_assert_double_lt(off(class, CALC_POINT_UNSEEN), off(class, CALC_POINT_FILE));
}

CALC_TEST(unseen_shapes_of_a100_are_predicted_better)
{
    calibrate("a100_pcie_80g", "a100_sxm_80g");
    falls(CALC_POINT_MATRIX, 0.0684, 0.0464, 0.0368);
    falls(CALC_POINT_GROUPED, 0.1701, 0.1013, 0.0641);
    falls(CALC_POINT_ATTENTION_FW, 0.1946, 0.0993, 0.0432);
    falls(CALC_POINT_ATTENTION_BW, 0.125, 0.09, 0.0371);
}

CALC_TEST(unseen_shapes_of_b200_are_predicted_better)
{
    calibrate("b200", "b200_180g");
    falls(CALC_POINT_MATRIX, 0.1942, 0.2009, 0.0926);
    falls(CALC_POINT_GROUPED, 0.1591, 0.1554, 0.1206);
    falls(CALC_POINT_ATTENTION_BW, 0.1588, 0.157, 0.08);
}

/* A step is a sum of kernels, most of it large ones. With shapes that count alike, small ones,
 * which the model finds too slow, would make the sum 9 % too fast (docs/operators.md). */
CALC_TEST(multiplications_together_take_what_was_measured)
{
    calibrate("b200", "b200_180g");
    sums s = sums_of(CALC_POINT_MATRIX, CALC_POINT_CALIBRATED);
    ck_assert_double_eq_tol(s.predicted_s / s.measured_s, 1, 0.025);
}

CALC_TEST(unseen_all_reduces_of_a100_are_predicted_better)
{
    calibrate("a100_nvswitch", "vtrain_a100");
    falls(CALC_POINT_ALL_REDUCE, 0.1691, 0.0639, 0.0487);
}

CALC_TEST(what_is_written_is_a_machine_that_says_what_was_fitted)
{
    calibrate("a100_pcie_80g", "a100_sxm_80g");
    calc_text old = {(char *)"{\"source\": \"Data \\\"sheet\\\".  Operators: fitted on x\"}", 0};
    old.length = strlen(old.data);
    calc_text text = {0};
    calc_output *out;
    ck_assert_int_eq(calc_output_open_memory(&out, &text, &errors), CALC_OK);
    calc_point_calibration_write(out, c, &points, &old, "2026-01-31");
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    calc_system again;
    ck_assert_int_eq(calc_parse(CALC_KIND_SYSTEM, &again, text.data, text.length, "new", &errors),
                     CALC_OK);
    ck_assert_ptr_nonnull(
        strstr(text.data, "\"source\": \"Data \\\"sheet\\\". Operators: fitted on 2026-01-31 to "
                          "measured operators (matrix 183, grouped 12, attention forward 12, "
                          "attention backward 12). Determined by them (standard error): "
                          "matrix.bfloat16.gflops_efficiency (0.36 %), "));
    ck_assert_ptr_nonnull(strstr(text.data, " Not determined, left as it was: launch.matrix, "));
    ck_assert_ptr_null(strstr(text.data, "fitted on x"));
    /* All numbers of the calibrated machine are in it. */
    ck_assert(again.chip.matrix[CALC_DATATYPE_BFLOAT16].efficiency.efficiency[0] ==
              c->fit.system.chip.matrix[CALC_DATATYPE_BFLOAT16].efficiency.efficiency[0]);
    ck_assert(again.chip.attention.bw_efficiency == c->fit.system.chip.attention.bw_efficiency);
    ck_assert(again.chip.attention.launch_s == c->fit.system.chip.attention.launch_s);
    ck_assert(again.chip.grouped.efficiency == c->fit.system.chip.grouped.efficiency);
    ck_assert(again.networks_count == machine.networks_count);
    ck_assert(again.chip.host.block_s == machine.chip.host.block_s);
    calc_text_free(&text);
}

CALC_TEST(half_of_the_shapes_decides_nothing_about_itself)
{
    calibrate("a100_pcie_80g", "a100_sxm_80g");
    /* Other times for one half of the shapes: predictions of that half stay. */
    double before = NAN;
    size_t which = points.count;
    for (size_t i = 0; i < points.count; i++) {
        calc_point *p = &points.item[i];
        if (calc_point_is_used(p) && (calc_point_hash(p) & 1) == 0) {
            which = i;
            before = c->predicted_s[CALC_POINT_LOOKUP][i];
            p->measured_s *= 2;
        }
    }
    ck_assert_uint_lt(which, points.count);
    calc_point_calibration *again = calloc(1, sizeof *again);
    ck_assert_int_eq(calc_point_calibrate(again, &points, "a100_sxm_80g", &machine, &errors),
                     CALC_OK);
    ck_assert_double_eq(again->predicted_s[CALC_POINT_LOOKUP][which], before);
    ck_assert(again->predicted_s[CALC_POINT_CALIBRATED][which] !=
              c->predicted_s[CALC_POINT_CALIBRATED][which]);
    calc_point_calibration_free(again);
    free(again);
}
