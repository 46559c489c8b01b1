/** @file processor.h  Time of arithmetic and of memory traffic on one processor.
 *  Source: Isaev et al., "Calculon: a Methodology and Tool for High-Level Codesign of Systems and
 *  Large Language Models", SC'23, section 2 (efficiency by size of the operation). */
#ifndef CALC_MODEL_PROCESSOR_H
#define CALC_MODEL_PROCESSOR_H

#include "calc.h"

/** Larger of two numbers, without libm's rules for NaN: one instruction. */
static inline double calc_max(double a, double b)
{
    return a > b ? a : b;
}

/** Smaller of two numbers, likewise. */
static inline double calc_min(double a, double b)
{
    return a < b ? a : b;
}

/** Time of two kinds of work that hide each other, except where both take about as long [s]: the
 *  cube root of the sum of their cubes. By Newton's steps from a linear start: libraries differ in
 *  the last bit of cbrt(), and a page must compute what the command does. */
static inline double calc_together_s(double a_s, double b_s)
{
    enum { STEPS = 5 };
    double longer = calc_max(a_s, b_s);
    double ratio = longer > 0 ? calc_min(a_s, b_s) / longer : 0;
    double sum = 1 + ratio * ratio * ratio;
    double root = 1 + ratio * ratio * ratio / 3;
    for (int i = 0; i < STEPS; i++) {
        root -= (root - sum / (root * root)) / 3;
    }
    return longer * root;
}

/** Efficiency of an operation of `size`: the one at the first step whose threshold it reaches.
 *  @param size  >= 0, in the unit of the thresholds */
static inline double calc_curve_at(const calc_curve *curve, double size)
{
    int64_t last = curve->count - 1;
    int64_t i = 0;
    while (i < last && size < curve->threshold[i]) {
        i++;
    }
    return curve->efficiency[i];
}

/** Time of `flop` on an engine: flop / (peak * efficiency(flop)) [s]; 0 for none. */
static inline double calc_engine_s(const calc_engine *engine, double flop)
{
    if (flop == 0) {
        return 0;
    }
    return flop / (engine->flop_per_s * calc_curve_at(&engine->efficiency, flop));
}

/** Time of `bytes` to or from a memory tier: bytes / (peak * efficiency(bytes)) [s]; 0 for none. */
static inline double calc_memory_tier_s(const calc_memory_tier *tier, double bytes)
{
    if (bytes == 0) {
        return 0;
    }
    return bytes / (tier->bytes_per_s * calc_curve_at(&tier->efficiency, bytes));
}

/** Time of an operation from its arithmetic and its memory time [s]. */
static inline double calc_processing_s(calc_processing_mode mode, double flop_s, double mem_s)
{
    return mode == CALC_PROCESSING_MODE_ROOFLINE ? calc_max(flop_s, mem_s) : flop_s + mem_s;
}

/** Add numbers that lie side by side. */
static inline void calc_add_numbers(double *sum, const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sum[i] += x[i];
    }
}

#endif
