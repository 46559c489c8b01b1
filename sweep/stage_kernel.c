/* The hot loop of stages. Compiled once per CPU level; CALC_STAGE_KERNEL_NAME is the function's
 * name at that level. */
#include "stage_kernel.h"

#include "stage_kernel_lane.h"

#ifndef CALC_STAGE_KERNEL_NAME
#define CALC_STAGE_KERNEL_NAME calc_stage_kernel_generic
#endif

/* With training and schedule known, the body of the loop has no branches. */
static inline __attribute__((always_inline)) void lanes_pass(const calc_stage_tile *restrict t,
                                                             bool training,
                                                             calc_pipeline_schedule schedule,
                                                             calc_stage_out *restrict out)
{
    calc_stage_terms terms = *t->terms;
    terms.training = training;
    double skip[2][2];
    for (int i = 0; i < 4; i++) {
        skip[i / 2][i % 2] = t->allowed[i / 2][i % 2] ? 0 : CALC_STAGE_NEVER_S;
    }
    size_t count = (t->lanes->count + 3) / 4 * 4;
#pragma omp simd
    for (size_t lane = 0; lane < count; lane++) {
        calc_stage_step s = calc_stage_kernel_step(&terms, schedule, t->lanes, lane, true);
        double best_s = s.total_s[0][0] + skip[0][0];
        best_s = calc_stage_min(best_s, s.total_s[0][1] + skip[0][1]);
        best_s = calc_stage_min(best_s, s.total_s[1][0] + skip[1][0]);
        best_s = calc_stage_min(best_s, s.total_s[1][1] + skip[1][1]);
        out->best_s[lane] = best_s;
        out->tier1_bytes[lane] = s.tier1_bytes;
    }
}

void CALC_STAGE_KERNEL_NAME(const calc_stage_tile *tile, calc_stage_out *out)
{
    if (tile->terms->training && tile->schedule == CALC_PIPELINE_SCHEDULE_1F1B) {
        lanes_pass(tile, true, CALC_PIPELINE_SCHEDULE_1F1B, out);
    } else {
        lanes_pass(tile, tile->terms->training, tile->schedule, out);
    }
}
