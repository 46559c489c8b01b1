#include "model/timeline.h"

#include "spec/extended.h"

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

static void set_classic(calc_timeline *t)
{
    calc_classic_chunk *c = &t->chunk;
    calc_classic_chunk_of(t->app, t->system, t->exec, c);
    t->fits = c->pipeline.chunks_fit;
    double missing_s =
        calc_step_missing_s(&c->fw, &c->bw, c->pipeline.missing_blocks, c->pipeline.base_blocks);
    t->closed_s = c->pipeline.rounds * (c->fw.chunk_s + c->bw.chunk_s) - missing_s;
    t->growth = 0;
    t->overhead_s = 0;
}

static void set_extended(calc_timeline *t)
{
    const calc_exec *e = t->exec;
    t->model = calc_shape_of(t->app, e);
    t->context = calc_cost_context_of(t->system, e, &t->model);
    t->stages = calc_stages_split(&t->model, e);
    calc_stage_parts_of(&t->context, &t->parts);
    t->lines =
        calc_stage_lines_of(t->system, e, &t->context.groups, calc_stage_message_bytes(&t->model));
    calc_stage_terms_of(&t->context, e, &t->parts, &t->lines, &t->terms);
    calc_stage_pass pass[CALC_MAX_STAGE_CLASSES];
    double exposed = calc_stage_exposed_messages(&t->terms, e);
    for (size_t i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        pass[i] = calc_stage_pass_of(&t->terms, &t->stages.item[i], t->stages.chunks, exposed);
    }
    t->closed_s = calc_stage_pipeline_s(&t->terms, e->pipeline_schedule, t->stages.item, pass,
                                        t->stages.chunks, exposed);
    t->fits = t->stages.fit;
    t->growth = t->terms.growth;
    t->overhead_s = t->terms.overhead_s;
}

void calc_timeline_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                      calc_timeline *out)
{
    out->app = app;
    out->system = system;
    out->exec = exec;
    out->shape = calc_timeline_shape(exec);
    out->extended = calc_extended(app, system, exec);
    if (out->extended) {
        set_extended(out);
    } else {
        set_classic(out);
    }
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

const calc_stage_class *calc_timeline_class(const calc_timeline *t, int64_t stage)
{
    size_t i = 0;
    while (i + 1 < t->stages.count && t->stages.item[i + 1].position <= (double)stage) {
        i++;
    }
    return &t->stages.item[i];
}

calc_stage_class calc_timeline_chunk_class(const calc_timeline *t, int64_t stage, int64_t chunk)
{
    calc_stage_class c =
        calc_stage_chunk(&t->terms, calc_timeline_class(t, stage), t->shape.chunks, chunk);
    c.position = (double)stage;
    return c;
}

static calc_schedule_pass extended_pass(const calc_timeline *t, int64_t stage, int64_t chunk)
{
    double exposed = calc_stage_exposed_messages(&t->terms, t->exec);
    calc_stage_pass p = calc_stage_chunk_pass(&t->terms, calc_timeline_class(t, stage),
                                              t->stages.chunks, t->shape.chunks, chunk, exposed);
    return (calc_schedule_pass){p.fw_s, p.agrad_s, p.wgrad_s};
}

/* Later stages may have a block less, in their last chunk. */
static calc_schedule_pass classic_pass(const calc_timeline *t, int64_t stage, int64_t chunk)
{
    const calc_classic_chunk *c = &t->chunk;
    const calc_pipeline *p = &c->pipeline;
    calc_step_pass none = {0, 0, 0};
    double wgrad_s = c->block.wgrad.time_s;
    bool less = p->missing_blocks > 0 && (double)stage >= p->stages - p->missing_blocks &&
                chunk == t->shape.chunks - 1;
    calc_schedule_pass out = {
        .fw_s = c->fw.chunk_s - calc_step_missing_s(&c->fw, &none, less, p->base_blocks),
        .wgrad_s = wgrad_s * (p->blocks_per_chunk - less),
    };
    double bw_s = c->bw.chunk_s - calc_step_missing_s(&c->bw, &none, less, p->base_blocks);
    out.bw_s = calc_max(0, bw_s - out.wgrad_s);
    return out;
}

calc_schedule_pass calc_timeline_pass_of(const calc_timeline *t, int64_t stage, int64_t chunk)
{
    if (chunk >= t->shape.chunks) {
        return calc_timeline_pass_of(t, t->shape.stages - 1 - stage, 0);
    }
    return t->extended ? extended_pass(t, stage, chunk) : classic_pass(t, stage, chunk);
}

/* Whether a stage takes as long as the one before it. */
static bool as_before(const calc_timeline *t, int64_t stage)
{
    if (stage == 0) {
        return false;
    }
    if (t->extended) {
        return calc_timeline_class(t, stage) == calc_timeline_class(t, stage - 1);
    }
    const calc_pipeline *p = &t->chunk.pipeline;
    return (double)stage != p->stages - p->missing_blocks;
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
