/* The hot loops. Compiled once per CPU level; CALC_KERNEL_NAME is the function's name at that
 * level. */
#include "kernel.h"

#include "kernel_lane.h"

#ifndef CALC_KERNEL_NAME
#define CALC_KERNEL_NAME calc_kernel_generic
#endif

/* What tells the loops apart: where it is known, their bodies have no branches. */
typedef struct known {
    bool training;
    calc_pipeline_schedule schedule;
    int classes;
    calc_compat compat;
} known;

CALC_STAGE_INLINE calc_stage_terms terms_of(const calc_kernel_tile *t, known k)
{
    calc_stage_terms terms = *t->terms;
    terms.training = k.training;
    terms.compat = k.compat;
    return terms;
}

/* Lanes that are computed for so many: whole vectors. */
static size_t whole(size_t lanes)
{
    return (lanes + 3) / 4 * 4;
}

/* What the chunkings need: the networks do not matter, so those of the first pair stand for all.
 * The time of the step is not asked for, so that compilers leave it out. */
CALC_STAGE_INLINE void memory_pass(const calc_kernel_tile *restrict t, known k,
                                   calc_kernel_out *restrict out)
{
    calc_stage_terms terms = terms_of(t, k);
    size_t count = whole(t->chunkings);
    size_t first = t->first;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        calc_stage_step s = calc_kernel_step_of(&terms, k.schedule, k.classes, t, first + i, true);
        out->tier1_bytes[i] = s.tier1_bytes;
        out->tier2_bytes[i] = s.tier2_bytes;
    }
}

/* Which of them fit. */
static void admit(const calc_kernel_tile *restrict t, calc_kernel_out *restrict out)
{
    size_t pairs = t->count / t->chunkings;
    out->feasible = out->over_tier1 = out->over_tier2 = 0;
    out->least_tier1_bytes = CALC_KERNEL_NEVER_S;
    out->least_tier2_bytes = CALC_KERNEL_NEVER_S;
    for (size_t i = 0; i < t->chunkings; i++) {
        bool over_tier1 = out->tier1_bytes[i] > t->tier1_capacity_bytes;
        bool over_tier2 = !over_tier1 && out->tier2_bytes[i] > t->tier2_capacity_bytes;
        bool fits = !over_tier1 && !over_tier2;
        double skip_s = fits ? 0 : CALC_KERNEL_NEVER_S;
        out->feasible += fits;
        out->over_tier1 += over_tier1;
        out->over_tier2 += over_tier2;
        out->least_tier1_bytes =
            calc_stage_min(out->least_tier1_bytes, out->tier1_bytes[i] + skip_s);
        out->least_tier2_bytes =
            calc_stage_min(out->least_tier2_bytes, out->tier2_bytes[i] + skip_s);
        for (size_t p = 0; p < pairs; p++) {
            out->skip_s[t->first + p * t->chunkings + i] = skip_s;
        }
    }
    out->feasible *= pairs;
    out->over_tier1 *= pairs;
    out->over_tier2 *= pairs;
}

/* The shortest step of each lane. With training, schedule and the number of classes known, the body
 * of the loop has no branches; and what is held is not asked for. */
CALC_STAGE_INLINE void time_pass(const calc_kernel_tile *restrict t, known k,
                                 calc_kernel_out *restrict out)
{
    calc_stage_terms terms = terms_of(t, k);
    double skip[2][2];
    for (int i = 0; i < 4; i++) {
        skip[i / 2][i % 2] = t->allowed[i / 2][i % 2] ? 0 : CALC_KERNEL_NEVER_S;
    }
    size_t end = t->first + whole(t->count);
#pragma omp simd
    for (size_t lane = t->first; lane < end; lane++) {
        calc_stage_step s = calc_kernel_step_of(&terms, k.schedule, k.classes, t, lane, true);
        double best_s = s.total_s[0][0] + skip[0][0];
        best_s = calc_stage_min(best_s, s.total_s[0][1] + skip[0][1]);
        best_s = calc_stage_min(best_s, s.total_s[1][0] + skip[1][0]);
        best_s = calc_stage_min(best_s, s.total_s[1][1] + skip[1][1]);
        out->best_s[lane] = best_s;
    }
}

/* The shortest of the lanes that fit. A loop of its own: with it the one before is no vector. */
static double shortest_s(const calc_kernel_tile *restrict t, const calc_kernel_out *restrict out)
{
    double least_s = CALC_KERNEL_NEVER_S;
    size_t end = t->first + t->count;
#pragma omp simd reduction(min : least_s)
    for (size_t lane = t->first; lane < end; lane++) {
        double fits_s = out->best_s[lane] + out->skip_s[lane];
        least_s = fits_s < least_s ? fits_s : least_s;
    }
    return least_s;
}

CALC_STAGE_INLINE void passes(const calc_kernel_tile *tile, known k, calc_kernel_out *out)
{
    memory_pass(tile, k, out);
    admit(tile, out);
    time_pass(tile, k, out);
    out->least_s = shortest_s(tile, out);
}

/* The usual ones: training with 1F1B, without rules of Calculon's, with all of them, and with all
 * but its defects, which is one class of stages. */
void CALC_KERNEL_NAME(const calc_kernel_tile *tile, calc_kernel_out *out)
{
    const calc_pipeline_schedule usual = CALC_PIPELINE_SCHEDULE_1F1B;
    const calc_stage_terms *t = tile->terms;
    int classes = tile->lanes->classes;
    if (!t->training || tile->schedule != usual) {
        passes(tile, (known){t->training, tile->schedule, classes, t->compat}, out);
    } else if (t->compat == CALC_COMPAT_NONE && classes == 1) {
        passes(tile, (known){true, usual, 1, CALC_COMPAT_NONE}, out);
    } else if (t->compat == CALC_COMPAT_NONE) {
        passes(tile, (known){true, usual, CALC_MAX_STAGE_CLASSES, CALC_COMPAT_NONE}, out);
    } else if (t->compat == CALC_COMPAT_REPAIRED && classes == 1) {
        passes(tile, (known){true, usual, 1, CALC_COMPAT_REPAIRED}, out);
    } else if (t->compat == CALC_COMPAT_CALCULON && classes == 1) {
        passes(tile, (known){true, usual, 1, CALC_COMPAT_CALCULON}, out);
    } else {
        passes(tile, (known){true, usual, classes, t->compat}, out);
    }
}
