/** @file normal.h  The standard normal distribution: draws, density, shares. */
#ifndef CALC_GAUSS_NORMAL_H
#define CALC_GAUSS_NORMAL_H

#include <stddef.h>

#include "base/rng.h"

/** Fill `out` with independent draws of mean 0 and variance 1: the polar method, Marsaglia & Bray
 *  1964 (SIAM Review 6). */
void calc_normal_draw(calc_rng *rng, double *out, size_t count);

/** Density at x. */
double calc_normal_density(double x);

/** Share below x. */
double calc_normal_below(double x);

/** The quantile of a share of the distribution. @param share  in (0, 1) */
double calc_normal_quantile(double share);

#endif
