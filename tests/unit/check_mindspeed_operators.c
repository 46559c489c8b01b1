#include "mindspeed/operators.h"

#include <math.h>

#include "frame.h"
#include "mindspeed/memory.h"
#include "mindspeed_case.h"
#include "mindspeed_jobs.h"
#include "small_case.h"

enum { SAMPLES = 400 };

static llama_case l;

static void open_operators(calc_mindspeed_operators *o, const calc_mindspeed_times *cache,
                           uint64_t seed)
{
    const calc_mindspeed_sampling sampling = {SAMPLES, seed, 0};
    open_llama(&l, &llama_configs[0], "");
    calc_mindspeed_operators_start(o, &llama_job, &l.app, &l.system, cache, &sampling);
}

/* Arithmetic at the sustained rate, or the operands over the memory's bandwidth. */
CALC_TEST(a_multiplication_alone)
{
    calc_mindspeed_operators o;
    open_operators(&o, NULL, 1);
    const calc_mindspeed_shape large = {CALC_MINDSPEED_MATMUL, {1, 4096, 4096, 8192}};
    const calc_mindspeed_shape thin = {CALC_MINDSPEED_MATMUL, {3, 4096, 1, 4096}};
    const calc_chip *chip = &l.system.chip;
    const calc_engine *engine = &chip->matrix[CALC_DATATYPE_BFLOAT16];
    double rate = engine->flop_per_s * engine->efficiency.efficiency[0];
    rate *= chip->sustained > 0 ? chip->sustained : 1;
    ck_assert_double_eq_tol(
        calc_mindspeed_operators_model_s(&o, &large) / (2.0 * 4096 * 4096 * 8192 / rate), 1, 1e-12);
    ck_assert_double_eq_tol(
        calc_mindspeed_operators_model_s(&o, &thin) /
            (3 * 2 * (4096.0 * 4096 + 2 * 4096) / (0.8 * chip->mem1.bytes_per_s)),
        1, 1e-12);
    calc_mindspeed_operators_free(&o);
}

/* What a layout's own block takes for the same shapes. */
CALC_TEST(norms_and_attention_alone)
{
    static const struct {
        calc_mindspeed_type type;
        const char *layer;
        double size[4];
    } cases[] = {{CALC_MINDSPEED_RMS_NORM, "attention norm", {1024, 1, 4096, 1}},
                 {CALC_MINDSPEED_RMS_NORM_GRAD, "attention norm", {1024, 1, 4096, 1}},
                 {CALC_MINDSPEED_FLASH, "flash attention", {8192, 1, 512, 1}},
                 {CALC_MINDSPEED_FLASH_GRAD, "flash attention", {8192, 1, 512, 1}}};
    calc_mindspeed_operators o;
    calc_layer_stats layer[CALC_MAX_LAYERS];
    open_operators(&o, NULL, 1);
    size_t count =
        calc_layers(&l.app, &l.system, &l.exec, CALC_COMPAT_NONE, layer, CALC_MAX_LAYERS);
    for (int i = 0; i < 4; i++) {
        calc_mindspeed_shape shape = {.type = cases[i].type};
        memcpy(shape.size, cases[i].size, sizeof shape.size);
        size_t k = 0;
        while (k < count && strcmp(layer[k].name, cases[i].layer) != 0) {
            k++;
        }
        ck_assert_uint_lt(k, count);
        double expected = i % 2 ? layer[k].agrad_processing_time : layer[k].fw_processing_time;
        ck_assert_double_eq_tol(calc_mindspeed_operators_model_s(&o, &shape) / expected, 1, 1e-12);
    }
    calc_mindspeed_operators_free(&o);
}

CALC_TEST(without_kernels_there_is_no_error)
{
    calc_mindspeed_operators o;
    calc_errors errors = {0};
    const calc_mindspeed_shape shape = {CALC_MINDSPEED_MATMUL, {1, 2, 3, 4}};
    open_operators(&o, NULL, 1);
    ck_assert_int_eq(calc_mindspeed_operators_fit(&o, &errors), CALC_OK);
    const double *draw = calc_mindspeed_operators_draws(&o, &shape);
    ck_assert_ptr_nonnull(draw);
    for (int i = 0; i < SAMPLES; i++) {
        ck_assert_double_eq(draw[i], 0);
    }
    calc_mindspeed_operators_free(&o);
}

/* Shapes of growing m, whose errors lie on a line in its logarithm. */
static void learn_line(calc_mindspeed_operators *o)
{
    calc_errors errors = {0};
    for (int i = 0; i < 8; i++) {
        calc_mindspeed_timed k = {{CALC_MINDSPEED_MATMUL, {1, 512 << i, 4096, 4096}}, 0};
        k.time_s = calc_mindspeed_operators_alone_s(o, &k.shape) * (1.02 + 0.02 * i);
        ck_assert_int_eq(calc_mindspeed_operators_learn(o, &k, 1, &errors), CALC_OK);
    }
    ck_assert_int_eq(calc_mindspeed_operators_fit(o, &errors), CALC_OK);
}

static double mean_of(calc_mindspeed_operators *o, double m, double *sd)
{
    const calc_mindspeed_shape shape = {CALC_MINDSPEED_MATMUL, {1, m, 4096, 4096}};
    const double *draw = calc_mindspeed_operators_draws(o, &shape);
    double sum = 0, squares = 0;
    ck_assert_ptr_nonnull(draw);
    for (int i = 0; i < SAMPLES; i++) {
        sum += draw[i] / SAMPLES;
    }
    for (int i = 0; i < SAMPLES; i++) {
        squares += (draw[i] - sum) * (draw[i] - sum) / SAMPLES;
    }
    *sd = sqrt(squares);
    return sum;
}

CALC_TEST(errors_are_learnt)
{
    calc_mindspeed_operators o;
    double near, far;
    open_operators(&o, NULL, 1);
    learn_line(&o);
    ck_assert_uint_eq(o.kernels, 8);
    ck_assert_double_eq_tol(mean_of(&o, 512 << 3, &near), 0.08, 0.004);
    ck_assert_double_eq_tol(mean_of(&o, 512 * 12, &near), 0.09, 0.01);
    mean_of(&o, 512e5, &far);
    ck_assert_double_lt(near, far);
    calc_mindspeed_operators_free(&o);
}

CALC_TEST(a_round_has_one_draw_of_a_shape)
{
    calc_mindspeed_operators o, same, other;
    calc_errors errors = {0};
    const calc_mindspeed_shape shape = {CALC_MINDSPEED_MATMUL, {1, 700, 4096, 4096}};
    open_operators(&o, NULL, 1);
    open_operators(&same, NULL, 1);
    open_operators(&other, NULL, 2);
    learn_line(&o);
    learn_line(&same);
    learn_line(&other);
    const double *a = calc_mindspeed_operators_draws(&o, &shape);
    const double *b = calc_mindspeed_operators_draws(&same, &shape);
    const double *c = calc_mindspeed_operators_draws(&other, &shape);
    ck_assert(a && b && c);
    ck_assert_ptr_eq(calc_mindspeed_operators_draws(&o, &shape), a);
    ck_assert_mem_eq(a, b, SAMPLES * sizeof *a);
    ck_assert_double_ne(a[0], c[0]);
    double first = a[0];
    ck_assert_int_eq(calc_mindspeed_operators_fit(&o, &errors), CALC_OK);
    a = calc_mindspeed_operators_draws(&o, &shape);
    ck_assert_ptr_nonnull(a);
    ck_assert_double_ne(a[0], first);
    calc_mindspeed_operators_free(&o);
    calc_mindspeed_operators_free(&same);
    calc_mindspeed_operators_free(&other);
}

/* Errors are relative to what was timed alone. */
CALC_TEST(a_cache_is_the_base)
{
    calc_mindspeed_operators o;
    calc_errors errors = {0};
    const calc_mindspeed_shape shape = {CALC_MINDSPEED_RMS_NORM, {64, 1, 4096, 1}};
    calc_mindspeed_timed timed = {shape, 1e-5};
    const calc_mindspeed_times cache = {.item = &timed, .count = 1};
    const calc_mindspeed_timed kernels[] = {{shape, 1.1e-5}, {shape, 1.2e-5}, {shape, 1.3e-5}};
    open_operators(&o, &cache, 1);
    ck_assert_double_eq(calc_mindspeed_operators_alone_s(&o, &shape), 1e-5);
    ck_assert_int_eq(calc_mindspeed_operators_learn(&o, kernels, 3, &errors), CALC_OK);
    const calc_process *p = &o.process[CALC_MINDSPEED_RMS_NORM];
    ck_assert_uint_eq(p->count, 1);
    ck_assert_double_eq_tol(p->value[0], 0.2, 1e-12);
    ck_assert_double_eq(p->weight[0], 3);
    calc_mindspeed_operators_free(&o);
}

CALC_TEST(too_many_shapes)
{
    calc_mindspeed_operators o;
    calc_errors errors = {0};
    calc_status status = CALC_OK;
    open_operators(&o, NULL, 1);
    for (int i = 0; i <= CALC_PROCESS_DATA && status == CALC_OK; i++) {
        const calc_mindspeed_timed k = {{CALC_MINDSPEED_FLASH, {128 + i, 1, 512, 1}}, 1e-4};
        status = calc_mindspeed_operators_learn(&o, &k, 1, &errors);
    }
    ck_assert_int_eq(status, CALC_ERR_RANGE);
    ck_assert_str_eq(errors.item[0].text, "more than 400 shapes of FlashAttentionScore");
    calc_mindspeed_operators_free(&o);
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
