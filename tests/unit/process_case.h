/** @file process_case.h  What a Gaussian process says of points. */
#ifndef CALC_TESTS_PROCESS_CASE_H
#define CALC_TESTS_PROCESS_CASE_H

#include "gauss/process.h"

#include <check.h>
#include <math.h>

enum { PROCESS_POINTS = 4 };

/** What is known of the function, without noise, at several points together.
 *  @param mean        of each
 *  @param covariance  count * count numbers */
static inline void process_posterior(const calc_process *p, const double *points, size_t count,
                                     double *mean, double *covariance)
{
    static double reach[PROCESS_POINTS][CALC_PROCESS_DATA];
    size_t n = calc_process_known(p), d = p->dimensions;
    ck_assert_uint_le(count, PROCESS_POINTS);
    for (size_t i = 0; i < count; i++) {
        mean[i] = calc_process_reach(p, points + i * d, reach[i]);
        for (size_t k = 0; k <= i; k++) {
            double left = calc_process_prior(p, points + i * d, points + k * d);
            for (size_t j = 0; j < n; j++) {
                left -= reach[i][j] * reach[k][j];
            }
            covariance[i * count + k] = covariance[k * count + i] = left;
        }
    }
}

/** Mean and standard deviation at one point. */
static inline void process_at(const calc_process *p, const double *point, double *mean, double *sd)
{
    process_posterior(p, point, 1, mean, sd);
    *sd = sqrt(fmax(0, *sd)); /* rounding */
}

#endif
