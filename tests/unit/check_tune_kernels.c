/* What measured kernels say of cells of layouts, beside numbers worked out by hand. */
#include "tune/kernels.h"

#include "frame.h"
#include "kernel_case.h"
#include "tune_case.h"

static calc_tune_kernels_learnt learnt;
static calc_tune_prior prior;
static calc_errors errors;

static void enter(void)
{
    errors = (calc_errors){0};
    prior = (calc_tune_prior){
        .kernels = {
            .sd = 0.08,
            .length = {[CALC_TUNE_COORDINATE_TOKENS] = 2, [CALC_TUNE_COORDINATE_TENSOR] = 0.5}}};
}

static void leave(void)
{
    calc_tune_kernels_free(&learnt);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static void learn(const calc_kernel_point *point, size_t count, const calc_tune_kernel_cell *cell,
                  size_t cells)
{
    calc_kernel_table table = {point, count};
    calc_tune_kernels_free(&learnt);
    ck_assert_int_eq(calc_tune_kernels_learn(&learnt, &prior, &table, cell, cells, &errors),
                     CALC_OK);
    ck_assert_uint_eq(learnt.kernels.cells, cells);
}

static double covariance(size_t a, size_t b)
{
    return learnt.kernels.covariance[a * learnt.kernels.cells + b];
}

static calc_tune_kernel_cell cell_of(double tokens, double tensor, const calc_layout_kernel *kernel,
                                     size_t kernels)
{
    return (calc_tune_kernel_cell){{tokens, tensor, 0}, 1, kernel, kernels};
}

static calc_kernel_key matrix(double rows)
{
    return kernel_case_matrix(rows, 4096, 4096, CALC_PASS_FW);
}

/* Without a measurement cells have the prior's field. */
CALC_TEST(nothing_measured_is_the_prior)
{
    const calc_layout_kernel run = kernel_case_run(matrix(1024), 1);
    const calc_kernel_point other =
        kernel_case_point(kernel_case_attention(4096, 8, CALC_PASS_FW), 1);
    const calc_tune_kernel_cell cell[] = {cell_of(12, 0, &run, 1), cell_of(13, 1, &run, 1)};
    learn(&other, 1, cell, 2);
    ck_assert(learnt.kernels.mean[0] == 0 && learnt.kernels.mean[1] == 0);
    ck_assert_double_eq_tol(covariance(0, 0), 0.08 * 0.08, 2e-12);
    ck_assert_double_eq_tol(covariance(0, 1), 0.08 * 0.08 * exp(-sqrt(0.25 + 4)), 1e-15);
    ck_assert_uint_eq(learnt.classes, 1);
    ck_assert_uint_eq(learnt.class[0].measured, 0);
    ck_assert(isnan(learnt.class[0].error));
    ck_assert_double_eq(learnt.class[0].share, 1);
}

/* Two measured shapes, 0.1 and 0.2 slower. Of so few the process has lengths and scale of 1 and a
 * noise of 0.001: with standardised distances of sqrt(2) the data's covariance is (a r; r a), a =
 * 1.001 and r = exp(-sqrt(2)), that of a shape with the data (1, r) or (r, 1), and standardised
 * values are -s and s, s = sqrt(1/2). */
CALC_TEST(two_shapes_by_hand)
{
    const calc_kernel_point point[] = {kernel_case_point(matrix(1024), 0.1),
                                       kernel_case_point(matrix(8192), 0.2)};
    const calc_kernel_key softmax = {.kind = CALC_KERNEL_ATTENTION};
    const calc_layout_kernel first[] = {kernel_case_run(matrix(1024), 0.6), {false, softmax, 0.4}};
    const calc_layout_kernel second[] = {kernel_case_run(matrix(1024), 1),
                                         kernel_case_run(matrix(8192), 3)};
    calc_tune_kernel_cell cell[] = {cell_of(10, 0, first, 2), cell_of(12, 0, second, 2)};
    cell[0].busy = 0.9;
    learn(point, 2, cell, 2);

    const double a = 1.001, r = exp(-sqrt(2)), det = a * a - r * r;
    const double sd = sqrt(0.005), off = 0.05 * (1 - r) / (a - r);
    const double near = sd * sd * (1 - (a - 2 * r * r + a * r * r) / det);
    const double far = sd * sd * (r - (2 * a * r - r - r * r * r) / det);
    ck_assert_double_eq_tol(learnt.kernels.mean[0], 0.54 * (0.15 - off), 1e-12);
    ck_assert_double_eq_tol(learnt.kernels.mean[1], 0.25 * (0.15 - off) + 0.75 * (0.15 + off),
                            1e-12);
    const double field = 0.08 * 0.08;
    ck_assert_double_eq_tol(covariance(0, 0),
                            0.54 * 0.54 * near + (0.46 * 0.46 + 0.27 * 0.27) * field, 2e-12);
    ck_assert_double_eq_tol(covariance(1, 1),
                            (0.0625 + 0.5625) * near + 2 * 0.1875 * far + 0.25 * field, 2e-12);
    ck_assert_double_eq_tol(
        covariance(0, 1), 0.54 * (0.25 * near + 0.75 * far) + 0.27 * 0.5 * field * exp(-1), 2e-12);
    ck_assert(covariance(0, 1) == covariance(1, 0));
    ck_assert_uint_eq(learnt.class[0].exact, 2);
    ck_assert_double_eq_tol(learnt.class[0].error,
                            (learnt.kernels.mean[0] + learnt.kernels.mean[1]) / 1.54, 1e-12);
    ck_assert_double_eq_tol(learnt.unmeasured, 1 - (0.54 + 1) / 2, 1e-15);
}

/* Rows at shapes from 256 to 32768, which make errors that no constant explains. */
static size_t many(calc_kernel_point *point)
{
    for (int i = 0; i < 8; i++) {
        point[i] = kernel_case_point(matrix(ldexp(1, 8 + i)), i % 2 ? 0.15 : -0.05);
    }
    return 8;
}

CALC_TEST(a_measured_shape_has_its_error_and_little_doubt)
{
    calc_kernel_point point[8];
    const calc_layout_kernel run[] = {kernel_case_run(matrix(2048), 1),
                                      kernel_case_run(matrix(1 << 24), 1)};
    const calc_tune_kernel_cell cell[] = {cell_of(11, 0, &run[0], 1), cell_of(24, 0, &run[1], 1)};
    prior.kernels.sd = 0;
    learn(point, many(point), cell, 2);
    ck_assert_double_eq_tol(learnt.kernels.mean[0], 0.15, 0.005);
    ck_assert_double_lt(sqrt(covariance(0, 0)), 0.01);
    /* Far away it is any of them. */
    ck_assert_double_eq_tol(learnt.kernels.mean[1], 0.05, 0.03);
    ck_assert_double_gt(sqrt(covariance(1, 1)), 0.05);
}

/* Of a shape that was not measured cells that run it are wrong together; of classes that differ
 * they are not. */
CALC_TEST(cells_that_share_shapes_are_wrong_together)
{
    calc_kernel_point point[16];
    size_t count = many(point);
    for (int i = 0; i < 8; i++) {
        point[count++] = kernel_case_point(kernel_case_attention(ldexp(1, 8 + i), 8, CALC_PASS_FW),
                                           i % 2 ? 0.2 : -0.2);
    }
    const calc_layout_kernel run[] = {
        kernel_case_run(matrix(1 << 20), 1),
        kernel_case_run(kernel_case_attention(1 << 20, 8, CALC_PASS_FW), 1)};
    const calc_tune_kernel_cell cell[] = {cell_of(10, 0, &run[0], 1), cell_of(12, 0, &run[0], 1),
                                          cell_of(14, 0, &run[1], 1)};
    prior.kernels.sd = 0;
    learn(point, count, cell, 3);
    double same = covariance(0, 1) / sqrt(covariance(0, 0) * covariance(1, 1));
    ck_assert_double_gt(same, 0.999);
    ck_assert_double_eq_tol(covariance(0, 2), 0, 1e-15);
    ck_assert_double_gt(covariance(2, 2), 1e-4);
}

/* Cells that are the same to the last bit are still a distribution that can be drawn from, and a
 * decision of them the same twice. */
CALC_TEST(decisions_take_them)
{
    calc_kernel_point point[8];
    const calc_layout_kernel run = kernel_case_run(matrix(2048), 1);
    calc_tune_kernel_cell cell[6];
    calc_tune_candidate candidate[6];
    for (int i = 0; i < 6; i++) {
        cell[i] = cell_of(i, 0, &run, 1);
        candidate[i] = tune_case(1 + 0.01 * i, i, 0);
    }
    prior.kernels.sd = 0;
    prior.own = 0.01;
    prior.memory_own = 0.05;
    learn(point, many(point), cell, 6);
    calc_tune_options options = calc_tune_options_default(&prior);
    options.kernels = &learnt.kernels;
    calc_tune_decision d = tune_decide(candidate, 6, NULL, 0, &options);
    ck_assert_double_eq_tol(log(d.outlook[0].p50_s), learnt.kernels.mean[0], 1e-9);
    ck_assert_double_eq_tol(d.outlook[1].p50_s / d.outlook[0].p50_s, 1.01, 1e-9);
    calc_tune_decision_free(&d);
}

/* The model has the layout with few rows a multiplication first, by 5 %; on this machine such
 * kernels are 20 % slower than it says, and those with many rows what it says. */
CALC_TEST(measured_kernels_put_an_order_right)
{
    calc_kernel_point point[6];
    for (int i = 0; i < 3; i++) {
        point[i] = kernel_case_point(matrix(ldexp(1, 8 + i)), 0.2);
        point[3 + i] = kernel_case_point(matrix(ldexp(1, 12 + i)), 0);
    }
    const calc_layout_kernel run[] = {kernel_case_run(matrix(512), 1),
                                      kernel_case_run(matrix(8192), 1)};
    const calc_tune_kernel_cell cell[] = {cell_of(9, 0, &run[0], 1), cell_of(13, 0, &run[1], 1)};
    const calc_tune_candidate candidate[] = {tune_case(1, 9, 0), tune_case(1.05, 13, 0)};
    prior.own = 0.01;
    prior.memory_own = 0.05;
    learn(point, 6, cell, 2);
    calc_tune_options options = calc_tune_options_default(&prior);
    calc_tune_decision d = tune_decide(candidate, 2, NULL, 0, &options);
    ck_assert_double_gt(d.outlook[0].best, 0.6);
    calc_tune_decision_free(&d);
    options.kernels = &learnt.kernels;
    d = tune_decide(candidate, 2, NULL, 0, &options);
    ck_assert_double_gt(d.outlook[1].best, 0.95);
    ck_assert_double_eq_tol(d.outlook[0].p50_s, exp(0.2), 0.02);
    calc_tune_decision_free(&d);
}

CALC_TEST(no_cells_and_cells_without_kernels)
{
    calc_kernel_point point[8];
    const calc_tune_kernel_cell empty = cell_of(9, 0, NULL, 0);
    learn(point, many(point), NULL, 0);
    ck_assert_uint_eq(learnt.classes, 0);
    learn(point, many(point), &empty, 1);
    ck_assert_double_eq_tol(covariance(0, 0), 0.0064, 2e-12);
    ck_assert(learnt.kernels.mean[0] == 0);
}
