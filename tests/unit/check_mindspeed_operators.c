#include "mindspeed/operators.h"

#include <math.h>

#include "frame.h"
#include "mindspeed/memory.h"
#include "mindspeed_case.h"
#include "mindspeed_jobs.h"
#include "small_case.h"

static llama_case l;

static calc_point_table table_of(calc_mindspeed_timed *kernel, size_t kernels,
                                 calc_mindspeed_timed *alone, size_t cached)
{
    const calc_mindspeed_times steps = {.item = kernel, .count = kernels};
    const calc_mindspeed_times cache = {.item = alone, .count = cached};
    calc_point_table table;
    open_llama(&l, &llama_configs[0], "");
    calc_mindspeed_points(&table, &steps, &cache, &llama_job, &l.app, &l.system);
    return table;
}

/* Arithmetic at the sustained rate, or the operands over the memory's bandwidth. */
CALC_TEST(multiplications_beside_the_model)
{
    calc_mindspeed_timed kernel[] = {{{CALC_MINDSPEED_MATMUL, {1, 4096, 4096, 8192}}, 1e-3},
                                     {{CALC_MINDSPEED_MATMUL, {3, 4096, 1, 4096}}, 2e-3}};
    calc_point_table table = table_of(kernel, 2, NULL, 0);
    const calc_chip *chip = &l.system.chip;
    const calc_engine *engine = &chip->matrix[CALC_DATATYPE_BFLOAT16];
    double rate = engine->flop_per_s * engine->efficiency.efficiency[0];
    rate *= chip->sustained > 0 ? chip->sustained : 1;
    ck_assert_uint_eq(table.table.count, 2);
    ck_assert_double_eq_tol(table.table.point[0].log_ratio,
                            log(1e-3 / (2.0 * 4096 * 4096 * 8192 / rate)), 1e-12);
    double thin_s = 3 * 2 * (4096.0 * 4096 + 2 * 4096) / (0.8 * chip->mem1.bytes_per_s);
    ck_assert_double_eq_tol(table.table.point[1].log_ratio, log(2e-3 / thin_s), 1e-12);
    calc_point_table_free(&table);
}

/* What a layout's own block takes for the same shapes. */
CALC_TEST(norms_and_attention_beside_the_model)
{
    static const struct {
        const char *layer;
        calc_mindspeed_shape shape;
    } cases[] = {{"attention norm", {CALC_MINDSPEED_RMS_NORM, {1024, 1, 4096, 1}}},
                 {"attention norm", {CALC_MINDSPEED_RMS_NORM_GRAD, {1024, 1, 4096, 1}}},
                 {"flash attention", {CALC_MINDSPEED_FLASH, {8192, 1, 512, 1}}},
                 {"flash attention", {CALC_MINDSPEED_FLASH_GRAD, {8192, 1, 512, 1}}}};
    calc_mindspeed_timed kernel[4];
    calc_layer_stats layer[CALC_MAX_LAYERS];
    for (int i = 0; i < 4; i++) {
        kernel[i] = (calc_mindspeed_timed){cases[i].shape, 1e-3};
    }
    calc_point_table table = table_of(kernel, 4, NULL, 0);
    size_t count =
        calc_layers(&l.app, &l.system, &l.exec, CALC_COMPAT_NONE, layer, CALC_MAX_LAYERS);
    for (int i = 0; i < 4; i++) {
        size_t k = 0;
        while (k < count && strcmp(layer[k].name, cases[i].layer) != 0) {
            k++;
        }
        ck_assert_uint_lt(k, count);
        double expected_s = i % 2 ? layer[k].agrad_processing_time : layer[k].fw_processing_time;
        ck_assert_double_eq_tol(table.table.point[i].log_ratio, log(1e-3 / expected_s), 1e-12);
    }
    calc_point_table_free(&table);
}

/* The mean of the times of a shape; one that ran in a step counts instead of the one alone. */
CALC_TEST(each_shape_once)
{
    const calc_mindspeed_shape a = {CALC_MINDSPEED_RMS_NORM, {64, 1, 4096, 1}},
                               b = {CALC_MINDSPEED_RMS_NORM, {128, 1, 4096, 1}};
    calc_mindspeed_timed kernel[] = {{a, 1.1e-5}, {a, 1.2e-5}, {a, 1.6e-5}};
    calc_mindspeed_timed alone[] = {{a, 1e-5}, {b, 2e-5}, {a, 1e-5}, {b, 4e-5}};
    calc_point_table table = table_of(kernel, 3, alone, 4);
    ck_assert_uint_eq(table.table.count, 2);
    ck_assert_double_eq_tol(table.table.point[0].measured_s, 1.3e-5, 1e-18);
    ck_assert_double_eq_tol(table.table.point[1].measured_s, 3e-5, 1e-18);
    calc_point_table_free(&table);
}

/* Activations of a layer fitted to few measurements, and the peak that follows. */

#define GIB 1073741824.0

static const calc_mindspeed_config probes[] = {{1, 8, 1, 1, 1, 1, 1, 0},
                                               {2, 1, 1, 4, 1, 4, 1, 0},
                                               {2, 1, 2, 1, 2, 1, 1, 0},
                                               {1, 1, 1, 4, 2, 1, 1, 0},
                                               {1, 2, 1, 2, 2, 1, 1, 0}};

/* What was put in comes out, when nothing is noise: 1/8 + 2 b/(tp cp up) + 1/4 b/(tp cp^2 up) + 1/2
 * b/(cp up), written out probe by probe. */
static void measure(calc_mindspeed_measured out[5])
{
    const double layer[] = {0.125 + 2. / 8 + 0.25 / 8 + 0.5, 0.125 + 2 + 0.25 / 4 + 0.5,
                            0.125 + 1 + 0.25 / 2 + 0.25, 0.125 + 0.25 + 0.25 / 32 + 0.5 / 8,
                            0.125 + 2. / 8 + 0.25 / 16 + 0.5 / 4};
    for (int i = 0; i < 5; i++) {
        out[i] = (calc_mindspeed_measured){probes[i], layer[i]};
    }
}

CALC_TEST(exact_measurements)
{
    static const double expected[] = {0.125, 2, 0.25, 0.5};
    calc_mindspeed_measured measured[5];
    calc_mindspeed_regression fit;
    measure(measured);
    ck_assert(calc_mindspeed_regression_fit(&fit, measured, 5));
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(fit.theta[i], expected[i], 1e-12);
    }
    const calc_mindspeed_config other = {1, 2, 1, 2, 1, 4, 1, 0};
    ck_assert_double_eq_tol(calc_mindspeed_regression_layer_gib(&fit, &other),
                            0.125 + 2 * 4 / 4. + 0.25 * 4 / 8 + 0.5 * 4 / 2, 1e-12);
}

/* Least squares: the residual is at right angles to every term. */
CALC_TEST(measurements_with_noise)
{
    static const double noise[] = {0.02, -0.03, 0.01, 0.025, -0.015};
    calc_mindspeed_measured measured[5];
    calc_mindspeed_regression fit;
    double product[4] = {0}, term[4];
    measure(measured);
    for (int i = 0; i < 5; i++) {
        measured[i].layer_gib += noise[i];
    }
    ck_assert(calc_mindspeed_regression_fit(&fit, measured, 5));
    for (int i = 0; i < 5; i++) {
        double left =
            measured[i].layer_gib - calc_mindspeed_regression_layer_gib(&fit, &measured[i].config);
        calc_mindspeed_regression_terms(&measured[i].config, term);
        for (int j = 0; j < 4; j++) {
            product[j] += left * term[j];
        }
    }
    for (int j = 0; j < 4; j++) {
        ck_assert_double_eq_tol(product[j], 0, 1e-13);
    }
}

CALC_TEST(failed_runs_are_left_out)
{
    calc_mindspeed_measured measured[5];
    calc_mindspeed_regression fit;
    measure(measured);
    measured[2].layer_gib = NAN;
    ck_assert(calc_mindspeed_regression_fit(&fit, measured, 5));
    ck_assert_double_eq_tol(fit.theta[1], 2, 1e-12);
    measured[0].layer_gib = NAN; /* three measurements, four weights */
    ck_assert(!calc_mindspeed_regression_fit(&fit, measured, 5));
    for (int i = 0; i < 5; i++) { /* one configuration five times */
        measured[i] = (calc_mindspeed_measured){probes[1], 1};
    }
    ck_assert(!calc_mindspeed_regression_fit(&fit, measured, 5));
}

/* A layer of (4 x 4096^2 + 2 x 4096 x 22016) parameters, as the planner counts gated ones. tp 8: 32
 * of them have 989,855,744 on a device. Weights 2, state 16; gradients 2; one micro-batch on one
 * stage, half a GiB a layer. */
CALC_TEST(the_peak)
{
    calc_mindspeed_job job = mindspeed_7b();
    const calc_mindspeed_config one = {1, 8, 1, 1, 1, 1, 1, 0};
    double n = 32 * (4 * 4096.0 * 4096 + 2 * 4096.0 * 22016) / 8;
    ck_assert_double_eq(n, 989855744);
    double act = 16 * GIB;
    assert_near(calc_mindspeed_regression_peak_bytes(&job, &one, 0.5), 18 * n + act + 4 * GIB);
    /* Small activations: more is there in the backward pass. */
    assert_near(calc_mindspeed_regression_peak_bytes(&job, &one, 1 / 64.), 20 * n + 4 * GIB);
    job.reuse_fp32 = true;
    assert_near(calc_mindspeed_regression_peak_bytes(&job, &one, 0.5), 14 * n + act + 4 * GIB);
    /* Two stages have half of the layers each, and the first keeps two micro-batches. */
    const calc_mindspeed_config two = {2, 4, 1, 1, 1, 1, 1, 0};
    assert_near(calc_mindspeed_regression_peak_bytes(&job, &two, 0.5), 14 * n + act + 4 * GIB);
    /* A prediction below 0 is counted as none, not as its absolute value. */
    assert_near(calc_mindspeed_regression_peak_bytes(&job, &one, -0.5), 16 * n + 4 * GIB);
}
