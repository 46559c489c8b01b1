#include "process_case.h"

#include <math.h>
#include <stdlib.h>

#include "frame.h"
#include "gauss/process.h"

static void add(calc_process *p, double a, double b, double c, double value, double count)
{
    const double point[3] = {log(a), log(b), log(c)};
    ck_assert_int_eq(calc_process_add(p, point, value, count), CALC_OK);
}

/* Three multiplications of matrices and their relative errors. */
static calc_process three(void)
{
    calc_process p;
    calc_process_start(&p, 3, 0, 0);
    add(&p, 4096, 4096, 4096, 0.10, 1);
    add(&p, 4096, 4096, 11008, 0.04, 1);
    add(&p, 8192, 4096, 4096, 0.07, 1);
    const calc_process_terms terms = {
        .length = {0.693, 0.693, 0.693}, .scale = 0.693, .noise = 1e-3, .mean = 0};
    ck_assert_int_eq(calc_process_condition(&p, &terms), CALC_OK);
    return p;
}

/* Posterior of an independent program (GPyTorch's rules, by NumPy). */
CALC_TEST(relative_errors_of_matrix_multiplications)
{
    static const struct {
        double m, k, n, mean, sd;
    } expected[] = {{4096, 4096, 4096, 0.099953, 0.000948},
                    {2048, 4096, 4096, 0.071729, 0.024883},
                    {8192, 4096, 11008, 0.068136, 0.024807},
                    {16384, 8192, 28672, 0.069906, 0.024974}};
    calc_process p = three();
    ck_assert_double_eq_tol(p.sd[0], 0.400189, 1e-6);
    ck_assert_double_eq(p.sd[1], 1);
    ck_assert_double_eq_tol(p.sd[2], 0.570775, 1e-6);
    ck_assert_double_eq_tol(p.value_mean, 0.07, 1e-15);
    ck_assert_double_eq_tol(p.value_sd, 0.03, 1e-15);
    for (int i = 0; i < 4; i++) {
        const double point[3] = {log(expected[i].m), log(expected[i].k), log(expected[i].n)};
        double mean, sd;
        process_at(&p, point, &mean, &sd);
        ck_assert_double_eq_tol(mean, expected[i].mean, 1e-6);
        ck_assert_double_eq_tol(sd, expected[i].sd, 1e-6);
    }
    calc_process_free(&p);
}

/* One datum y at 0, scale s, noise e, length 1: at x the mean is m + s exp(-|x|) (y-m) / (s+e), the
 * covariance of x and z s exp(-|x-z|) - s^2 exp(-|x|-|z|) / (s+e). */
CALC_TEST(one_datum_by_hand)
{
    calc_process p;
    calc_process_start(&p, 1, 5, 2);
    const double zero = 0, points[2] = {0.5, -1};
    const calc_process_terms terms = {.length = {1}, .scale = 0.7, .noise = 0.1, .mean = 0.25};
    ck_assert_int_eq(calc_process_add(&p, &zero, 3, 1), CALC_OK);
    ck_assert_int_eq(calc_process_condition(&p, &terms), CALC_OK);
    double mean[2], c[4];
    process_posterior(&p, points, 2, mean, c);
    for (int i = 0; i < 2; i++) {
        double near = 0.7 * exp(-fabs(points[i])) / 0.8;
        ck_assert_double_eq_tol(mean[i], 3 + 2 * (0.25 - 0.25 * near), 1e-14);
        for (int k = 0; k < 2; k++) {
            double left = 0.7 * exp(-fabs(points[i] - points[k])) -
                          0.49 * exp(-fabs(points[i]) - fabs(points[k])) / 0.8;
            ck_assert_double_eq_tol(c[2 * i + k], 4 * left, 1e-14);
        }
    }
    /* of a datum at -0.25 below the mean, with variance 0.8 */
    ck_assert_double_eq_tol(p.log_likelihood, -(0.0625 / 0.8 + log(0.8) + log(2 * acos(-1))) / 2,
                            1e-14);
    calc_process_free(&p);
}

CALC_TEST(without_data_there_is_the_prior)
{
    calc_process p;
    calc_process_start(&p, 2, 0.03, 0.1);
    const double points[4] = {1, 2, 1, 3};
    double mean[2], c[4];
    process_posterior(&p, points, 2, mean, c);
    ck_assert_double_eq(mean[0], 0.03);
    ck_assert_double_eq_tol(c[0], 0.01, 1e-17);
    ck_assert_double_eq_tol(c[1], 0.01 * exp(-1), 1e-17);
    calc_process_start(&p, 2, 0, 0); /* no error and no spread */
    process_posterior(&p, points, 2, mean, c);
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq(mean[i], 0);
        ck_assert_double_eq(c[i], 0);
    }
    calc_process_free(&p);
}

CALC_TEST(repeated_data_are_merged_by_their_counts)
{
    calc_process p;
    calc_process_start(&p, 3, 0, 0);
    add(&p, 2, 3, 4, 0.1, 3);
    add(&p, 2, 3, 5, 0.7, 1);
    add(&p, 2, 3, 4, 0.5, 1);
    ck_assert_uint_eq(p.count, 2);
    ck_assert_double_eq_tol(p.value[0], 0.2, 1e-15);
    ck_assert_double_eq(p.weight[0], 4);
    calc_process_free(&p);
    ck_assert_uint_eq(p.count, 0);
}

CALC_TEST(zero_has_no_sign)
{
    calc_process p;
    calc_process_start(&p, 1, 0, 0);
    const double zero[2] = {0.0, -0.0};
    ck_assert_int_eq(calc_process_add(&p, &zero[0], 1, 1), CALC_OK);
    ck_assert_int_eq(calc_process_add(&p, &zero[1], 3, 1), CALC_OK);
    ck_assert_uint_eq(p.count, 1);
    calc_process_free(&p);
    ck_assert_int_eq(calc_process_add(&p, &zero[1], 3, 1), CALC_OK);
    ck_assert_int_eq(calc_process_add(&p, &zero[0], 1, 1), CALC_OK);
    ck_assert_uint_eq(p.count, 1);
    calc_process_free(&p);
}

/* Values that differ by rounding agree: the prior says how far others may be off. */
CALC_TEST(data_that_agree_have_the_spread_of_the_prior)
{
    calc_process p;
    calc_process_start(&p, 1, 0, 0.5);
    const double points[2] = {1, 2}, values[2] = {0.1 + 0.2, 0.3};
    ck_assert_double_ne(values[0], values[1]);
    const calc_process_terms terms = {.length = {1}, .scale = 1, .noise = 0.1};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(calc_process_add(&p, &points[i], values[i], 1), CALC_OK);
    }
    ck_assert_int_eq(calc_process_condition(&p, &terms), CALC_OK);
    ck_assert_double_eq(p.value_sd, 0.5);
    ck_assert_double_eq_tol(p.sd[0], sqrt(0.5), 1e-15);
    calc_process_free(&p);
}

/* On both sides of it the likelihood is less, and alike: it is quadratic in the mean. */
CALC_TEST(the_mean_of_greatest_likelihood)
{
    calc_process p;
    calc_process_start(&p, 1, 0, 0);
    static const double points[4] = {0, 0.1, 0.3, 5}, values[4] = {1, 1.2, 0.9, 4};
    calc_process_terms terms = {.length = {1}, .scale = 0.8, .noise = 0.05, .mean = NAN};
    double likelihood[2];
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(calc_process_add(&p, &points[i], values[i], 1), CALC_OK);
    }
    ck_assert_int_eq(calc_process_condition(&p, &terms), CALC_OK);
    double best = p.log_likelihood, mean = p.terms.mean;
    for (int i = 0; i < 2; i++) {
        terms.mean = mean + (i == 0 ? 0.25 : -0.25);
        ck_assert_int_eq(calc_process_condition(&p, &terms), CALC_OK);
        likelihood[i] = p.log_likelihood;
        ck_assert_double_lt(likelihood[i], best - 0.01);
    }
    ck_assert_double_eq_tol(likelihood[0], likelihood[1], 1e-12);
    calc_process_free(&p);
}

/* Data without noise are met; where they are one point to rounding, there is no factor. */
CALC_TEST(data_without_noise)
{
    calc_process p = three();
    double mean, sd;
    calc_process_terms exact = p.terms;
    exact.noise = 0;
    ck_assert_int_eq(calc_process_condition(&p, &exact), CALC_OK);
    process_at(&p, p.point, &mean, &sd);
    ck_assert_double_eq_tol(mean, 0.10, 1e-12);
    ck_assert_double_eq_tol(sd, 0, 1e-8);
    exact.length[0] = exact.length[1] = exact.length[2] = 1e300;
    ck_assert_int_eq(calc_process_condition(&p, &exact), CALC_ERR_RANGE);
    calc_process_free(&p);
}

CALC_TEST(data_out_of_range_are_refused)
{
    calc_process p;
    calc_process_start(&p, 1, 0, 0);
    double x = 1;
    ck_assert_int_eq(calc_process_add(&p, &x, NAN, 1), CALC_ERR_RANGE);
    ck_assert_int_eq(calc_process_add(&p, &x, 1, 0), CALC_ERR_RANGE);
    x = INFINITY;
    ck_assert_int_eq(calc_process_add(&p, &x, 1, 1), CALC_ERR_RANGE);
    ck_assert_uint_eq(p.count, 0);
    for (int i = 0; i < CALC_PROCESS_DATA; i++) {
        x = i;
        ck_assert_int_eq(calc_process_add(&p, &x, i, 1), CALC_OK);
    }
    x = -1;
    ck_assert_int_eq(calc_process_add(&p, &x, 1, 1), CALC_ERR_RANGE);
    x = 3;
    ck_assert_int_eq(calc_process_add(&p, &x, 1, 1), CALC_OK);
    ck_assert_double_eq(p.value[3], 2);
    calc_process_free(&p);
}

enum { DRAWS = 100000 };

CALC_TEST(draws_have_the_moments_of_the_distribution)
{
    double *x = malloc(DRAWS * sizeof *x);
    double sum = 0, square = 0, beyond = 0;
    calc_rng rng;
    ck_assert_ptr_nonnull(x);
    calc_rng_init(&rng, 1, 1);
    calc_normal_draw(&rng, x, DRAWS);
    for (int i = 0; i < DRAWS; i++) {
        sum += x[i];
        square += x[i] * x[i];
        beyond += x[i] > 1.959964;
    }
    free(x);
    ck_assert_double_eq_tol(sum / DRAWS, 0, 4 / sqrt(DRAWS));
    ck_assert_double_eq_tol(square / DRAWS, 1, 4 * sqrt(2.0 / DRAWS));
    ck_assert_double_eq_tol(beyond / DRAWS, 0.025, 4 * sqrt(0.025 / DRAWS));
}

/* Tables of the distribution. */
CALC_TEST(shares_and_quantiles)
{
    ck_assert_double_eq_tol(calc_normal_below(1), 0.8413447460685429, 1e-15);
    ck_assert_double_eq_tol(calc_normal_below(-8) / 6.220960574271785e-16, 1, 1e-12);
    ck_assert_double_eq_tol(calc_normal_quantile(0.95), 1.6448536269514722, 1e-12);
    /* The middle, a side and the far tail: roots of erfc in 40 digits. */
    ck_assert_double_eq_tol(calc_normal_quantile(0.3), -0.52440051270804078404, 2e-16);
    ck_assert_double_eq_tol(calc_normal_quantile(0.001), -3.0902323061678135415, 1e-15);
    ck_assert_double_eq_tol(calc_normal_quantile(1e-20), -9.2623400897984075737, 4e-15);
    ck_assert(calc_normal_quantile(0.5) == 0 && calc_normal_quantile(1) == (double)INFINITY);
    ck_assert_double_eq_tol(calc_normal_density(0), 0.3989422804014327, 1e-15);
}

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
