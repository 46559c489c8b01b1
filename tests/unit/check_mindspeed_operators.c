#include "mindspeed/operators.h"

#include <math.h>

#include "frame.h"
#include "mindspeed/memory.h"
#include "mindspeed_case.h"
#include "mindspeed_jobs.h"
#include "scratch.h"
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

static void is(calc_mindspeed_type type, const char *in, const char *out, double a, double b,
               double c, double d)
{
    calc_mindspeed_shape shape;
    ck_assert_int_eq(calc_mindspeed_shape_read(type, in, out, &shape), CALC_MINDSPEED_SHAPE_GOOD);
    const calc_mindspeed_shape expected = {type, {a, b, c, d}};
    ck_assert_msg(calc_mindspeed_shape_equal(&shape, &expected), "%s: %g %g %g %g", in,
                  shape.size[0], shape.size[1], shape.size[2], shape.size[3]);
}

CALC_TEST(multiplications_are_turned_back)
{
    /* 512 x 4096 times 4096 x 11008: either operand may be transposed. */
    is(CALC_MINDSPEED_MATMUL, "512,4096;11008,4096", "512,11008", 1, 512, 4096, 11008);
    is(CALC_MINDSPEED_MATMUL, "512,4096;4096,11008", "512,11008", 1, 512, 4096, 11008);
    is(CALC_MINDSPEED_MATMUL, "4096,512;4096,11008", "512,11008", 1, 512, 4096, 11008);
    is(CALC_MINDSPEED_MATMUL, "\"4096,512;4096,11008;11008\"", "\"512,11008\"", 1, 512, 4096,
       11008);
    is(CALC_MINDSPEED_MATMUL, "64,64;64,64", "64,64", 1, 64, 64, 64);
    is(CALC_MINDSPEED_MATMUL, "32,7,64;32,64,9", "32,7,9", 32, 7, 64, 9);
    is(CALC_MINDSPEED_MATMUL, "2,3,7,64;2,3,9,64", "2,3,7,9", 6, 7, 64, 9);
    /* The inner size is what both have: 64 x 8 times 8 x 9, both transposed. */
    is(CALC_MINDSPEED_MATMUL, "8,64;9,8", "64,9", 1, 64, 8, 9);
}

CALC_TEST(norms_and_attention_are_their_inputs)
{
    is(CALC_MINDSPEED_RMS_NORM, "2048,1,4096;4096", "2048,1,4096", 2048, 1, 4096, 1);
    is(CALC_MINDSPEED_FLASH, "2048,4,512;2048,4,512;2048,4,512;;;;2048,2048", "", 2048, 4, 512, 1);
}

static void kind(calc_mindspeed_type type, const char *in, const char *out,
                 calc_mindspeed_shape_kind expected)
{
    calc_mindspeed_shape shape;
    ck_assert_msg(calc_mindspeed_shape_read(type, in, out, &shape) == expected, "%s", in);
}

CALC_TEST(what_is_not_modelled)
{
    const calc_mindspeed_shape_kind other = CALC_MINDSPEED_SHAPE_OTHER;
    kind(CALC_MINDSPEED_MATMUL, "N/A", "N/A", other);
    kind(CALC_MINDSPEED_RMS_NORM, "4,8", "4,8", other); /* too short a text */
    kind(CALC_MINDSPEED_RMS_NORM, "2048,4096", "2048,4096", other);
    kind(CALC_MINDSPEED_MATMUL, "512,4096;11008,4095", "512,11008", other);
    kind(CALC_MINDSPEED_MATMUL, "512,4096", "512,11008", other);
    kind(CALC_MINDSPEED_MATMUL, "256,32,16,16;688,256,16,16", "688,32,16,16", other);
    kind(CALC_MINDSPEED_FLASH, "2048,4,512;2048,4,64;2048,4,64", "", other); /* grouped queries */
    kind(CALC_MINDSPEED_FLASH, "2048,4,512;2048,4,512", "", other);
}

CALC_TEST(what_is_no_shape)
{
    const calc_mindspeed_shape_kind wrong = CALC_MINDSPEED_SHAPE_WRONG;
    kind(CALC_MINDSPEED_MATMUL, "512,x;1,2", "512,2", wrong);
    kind(CALC_MINDSPEED_MATMUL, "512,4096;4096,1", "-1,1", wrong);
    kind(CALC_MINDSPEED_RMS_NORM, "2048,0,4096", "", wrong);
    kind(CALC_MINDSPEED_RMS_NORM, "2048,1.5,4096", "", wrong);
    kind(CALC_MINDSPEED_RMS_NORM, "1,1,1,1,1,1,1,1,1", "", wrong);
    kind(CALC_MINDSPEED_RMS_NORM, "99999999999999999999,1,1", "", wrong);
}

CALC_TEST(names_have_versions)
{
    static const struct {
        const char *name;
        calc_mindspeed_type type;
    } names[] = {{"MatMulV2", CALC_MINDSPEED_MATMUL},
                 {"BatchMatMulV2", CALC_MINDSPEED_MATMUL},
                 {"RmsNorm", CALC_MINDSPEED_RMS_NORM},
                 {"RmsNormGrad", CALC_MINDSPEED_RMS_NORM_GRAD},
                 {"LayerNormV3", CALC_MINDSPEED_LAYER_NORM},
                 {"LayerNormXBackpropV3", CALC_MINDSPEED_LAYER_NORM_GRAD},
                 {"LayerNormBetaGammaBackpropV2", CALC_MINDSPEED_LAYER_NORM_GRAD},
                 {"FlashAttentionScore", CALC_MINDSPEED_FLASH},
                 {"FlashAttentionScoreGrad", CALC_MINDSPEED_FLASH_GRAD},
                 {"Add", CALC_MINDSPEED_TYPES},
                 {"", CALC_MINDSPEED_TYPES}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ck_assert_int_eq(calc_mindspeed_shape_type(names[i].name), names[i].type);
    }
    for (int type = 0; type < CALC_MINDSPEED_TYPES; type++) {
        const char *name = calc_mindspeed_shape_type_name((calc_mindspeed_type)type);
        ck_assert_int_eq((int)calc_mindspeed_shape_type(name), type);
    }
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

static char folder[512];
static calc_mindspeed_comm comm;

static void enter(void)
{
    scratch_enter(folder, sizeof folder);
}

static void leave(void)
{
    calc_mindspeed_comm_free(&comm);
    scratch_leave(folder);
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

static calc_status read_text(const char *rows, calc_errors *errors)
{
    char text[2048];
    snprintf(text, sizeof text, "type,domains,datasize,time\n%s", rows);
    scratch_write("comm_prof.csv", text, strlen(text));
    return calc_mindspeed_comm_read(&comm, "comm_prof.csv", errors);
}

static double ask(calc_collective_op op, int64_t ranks, double bytes)
{
    return calc_mindspeed_comm_s(&comm, &(calc_mindspeed_message){op, ranks, bytes});
}

CALC_TEST(messages_are_found_to_the_byte)
{
    calc_errors errors = {0};
    ck_assert_int_eq(read_text("all_gather,8,1048576,100\n"
                               "alltoall,8,1048576,300\n"
                               "all_gather,8,1048576,900\n"
                               "all_gather,8,1048576,130\n"
                               "all_gather,8,1048576,1\n"
                               "all_gather,8,1048576,70\n"
                               "reduce_scatter,4,7,50\n"
                               "reduce_scatter,4,7,60\n",
                               &errors),
                     CALC_OK);
    ck_assert_uint_eq(comm.count, 3);
    ck_assert_double_eq_tol(ask(CALC_OP_ALL_GATHER, 8, 1048576), 100e-6, 1e-18); /* of 70 100 130 */
    ck_assert_double_eq_tol(ask(CALC_OP_ALL_TO_ALL, 8, 1048576), 300e-6, 1e-18);
    ck_assert_double_eq_tol(ask(CALC_OP_REDUCE_SCATTER, 4, 7), 55e-6, 1e-18);
    ck_assert_double_eq(ask(CALC_OP_ALL_GATHER, 4, 1048576), 0);
    ck_assert_double_eq(ask(CALC_OP_ALL_GATHER, 4, 1048576), 0);
    ck_assert_double_eq(ask(CALC_OP_ALL_GATHER, 8, 1048575), 0);
    ck_assert_uint_eq(comm.found, 3);
    ck_assert_uint_eq(comm.missing_count, 2); /* each once */
    ck_assert_int_eq(comm.missing[0].ranks, 4);
    ck_assert_int_eq(comm.missing[0].op, CALC_OP_ALL_GATHER);
}

CALC_TEST(bad_rows_have_a_place)
{
    static const struct {
        const char *row, *text;
        int column;
    } cases[] = {
        {"broadcast,8,1024,5\n",
         "type: expected all_gather, reduce_scatter, all_reduce, all_to_all, alltoall, allgather, "
         "allreduce, p2p or reducescatter, found \"broadcast\"",
         1},
        {"all_gather,0,1024,5\n", "domains: expected a whole number from 1 to 1e6, found \"0\"",
         12},
        {"all_gather,8,0,5\n", "datasize: expected a number from 1 to 1e+15, found \"0\"", 14},
        {"all_gather,8,1024,0\n", "time: expected a number from 0.001 to 1e+12, found \"0\"", 19}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_errors errors = {0};
        ck_assert_int_eq(read_text(cases[i].row, &errors), CALC_ERR_TYPE);
        ck_assert_str_eq(errors.item[0].text, cases[i].text);
        ck_assert_int_eq(errors.item[0].line, 2);
        ck_assert_int_eq(errors.item[0].column, cases[i].column);
        calc_mindspeed_comm_free(&comm);
    }
}

CALC_TEST(a_file_without_rows)
{
    calc_errors errors = {0};
    ck_assert_int_eq(read_text("", &errors), CALC_OK);
    ck_assert_double_eq(ask(CALC_OP_ALL_GATHER, 8, 1), 0);
    ck_assert_uint_eq(comm.missing_count, 1);
}
