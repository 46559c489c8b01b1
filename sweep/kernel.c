/* The hot loops. Compiled once per CPU level; CALC_KERNEL_NAME is the function's name at that
 * level. */
#include "kernel.h"

#include <assert.h>

#include "kernel_lane.h"

#ifndef CALC_KERNEL_NAME
#define CALC_KERNEL_NAME calc_kernel_generic
#endif

/* What tells the loops apart: where it is known, their bodies have no branches. */
typedef struct known {
    bool training;
    calc_pipeline_schedule schedule;
    int classes;
    bool experts;
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
        calc_stage_step s =
            calc_kernel_step_of(&terms, k.schedule, k.classes, k.experts, t, first + i, true);
        out->tier1_bytes[i] = s.tier1_bytes;
        out->tier2_bytes[i] = s.tier2_bytes;
    }
}

/* Which of them fit, with one pair of networks and so with all. There are few: no vectors. */
static void admit(const calc_kernel_tile *restrict t, calc_kernel_out *restrict out)
{
    double tier1 = t->tier1_capacity_bytes;
    double tier2 = t->tier2_capacity_bytes;
    size_t feasible = 0;
    size_t over_tier1 = 0;
    double least_tier1 = CALC_KERNEL_NEVER_S;
    double least_tier2 = CALC_KERNEL_NEVER_S;
    for (size_t i = 0; i < t->chunkings; i++) {
        double need1 = out->tier1_bytes[i];
        double need2 = out->tier2_bytes[i];
        bool fits = need1 <= tier1 && need2 <= tier2;
        over_tier1 += need1 > tier1;
        feasible += fits;
        least_tier1 = fits && need1 < least_tier1 ? need1 : least_tier1;
        least_tier2 = fits && need2 < least_tier2 ? need2 : least_tier2;
        out->skip_s[i] = fits ? 0 : CALC_KERNEL_NEVER_S;
    }
    assert(t->chunkings > 0);
    size_t pairs = t->count / t->chunkings;
    out->feasible = feasible * pairs;
    out->over_tier1 = over_tier1 * pairs;
    out->over_tier2 = t->count - out->feasible - out->over_tier1;
    out->least_tier1_bytes = least_tier1;
    out->least_tier2_bytes = least_tier2;
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
        calc_stage_step s =
            calc_kernel_step_of(&terms, k.schedule, k.classes, k.experts, t, lane, true);
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
    const double *restrict best_s = &out->best_s[t->first];
    if (out->feasible == t->count) {
#pragma omp simd reduction(min : least_s)
        for (size_t lane = 0; lane < t->count; lane++) {
            least_s = best_s[lane] < least_s ? best_s[lane] : least_s;
        }
        return least_s;
    }
    for (size_t pair = 0; pair < t->count && out->feasible > 0; pair += t->chunkings) {
        for (size_t i = 0; i < t->chunkings; i++) {
            double fits_s = best_s[pair + i] + out->skip_s[i];
            least_s = fits_s < least_s ? fits_s : least_s;
        }
    }
    return least_s;
}

CALC_STAGE_INLINE void passes(const calc_kernel_tile *tile, known k, calc_kernel_out *out)
{
    memory_pass(tile, k, out);
    admit(tile, out);
    out->least_s = CALC_KERNEL_NEVER_S;
    if (out->feasible > 0) {
        time_pass(tile, k, out);
        out->least_s = shortest_s(tile, out);
    }
}

/* The usual ones: training with 1F1B, without rules of Calculon's, or with all but its defects or
 * all of them: then stages are one class, without experts. */
void CALC_KERNEL_NAME(const calc_kernel_tile *tile, calc_kernel_out *out)
{
    const calc_pipeline_schedule usual = CALC_PIPELINE_SCHEDULE_1F1B;
    const int several = CALC_MAX_STAGE_CLASSES;
    const calc_stage_terms *t = tile->terms;
    int classes = tile->lanes->classes;
    bool experts = tile->lanes->experts;
    if (!t->training || tile->schedule != usual) {
        passes(tile, (known){t->training, tile->schedule, classes, experts, t->compat}, out);
    } else if (t->compat == CALC_COMPAT_NONE && classes == 1) {
        if (experts) {
            passes(tile, (known){true, usual, 1, true, CALC_COMPAT_NONE}, out);
        } else {
            passes(tile, (known){true, usual, 1, false, CALC_COMPAT_NONE}, out);
        }
    } else if (t->compat == CALC_COMPAT_NONE) {
        if (experts) {
            passes(tile, (known){true, usual, several, true, CALC_COMPAT_NONE}, out);
        } else {
            passes(tile, (known){true, usual, several, false, CALC_COMPAT_NONE}, out);
        }
    } else if (t->compat == CALC_COMPAT_REPAIRED && classes == 1 && !experts) {
        passes(tile, (known){true, usual, 1, false, CALC_COMPAT_REPAIRED}, out);
    } else if (t->compat == CALC_COMPAT_CALCULON && classes == 1 && !experts) {
        passes(tile, (known){true, usual, 1, false, CALC_COMPAT_CALCULON}, out);
    } else {
        passes(tile, (known){true, usual, classes, experts, t->compat}, out);
    }
}
