/** @file linear.h  Symmetric positive definite systems, and eigenvalues, on plain arrays, by the
 * GNU Scientific Library. Matrices are square, row after row; a factor is its lower triangle
 * alone. */
#ifndef CALC_GAUSS_LINEAR_H
#define CALC_GAUSS_LINEAR_H

#include "calc.h"

/** Factor A = L L' in place. Entries above the diagonal of L become 0.
 *  @return whether A is positive definite to rounding; if not, `a` is of no use */
CALC_MUST_USE bool calc_gauss_factor(double *a, size_t n);

/** x := inverse of L L', times x. */
void calc_gauss_solve(const double *factor, size_t n, double *x);

/** x := inverse of L, times x. */
void calc_gauss_solve_lower(const double *factor, size_t n, double *x);

/** x := L x. */
void calc_gauss_times_lower(const double *factor, size_t n, double *x);

/** log of the determinant of L L'. */
double calc_gauss_log_det(const double *factor, size_t n);

/** Eigenvalues of a symmetric matrix, from the least to the largest. `a` is overwritten.
 *  @param value  filled, `n` of them
 *  @return false if memory is short, or if a number is not finite */
CALC_MUST_USE bool calc_gauss_eigenvalues(double *a, size_t n, double *value);

#endif
