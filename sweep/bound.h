/** @file bound.h  A lower bound for the lanes of a cell: time and need of memory of anything that
 *  its chunkings and networks make of a lane. */
#ifndef CALC_SWEEP_BOUND_H
#define CALC_SWEEP_BOUND_H

#include <stddef.h>

#include "model/stages/stage_step.h"
#include "rows.h"

/** Parts of the model that a step does one after the other. */
typedef struct calc_floor_path {
    double dense, moe, embedding, head; /**< times each is done */
} calc_floor_path;

enum {
    /** All blocks and both ends spread evenly over the stages, and a path through each class. */
    CALC_FLOOR_PATHS = 1 + CALC_MAX_STAGE_CLASSES
};

/** Data common to the bounds of a cell's lanes. */
typedef struct calc_floor {
    double known;                           /**< 1: something is known of the time; else 0 */
    calc_floor_path path[CALC_FLOOR_PATHS]; /**< no chunking has shorter ones */
    bool same_first; /**< the first class of stages is the same in all chunkings: peak is it */
    calc_stage_class peak; /**< where it holds most micro-batches, */
    double held;           /**< at least so many */
} calc_floor;

/** The paths of a chunking. The slowest stage takes no less than the mean of all; and a stage waits
 *  for the first chunks of those before it, has all micro-batches to do, and is waited for by those
 *  first chunks on the way back. Only the mean is known with schedules beside 1F1B and by rule.
 *  @param path  filled */
void calc_floor_paths(const calc_stage_terms *terms, calc_pipeline_schedule schedule, int classes,
                      const calc_stage_class *item, double chunks,
                      calc_floor_path path[CALC_FLOOR_PATHS]);

/** A lower bound. */
typedef struct calc_bound {
    double total_s, tier1_bytes, tier2_bytes;
} calc_bound;

/** Lower bound of a block of a kind [s], less the time saved if it does not recompute; by rule, the
 *  last of a chunk may take less than the others. */
CALC_STAGE_INLINE double calc_bound_block_s(const calc_stage_terms *t, int kind)
{
    const calc_rule_part *rule = &t->rule[kind];
    double spared_s = t->recompute_blocks > 0 ? calc_max(0, t->block[kind].spared_s) : 0;
    double edge_s = t->compat ? calc_min(0, rule->edge_fw_s) + calc_min(0, rule->edge_bw_s) : 0;
    return calc_stage_part_s(&t->block[kind]) - spared_s + edge_s;
}

CALC_STAGE_INLINE double calc_bound_path_s(const calc_floor_path *p, double dense_s, double moe_s,
                                           double embedding_s, double head_s)
{
    return p->dense * dense_s + p->moe * moe_s + p->embedding * embedding_s + p->head * head_s;
}

/** A step is no shorter than the longest of the paths. */
CALC_STAGE_INLINE double calc_bound_step_s(const calc_stage_terms *t, const calc_floor *f)
{
    double dense_s = calc_bound_block_s(t, 0);
    double moe_s = calc_bound_block_s(t, 1);
    double embedding_s = calc_stage_part_s(&t->embedding);
    double head_s = calc_stage_part_s(&t->head);
    double longest_s = calc_bound_path_s(&f->path[0], dense_s, moe_s, embedding_s, head_s);
    for (int i = 1; i < CALC_FLOOR_PATHS; i++) {
        double path_s = calc_bound_path_s(&f->path[i], dense_s, moe_s, embedding_s, head_s);
        longest_s = calc_max(longest_s, path_s);
    }
    return f->known * (longest_s + longest_s * t->growth + t->overhead_s);
}

/** The bound; the first stage needs no less memory than with the fewest micro-batches in flight. */
CALC_STAGE_INLINE calc_bound calc_bound_of(const calc_stage_terms *t, const calc_floor *f,
                                           calc_pipeline_schedule schedule)
{
    const double less = 1 - 1e-12; /* keeps rounding on the safe side */
    calc_stage_weights w = calc_stage_weights_sum(t, &f->peak);
    calc_stage_memory m = calc_stage_memory_at(t, &f->peak, &w, schedule, f->held);
    calc_stage_tier2 away = calc_stage_tier2_at(t, &f->peak, &w, f->held);
    bool known = f->same_first;
    double optimizer_s = calc_stage_optimizer_sum(t, &f->peak, &w);
    double tier1_bytes = m.total * t->used_share + t->reserved_bytes;
    double tier2_bytes = calc_stage_tier2_bytes(&away);
    calc_bound b;
    b.total_s = (calc_bound_step_s(t, f) + (known ? optimizer_s : 0)) * less;
    b.tier1_bytes = known ? tier1_bytes * less : 0;
    b.tier2_bytes = known ? tier2_bytes * less : 0;
    return b;
}

/* A quick comparison with the best so far: the longest step that still matters,
 * given its needs of both memory tiers. A table over the needs keeps the best rate of the points
 * that need less. It errs on the safe side: longer steps are dominated, others may be. */

enum {
    CALC_SCREEN_TIER1 = 64, /**< steps of the need of the first tier, */
    CALC_SCREEN_TIER2 = 8,  /**< and of the second */
    CALC_SCREEN_SIZE = CALC_SCREEN_TIER1 * CALC_SCREEN_TIER2
};

/** Rates as somebody counts them: a step that takes numerator/rate seconds has a rate. */
typedef struct calc_screen {
    double tier1_per_byte, tier2_per_byte; /**< steps per byte */
    float rate[CALC_SCREEN_SIZE];          /**< best of the points that need no more than where a
                                                step begins */
} calc_screen;

/** Nothing is known. @param tier1_bytes, tier2_bytes  capacities */
void calc_screen_clear(calc_screen *screen, double tier1_bytes, double tier2_bytes);

/** A point is known. */
void calc_screen_add(calc_screen *screen, double rate, double tier1_bytes, double tier2_bytes);

/** No longer step matters [s].
 *  @param numerator  of rates */
static inline double calc_screen_longest_s(const calc_screen *s, double numerator,
                                           double tier1_bytes, double tier2_bytes)
{
    double i = tier1_bytes * s->tier1_per_byte;
    double j = tier2_bytes * s->tier2_per_byte;
    i = i < CALC_SCREEN_TIER1 - 1 ? i : CALC_SCREEN_TIER1 - 1;
    j = j < CALC_SCREEN_TIER2 - 1 ? j : CALC_SCREEN_TIER2 - 1;
    return numerator / (double)s->rate[(int)i * CALC_SCREEN_TIER2 + (int)j];
}

#endif
