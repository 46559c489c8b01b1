#include "model/timeline.h"

#include <math.h>

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
        .microbatches = e->batch_size / e->data_par / e->microbatch_size,
    };
}

void calc_timeline_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                      calc_timeline *out)
{
    calc_layout *l = &out->layout;
    calc_layout_of(app, system, exec, CALC_COMPAT_NONE, NULL, l);
    calc_stage_pass pass[CALC_MAX_STAGE_CLASSES];
    for (size_t i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        pass[i] = calc_stage_pass_of(&l->terms, &l->links, &l->stages.item[i], l->stages.chunks,
                                     l->exposed);
    }
    out->shape = calc_timeline_shape(exec);
    out->closed_s = calc_stage_pipeline_s(&l->terms, &l->links, exec->pipeline_schedule,
                                          calc_stages_classes(&l->stages), l->stages.item, pass,
                                          l->stages.chunks);
    out->fits = l->stages.fit;
    out->growth = l->terms.growth;
    out->overhead_s = l->terms.overhead_s;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

const calc_stage_class *calc_timeline_class(const calc_timeline *t, int64_t stage)
{
    size_t i = 0;
    while (i + 1 < t->layout.stages.count && t->layout.stages.item[i + 1].position <= (double)stage) {
        i++;
    }
    return &t->layout.stages.item[i];
}

/* Whether the dense blocks of a stage come first, as those before the first experts do; else they
 * alternate with the others, or the blocks are spread freely (calc_stages_split()). */
static bool dense_first(const calc_timeline *t, int64_t stage)
{
    const calc_shape *m = &t->layout.shape;
    return stage == 0 && t->layout.stages.stages > 1 && !t->layout.stages.ends_spread && m->dense_blocks > 0 &&
           m->moe_every == 1;
}

calc_stage_class calc_timeline_chunk_class(const calc_timeline *t, int64_t stage, int64_t chunk)
{
    const calc_stage_class *c = calc_timeline_class(t, stage);
    double chunks = (double)t->shape.chunks;
    double blocks = c->dense + c->moe;
    bool as_blocks =
        t->layout.exec->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS && t->layout.stages.stages > 1;
    bool first = chunk == 0;
    bool last = chunk == t->shape.chunks - 1;
    /* Ends that count as a block take the place of one in the chunk they are in. */
    double first_end = as_blocks ? c->first : 0;
    double last_end = as_blocks ? c->last : 0;
    double even = (blocks + first_end + last_end) / chunks;
    double mine = even - first * first_end - last * last_end;
    double before = (double)chunk * even - (first ? 0 : first_end);
    calc_stage_class out = {
        .stages = 1,
        .position = (double)stage,
        .dense = blocks > 0 ? mine * c->dense / blocks : 0,
        .first = t->layout.stages.ends_spread ? c->first / chunks : first * c->first,
        .last = t->layout.stages.ends_spread ? c->last / chunks : last * c->last,
    };
    if (dense_first(t, stage)) {
        out.dense = fmin(mine, calc_max(0, c->dense - before));
    }
    out.moe = mine - out.dense;
    return out;
}

static calc_schedule_pass chunk_pass(const calc_timeline *t, int64_t stage, int64_t chunk)
{
    const calc_stage_class *whole = calc_timeline_class(t, stage);
    calc_stage_class c = calc_timeline_chunk_class(t, stage, chunk);
    calc_stage_terms terms = t->layout.terms;
    /* Blocks that recompute are spread over the chunks of a stage as all its blocks are. */
    double blocks = whole->dense + whole->moe;
    terms.recompute_blocks *= blocks > 0 ? (c.dense + c.moe) / blocks : 0;
    double messages = t->layout.stages.chunks / (double)t->shape.chunks;
    calc_stage_pass p = calc_stage_pass_of(&terms, &t->layout.links, &c, messages, t->layout.exposed);
    return (calc_schedule_pass){p.fw_s, p.agrad_s, p.wgrad_s};
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
    return stage > 0 && calc_timeline_class(t, stage) == calc_timeline_class(t, stage - 1);
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
