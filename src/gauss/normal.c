#include "gauss/normal.h"

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

/* A ratio of two polynomials, lowest powers first. */
static double ratio(const double above[8], const double below[8], double x)
{
    double p = above[7], q = below[7];
    for (int i = 6; i >= 0; i--) {
        p = p * x + above[i];
        q = q * x + below[i];
    }
    return p / q;
}

double calc_normal_quantile(double share)
{
    static const double middle[2][8] = {
        {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
         1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
         3.3430575583588128105e4, 2.5090809287301226727e3},
        {1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
         2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
         5.2264952788528545610e3}};
    static const double side[2][8] = {
        {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
         3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
         2.27238449892691845833e-2, 7.74545014278341407640e-4},
        {1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
         1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
         1.05075007164441684324e-9}};
    static const double tail[2][8] = {
        {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
         2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
         2.71155556874348757815e-5, 2.01033439929228813265e-7},
        {1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
         7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
         2.04426310338993978564e-15}};
    double q = share - 0.5;
    if (fabs(q) <= 0.425) {
        return q * ratio(middle[0], middle[1], 0.180625 - q * q);
    }
    double rest = fmin(share, 1 - share);
    if (rest <= 0) {
        return copysign((double)INFINITY, q);
    }
    double r = sqrt(-log(rest));
    double x = r <= 5 ? ratio(side[0], side[1], r - 1.6) : ratio(tail[0], tail[1], r - 5);
    return copysign(x, q);
}

/* Sums go in one order: LAPACK comes in several libraries, with roundings of their own. */
bool calc_gauss_factor(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++) {
                sum -= a[i * n + k] * a[j * n + k];
            }
            if (i == j && !(sum > 0)) {
                return false;
            }
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
        for (size_t j = i + 1; j < n; j++) {
            a[i * n + j] = 0;
        }
    }
    return true;
}

void calc_gauss_solve_lower(const double *factor, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            x[i] -= factor[i * n + j] * x[j];
        }
        x[i] /= factor[i * n + i];
    }
}

void calc_gauss_solve(const double *factor, size_t n, double *x)
{
    calc_gauss_solve_lower(factor, n, x);
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++) {
            x[i] -= factor[j * n + i] * x[j];
        }
        x[i] /= factor[i * n + i];
    }
}

void calc_gauss_times_lower(const double *factor, size_t n, double *x)
{
    for (size_t i = n; i-- > 0;) {
        double sum = 0;
        for (size_t j = 0; j <= i; j++) {
            sum += factor[i * n + j] * x[j];
        }
        x[i] = sum;
    }
}

double calc_gauss_log_det(const double *factor, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += 2 * log(factor[i * n + i]);
    }
    return sum;
}

/* A rotation that makes a[p][q] zero. */
static void rotate(double *a, size_t n, size_t p, size_t q)
{
    double apart = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double tangent = copysign(1 / (fabs(apart) + hypot(apart, 1)), apart);
    double cosine = 1 / sqrt(tangent * tangent + 1), sine = tangent * cosine;
    double value_p = a[p * n + p], value_q = a[q * n + q], moved = tangent * a[p * n + q];
    for (size_t k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = a[p * n + k] = cosine * x - sine * y;
        a[k * n + q] = a[q * n + k] = sine * x + cosine * y;
    }
    a[p * n + p] = value_p - moved;
    a[q * n + q] = value_q + moved;
    a[p * n + q] = a[q * n + p] = 0;
}

bool calc_gauss_eigenvalues(double *a, size_t n, double *value)
{
    enum { SWEEPS = 30 /* they converge quadratically: a few suffice */ };
    for (size_t i = 0; i < n * n; i++) {
        if (!isfinite(a[i])) {
            return false;
        }
    }
    for (int sweep = 0, left = 1; left && sweep < SWEEPS; sweep++) {
        left = 0;
        for (size_t p = 0; p < n; p++) {
            for (size_t q = p + 1; q < n; q++) {
                double off = fabs(a[p * n + q]);
                /* What no longer changes either eigenvalue is rounding. */
                if (off > 1e-17 * sqrt(fabs(a[p * n + p] * a[q * n + q]))) {
                    rotate(a, n, p, q);
                    left = 1;
                }
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        size_t at = i;
        for (; at > 0 && value[at - 1] > a[i * n + i]; at--) {
            value[at] = value[at - 1];
        }
        value[at] = a[i * n + i];
    }
    return true;
}
