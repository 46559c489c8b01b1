#include "tune/knowledge.h"

#include <math.h>

#include "gauss/normal.h"

/* By slope, the steepest first, which is the lowest line far on the left; among equal slopes the
 * lowest first. Insertion: lists are short, and qsort has no context. */
static void sort(const double *mean, const double *slope, size_t count, size_t *order)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0; at--) {
            size_t other = order[at - 1];
            bool before =
                slope[i] > slope[other] || (slope[i] == slope[other] && mean[i] < mean[other]);
            if (!before) {
                break;
            }
            order[at] = other;
        }
        order[at] = i;
    }
}

/* Where line b, less steep, falls below line a. */
static double crossing(const double *mean, const double *slope, size_t a, size_t b)
{
    return (mean[b] - mean[a]) / (slope[a] - slope[b]);
}

/* Lines that are the lowest somewhere, from left to right. */
static size_t lower_hull(const double *mean, const double *slope, size_t count, const size_t *order,
                         size_t *hull)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t line = order[i];
        if (kept > 0 && slope[hull[kept - 1]] == slope[line]) {
            continue;
        }
        while (kept > 1 && crossing(mean, slope, hull[kept - 1], line) <=
                               crossing(mean, slope, hull[kept - 2], hull[kept - 1])) {
            kept--;
        }
        hull[kept++] = line;
    }
    return kept;
}

double calc_tune_knowledge(const double *mean, const double *slope, size_t count, size_t *order,
                           size_t *hull)
{
    sort(mean, slope, count, order);
    size_t lines = lower_hull(mean, slope, count, order, hull);
    double least = (double)INFINITY, expected = 0;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, mean[i]);
    }
    for (size_t i = 0; i < lines; i++) {
        double from = i > 0 ? crossing(mean, slope, hull[i - 1], hull[i]) : -(double)INFINITY;
        double to = i + 1 < lines ? crossing(mean, slope, hull[i], hull[i + 1]) : (double)INFINITY;
        double share = calc_normal_below(to) - calc_normal_below(from);
        double density = calc_normal_density(from) - calc_normal_density(to);
        expected += mean[hull[i]] * share + slope[hull[i]] * density;
    }
    return fmax(least - expected, 0);
}
