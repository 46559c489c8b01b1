#include "gauss/normal.h"

#include <gsl/gsl_cdf.h>
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
