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

/* What all tiles of a cell share: blocks of all stages, and the chunks with which the first stage
 * holds the fewest micro-batches. */
static void settle(calc_cell *cell, const calc_stage_terms *t, calc_pipeline_schedule schedule)
{
    calc_cell_floor *f = &cell->floor;
    const calc_stages *s = &cell->stages[0];
    *f = (calc_cell_floor){.known = true, .chunks = s->chunks};
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        f->dense += s->item[i].stages * s->item[i].dense;
        f->moe += s->item[i].stages * s->item[i].moe;
    }
    f->ends = s->count > 1 || s->item[0].first > 0;
    f->peak = calc_stage_at_peak(t, schedule, &s->item[0]);
    double least = calc_stage_in_flight(t, schedule, f->peak.position, f->chunks);
    for (size_t i = 1; i < cell->fitting; i++) {
        double chunks = cell->stages[i].chunks;
        double held = calc_stage_in_flight(t, schedule, f->peak.position, chunks);
        f->chunks = held < least ? chunks : f->chunks;
        least = calc_stage_min(least, held);
    }
}

static double least_step_s(const calc_cell_floor *f, const calc_stage_terms *t,
                           calc_pipeline_schedule schedule)
{
    if (t->training && schedule != CALC_PIPELINE_SCHEDULE_1F1B) {
        return 0;
    }
    bool spared = t->recompute_blocks > 0;
    double all_s = f->dense * block_s(t, 0, spared) + f->moe * block_s(t, 1, spared);
    all_s += f->ends ? part_s(&t->embedding, false) + part_s(&t->head, false) : 0;
    /* The slowest stage takes no less than the mean of all. */
    return t->microbatches * all_s / t->stages + t->overhead_s;
}

calc_point calc_bound(calc_cell *cell, const calc_stage_terms *t, calc_pipeline_schedule schedule)
{
    if (!cell->floor.known) {
        settle(cell, t, schedule);
    }
    const calc_cell_floor *f = &cell->floor;
    /* The factor keeps rounding on the safe side. */
    calc_point bound = {.total_s = least_step_s(f, t, schedule) * (1 - 1e-12)};
    if (!cell->same_first) {
        return bound;
    }
    const calc_stage_class *c = &f->peak;
    calc_stage_weights w = calc_stage_weights_sum(t, c);
    calc_stage_memory m = calc_stage_memory_sum(t, c, &w, schedule, f->chunks);
    calc_stage_tier2 away = calc_stage_tier2_sum(t, c, &w, schedule, f->chunks);
    bound.total_s += calc_stage_optimizer_sum(t, c, &w) * (1 - 1e-12);
    bound.tier1_bytes = m.total * t->used_share + t->reserved_bytes;
    bound.tier2_bytes = away.weight + away.activation + away.optimizer;
    return bound;
}
