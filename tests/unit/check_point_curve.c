/* Efficiency by size, from points whose efficiency is known at every size. */
#include "base/rng.h"
#include "calibrate/points.h"
#include "point_case.h"

#include "frame.h"

static calc_system machine;
#define PEAK 312e12

static void enter(void)
{
    machine = load_system("a100_sxm_80g");
    machine.chip.launch.matrix_s = 0;
    machine.chip.mem1.bytes_per_s = 1e18; /* arithmetic only */
    start_csv();
}

const calc_test_frame calc_tests = {.setup = enter, .teardown = leave_points};

/* Squares of 2^4 to 2^13, several shapes an octave, at an efficiency by size. */
static void put_shapes(double (*efficiency)(double flop), double noise)
{
    calc_rng rng;
    calc_rng_init(&rng, 20261122, 1);
    for (int i = 0; i < 72; i++) {
        double n = floor(exp2(5 + i / 8.0));
        double m = n + i % 3;
        double flop = 2 * m * n * n;
        double time_s = flop / (PEAK * efficiency(flop)) * exp(noise * (calc_rng_real(&rng) - 0.5));
        put("a,mm,bf16,m=%g k=%g n=%g,time,%.17g,s\n", m, n, n, time_s);
    }
}

static const calc_curve *make(bool expected)
{
    ck_assert_int_eq(parse(point_csv), CALC_OK);
    ck_assert_int_eq(
        calc_point_curve_matrix(&machine, CALC_DATATYPE_BFLOAT16, points.item, points.count, NULL),
        expected);
    return &machine.chip.matrix[CALC_DATATYPE_BFLOAT16].efficiency;
}

/* Half of the most at 10 GFLOP. */
static double saturating(double flop)
{
    return 0.8 * flop / (flop + 1e10);
}

static double flat(double flop)
{
    (void)flop;
    return 0.61;
}

static double falling(double flop)
{
    return flop > 1e10 ? 0.3 : 0.6;
}

static double rising_by_a_step(double flop)
{
    return flop >= 1073741824.0 ? 0.7 : 0.2;
}

CALC_TEST(a_curve_follows_efficiency_that_rises_with_size)
{
    put_shapes(saturating, 0.02);
    const calc_curve *c = make(true);
    ck_assert_int_gt(c->count, 6);
    ck_assert_int_le(c->count, CALC_MAX_CURVE_STEPS);
    ck_assert_double_eq(c->threshold[c->count - 1], 0);
    for (int64_t i = 0; i + 1 < c->count; i++) {
        ck_assert(c->threshold[i] > c->threshold[i + 1]);
        ck_assert(c->efficiency[i] > c->efficiency[i + 1]);
        /* The mean of the octave is that of its middle, or of octaves that became one. */
        ck_assert(c->efficiency[i] > 0.9 * saturating(c->threshold[i]));
        ck_assert(c->efficiency[i] < 1.1 * saturating(2 * c->threshold[i]) ||
                  c->efficiency[i] > 0.75);
    }
    ck_assert_double_eq_tol(c->efficiency[0], 0.8, 0.03);
    /* Each point is predicted within its octave's width: less than a factor of 2 from both ends. */
    double sum = 0;
    for (size_t i = 0; i < points.count; i++) {
        sum += fabs(log(calc_point_time_s(&points.item[i], &machine) / points.item[i].measured_s));
    }
    ck_assert_double_lt(sum / (double)points.count, 0.2);
}

CALC_TEST(a_step_is_found_where_it_is)
{
    put_shapes(rising_by_a_step, 0);
    const calc_curve *c = make(true);
    ck_assert_int_eq(c->count, 2);
    ck_assert_double_eq(c->threshold[0], 1073741824.0);
    ck_assert_double_eq_tol(c->efficiency[0], 0.7, 1e-4);
    ck_assert_double_eq_tol(c->efficiency[1], 0.2, 1e-4);
}

CALC_TEST(one_number_stays_where_a_curve_does_not_predict_better)
{
    machine.chip.matrix[CALC_DATATYPE_BFLOAT16].efficiency.efficiency[0] = 0.61;
    put_shapes(flat, 0.1);
    const calc_curve *c = make(false);
    ck_assert_int_eq(c->count, 1);
    ck_assert_double_eq(c->efficiency[0], 0.61);
}

/* An octave each; those of numbers 6 and 21 are nearly as efficient as the ones below them. */
static double rising_by_octaves(int number)
{
    const int small_steps = (number >= 6) + (number >= 21);
    return 0.1 * pow(1.06, number - small_steps) * pow(1.03, number >= 6) * pow(1.02, number >= 21);
}

CALC_TEST(of_34_octaves_the_two_that_differ_least_become_one_twice)
{
    enum { OCTAVES = CALC_MAX_CURVE_STEPS + 2, UNIT = 1 << 17 /* FLOP of the first one */ };
    for (int i = 0; i < OCTAVES; i++) {
        double m = ldexp(1, i);
        put("a,mm,bf16,m=%.17g k=256 n=256,time,%.17g,s\n", m,
            UNIT * m / (PEAK * rising_by_octaves(i)));
    }
    const calc_curve *c = make(true);
    ck_assert_int_eq(c->count, CALC_MAX_CURVE_STEPS);
    for (int i = 0, step = CALC_MAX_CURVE_STEPS - 1; i < OCTAVES; i++, step--) {
        double want = rising_by_octaves(i);
        ck_assert_double_eq(c->threshold[step], i == 0 ? 0 : ldexp(UNIT, i));
        if (i == 5 || i == 20) {
            want = sqrt(want * rising_by_octaves(++i));
        }
        ck_assert_double_eq_tol(c->efficiency[step], want, 1e-4);
    }
}

CALC_TEST(efficiency_that_falls_with_size_is_pooled)
{
    machine.chip.matrix[CALC_DATATYPE_BFLOAT16].efficiency.efficiency[0] = 0.05;
    put_shapes(falling, 0);
    const calc_curve *c = make(true);
    ck_assert_int_eq(c->count, 1);
    ck_assert(c->efficiency[0] > 0.3 && c->efficiency[0] < 0.6);
}

CALC_TEST(without_points_nothing_changes)
{
    double before = machine.chip.matrix[CALC_DATATYPE_BFLOAT16].efficiency.efficiency[0];
    put("a,copy,,bytes=8,time,1,s\n");
    ck_assert_double_eq(make(false)->efficiency[0], before);
}

CALC_TEST(passes_over_one_shape_have_one_hash)
{
    calc_point a = *only("a,sdp_fwd,bf16,seq_len=8 head_num=2 qk_head_dim=4,time,1,s");
    calc_point b = *only("a,sdp_bwd,bf16,seq_len=8 head_num=2 qk_head_dim=4,time,3,s");
    calc_point c = *only("a,sdp_bwd,bf16,seq_len=9 head_num=2 qk_head_dim=4,time,3,s");
    ck_assert_uint_eq(calc_point_hash(&a), calc_point_hash(&b));
    ck_assert_uint_ne(calc_point_hash(&a), calc_point_hash(&c));
    /* Halves of many shapes are halves. */
    size_t odd = 0;
    for (int i = 0; i < 1000; i++) {
        a.size[1] = 64 * (i + 1);
        odd += calc_point_hash(&a) & 1;
    }
    ck_assert_uint_gt(odd, 440);
    ck_assert_uint_lt(odd, 560);
}
