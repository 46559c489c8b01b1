#include "validate/spread.h"

#include <math.h>
#include <stdlib.h>

double calc_spread_quantile(const double *sorted, size_t count, double q)
{
    if (count == 0) {
        return (double)NAN;
    }
    double place = q * (double)(count - 1);
    size_t below = (size_t)place;
    size_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

void calc_spread_sort(double *value, size_t count)
{
    if (count > 0) {
        qsort(value, count, sizeof *value, by_value);
    }
}

calc_spread calc_spread_of(double *error, size_t count)
{
    double sum = 0, sum_abs = 0;
    for (size_t i = 0; i < count; i++) {
        sum += error[i];
        error[i] = fabs(error[i]);
        sum_abs += error[i];
    }
    calc_spread_sort(error, count);
    double n = count > 0 ? (double)count : (double)NAN;
    return (calc_spread){.count = count,
                         .bias = sum / n,
                         .mean_abs = sum_abs / n,
                         .median_abs = calc_spread_quantile(error, count, 0.5),
                         .p90_abs = calc_spread_quantile(error, count, 0.9),
                         .worst_abs = calc_spread_quantile(error, count, 1)};
}

double calc_spread_weight(size_t count)
{
    return pow((double)count, 0.6) / (double)count;
}
