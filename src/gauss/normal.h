/** @file normal.h  The standard normal distribution, and factors and eigenvalues of matrices. */
#ifndef CALC_GAUSS_NORMAL_H
#define CALC_GAUSS_NORMAL_H

#include <stddef.h>

#include "base/rng.h"
#include "calc.h"

/** Fill `out` with independent draws of mean 0 and variance 1: the polar method, Marsaglia & Bray
 *  1964 (SIAM Review 6). */
void calc_normal_draw(calc_rng *rng, double *out, size_t count);

/** Density at x. */
double calc_normal_density(double x);

/** Share below x. */
double calc_normal_below(double x);

/** The quantile of a share of the distribution: PPND16 of Wichura 1988, Algorithm AS 241 (Applied
 *  Statistics 37), to 1e-16 of its value. @param share  in (0, 1) */
double calc_normal_quantile(double share);

/* Symmetric positive definite systems, and eigenvalues, on plain arrays. Matrices are square, row
 * after row; a factor is its lower triangle alone. */

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

/** Eigenvalues of a symmetric matrix, from the least to the largest, by Jacobi's rotations (Golub &
 *  Van Loan, Matrix Computations, 8.5). `a` is overwritten.
 *  @param value  filled, `n` of them
 *  @return false if a number is not finite */
CALC_MUST_USE bool calc_gauss_eigenvalues(double *a, size_t n, double *value);

#endif
