/** @file least_squares.h  Nonlinear least squares. */
#ifndef CALC_CALIBRATE_LEAST_SQUARES_H
#define CALC_CALIBRATE_LEAST_SQUARES_H

#include "calc.h"

/** Fill `residual` for the parameters x. */
typedef void (*calc_least_squares_residuals)(void *context, const double *x, double *residual);

/** A problem: parameters of about one in size. */
typedef struct calc_least_squares {
    calc_least_squares_residuals residuals;
    void *context;
    size_t parameters, count; /**< count of residuals, not fewer than the parameters */
    double step;              /**< of the differences that give the derivatives */
    size_t most;              /**< steps of the method at most */
} calc_least_squares;

/** Minimise the sum of squares from x on, by Levenberg-Marquardt steps.
 *  @param x      start, then the minimum, or the best point that was found
 *  @param error  standard error of each parameter: root of the diagonal of the inverse of J'J
 *  @return CALC_OK, CALC_ERR_NOMEM, or CALC_ERR_RULE if residuals are not finite or do not
 *          determine the parameters */
CALC_MUST_USE calc_status calc_least_squares_solve(const calc_least_squares *problem, double *x,
                                                   double *error, calc_errors *errors);

/** Residual of a robust fit whose square is the soft absolute value 2 (sqrt(1 + r^2) - 1):
 *  Charbonnier et al. 1997. */
double calc_least_squares_soft(double residual);

#endif
