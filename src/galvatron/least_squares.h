/** @file least_squares.h  Lines and parabolas through measured points, in closed form. */
#ifndef CALC_GALVATRON_LEAST_SQUARES_H
#define CALC_GALVATRON_LEAST_SQUARES_H

#include <stddef.h>

/** Coefficients of the powers 0 to degree of x, degree 1 or 2, that leave the least sum of squares.
 *  All 0 but the first where points do not determine them.
 *  @param out  [degree + 1] */
void calc_galvatron_polynomial(const double *x, const double *y, size_t count, int degree,
                               double *out);

#endif
