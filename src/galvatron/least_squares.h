/** @file least_squares.h  Fits lines and parabolas to measured points in closed form. */
#ifndef CALC_GALVATRON_LEAST_SQUARES_H
#define CALC_GALVATRON_LEAST_SQUARES_H

#include <stddef.h>

/** Coefficients of the powers 0 to degree of x, degree 1 or 2, with the least sum of squares. If
 *  the points do not determine them, all but the first are 0.
 *  @param out  [degree + 1] */
void calc_galvatron_polynomial(const double *x, const double *y, size_t count, int degree,
                               double *out);

#endif
