/** @file bound.h  A lower bound for the lanes of a cell: time and need of memory of anything that
 *  its chunkings and networks make of a lane. */
#ifndef CALC_SWEEP_BOUND_H
#define CALC_SWEEP_BOUND_H

#include "model/stages/stage_step.h"

/** What bounds on the lanes of a cell have in common. */
typedef struct calc_floor {
    double dense, moe; /**< blocks on all stages */
    bool ends;         /**< embedding and head are on some stage */
    bool same_first;   /**< the first class of stages is the same in all chunkings: peak is it */
    calc_stage_class peak; /**< where it holds most micro-batches, */
    double held;           /**< at least so many */
} calc_floor;

/** A lower bound. */
typedef struct calc_bound {
    double total_s, tier1_bytes, tier2_bytes;
} calc_bound;

/** Blocks of a part on all stages, without what not recomputing may spare [s]. */
CALC_STAGE_INLINE double calc_bound_part_s(const calc_stage_part *part, bool spared)
{
    double spared_s = spared ? calc_max(0, part->spared_s) : 0;
    return part->fw_s + part->agrad_s + part->wgrad_s - spared_s;
}

/** The same of a block; by rule, the last of a chunk may take less than the others. */
CALC_STAGE_INLINE double calc_bound_block_s(const calc_stage_terms *t, int kind, bool spared)
{
    const calc_rule_part *rule = &t->rule[kind];
    double edge_s =
        t->compat ? calc_stage_min(0, rule->edge_fw_s) + calc_stage_min(0, rule->edge_bw_s) : 0;
    return calc_bound_part_s(&t->block[kind], spared) + edge_s;
}

/** A step is no shorter than all blocks and both ends spread evenly over the stages: the slowest
 *  stage takes no less than the mean of all. Nothing is known with schedules beside 1F1B, nor
 *  without training by rule: messages that were never sent are taken off whole, though they may
 *  have overlapped (`inference-message`). */
CALC_STAGE_INLINE double calc_bound_step_s(const calc_stage_terms *t, const calc_floor *f,
                                           calc_pipeline_schedule schedule)
{
    bool spared = t->recompute_blocks > 0;
    bool ends = f->ends;
    double all_s =
        f->dense * calc_bound_block_s(t, 0, spared) + f->moe * calc_bound_block_s(t, 1, spared);
    double ends_s = calc_bound_part_s(&t->embedding, false) + calc_bound_part_s(&t->head, false);
    all_s += ends ? ends_s : 0;
    double step_s = t->microbatches * all_s / t->stages + t->overhead_s;
    bool usual = t->training ? schedule == CALC_PIPELINE_SCHEDULE_1F1B : !t->compat;
    return (usual ? 1 : 0) * step_s;
}

/** The bound; the first stage needs no less memory than with the fewest micro-batches in flight. */
CALC_STAGE_INLINE calc_bound calc_bound_of(const calc_stage_terms *t, const calc_floor *f,
                                           calc_pipeline_schedule schedule)
{
    /* The factor keeps rounding on the safe side. */
    const double less = 1 - 1e-12;
    calc_stage_weights w = calc_stage_weights_sum(t, &f->peak);
    calc_stage_memory m = calc_stage_memory_at(t, &f->peak, &w, schedule, f->held);
    calc_stage_tier2 away = calc_stage_tier2_at(t, &f->peak, &w, f->held);
    bool known = f->same_first;
    double optimizer_s = calc_stage_optimizer_sum(t, &f->peak, &w);
    double tier1_bytes = m.total * t->used_share + t->reserved_bytes;
    double tier2_bytes = away.weight + away.activation + away.optimizer;
    calc_bound b;
    b.total_s = (calc_bound_step_s(t, f, schedule) + (known ? optimizer_s : 0)) * less;
    b.tier1_bytes = known ? tier1_bytes * less : 0;
    b.tier2_bytes = known ? tier2_bytes * less : 0;
    return b;
}

#endif
