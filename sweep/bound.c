#include "bound.h"

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
