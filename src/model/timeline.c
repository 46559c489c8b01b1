#include "model/timeline.h"

#include <math.h>

#include "model/operators/processor.h"

/* ---- Places ---------------------------------------------------------------------------------- */

int64_t calc_timeline_held(const calc_schedule_shape *s)
{
    return s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE ? 2 : s->chunks;
}

int64_t calc_timeline_place(const calc_schedule_shape *s, int64_t stage, int64_t chunk)
{
    bool back = chunk == 1 && s->kind != CALC_PIPELINE_SCHEDULE_1F1B;
    return chunk * s->stages + (back ? s->stages - 1 - stage : stage);
}

static int64_t stage_at(const calc_schedule_shape *s, int64_t place)
{
    bool back = place / s->stages == 1 && s->kind != CALC_PIPELINE_SCHEDULE_1F1B;
    int64_t stage = place % s->stages;
    return back ? s->stages - 1 - stage : stage;
}

/* Whether a micro-batch goes from this place to the next one. */
static bool joined(const calc_schedule_shape *s, int64_t place)
{
    bool both_ends = s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE;
    return both_ends ? place % s->stages < s->stages - 1 : place < s->stages * s->chunks - 1;
}

int64_t calc_timeline_next(const calc_schedule_shape *s, int64_t stage, int64_t chunk)
{
    int64_t place = calc_timeline_place(s, stage, chunk);
    int64_t next = joined(s, place) ? stage_at(s, place + 1) : -1;
    return next == stage ? -1 : next;
}

int64_t calc_timeline_before(const calc_schedule_shape *s, int64_t stage, int64_t chunk)
{
    int64_t place = calc_timeline_place(s, stage, chunk);
    int64_t before = place > 0 && joined(s, place - 1) ? stage_at(s, place - 1) : -1;
    return before == stage ? -1 : before;
}

/* ---- The layout ------------------------------------------------------------------------------ */

calc_schedule_shape calc_timeline_shape(const calc_exec *e)
{
    calc_pipeline_schedule kind = e->training ? e->pipeline_schedule : CALC_PIPELINE_SCHEDULE_1F1B;
    bool two = kind == CALC_PIPELINE_SCHEDULE_ZB_V || kind == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
    return (calc_schedule_shape){
        .kind = kind,
        .stages = e->pipeline_par,
        .chunks = two ? 2 : e->pipeline_interleaving,
        .microbatches = e->batch_size / e->strategy.data_par / e->microbatch_size,
    };
}

static double closed_s(const calc_placed *p)
{
    const calc_layout *l = &p->recipe[0];
    if (p->listed) {
        return p->fit ? calc_placed_pipeline_s(p) : (double)NAN;
    }
    calc_stage_pass pass[CALC_MAX_STAGE_CLASSES];
    for (size_t i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        pass[i] = calc_stage_pass_of(&l->terms, &l->links, &l->stages.item[i], l->stages.chunks,
                                     l->exposed);
    }
    return calc_stage_pipeline_s(&l->terms, &l->links, p->exec->pipeline_schedule,
                                 calc_stages_classes(&l->stages), l->stages.item, pass,
                                 l->stages.chunks, l->exposed);
}

void calc_timeline_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                      calc_compat compat, calc_timeline *out)
{
    calc_placed *p = &out->placed;
    calc_placed_of(app, system, exec, compat, NULL, p);
    out->shape = calc_timeline_shape(exec);
    out->closed_s = closed_s(p);
    const calc_stage_deferred deferred = calc_placed_deferred(p);
    out->drain_s = deferred.any ? calc_placed_drain_s(p) : 0;
    out->deferred_s = calc_stage_deferred_after_s(&deferred, out->drain_s);
    out->fits = p->fit;
    out->growth = 0;
    out->overhead_s = 0;
    for (size_t i = 0; i < p->count; i++) {
        out->growth = calc_max(out->growth, p->recipe[i].terms.growth);
        out->overhead_s = calc_max(out->overhead_s, p->recipe[i].terms.overhead_s);
    }
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

calc_stage_class calc_timeline_chunk_class(const calc_timeline *t, int64_t stage, int64_t chunk)
{
    calc_placed_stage at;
    calc_placed_stage_of(&t->placed, stage, &at);
    calc_stage_class c = calc_placed_chunk_class(&t->placed, &at, t->shape.chunks, chunk);
    c.position = (double)stage;
    return c;
}

/* The rule even-stages charges every stage as the first, but the last ones have fewer blocks: the
 * share of its blocks that a stage does have. */
static double blocks_left(const calc_timeline *t, const calc_stage_class *c, int64_t stage)
{
    double each = floor(c->missing / c->stages);
    double more = c->missing - each * c->stages;
    double lacks = each + ((double)(t->shape.stages - stage) <= more ? 1 : 0);
    return 1 - lacks / calc_max(1, c->dense + c->moe);
}

static calc_schedule_pass chunk_pass(const calc_timeline *t, int64_t stage, int64_t chunk)
{
    calc_placed_stage at;
    calc_placed_stage_of(&t->placed, stage, &at);
    calc_stage_pass p = calc_placed_chunk_pass(&t->placed, &at, t->shape.chunks, chunk);
    double left = blocks_left(t, &at.class, stage);
    return (calc_schedule_pass){p.fw_s * left, p.agrad_s * left, p.wgrad_s * left};
}

calc_schedule_pass calc_timeline_pass_of(const calc_timeline *t, int64_t stage, int64_t chunk)
{
    if (chunk >= t->shape.chunks) {
        return calc_timeline_pass_of(t, t->shape.stages - 1 - stage, 0);
    }
    return chunk_pass(t, stage, chunk);
}

/* Whether a stage takes as long as the one before it. */
static bool as_before(const calc_timeline *t, int64_t stage)
{
    if (stage == 0 || t->placed.listed) {
        return false;
    }
    calc_placed_stage a, b;
    calc_placed_stage_of(&t->placed, stage - 1, &a);
    calc_placed_stage_of(&t->placed, stage, &b);
    return a.class.position == b.class.position &&
           blocks_left(t, &a.class, stage - 1) == blocks_left(t, &b.class, stage);
}

void calc_timeline_passes(const calc_timeline *t, calc_schedule_pass *pass)
{
    for (int64_t chunk = 0; chunk < t->shape.chunks; chunk++) {
        calc_schedule_pass now = {0, 0, 0};
        for (int64_t stage = 0; stage < t->shape.stages; stage++) {
            now = as_before(t, stage) ? now : calc_timeline_pass_of(t, stage, chunk);
            pass[calc_timeline_place(&t->shape, stage, chunk)] = now;
        }
    }
}
