/** @file spread.h  How errors are spread. */
#ifndef CALC_VALIDATE_SPREAD_H
#define CALC_VALIDATE_SPREAD_H

#include <stddef.h>

/** The spread of errors e, fractions; NaN if there are none. */
typedef struct calc_spread {
    size_t count;
    double bias;       /**< mean of e */
    double mean_abs;   /**< mean of |e| */
    double median_abs; /**< median of |e| */
    double p90_abs;    /**< 90th percentile of |e| */
    double worst_abs;  /**< largest |e| */
} calc_spread;

/** Sorts `error` by size. */
calc_spread calc_spread_of(double *error, size_t count);

/** Put values in ascending order. */
void calc_spread_sort(double *value, size_t count);

/** The quantile q in [0, 1] of values in ascending order, linear between neighbours (type 7 of
 *  Hyndman and Fan 1996); NaN if there are none. */
double calc_spread_quantile(const double *sorted, size_t count, double q);

/** Weight of a run among `count` of its table: n runs count as n^0.6, so that no table outvotes the
 *  others. */
double calc_spread_weight(size_t count);

#endif
