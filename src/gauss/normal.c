#include "gauss/normal.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_sort_vector.h>
#include <math.h>

/* Two draws from a point in the unit circle. */
static void draw_two(calc_rng *rng, double two[2])
{
    double x, y, square;
    do {
        x = 2 * calc_rng_real(rng) - 1;
        y = 2 * calc_rng_real(rng) - 1;
        square = x * x + y * y;
    } while (square >= 1 || square == 0);
    double scale = sqrt(-2 * log(square) / square);
    two[0] = x * scale;
    two[1] = y * scale;
}

void calc_normal_draw(calc_rng *rng, double *out, size_t count)
{
    double two[2];
    for (size_t i = 0; i < count; i++) {
        if (i % 2 == 0) {
            draw_two(rng, two);
        }
        out[i] = two[i % 2];
    }
}

double calc_normal_density(double x)
{
    return exp(-x * x / 2) / sqrt(2 * 3.14159265358979323846);
}

double calc_normal_below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

double calc_normal_quantile(double share)
{
    return gsl_cdf_ugaussian_Pinv(share);
}

/* The library's default is to abort; its handler is per process, and is put back. */
bool calc_gauss_factor(double *a, size_t n)
{
    if (n == 0) {
        return true;
    }
    gsl_matrix_view view = gsl_matrix_view_array(a, n, n);
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    int status = gsl_linalg_cholesky_decomp1(&view.matrix);
    gsl_set_error_handler(before);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            a[i * n + j] = 0;
        }
    }
    return status == GSL_SUCCESS;
}

static void apply(const double *factor, size_t n, double *x, CBLAS_TRANSPOSE_t transpose,
                  bool inverse)
{
    if (n == 0) {
        return;
    }
    gsl_matrix_const_view l = gsl_matrix_const_view_array(factor, n, n);
    gsl_vector_view v = gsl_vector_view_array(x, n);
    if (inverse) {
        gsl_blas_dtrsv(CblasLower, transpose, CblasNonUnit, &l.matrix, &v.vector);
    } else {
        gsl_blas_dtrmv(CblasLower, transpose, CblasNonUnit, &l.matrix, &v.vector);
    }
}

void calc_gauss_solve(const double *factor, size_t n, double *x)
{
    apply(factor, n, x, CblasNoTrans, true);
    apply(factor, n, x, CblasTrans, true);
}

void calc_gauss_solve_lower(const double *factor, size_t n, double *x)
{
    apply(factor, n, x, CblasNoTrans, true);
}

void calc_gauss_times_lower(const double *factor, size_t n, double *x)
{
    apply(factor, n, x, CblasNoTrans, false);
}

double calc_gauss_log_det(const double *factor, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += 2 * log(factor[i * n + i]);
    }
    return sum;
}

bool calc_gauss_eigenvalues(double *a, size_t n, double *value)
{
    for (size_t i = 0; i < n * n; i++) {
        if (!isfinite(a[i])) {
            return false; /* the library would not come to an end */
        }
    }
    if (n == 0) {
        return true;
    }
    gsl_error_handler_t *before = gsl_set_error_handler_off();
    gsl_eigen_symm_workspace *workspace = gsl_eigen_symm_alloc(n);
    gsl_matrix_view matrix = gsl_matrix_view_array(a, n, n);
    gsl_vector_view values = gsl_vector_view_array(value, n);
    bool good =
        workspace && gsl_eigen_symm(&matrix.matrix, &values.vector, workspace) == GSL_SUCCESS;
    if (workspace) {
        gsl_eigen_symm_free(workspace);
    }
    gsl_set_error_handler(before);
    if (good) {
        gsl_sort_vector(&values.vector);
    }
    return good;
}
