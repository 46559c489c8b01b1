#include "bound.h"

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

/* The first chunk of the stages of a class; nothing where it is not like the others, because of an
 * end or of dense blocks before others, unless that is known. */
static calc_stage_class first_chunk(const calc_stage_terms *t, const calc_stage_class *c,
                                    double chunks)
{
    calc_stage_class chunk = {0};
    bool first = c->position <= 0;
    bool prefix = t->dense_first && first && c->dense > 0 && c->moe > 0;
    if (chunks <= 1) {
        return *c;
    }
    if (c->first >= 1 || c->last >= 1 || prefix) {
        return first && c->stages == 1 ? calc_stage_chunk(t, c, (int64_t)chunks, 0) : chunk;
    }
    chunk.dense = c->dense / chunks;
    chunk.moe = c->moe / chunks;
    chunk.first = c->first / chunks;
    chunk.last = c->last / chunks;
    return chunk;
}

void calc_floor_paths(const calc_stage_terms *t, calc_pipeline_schedule schedule, int classes,
                      const calc_stage_class *item, double chunks,
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
            calc_stage_class chunk = first_chunk(t, c, chunks);
            path[1 + i] = t->training
                              ? plus(plus(before, c->stages - 1, &chunk), t->microbatches, c)
                              : plus(all, t->microbatches - 1, c);
            before = plus(before, c->stages, &chunk);
        }
    }
}
