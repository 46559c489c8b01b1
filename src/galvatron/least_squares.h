/** @file least_squares.h  Fits lines and parabolas to measured points: in closed form, and to the
 *  last digit as upstream's fitter does. */
#ifndef CALC_GALVATRON_LEAST_SQUARES_H
#define CALC_GALVATRON_LEAST_SQUARES_H

#include <stddef.h>

/** Coefficients of the powers 0 to degree of x, degree 1 or 2, with the least sum of squares. If
 *  the points do not determine them, all but the first are 0.
 *  @param out  [degree + 1] */
void calc_galvatron_polynomial(const double *x, const double *y, size_t count, int degree,
                               double *out);

/** Coefficients of the powers 0 to degree of x, degree 1 or 2, with the least sum of squares, by
 *  the Levenberg-Marquardt method from a start of ones with difference derivatives (Moré 1978, DOI
 *  10.1007/BFb0067700; MINPACK's lmdif, which SciPy's curve_fit calls). It stops about 1e-11 from
 *  the minimum. This difference decides between otherwise equal answers, so the order of arithmetic
 *  is the same as upstream's. If the trust region would bind, or there are more than 256 points,
 *  the closed form is used.
 *  @param out  [degree + 1] */
void calc_galvatron_fit(const double *x, const double *y, size_t count, int degree, double *out);

#endif
