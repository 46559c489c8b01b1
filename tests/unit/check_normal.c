#include "gauss/normal.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { DRAWS = 100000 };

START_TEST(draws_have_the_moments_of_the_distribution)
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
END_TEST

/* Tables of the distribution. */
START_TEST(shares_and_quantiles)
{
    ck_assert_double_eq_tol(calc_normal_below(1), 0.8413447460685429, 1e-15);
    ck_assert_double_eq_tol(calc_normal_below(-8) / 6.220960574271785e-16, 1, 1e-12);
    ck_assert_double_eq_tol(calc_normal_quantile(0.95), 1.6448536269514722, 1e-12);
    ck_assert_double_eq_tol(calc_normal_density(0), 0.3989422804014327, 1e-15);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("normal");
    TCase *tests = tcase_create("normal");
    tcase_add_test(tests, draws_have_the_moments_of_the_distribution);
    tcase_add_test(tests, shares_and_quantiles);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
