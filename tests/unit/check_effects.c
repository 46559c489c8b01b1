/* Beside the textbook: joint normal variables conditioned by inverting small matrices by hand, and
 * bounds by integrating. */
#include "gauss/effects.h"

#include <math.h>

#include "frame.h"
#include "gauss/process.h"

/* Two items that share one effect of standard deviation 2, with own errors of 1: variances 5,
 * covariance 4. */
static const calc_effects two = {.common = 1, .sd = {2}, .own_sd = 1};
static const calc_effects_item pair[2] = {{.expected = 10, .weight = {1}},
                                          {.expected = 20, .weight = {1}}};

static calc_effects_posterior given(const calc_effects *effects, const calc_effects_item *item,
                                    const calc_effects_observation *seen, size_t count)
{
    calc_effects_posterior p;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_effects_condition(&p, effects, item, seen, count, &errors), CALC_OK);
    return p;
}

CALC_TEST(an_observation_moves_what_shares_its_error)
{
    const calc_effects_observation seen = {0, CALC_EFFECTS_AT, 13, 1};
    calc_effects_posterior p = given(&two, pair, &seen, 1);
    double white[1], mean, variance;
    calc_effects_moments(&p, 0, white, &mean, &variance);
    ck_assert_double_eq_tol(mean, 10 + 3 * 5 / 6.0, 1e-12);
    ck_assert_double_eq_tol(variance, 5 - 25 / 6.0, 1e-12);
    calc_effects_moments(&p, 1, white, &mean, &variance);
    ck_assert_double_eq_tol(mean, 20 + 3 * 4 / 6.0, 1e-12);
    ck_assert_double_eq_tol(variance, 5 - 16 / 6.0, 1e-12);
    ck_assert_double_eq_tol(calc_effects_log_density(&p, (double)INFINITY),
                            -0.5 * (9 / 6.0 + log(6) + log(2 * acos(-1))), 1e-12);
    /* Student's t with four degrees of freedom: 3 / 8 (1 + t^2 / 4)^(-5 / 2). */
    ck_assert_double_eq_tol(calc_effects_log_density(&p, 4),
                            log(3.0 / 8 * pow(1 + 9 / 6.0 / 4, -2.5) / sqrt(6)), 1e-12);
    ck_assert_double_eq_tol(calc_effects_scale(&p, 4), (4 + 9 / 6.0) / 5, 1e-12);
    calc_effects_free(&p);
}

CALC_TEST(wider_errors_leave_means_as_they_are)
{
    double covariance[4] = {1, 0.5, 0.5, 1};
    calc_effects e = {.common = 1,
                      .sd = {2},
                      .fields = 1,
                      .field = {{.cells = 2, .covariance = covariance, .size = 1}},
                      .own_sd = 1};
    const calc_effects_item item[2] = {{.weight = {1}, .field_weight = {1}, .cell = {0}},
                                       {.weight = {0.5}, .field_weight = {1}, .cell = {1}}};
    const calc_effects_observation seen = {0, CALC_EFFECTS_AT, 4, 1};
    calc_effects_posterior p = given(&e, item, &seen, 1);
    double white[1], mean[2][2], variance[2][2], surprise[2];
    for (int wide = 0; wide < 2; wide++) {
        for (size_t i = 0; i < 2; i++) {
            calc_effects_moments(&p, i, white, &mean[wide][i], &variance[wide][i]);
        }
        calc_effects_surprise(&p, &surprise[wide]);
        calc_effects_widen(&p, &e, 3);
    }
    for (size_t i = 0; i < 2; i++) {
        ck_assert_double_eq_tol(mean[1][i], mean[0][i], 1e-12);
        ck_assert_double_eq_tol(variance[1][i], 9 * variance[0][i], 1e-12);
    }
    ck_assert_double_eq_tol(surprise[1], surprise[0] / 3, 1e-12);
    calc_effects_free(&p);
}

CALC_TEST(a_field_is_shared_by_cells_as_they_are_alike)
{
    double covariance[4] = {0.25, 0.125, 0.125, 0.25}, mean_of[2] = {0, 0.25};
    const calc_effects e = {
        .fields = 1, .field = {{.cells = 2, .covariance = covariance, .mean = mean_of, .size = 2}}};
    const calc_effects_item item[2] = {{.field_weight = {2}, .cell = {0}},
                                       {.field_weight = {1}, .cell = {1}}};
    const calc_effects_observation seen = {0, CALC_EFFECTS_AT, 4, 1};
    calc_effects_posterior p = given(&e, item, &seen, 1);
    double white[1], mean, variance;
    calc_effects_moments(&p, 1, white, &mean, &variance);
    ck_assert_double_eq_tol(mean, 0.25 + 1.0 / 5 * 4, 1e-12); /* covariance 2 * 0.5, variance 5 */
    ck_assert_double_eq_tol(variance, 1 - 1 / 5.0, 1e-12);
    calc_effects_free(&p);
}

/* The value of a standard normal variable above a bound: mean h(a), with h = density / share. */
CALC_TEST(a_bound_cuts_a_distribution)
{
    const calc_effects e = {.common = 1, .sd = {1}};
    const calc_effects_item item = {.weight = {1}};
    for (int i = -3; i <= 3; i++) {
        double bound = i;
        calc_effects_observation seen = {0, CALC_EFFECTS_ABOVE, bound, 0};
        calc_effects_posterior p = given(&e, &item, &seen, 1);
        double white[1], mean, variance;
        double h = calc_normal_density(bound) / calc_normal_below(-bound);
        calc_effects_moments(&p, 0, white, &mean, &variance);
        ck_assert_double_eq_tol(mean, h, 1e-6);
        ck_assert_double_eq_tol(variance, 1 - h * (h - bound), 1e-6);
        calc_effects_free(&p);
        seen.side = CALC_EFFECTS_BELOW;
        seen.value = -bound;
        p = given(&e, &item, &seen, 1);
        calc_effects_moments(&p, 0, white, &mean, &variance);
        ck_assert_double_eq_tol(mean, -h, 1e-6);
        calc_effects_free(&p);
    }
}

/* A bound that is not sharp is one on the value and a noise: with t^2 = 1 + s^2 and h at a / t. */
CALC_TEST(a_blurred_bound_cuts_less)
{
    const calc_effects e = {.common = 1, .sd = {1}};
    const calc_effects_item item = {.weight = {1}};
    const calc_effects_observation seen = {0, CALC_EFFECTS_ABOVE, 1.5, 0.75};
    calc_effects_posterior p = given(&e, &item, &seen, 1);
    double white[1], mean, variance;
    double at = 1.5 / 1.25, h = calc_normal_density(at) / calc_normal_below(-at);
    calc_effects_moments(&p, 0, white, &mean, &variance);
    ck_assert_double_eq_tol(mean, h / 1.25, 1e-6);
    ck_assert_double_eq_tol(variance, 1 - h * (h - at) / 1.5625, 1e-6);
    calc_effects_free(&p);
}

/* Where density and share are 0 in doubles: the mean is a + 1 / a - 2 / a^3, the variance
 * 1 / a^2 - 6 / a^4, to the next power. */
CALC_TEST(bounds_far_beyond_what_was_expected)
{
    const calc_effects e = {.common = 1, .sd = {1}};
    const calc_effects_item item = {.weight = {1}};
    for (int i = 1; i <= 4; i++) {
        double a = 29 * i, white[1], mean, variance;
        const calc_effects_observation seen = {0, CALC_EFFECTS_ABOVE, a, 0};
        calc_effects_posterior p = given(&e, &item, &seen, 1);
        calc_effects_moments(&p, 0, white, &mean, &variance);
        ck_assert_double_eq_tol(mean, a + 1 / a - 2 / pow(a, 3), 12 / pow(a, 5));
        ck_assert_double_eq_tol(variance, 1 / (a * a) - 6 / pow(a, 4), 12 / pow(a, 4));
        calc_effects_free(&p);
    }
}

/* Half of how far it is off is the blur of the bound. */
CALC_TEST(blurred_bounds_far_beyond_what_was_expected)
{
    const calc_effects e = {.common = 1, .sd = {1}};
    const calc_effects_item item = {.weight = {1}};
    const calc_effects_observation seen = {0, CALC_EFFECTS_BELOW, -100, 1};
    calc_effects_posterior p = given(&e, &item, &seen, 1);
    double a = 100 / sqrt(2), white[1], mean, variance;
    calc_effects_moments(&p, 0, white, &mean, &variance);
    ck_assert_double_eq_tol(mean, -(a + 1 / a - 2 / pow(a, 3)) / sqrt(2), 1e-7);
    ck_assert_double_eq_tol(variance, 1 - (1 - 1 / (a * a) + 6 / pow(a, 4)) / 2, 1e-7);
    calc_effects_free(&p);
}

CALC_TEST(a_bound_that_is_far_off_says_nothing)
{
    const calc_effects e = {.common = 1, .sd = {1}};
    const calc_effects_item item = {.expected = 1000, .weight = {1}};
    const calc_effects_observation seen = {0, CALC_EFFECTS_ABOVE, 900, 0};
    calc_effects_posterior p = given(&e, &item, &seen, 1);
    double white[1], mean, variance;
    calc_effects_moments(&p, 0, white, &mean, &variance);
    ck_assert_double_eq_tol(mean, 1000, 1e-9);
    ck_assert_double_eq_tol(variance, 1, 2e-6);
    calc_effects_free(&p);
}

/* Two bounds on variables that share an error, beside the integral over a grid. */
CALC_TEST(bounds_on_several_items_act_together)
{
    const calc_effects_observation seen[2] = {{0, CALC_EFFECTS_ABOVE, 12, 0.1},
                                              {1, CALC_EFFECTS_BELOW, 21, 0.1}};
    calc_effects_posterior p = given(&two, pair, seen, 2);
    double white[2], mean, variance, weight = 0, first = 0, square = 0;
    calc_effects_moments(&p, 0, white, &mean, &variance);
    for (int i = -800; i <= 800; i++) {
        for (int k = -500; k <= 500; k++) {
            double shared = i / 100.0, own = k / 100.0; /* standard deviations 2 and 1 */
            double x = 10 + shared + own;
            double w = exp(-shared * shared / 8 - own * own / 2) *
                       calc_normal_below((x - 12) / 0.1) *
                       calc_normal_below((21 - 20 - shared) / sqrt(1.01));
            weight += w;
            first += w * x;
            square += w * x * x;
        }
    }
    double exact = first / weight;
    ck_assert_double_eq_tol(mean, exact, 0.02); /* an approximation: within 2 % of a deviation */
    ck_assert_double_eq_tol(variance, square / weight - exact * exact, 0.05);
    calc_effects_free(&p);
    /* It has settled: the order in which they were seen is forgotten. */
    const calc_effects_observation swapped[2] = {seen[1], seen[0]};
    double again, variance_again;
    p = given(&two, pair, swapped, 2);
    calc_effects_moments(&p, 0, white, &again, &variance_again);
    ck_assert_double_eq_tol(again, mean, 1e-8);
    ck_assert_double_eq_tol(variance_again, variance, 1e-8);
    calc_effects_free(&p);
}

CALC_TEST(a_surprise_is_what_the_others_did_not_expect)
{
    const calc_effects_observation seen[3] = {{0, CALC_EFFECTS_AT, 10, 0.1},
                                              {1, CALC_EFFECTS_AT, 26, 0.1},
                                              {1, CALC_EFFECTS_BELOW, 30, 0}};
    calc_effects_posterior p = given(&two, pair, seen, 2);
    double out[3];
    calc_effects_surprise(&p, out);
    double variance = 5.01 - 16 / 5.01;
    ck_assert_double_eq_tol(out[1], 6 / sqrt(variance), 1e-9);
    ck_assert_double_eq_tol(out[0], -6 * 4 / 5.01 / sqrt(variance), 1e-9);
    calc_effects_free(&p);
    p = given(&two, pair, seen, 3);
    calc_effects_surprise(&p, out);
    ck_assert_double_eq(out[2], 0);
    calc_effects_free(&p);
}

CALC_TEST(what_was_observed_without_noise_is_certain)
{
    for (int i = 1; i <= 50; i++) {
        const calc_effects e = {.common = 2, .sd = {0.1 * i, 1.0 / i}};
        const calc_effects_item item = {.weight = {1, 0.3}};
        const calc_effects_observation seen = {0, CALC_EFFECTS_AT, 1, 0};
        calc_effects_posterior p = given(&e, &item, &seen, 1);
        double white[1], mean, variance;
        calc_effects_moments(&p, 0, white, &mean, &variance);
        ck_assert_double_eq_tol(mean, 1, 1e-14);
        ck_assert_double_ge(variance, 0);
        ck_assert_double_le(variance, 1e-13);
        calc_effects_free(&p);
    }
}

CALC_TEST(contradictions_without_noise_are_refused)
{
    const calc_effects e = {.common = 1, .sd = {1}};
    const calc_effects_item item = {.weight = {1}};
    const calc_effects_observation seen[2] = {{0, CALC_EFFECTS_AT, 1, 0},
                                              {0, CALC_EFFECTS_AT, 2, 0}};
    calc_effects_posterior p;
    calc_errors errors = {0};
    ck_assert_int_eq(calc_effects_condition(&p, &e, &item, seen, 2, &errors), CALC_ERR_RULE);
    calc_effects_free(&p);
}

/* Draws have the moments that are computed directly: own errors and repeated observations too. */
CALC_TEST(draws_have_the_moments_of_the_posterior)
{
    enum { DRAWS = 40000 };
    double covariance[4] = {4, 2, 2, 4};
    const calc_effects e = {.common = 1,
                            .sd = {2},
                            .fields = 1,
                            .field = {{.cells = 2, .covariance = covariance, .size = 0.5}},
                            .own_sd = 1};
    const calc_effects_item item[3] = {{.weight = {1}, .field_weight = {1}, .cell = {0}},
                                       {.weight = {0.5}, .field_weight = {1}, .cell = {1}},
                                       {.weight = {1}, .field_weight = {2}, .cell = {1}}};
    const calc_effects_observation seen[3] = {{0, CALC_EFFECTS_AT, 3, 0.5},
                                              {1, CALC_EFFECTS_AT, -1, 0.5},
                                              {0, CALC_EFFECTS_AT, 2.5, 0.5}};
    calc_effects_posterior p = given(&e, item, seen, 3);
    calc_effects_draws draws;
    calc_errors errors = {0};
    calc_rng rng;
    double sum[3] = {0}, square[3][3] = {{0}}, value[3], white[3][3], mean[3], variance[3];
    calc_rng_init(&rng, 7, 7);
    ck_assert_int_eq(calc_effects_draws_make(&draws, &p, &errors), CALC_OK);
    for (int i = 0; i < DRAWS; i++) {
        calc_effects_draw(&draws, &rng);
        double own;
        calc_normal_draw(&rng, &own, 1);
        for (size_t k = 0; k < 3; k++) {
            value[k] = calc_effects_drawn(&draws, &item[k]) +
                       (k < 2 ? calc_effects_drawn_own(&draws, k) : own);
            sum[k] += value[k];
        }
        ck_assert_double_eq(draws.own[0], draws.own[2]);
        for (size_t k = 0; k < 9; k++) {
            square[k / 3][k % 3] += value[k / 3] * value[k % 3];
        }
    }
    for (size_t k = 0; k < 3; k++) {
        calc_effects_moments(&p, k, white[k], &mean[k], &variance[k]);
        ck_assert_double_eq_tol(sum[k] / DRAWS, mean[k], 5 * sqrt(variance[k] / DRAWS));
    }
    for (size_t a = 0; a < 3; a++) {
        for (size_t b = 0; b < 3; b++) {
            double expected = calc_effects_covariance(&e, &item[a], &item[b]) + (a == b);
            for (size_t k = 0; k < 3; k++) {
                expected -= white[a][k] * white[b][k];
            }
            double found = square[a][b] / DRAWS - sum[a] / DRAWS * (sum[b] / DRAWS);
            ck_assert_double_eq_tol(found, expected, 7 * sqrt(variance[a] * variance[b] / DRAWS));
        }
    }
    calc_effects_draws_free(&draws);
    calc_effects_free(&p);
}
