#include "region.h"

#include <math.h>

/* Sharding and the second tier only add to a block: rows are taken without them. */
static double block_s(const calc_row *row, calc_block_kind kind, double speed)
{
    static const calc_stage_lines alone = {0};
    static const calc_stage_away none = {0};
    calc_strategy plain = row->exec.strategy;
    plain.optimizer_sharding = false;
    plain.zero_stage = 0;
    plain.weight_offload = plain.activations_offload = plain.optimizer_offload = false;
    calc_stage_keeping keeping = calc_stage_keeping_of(&row->context, &plain, &alone, speed);
    calc_stage_source source = calc_stage_source_of(&row->parts, kind);
    calc_stage_part part = calc_stage_block_of(&source, &keeping, &none);
    double spared_s = row->exec.recompute_blocks > 0 ? calc_max(0, part.spared_s) : 0;
    return calc_stage_part_s(&part) - spared_s;
}

calc_region calc_region_of(const calc_rows *rows)
{
    calc_region r = {
        .dense_s = INFINITY, .moe_s = INFINITY, .embedding_s = INFINITY, .head_s = INFINITY};
    for (size_t i = 0; i < rows->count; i++) {
        const calc_row *row = &rows->row[i];
        double speed = 1 / calc_share_or(row->exec.software_efficiency, 1);
        calc_stage_ends ends = calc_stage_ends_of(&row->context, &row->parts);
        r.dense_s = fmin(r.dense_s, block_s(row, CALC_DENSE_BLOCK, speed));
        r.moe_s = fmin(r.moe_s, block_s(row, CALC_MOE_BLOCK, speed));
        r.embedding_s = fmin(r.embedding_s, calc_stage_part_s(&ends.embedding) * speed);
        r.head_s = fmin(r.head_s, calc_stage_part_s(&ends.head) * speed);
        r.overhead_s = row->context.system->step_overhead_s;
        r.known = row->context.compat == CALC_COMPAT_NONE;
    }
    return r;
}

double calc_region_least_s(const calc_region *r, const calc_floor *f)
{
    double longest_s = calc_bound_longest_s(f, r->dense_s, r->moe_s, r->embedding_s, r->head_s);
    return r->known ? (longest_s + r->overhead_s) * CALC_BOUND_LESS : 0;
}
