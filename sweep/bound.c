#include "bound.h"

/* Blocks of a part on all stages, without what not recomputing may spare [s]. */
static double part_s(const calc_stage_part *part, bool spared)
{
    double spared_s = spared ? calc_max(0, part->spared_s) : 0;
    return part->fw_s + part->agrad_s + part->wgrad_s - spared_s;
}

/* The same of a block; by rule, the last of a chunk may take less than the others. */
static double block_s(const calc_stage_terms *t, int kind, bool spared)
{
    const calc_rule_part *rule = &t->rule[kind];
    double edge_s =
        t->compat ? calc_stage_min(0, rule->edge_fw_s) + calc_stage_min(0, rule->edge_bw_s) : 0;
    return part_s(&t->block[kind], spared) + edge_s;
}

static double least_step_s(const calc_cell *cell, const calc_stage_terms *t,
                           calc_pipeline_schedule schedule)
{
    double dense = 0;
    double moe = 0;
    if (t->training && schedule != CALC_PIPELINE_SCHEDULE_1F1B) {
        return 0;
    }
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        const calc_stage_class *c = &cell->stages[0].item[i];
        dense += c->stages * c->dense;
        moe += c->stages * c->moe;
    }
    bool spared = t->recompute_blocks > 0;
    double all_s = dense * block_s(t, 0, spared) + moe * block_s(t, 1, spared);
    const calc_stage_class *first = &cell->stages[0].item[0];
    bool ends = cell->stages[0].count > 1 || first->first > 0;
    all_s += ends ? part_s(&t->embedding, false) + part_s(&t->head, false) : 0;
    /* The slowest stage takes no less than the mean of all. */
    return t->microbatches * all_s / t->stages + t->overhead_s;
}

calc_point calc_bound(const calc_cell *cell, const calc_stage_terms *t,
                      calc_pipeline_schedule schedule)
{
    /* The factor keeps rounding on the safe side. */
    calc_point bound = {.total_s = least_step_s(cell, t, schedule) * (1 - 1e-12)};
    if (!cell->same_first) {
        return bound;
    }
    const calc_stage_class at = calc_stage_at_peak(t, schedule, &cell->stages[0].item[0]);
    const calc_stage_class *c = &at;
    double chunks = cell->stages[0].chunks;
    double least = calc_stage_in_flight(t, schedule, c->position, chunks);
    for (size_t i = 1; i < cell->fitting; i++) {
        double other = calc_stage_in_flight(t, schedule, c->position, cell->stages[i].chunks);
        chunks = other < least ? cell->stages[i].chunks : chunks;
        least = calc_stage_min(least, other);
    }
    calc_stage_weights w = calc_stage_weights_sum(t, c);
    calc_stage_memory m = calc_stage_memory_sum(t, c, &w, schedule, chunks);
    calc_stage_tier2 away = calc_stage_tier2_sum(t, c, &w, schedule, chunks);
    bound.total_s += calc_stage_optimizer_sum(t, c, &w) * (1 - 1e-12);
    bound.tier1_bytes = m.total * t->used_share + t->reserved_bytes;
    bound.tier2_bytes = away.weight + away.activation + away.optimizer;
    return bound;
}
