/** @file process.h  A Gaussian process: the posterior mean and covariance of a function of a few
 *  coordinates, given noisy data.
 *
 *  Coordinates are divided by their sample standard deviations over the data, values become
 *  (value - mean) / sd; where there is one datum, or all agree, a standard deviation is 1. On these
 *  the function has a constant mean, the covariance
 *
 *      k(x, x') = scale exp(-sqrt(sum_j ((x_j - x'_j) / length_j)^2))        Matern 1/2
 *
 *  and every datum a noise of variance `noise`. Source: Rasmussen & Williams, "Gaussian Processes
 *  for Machine Learning", MIT Press 2006, algorithm 2.1 and equations 2.23, 2.24 and 4.14. */
#ifndef CALC_GAUSS_PROCESS_H
#define CALC_GAUSS_PROCESS_H

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

enum { CALC_PROCESS_DIMENSIONS = 8, CALC_PROCESS_DATA = 400 };

/** The hyper-parameters, of standardised coordinates and values. */
typedef struct calc_process_terms {
    double length[CALC_PROCESS_DIMENSIONS]; /**< > 0 */
    double scale;                           /**< > 0: variance of the function */
    double noise;                           /**< >= 0: variance of a datum about it */
    double mean; /**< NaN: the one of greatest likelihood, which replaces it */
} calc_process_terms;

/** Start with calc_process_start(). Owns its arrays. */
typedef struct calc_process {
    size_t dimensions, count;
    double point[CALC_PROCESS_DATA * CALC_PROCESS_DIMENSIONS]; /**< coordinates of the data, one
                                                                  datum after the other */
    double value[CALC_PROCESS_DATA];    /**< of each datum, in the unit of the measurement */
    double weight[CALC_PROCESS_DATA];   /**< how many measurements each datum is the mean of */
    double sd[CALC_PROCESS_DIMENSIONS]; /**< by which coordinates are divided */
    double value_mean, value_sd;        /**< of the data, or of the prior without any */
    double prior_mean, prior_sd;
    calc_process_terms terms;
    double log_likelihood; /**< of the standardised values */
    double *factor;        /**< L of the covariance of the data = L L' */
    double *pull;          /**< inverse of the covariance, times the values minus their mean */
} calc_process;

/** Begin with a prior and no data: until there are data the function has this mean and standard
 *  deviation everywhere. With a single datum, or data that agree, the standard deviation is still
 *  this one if above 0.
 *  @param dimensions  1 to CALC_PROCESS_DIMENSIONS
 *  @param prior_sd    >= 0; 0: the function is constant at the mean */
void calc_process_start(calc_process *process, size_t dimensions, double prior_mean,
                        double prior_sd);

/** Free what it owns; it is then without data. */
void calc_process_free(calc_process *process);

/** Add a datum; at a point that has one already the two are merged, weighted by their counts. The
 *  posterior is stale until calc_process_condition() or calc_process_fit().
 *  @param count  > 0: number of measurements with mean `value`
 *  @return CALC_OK; CALC_ERR_RANGE for more than CALC_PROCESS_DATA data, or numbers that are not
 *  finite. The data change only with CALC_OK. */
CALC_MUST_USE calc_status calc_process_add(calc_process *process, const double *point, double value,
                                           double count);

/** Learn from the data with given hyper-parameters.
 *  @return CALC_OK; CALC_ERR_RANGE if the covariance of the data is not positive definite */
CALC_MUST_USE calc_status calc_process_condition(calc_process *process,
                                                 const calc_process_terms *terms);

/** Prior covariance of the function at two points [unit of the values, squared]. */
double calc_process_prior(const calc_process *process, const double *a, const double *b);

/** Number of data that the process is conditioned on. */
size_t calc_process_known(const calc_process *process);

/** The reach of a point: L^-1 k(data, x), in the unit of the values. Data reduce the covariance of
 *  two points by the inner product of their reaches.
 *  @param reach  calc_process_known() numbers
 *  @return the mean at the point */
double calc_process_reach(const calc_process *process, const double *point, double *reach);

/** Bounds and prior of the hyper-parameters. */
#define CALC_PROCESS_LENGTH_MIN 0.03
#define CALC_PROCESS_LENGTH_MAX 30.0
#define CALC_PROCESS_SCALE_MIN 0.01
#define CALC_PROCESS_SCALE_MAX 30.0
#define CALC_PROCESS_NOISE_MIN 1e-4
#define CALC_PROCESS_NOISE_MAX 1.0
/** The noise's own prior is a normal distribution. */
#define CALC_PROCESS_NOISE_MEAN 1e-3
#define CALC_PROCESS_NOISE_SD 0.02

enum { CALC_PROCESS_FIT_DATA = 3 };
/** Step at which the search ends, in logarithms. */
#define CALC_PROCESS_FIT_STEP 0.01

/** Find the hyper-parameters that maximise the log marginal likelihood and the log of the noise's
 *  prior, and learn from the data with them: a grid, then a search along one hyper-parameter after
 *  the other, down to steps of 1 %. The same data give the same bits. Fewer than
 *  CALC_PROCESS_FIT_DATA data do not determine them: then lengths and scale are 1, and the noise is
 *  where its prior is highest.
 *  @return as calc_process_condition() with what was found */
CALC_MUST_USE calc_status calc_process_fit(calc_process *process);

#endif
