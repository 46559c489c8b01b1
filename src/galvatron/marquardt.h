/** @file marquardt.h  Lines and parabolas as upstream's fitter finds them, to the last digit. */
#ifndef CALC_GALVATRON_MARQUARDT_H
#define CALC_GALVATRON_MARQUARDT_H

#include <stddef.h>

/** Coefficients of the powers 0 to degree of x, degree 1 or 2, that leave the least sum of squares,
 *  by the method of Levenberg and Marquardt from ones on, with differences for derivatives (Moré
 *  1978, DOI 10.1007/BFb0067700; MINPACK's lmdif, which SciPy's curve_fit calls). It ends some
 * 1e-11 off the least, which decides between answers that are otherwise equal; hence its order of
 *  arithmetic. Where its region of trust would bind, or there are more than 256 points, the closed
 *  form (least_squares.h).
 *  @param out  [degree + 1] */
void calc_galvatron_fit(const double *x, const double *y, size_t count, int degree, double *out);

#endif
