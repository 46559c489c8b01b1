#include "tune/knowledge.h"

#include <math.h>

#include "base/rng.h"
#include "frame.h"
#include "gauss/normal.h"

/* The same by adding up over a grid. */
static double by_integration(const double *mean, const double *slope, size_t count)
{
    double least = (double)INFINITY, sum = 0, weight = 0;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, mean[i]);
    }
    for (int k = -9000; k <= 9000; k++) {
        double z = k / 1000.0, lowest = (double)INFINITY;
        for (size_t i = 0; i < count; i++) {
            lowest = fmin(lowest, mean[i] + slope[i] * z);
        }
        sum += lowest * calc_normal_density(z);
        weight += calc_normal_density(z);
    }
    return least - sum / weight;
}

CALC_TEST_LOOP(lines_are_integrated_exactly, 0, 200)
{
    calc_rng rng;
    calc_rng_init(&rng, 3, (uint64_t)_i);
    double mean[9], slope[9];
    size_t order[9], hull[9];
    size_t count = 1 + calc_rng_below(&rng, 9);
    for (size_t i = 0; i < count; i++) {
        mean[i] = calc_rng_real(&rng);
        slope[i] = floor(10 * calc_rng_real(&rng)) / 10 - 0.5; /* some are equal */
    }
    double found = calc_tune_knowledge(mean, slope, count, order, hull);
    ck_assert_double_eq_tol(found, by_integration(mean, slope, count), 1e-6);
}

CALC_TEST(nothing_is_learnt_from_what_is_known)
{
    const double mean[2] = {1, 2}, none[2] = {0, 0}, same[2] = {0.5, 0.5};
    size_t order[2], hull[2];
    ck_assert_double_eq(calc_tune_knowledge(mean, none, 2, order, hull), 0);
    ck_assert_double_eq_tol(calc_tune_knowledge(mean, same, 2, order, hull), 0, 1e-12);
}
