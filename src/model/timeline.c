#include "model/timeline.h"

#include <math.h>
#include <string.h>

#include "model/operators/processor.h"
#include "spec/schedule.h"

/* ---- Places ---------------------------------------------------------------------------------- */

int64_t calc_timeline_next(const calc_schedule_shape *s, int64_t stage, int64_t chunk)
{
    int64_t place = calc_schedule_place(s, stage, chunk);
    int64_t next = calc_schedule_joined(s, place) ? calc_schedule_stage_at(s, place + 1) : -1;
    return next == stage ? -1 : next;
}

int64_t calc_timeline_before(const calc_schedule_shape *s, int64_t stage, int64_t chunk)
{
    int64_t place = calc_schedule_place(s, stage, chunk) - 1;
    bool joined = place >= 0 && calc_schedule_joined(s, place);
    int64_t before = joined ? calc_schedule_stage_at(s, place) : -1;
    return before == stage ? -1 : before;
}

/* ---- The layout ------------------------------------------------------------------------------ */

calc_schedule_shape calc_timeline_shape(const calc_exec *e)
{
    calc_pipeline_schedule kind = e->training ? e->pipeline_schedule : CALC_PIPELINE_SCHEDULE_1F1B;
    return (calc_schedule_shape){
        .kind = kind,
        .stages = e->pipeline_par,
        .chunks = calc_schedule_traits_of(kind).chunks == 2 ? 2 : e->pipeline_interleaving,
        .microbatches = calc_microbatches(e),
    };
}

void calc_timeline_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                      calc_compat compat, calc_timeline *out)
{
    calc_placed *p = &out->placed;
    calc_placed_of(app, system, exec, compat, NULL, NULL, p);
    out->shape = calc_timeline_shape(exec);
    out->closed_s = calc_placed_pipeline_s(p);
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

calc_schedule_pass calc_timeline_pass_of(const calc_timeline *t, int64_t stage, int64_t chunk)
{
    if (chunk >= t->shape.chunks) {
        return calc_timeline_pass_of(t, t->shape.stages - 1 - stage, 0);
    }
    calc_placed_stage at;
    calc_placed_stage_of(&t->placed, stage, &at);
    calc_stage_pass p = calc_placed_chunk_pass(&t->placed, &at, t->shape.chunks, chunk);
    double left = blocks_left(t, &at.class, stage);
    return (calc_schedule_pass){p.fw_s * left, p.agrad_s * left, p.wgrad_s * left};
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
            pass[calc_schedule_place(&t->shape, stage, chunk)] = now;
        }
    }
}

/* The work after the pipeline of a step, and the memory of a stage. */

calc_timeline_end calc_timeline_end_of(const calc_timeline *t, int64_t stage)
{
    const calc_placed *p = &t->placed;
    const calc_strategy *s = &p->exec->strategy;
    calc_placed_stage at;
    calc_placed_stage_of(p, stage, &at);
    calc_stage_pass pass = calc_placed_pass(p, &at);
    calc_stage_reduction r = calc_placed_reduction(p, &at, &pass);
    bool end = stage == 0 || stage == t->shape.stages - 1;
    return (calc_timeline_end){
        .reduce_link_s = r.reduce_s,
        .reduce_s = s->data_par_overlap ? r.reduce_beside_s : r.reduce_s,
        .gather_link_s = r.gather_s,
        .gather_s = calc_stage_gathers_beside(s) ? r.gather_beside_s : r.gather_s,
        .tied_s = end ? at.links.tied_s : 0,
        .optimizer_s = calc_placed_optimizer_s(p, &at),
        .scatters = calc_zero_stage(&at.layout->exec->strategy) >= 1,
    };
}

void calc_timeline_after(const calc_timeline *t, int64_t stage, double pipeline_s,
                         double straggler_s, calc_timeline_slice out[CALC_TIMELINE_AFTER])
{
    calc_timeline_end end = calc_timeline_end_of(t, stage);
    double hidden_s = calc_max(0, end.gather_link_s - end.gather_s);
    calc_stage_deferred deferred = calc_placed_deferred(&t->placed);
    bool head = deferred.any && stage == t->shape.stages - 1;
    double drained_s = pipeline_s + t->deferred_s;
    double head_s = head ? pipeline_s - t->drain_s : drained_s;
    double at_s = drained_s + straggler_s;
    double reduced_s = at_s + end.reduce_s;
    double start_s = fmin(at_s, calc_max(hidden_s, reduced_s - end.reduce_link_s));
    double tied_s = reduced_s + end.tied_s;
    double updated_s = tied_s + end.optimizer_s;
    const char *reduction = end.scatters ? "reduce-scatter gradients" : "all-reduce gradients";
    const calc_timeline_slice slices[CALC_TIMELINE_AFTER] = {
        {"all-gather weights, hidden", "data parallel", true, 0, fmin(hidden_s, at_s)},
        {"weight gradients of the head", "embedding, head", false, head_s,
         head ? head_s + deferred.all_s : drained_s},
        {"stragglers", "wait", false, drained_s, at_s},
        {reduction, "data parallel", true, fmin(start_s, reduced_s), reduced_s},
        {"all-reduce shared embedding", "data parallel", true, reduced_s, tied_s},
        {"optimizer", "optimizer", false, tied_s, updated_s},
        {"all-gather weights", "data parallel", true, updated_s, updated_s + end.gather_s},
    };
    memcpy(out, slices, sizeof slices);
}

calc_timeline_memory calc_timeline_memory_of(const calc_timeline *t, int64_t stage)
{
    calc_placed_stage at;
    calc_placed_stage_of(&t->placed, stage, &at);
    at.class.position = (double)stage;
    calc_stage_memory m = calc_placed_memory(&t->placed, &at);
    double used = at.terms.used_share;
    return (calc_timeline_memory){
        .fixed_bytes = (m.total - m.activation) * used + at.terms.reserved_bytes,
        .flight_bytes = m.in_flight > 0 ? m.activation / m.in_flight * used : 0,
    };
}

/* Breakdown of the time of a chunk: calc_timeline_spent_of(). */

const char *calc_spent_part_text(calc_spent_part part)
{
    static const char *const text[] = {
#define CALC_X(name, words) [CALC_SPENT_##name] = (words),
        CALC_SPENT_PART_LIST(CALC_X)
#undef CALC_X
    };
    return text[part];
}

/* The remainder of a pass counts as `part`; a negative one is rounding. */
static void put_rest(double *parts, calc_spent_part part, double all_s)
{
    double known_s = 0;
    for (int i = 0; i < CALC_SPENT_PARTS; i++) {
        known_s += parts[i];
    }
    double rest_s = all_s - known_s;
    parts[part] += rest_s > 1e-9 * all_s ? rest_s : 0;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static void add(const calc_layout *l, const calc_stage_class *class, double recompute,
                calc_stage_spent *out)
{
    calc_stage_spend(&l->context, l->exec, &l->parts, &l->lines, &l->terms, class, recompute, out);
}

/* A chunk of listed layers, part by part. */
static void spend_layers(const calc_timeline *t, int64_t stage, int64_t chunk,
                         calc_stage_spent *out)
{
    const calc_placed *p = &t->placed;
    const calc_placed_chunk *c = &p->chunk[chunk * p->stages + stage];
    calc_placed_stage at;
    calc_placed_stage_of(p, stage, &at);
    calc_reshard message = calc_placed_messages(p, &at, chunk);
    for (int i = c->part; i < c->part + c->parts; i++) {
        add(&p->recipe[p->part[i].recipe], &p->part[i].class, 1, out);
    }
    out->fw_s[CALC_SPENT_RESHARD] = c->reshard.fw_s;
    out->bw_s[CALC_SPENT_RESHARD] = c->reshard.bw_s;
    out->fw_s[CALC_SPENT_MESSAGE] = message.fw_s;
    out->bw_s[CALC_SPENT_MESSAGE] = message.bw_s;
}

static void spend(const calc_timeline *t, int64_t stage, int64_t chunk, calc_stage_spent *out)
{
    calc_placed_stage at;
    if (t->placed.layered) {
        spend_layers(t, stage, chunk, out);
        return;
    }
    calc_placed_stage_of(&t->placed, stage, &at);
    const calc_layout *l = at.layout;
    calc_stage_class c = calc_timeline_chunk_class(t, stage, chunk);
    double recompute = calc_placed_chunk_recompute(&t->placed, &at, chunk);
    double messages = l->exposed * l->stages.chunks / (double)t->shape.chunks;
    add(l, &c, recompute, out);
    out->fw_s[CALC_SPENT_MESSAGE] = at.links.message_s * messages;
    out->bw_s[CALC_SPENT_MESSAGE] = l->exec->training ? at.links.back_message_s * messages : 0;
}

void calc_timeline_spent_of(const calc_timeline *t, int64_t stage, int64_t chunk,
                            calc_stage_spent *out)
{
    if (chunk >= t->shape.chunks) {
        calc_timeline_spent_of(t, t->shape.stages - 1 - stage, 0, out);
        return;
    }
    *out = (calc_stage_spent){0};
    calc_schedule_pass pass = calc_timeline_pass_of(t, stage, chunk);
    spend(t, stage, chunk, out);
    put_rest(out->fw_s, CALC_SPENT_HOST, pass.fw_s);
    put_rest(out->bw_s, CALC_SPENT_HOST, pass.bw_s);
    put_rest(out->wgrad_s, CALC_SPENT_HOST, pass.wgrad_s);
}
