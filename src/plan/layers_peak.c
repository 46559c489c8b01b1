#include "plan/layers_peak.h"

#include <math.h>
#include <stdlib.h>

enum { BINS = CALC_LAYERS_BINS };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Distinct values, ascending; if there are too many, the largest of each bin. @return how many */
static int distinct(double *value, int count, int most)
{
    int kept = 0;
    qsort(value, (size_t)count, sizeof *value, compare);
    for (int i = 0; i < count; i++) {
        kept += kept == 0 || value[i] > value[kept - 1] * (1 + 1e-9);
        value[kept - 1] = value[i];
    }
    int bins = kept < most ? kept : most;
    for (int i = 0; i < bins; i++) {
        value[i] = value[(i + 1) * kept / bins - 1];
    }
    return bins;
}

calc_layers_peak calc_layers_peak_of(calc_layers_peak ends, const calc_layers_part *x)
{
    return (calc_layers_peak){fmax(ends.working_bytes, x->working_bytes),
                              fmax(ends.passing_bytes, x->passing_bytes)};
}

bool calc_layers_is_below(calc_layers_peak a, calc_layers_peak b)
{
    return a.working_bytes <= b.working_bytes && a.passing_bytes <= b.passing_bytes;
}

/* Whether options at a level need both of its amounts: else a lower level has the same options. */
static bool is_reached(const calc_layers_peak *peak, int count, calc_layers_peak at)
{
    calc_layers_peak most = {0, 0};
    for (int i = 0; i < count; i++) {
        if (calc_layers_is_below(peak[i], at)) {
            most.working_bytes = fmax(most.working_bytes, peak[i].working_bytes);
            most.passing_bytes = fmax(most.passing_bytes, peak[i].passing_bytes);
        }
    }
    return most.working_bytes == at.working_bytes && most.passing_bytes == at.passing_bytes;
}

int calc_layers_levels(const calc_layers_peak *peak, int count,
                       calc_layers_peak level[CALC_LAYERS_LEVELS])
{
    double working[2 * CALC_LAYERWISE_OPTIONS];
    double passing[2 * CALC_LAYERWISE_OPTIONS];
    int levels = 0;
    for (int i = 0; i < count; i++) {
        working[i] = peak[i].working_bytes;
        passing[i] = peak[i].passing_bytes;
    }
    int rows = distinct(working, count, BINS);
    int columns = distinct(passing, count, BINS);
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < columns; k++) {
            const calc_layers_peak x = {working[i], passing[k]};
            bool last = i == rows - 1 && k == columns - 1;
            if (last || rows == BINS || columns == BINS || is_reached(peak, count, x)) {
                level[levels++] = x;
            }
        }
    }
    return levels;
}
