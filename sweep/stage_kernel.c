/* The hot loop of stages. Compiled once per CPU level; CALC_STAGE_KERNEL_NAME is the function's
 * name at that level. */
#include "stage_kernel.h"

#include "stage_kernel_lane.h"

#ifndef CALC_STAGE_KERNEL_NAME
#define CALC_STAGE_KERNEL_NAME calc_stage_kernel_generic
#endif

/* With training, schedule and the number of classes known, the body of the loop has no branches. */
static inline __attribute__((always_inline)) void
lanes_pass(const calc_stage_tile *restrict t, bool training, calc_pipeline_schedule schedule,
           int classes, calc_stage_out *restrict out)
{
    calc_stage_terms terms = *t->terms;
    terms.training = training;
    double skip[2][2];
    for (int i = 0; i < 4; i++) {
        skip[i / 2][i % 2] = t->allowed[i / 2][i % 2] ? 0 : CALC_STAGE_NEVER_S;
    }
    size_t first = t->first;
    size_t end = first + (t->count + 3) / 4 * 4;
#pragma omp simd
    for (size_t lane = first; lane < end; lane++) {
        calc_stage_step s = calc_stage_kernel_step(&terms, schedule, classes, t, lane);
        double best_s = s.total_s[0][0] + skip[0][0];
        best_s = calc_stage_min(best_s, s.total_s[0][1] + skip[0][1]);
        best_s = calc_stage_min(best_s, s.total_s[1][0] + skip[1][0]);
        best_s = calc_stage_min(best_s, s.total_s[1][1] + skip[1][1]);
        out->best_s[lane] = best_s;
        out->tier1_bytes[lane] = s.tier1_bytes;
    }
}

/* What is kept in the second tier: a pass of its own, as few tiles need it. */
static inline __attribute__((always_inline)) void tier2_pass(const calc_stage_tile *restrict t,
                                                             calc_pipeline_schedule schedule,
                                                             int classes,
                                                             calc_stage_out *restrict out)
{
    calc_stage_terms terms = *t->terms;
    size_t first = t->first;
    size_t end = first + (t->count + 3) / 4 * 4;
#pragma omp simd
    for (size_t lane = first; lane < end; lane++) {
        calc_stage_step s = calc_stage_kernel_step(&terms, schedule, classes, t, lane);
        out->tier2_bytes[lane] = s.tier2_bytes;
    }
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Which lanes fit, and the least of each that do. */
static void sum_up(const calc_stage_tile *restrict t, calc_stage_out *restrict out)
{
    double feasible = 0;
    double over_tier1 = 0;
    double least_s = CALC_STAGE_NEVER_S;
    double least_tier1 = CALC_STAGE_NEVER_S;
    double least_tier2 = CALC_STAGE_NEVER_S;
    size_t first = t->first;
    size_t end = first + t->count;
#pragma omp simd reduction(+ : feasible, over_tier1) reduction(min : least_s, least_tier1, least_tier2)
    for (size_t lane = first; lane < end; lane++) {
        double tier1 = out->tier1_bytes[lane];
        double tier2 = out->tier2_bytes[lane];
        double over = tier1 > t->tier1_capacity_bytes ? 1 : 0;
        double fits = tier2 > t->tier2_capacity_bytes ? 0 : 1 - over;
        double skip = (1 - fits) * CALC_STAGE_NEVER_S;
        feasible += fits;
        over_tier1 += over;
        least_s = least(least_s, out->best_s[lane] + skip);
        least_tier1 = least(least_tier1, tier1 + skip);
        least_tier2 = least(least_tier2, tier2 + skip);
    }
    out->feasible = (size_t)feasible;
    out->over_tier1 = (size_t)over_tier1;
    out->over_tier2 = t->count - out->feasible - out->over_tier1;
    out->least_s = least_s;
    out->least_tier1_bytes = least_tier1;
    out->least_tier2_bytes = least_tier2;
}

static void tier2(const calc_stage_tile *tile, calc_stage_out *out)
{
    if (!tile->terms->away) {
        size_t end = tile->first + (tile->count + 3) / 4 * 4;
        for (size_t lane = tile->first; lane < end; lane++) {
            out->tier2_bytes[lane] = 0;
        }
    } else if (tile->schedule != CALC_PIPELINE_SCHEDULE_1F1B) {
        tier2_pass(tile, tile->schedule, tile->lanes->classes, out);
    } else if (tile->lanes->classes > 1) {
        tier2_pass(tile, CALC_PIPELINE_SCHEDULE_1F1B, CALC_MAX_STAGE_CLASSES, out);
    } else {
        tier2_pass(tile, CALC_PIPELINE_SCHEDULE_1F1B, 1, out);
    }
}

void CALC_STAGE_KERNEL_NAME(const calc_stage_tile *tile, calc_stage_out *out)
{
    if (!tile->terms->training || tile->schedule != CALC_PIPELINE_SCHEDULE_1F1B) {
        lanes_pass(tile, tile->terms->training, tile->schedule, tile->lanes->classes, out);
    } else if (tile->lanes->classes > 1) {
        lanes_pass(tile, true, CALC_PIPELINE_SCHEDULE_1F1B, CALC_MAX_STAGE_CLASSES, out);
    } else {
        lanes_pass(tile, true, CALC_PIPELINE_SCHEDULE_1F1B, 1, out);
    }
    tier2(tile, out);
    sum_up(tile, out);
}
