/* Constants found again in times that were made of them by formulas written down here, with noise;
 * and what the points do not say left alone. */
#include "base/rng.h"
#include "calibrate/points.h"
#include "point_case.h"

#include "frame.h"

static calc_system machine;
static calc_point_fit *fit;
static calc_rng rng;

/* What the times are made of. */
#define PEAK 312e12
#define BANDWIDTH 2039e9
static const double efficiency = 0.71;
static const double launch_s = 2.5e-5;
static const double traffic = 0.64;
static const double vector_s = 9e-6;

static void enter(void)
{
    machine = load_system("a100_sxm_80g");
    fit = calloc(1, sizeof *fit);
    calc_rng_init(&rng, 20261122, 1);
    start_csv();
}

static void leave(void)
{
    free(fit);
    leave_points();
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave};

/* exp(noise x a normal number), Box and Muller 1958. */
static double scatter(double noise)
{
    double u = 1 - calc_rng_real(&rng);
    return exp(noise * sqrt(-2 * log(u)) * cos(2 * M_PI * calc_rng_real(&rng)));
}

static void make_fit(void)
{
    ck_assert_int_eq(parse(point_csv), CALC_OK);
    for (size_t i = 0; i < points.count; i++) {
        ck_assert_msg(calc_point_is_used(&points.item[i]), "%s", points.item[i].reason);
    }
    ck_assert_int_eq(calc_point_fit_make(fit, points.item, points.count, NULL, &machine, &errors),
                     CALC_OK);
}

static const calc_point_constant *constant(const char *path)
{
    for (size_t i = 0; i < fit->count; i++) {
        if (strcmp(fit->item[i].path[0], path) == 0) {
            return &fit->item[i];
        }
    }
    ck_abort_msg("%s is not among the constants", path);
    return NULL;
}

/* Within three standard errors, and those not larger than `largest`. */
static void found(const char *path, double truth, double largest)
{
    const calc_point_constant *c = constant(path);
    ck_assert_int_eq(c->standing, CALC_POINT_FITTED);
    ck_assert_msg(fabs(c->value / truth - 1) < 3 * c->relative_error + 1e-4,
                  "%s: %g +- %.2g %%, not %g", path, c->value, 100 * c->relative_error, truth);
    ck_assert_msg(c->relative_error < largest, "%s: %g", path, c->relative_error);
}

static void stays(const char *path, double file)
{
    const calc_point_constant *c = constant(path);
    ck_assert_int_eq(c->standing, CALC_POINT_STAYS);
    ck_assert(isnan(c->relative_error));
    ck_assert_double_eq(c->before, file);
    ck_assert_double_eq(c->value, file);
}

static void put_kernels(double noise)
{
    for (double m = 128; m <= 8192; m *= 2) {
        for (double n = 512; n <= 16384; n *= 2) {
            double bytes = 2 * (m * 2048 + 2048 * n + m * n);
            double time_s =
                2 * m * 2048 * n / (PEAK * efficiency) + bytes / (BANDWIDTH * traffic) + launch_s;
            put("a,mm,bf16,m=%g k=2048 n=%g,time,%.17g,s\n", m, n, time_s * scatter(noise));
        }
        double time_s = m * 1e5 / (BANDWIDTH * traffic) + vector_s;
        put("a,copy,,bytes=%.17g,time,%.17g,s\n", m * 1e5, time_s * scatter(noise));
    }
}

CALC_TEST(constants_of_kernels_are_found_again)
{
    put_kernels(0.02);
    make_fit();
    found("matrix.bfloat16.gflops_efficiency", efficiency, 0.03);
    found("launch.matrix", launch_s, 0.04);
    found("mem1.MB_efficiency", traffic, 0.05);
    found("launch.vector", vector_s, 0.2);
    /* The system has them; half precision, without points, follows. */
    ck_assert_double_eq(fit->system.chip.launch.matrix_s, constant("launch.matrix")->value);
    ck_assert_double_eq(fit->system.chip.matrix[CALC_DATATYPE_FLOAT16].efficiency.efficiency[0],
                        constant("matrix.bfloat16.gflops_efficiency")->value);
    ck_assert_double_eq(fit->system.chip.matrix[CALC_DATATYPE_FLOAT32].efficiency.efficiency[0],
                        machine.chip.matrix[CALC_DATATYPE_FLOAT32].efficiency.efficiency[0]);
}

CALC_TEST(without_noise_they_are_exact)
{
    put_kernels(0);
    make_fit();
    ck_assert_double_eq_tol(constant("matrix.bfloat16.gflops_efficiency")->value, efficiency, 2e-4);
    ck_assert_double_eq_tol(constant("launch.matrix")->value, launch_s, 2e-8);
    ck_assert_double_eq_tol(constant("mem1.MB_efficiency")->value, traffic, 2e-4);
}

CALC_TEST(a_few_wrong_points_do_not_bend_the_rest)
{
    put_kernels(0.01);
    for (int i = 0; i < 4; i++) {
        put("a,mm,bf16,m=4096 k=2048 n=%d,time,%g,s\n", 8192 + i, 0.5);
    }
    make_fit();
    ck_assert_double_eq_tol(constant("matrix.bfloat16.gflops_efficiency")->value, efficiency, 0.02);
    ck_assert_double_eq_tol(constant("mem1.MB_efficiency")->value, traffic, 0.04);
}

CALC_TEST(large_multiplications_alone_say_nothing_of_launches_and_bandwidth)
{
    for (int i = 0; i < 20; i++) {
        double n = 16384 + 1024 * i;
        double time_s = 2 * 16384.0 * 16384 * n / (PEAK * efficiency);
        put("a,mm,bf16,m=16384 k=16384 n=%g,time,%.17g,s\n", n, time_s * scatter(0.02));
    }
    make_fit();
    ck_assert_int_eq(constant("matrix.bfloat16.gflops_efficiency")->standing, CALC_POINT_FITTED);
    stays("launch.matrix", machine.chip.launch.matrix_s);
    for (size_t i = 0; i < fit->count; i++) {
        ck_assert_str_ne(fit->item[i].path[0], "mem1.MB_efficiency");
    }
}

CALC_TEST(rates_of_attention_are_found_again)
{
    static const double fw = 0.55;
    static const double bw = 0.38;
    machine.chip.attention.softmax_size = 0;
    for (double seq = 512; seq <= 32768; seq *= 2) {
        for (int heads = 8; heads <= 64; heads *= 2) {
            double flop = 2 * heads * seq * (seq + 1) / 2 * 256;
            put("a,sdp_fwd,bf16,seq_len=%g head_num=%d qk_head_dim=128,time,%.17g,s\n", seq, heads,
                (flop / (PEAK * fw) + 4e-5) * scatter(0.02));
            put("a,sdp_bwd,bf16,seq_len=%g head_num=%d qk_head_dim=128,time,%.17g,s\n", seq, heads,
                (2.5 * flop / (PEAK * bw) + 4e-5) * scatter(0.02));
        }
    }
    make_fit();
    found("attention.fw_efficiency", fw, 0.03);
    found("attention.bw_efficiency", bw, 0.03);
    found("attention.launch", 4e-5, 0.05);
    /* All heads are of one width: the cost of exponentials is not seen. */
    stays("attention.softmax_size", 0);
    ck_assert(fit->system.chip.attention.softmax_size == 0);
}

/* All-reduces of NVLink: 70 % of 300 GB/s, 20 us and 2 us a step. */
static double ring_s(double bytes, double ranks)
{
    return 2e-5 + 2e-6 * 2 * (ranks - 1) + 2 * (ranks - 1) / ranks * bytes / (300e9 * 0.7);
}

CALC_TEST(a_collective_gives_bandwidth_and_both_latencies)
{
    for (int ranks = 2; ranks <= 8; ranks++) {
        for (double bytes = 1 << 16; bytes <= 1 << 30; bytes *= 4) {
            put("a,all_reduce,,bytes=%g ranks=%d,time,%.17g,s\n", bytes, ranks,
                ring_s(bytes, ranks) * scatter(0.02));
        }
    }
    make_fit();
    ck_assert_uint_eq(fit->count, 3);
    found("networks[0].op_parameters.all_reduce.efficiency", 0.7, 0.02);
    found("networks[0].op_parameters.all_reduce.latency_fixed", 2e-5, 0.05);
    found("networks[0].op_parameters.all_reduce.latency_step", 2e-6, 0.05);
    ck_assert(fit->system.networks[0].op_parameters.all_gather.efficiency == 0);
}

CALC_TEST(one_size_of_message_gives_the_bandwidth_but_no_latency)
{
    for (int i = 0; i < 6; i++) {
        put("a,all_reduce,,bytes=1073741824 ranks=8,time,%.17g,s\n",
            ring_s(1 << 30, 8) * scatter(0.01));
    }
    make_fit();
    ck_assert_uint_eq(fit->count, 2);
    ck_assert_int_eq(constant("networks[0].op_parameters.all_reduce.efficiency")->standing,
                     CALC_POINT_FITTED);
    stays("networks[0].op_parameters.all_reduce.latency_fixed", 0);
    ck_assert(fit->system.networks[0].op_parameters.all_reduce.latency_fixed_s == 0);
}

CALC_TEST(small_messages_give_the_latency_but_no_bandwidth)
{
    for (int i = 0; i < 6; i++) {
        put("a,all_gather,,bytes=%d ranks=8,time,%.17g,s\n", 1024 << i, 7e-5 * scatter(0.01));
    }
    make_fit();
    found("networks[0].op_parameters.all_gather.latency_fixed", 7e-5, 0.02);
    stays("networks[0].op_parameters.all_gather.efficiency", 0);
}

CALC_TEST(points_that_are_skipped_do_not_count)
{
    put_kernels(0);
    put("a,mm,fp16,m=4096 k=2048 n=4096,time,1,s\n");
    ck_assert_int_eq(parse(point_csv), CALC_OK);
    bool *skip = calloc(points.count, sizeof *skip);
    skip[points.count - 1] = true;
    ck_assert_int_eq(calc_point_fit_make(fit, points.item, points.count, skip, &machine, &errors),
                     CALC_OK);
    free(skip);
    ck_assert_double_eq_tol(constant("matrix.bfloat16.gflops_efficiency")->value, efficiency, 2e-4);
    for (size_t i = 0; i < fit->count; i++) {
        ck_assert_str_ne(fit->item[i].path[0], "matrix.float16.gflops_efficiency");
    }
}

/* Rates of serving of a machine that has none: made of 0.75 of the bandwidth, 0.6 of the peak and
 * 3 us; caches of 0.8 of the bandwidth, 9 us and 4 us that grow. */
CALC_TEST(rates_of_serving_are_found_where_there_were_none)
{
    machine.chip.serving = (calc_serving_rates){0};
    for (int m = 1; m <= 16384; m *= 4) {
        for (int k = 2048; k <= 16384; k *= 2) {
            double flop = 2.0 * m * k * 8192;
            double bytes = 2.0 * ((double)m * k + k * 8192.0 + m * 8192.0);
            double s =
                3e-6 + cbrt(pow(flop / (0.6 * PEAK), 3) + pow(bytes / (0.75 * BANDWIDTH), 3));
            put("a,mm,bf16,stage=serving m=%d k=%d n=8192,time,%.9g,s\n", m, k, s * scatter(0.02));
        }
    }
    for (int batch = 1; batch <= 64; batch *= 4) {
        for (int length = 256; length <= 16384; length *= 4) {
            double tokens = (double)batch * length;
            double bytes = (tokens + batch) * 8 * 256 * 2 + batch * 32.0 * 256 * 2;
            double flop = 2 * tokens * 32 * 256;
            double s = 9e-6 + 4e-6 * length / (length + 1000.0) +
                       cbrt(pow(flop / PEAK, 3) + pow(bytes / (0.8 * BANDWIDTH), 3));
            put("a,decode_attention,bf16,batch=%d kv_len=%d head_num=32 kv_head_num=8 "
                "qk_head_dim=128,time,%.9g,s\n",
                batch, length, s * scatter(0.02));
        }
    }
    make_fit();
    ck_assert_double_eq_tol(constant("serving.matrix.memory_efficiency")->value, 0.75, 0.01);
    ck_assert_double_eq_tol(constant("serving.matrix.efficiency")->value, 0.6, 0.01);
    ck_assert_double_eq_tol(constant("serving.matrix.fixed")->value, 3e-6, 0.5e-6);
    ck_assert_double_eq_tol(constant("serving.decode.memory_efficiency")->value, 0.8, 0.01);
    ck_assert_double_eq_tol(constant("serving.decode.fixed")->value, 9e-6, 0.5e-6);
    ck_assert_double_eq_tol(constant("serving.decode.growth")->value, 4e-6, 0.8e-6);
    ck_assert_double_eq(fit->system.chip.serving.matrix.efficiency,
                        constant("serving.matrix.efficiency")->value);
    ck_assert_uint_eq(fit->count, 6);
}
