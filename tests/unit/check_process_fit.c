#include "gauss/process.h"

#include <math.h>

#include "frame.h"
#include "process_case.h"

const calc_test_frame calc_tests = {.timeout_s = 60};

enum { SIDE = 9, COUNT = SIDE * SIDE };

/* Where a point is. */
static int row(int i)
{
    return i / SIDE;
}

static const double apart = 0.25; /* of two neighbours */
static const double length_a = 0.8, length_b = 6;

/* A draw of a process over a square: covariance 1, noise 1e-3. */
static calc_process drawn(uint64_t seed)
{
    static double a[COUNT * COUNT], value[COUNT], noise[COUNT];
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < COUNT; k++) {
            double x = apart * (row(i) - row(k)) / length_a;
            double y = apart * (i % SIDE - k % SIDE) / length_b;
            a[i * COUNT + k] = exp(-sqrt(x * x + y * y));
        }
    }
    calc_rng rng;
    calc_process p;
    ck_assert(calc_gauss_factor(a, COUNT));
    calc_rng_init(&rng, seed, 3);
    calc_normal_draw(&rng, value, COUNT);
    calc_normal_draw(&rng, noise, COUNT);
    calc_gauss_times_lower(a, COUNT, value);
    calc_process_start(&p, 2, 0, 0);
    for (int i = 0; i < COUNT; i++) {
        const double point[2] = {apart * row(i), apart * (i % SIDE)};
        double seen = value[i] + sqrt(1e-3) * noise[i];
        ck_assert_int_eq(calc_process_add(&p, point, seen, 1), CALC_OK);
    }
    return p;
}

static double prior_of(double noise)
{
    double off = (noise - CALC_PROCESS_NOISE_MEAN) / CALC_PROCESS_NOISE_SD;
    return -off * off / 2;
}

CALC_TEST_LOOP(no_other_terms_are_likelier, 0, 3)
{
    calc_process p = drawn((uint64_t)_i);
    ck_assert_int_eq(calc_process_fit(&p), CALC_OK);
    calc_process_terms found = p.terms;
    double best = p.log_likelihood + prior_of(found.noise);
    calc_rng rng;
    calc_rng_init(&rng, 5, (uint64_t)_i);
    for (int i = 0; i < 600; i++) { /* far and near */
        calc_process_terms other = found;
        double far = i % 3 ? 0.1 : 3;
        double *term[] = {&other.length[0], &other.length[1], &other.scale, &other.noise};
        for (int j = 0; j < 4; j++) {
            *term[j] *= exp(far * (2 * calc_rng_real(&rng) - 1));
        }
        other.length[0] = fmax(other.length[0], CALC_PROCESS_LENGTH_MIN);
        other.length[1] = fmin(other.length[1], CALC_PROCESS_LENGTH_MAX);
        other.noise = fmin(fmax(other.noise, CALC_PROCESS_NOISE_MIN), 1);
        other.mean = NAN;
        ck_assert_int_eq(calc_process_condition(&p, &other), CALC_OK);
        ck_assert_double_le(p.log_likelihood + prior_of(other.noise), best + 0.02);
    }
    calc_process_free(&p);
}

/* Data near one another know the ratio of covariance and length, not the two. */
CALC_TEST(covariance_over_length_is_recovered)
{
    double log_a = 0, log_b = 0;
    enum { TIMES = 8 };
    for (uint64_t seed = 0; seed < TIMES; seed++) {
        calc_process p = drawn(seed);
        ck_assert_int_eq(calc_process_fit(&p), CALC_OK);
        double covariance = p.terms.scale * p.value_sd * p.value_sd;
        log_a += log(covariance / (p.terms.length[0] * p.sd[0])) / TIMES;
        log_b += log(covariance / (p.terms.length[1] * p.sd[1])) / TIMES;
        calc_process_free(&p);
    }
    ck_assert_double_eq_tol(log_a, log(1 / length_a), log(1.3));
    ck_assert_double_eq_tol(log_b, log(1 / length_b), log(1.3));
}

CALC_TEST(the_same_data_give_the_same_bits)
{
    calc_process p = drawn(1), q = drawn(1);
    ck_assert_int_eq(calc_process_fit(&p), CALC_OK);
    ck_assert_int_eq(calc_process_fit(&q), CALC_OK);
    ck_assert_int_eq(calc_process_fit(&q), CALC_OK); /* wherever it starts */
    ck_assert_mem_eq(&p.terms, &q.terms, sizeof p.terms);
    calc_process_free(&p);
    calc_process_free(&q);
}

/* One datum is believed at its point; elsewhere what is known is its value and the prior's spread.
 */
CALC_TEST(few_data_leave_the_terms)
{
    calc_process p;
    calc_process_start(&p, 2, 0, 0.1);
    const double here[2] = {1, 2}, there[2] = {50, 2};
    double mean, sd;
    ck_assert_int_eq(calc_process_fit(&p), CALC_OK);
    ck_assert_int_eq(calc_process_add(&p, here, 0.3, 1), CALC_OK);
    ck_assert_int_eq(calc_process_fit(&p), CALC_OK);
    ck_assert_double_eq(p.terms.scale, 1);
    process_at(&p, here, &mean, &sd);
    ck_assert_double_eq_tol(mean, 0.3, 1e-12);
    ck_assert_double_lt(sd, 0.005);
    process_at(&p, there, &mean, &sd);
    ck_assert_double_eq_tol(mean, 0.3, 1e-12);
    ck_assert_double_eq_tol(sd, 0.1, 1e-6);
    calc_process_free(&p);
}

/* Values that agree, and a coordinate that all share. */
CALC_TEST(data_without_spread)
{
    calc_process p;
    calc_process_start(&p, 2, 0, 0);
    double mean, sd;
    for (int i = 0; i < 5; i++) {
        const double point[2] = {i, 7};
        ck_assert_int_eq(calc_process_add(&p, point, 0.2, 1), CALC_OK);
    }
    ck_assert_int_eq(calc_process_fit(&p), CALC_OK);
    const double point[2] = {2.5, 7};
    process_at(&p, point, &mean, &sd);
    ck_assert_double_eq_tol(mean, 0.2, 1e-12);
    ck_assert_double_lt(sd, 0.2);
    calc_process_free(&p);
}
