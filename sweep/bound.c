#include "bound.h"

#include <math.h>

/* Less than any rate. */
static const float no_rate = 1e-37F;

void calc_screen_clear(calc_screen *s, double tier1_bytes, double tier2_bytes)
{
    s->tier1_per_byte = tier1_bytes > 0 ? CALC_SCREEN_TIER1 / tier1_bytes : 0;
    s->tier2_per_byte = tier2_bytes > 0 ? CALC_SCREEN_TIER2 / tier2_bytes : 0;
    for (size_t i = 0; i < CALC_SCREEN_SIZE; i++) {
        s->rate[i] = no_rate;
    }
}

/* The first step of which all needs are at least as large. */
static size_t first_step(double bytes, double per_byte, size_t steps)
{
    if (bytes <= 0) {
        return 0;
    }
    double at = bytes * per_byte;
    return at < (double)steps ? (size_t)at + 1 : steps;
}

void calc_screen_add(calc_screen *s, double rate, double tier1_bytes, double tier2_bytes)
{
    size_t first1 = first_step(tier1_bytes, s->tier1_per_byte, CALC_SCREEN_TIER1);
    size_t first2 = first_step(tier2_bytes, s->tier2_per_byte, CALC_SCREEN_TIER2);
    float less = (float)(rate * (1 - 1e-6)); /* rounding keeps to the safe side */
    for (size_t i = first1; i < CALC_SCREEN_TIER1; i++) {
        for (size_t j = first2; j < CALC_SCREEN_TIER2; j++) {
            float *known = &s->rate[i * CALC_SCREEN_TIER2 + j];
            *known = less > *known ? less : *known;
        }
    }
}

static calc_floor_path plus(calc_floor_path sum, double times, const calc_stage_class *c)
{
    sum.dense += times * c->dense;
    sum.moe += times * c->moe;
    sum.embedding += times * c->first;
    sum.head += times * c->last;
    return sum;
}

/* The first chunk of the stages of a class; nothing where it is not like the others, unless that is
   known. */
static calc_stage_class first_chunk(const calc_stage_terms *t, const calc_stage_class *c,
                                    double chunks, const calc_stage_special *start)
{
    calc_stage_class chunk = {0};
    bool first = c->position <= 0;
    if (chunks <= 1) {
        return *c;
    }
    if (!calc_stage_chunks_alike(t, c)) {
        return first ? start->chunk : chunk;
    }
    chunk.dense = c->dense / chunks;
    chunk.moe = c->moe / chunks;
    chunk.first = c->first / chunks;
    chunk.last = c->last / chunks;
    return chunk;
}

void calc_floor_paths(const calc_stage_terms *t, calc_pipeline_schedule schedule, int classes,
                      const calc_stage_class *item, double chunks, const calc_stage_special *start,
                      calc_floor_path path[CALC_FLOOR_PATHS])
{
    const calc_floor_path none = {0, 0, 0, 0};
    bool waits = schedule == CALC_PIPELINE_SCHEDULE_1F1B && !t->compat;
    calc_floor_path all = none;
    calc_floor_path before = none;
    path[0] = none;
    for (int i = 0; i < classes; i++) {
        path[0] = plus(path[0], item[i].stages * t->microbatches / t->stages, &item[i]);
        all = plus(all, item[i].stages, &item[i]);
    }
    for (int i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        const calc_stage_class *c = &item[i];
        path[1 + i] = path[0];
        if (waits && i < classes && c->stages > 0) {
            calc_stage_class chunk = first_chunk(t, c, chunks, start);
            path[1 + i] = t->training
                              ? plus(plus(before, c->stages - 1, &chunk), t->microbatches, c)
                              : plus(all, t->microbatches - 1, c);
            before = plus(before, c->stages, &chunk);
        }
    }
}

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
