#include "process_case.h"

#include "frame.h"

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
