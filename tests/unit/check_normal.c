#include "gauss/process.h"

#include <math.h>
#include <stdlib.h>

#include "frame.h"

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
