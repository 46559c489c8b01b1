#include "report/page_timeline.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "spec/field.h"

static bool is_v(calc_pipeline_schedule kind)
{
    return kind == CALC_PIPELINE_SCHEDULE_ZB_V || kind == CALC_PIPELINE_SCHEDULE_DUALPIPE_V;
}

/* The schedule with all its micro-batches. Without backward passes there is nothing to order. */
static calc_schedule_shape shape_of(const calc_exec *exec, const calc_stats *stats)
{
    calc_schedule_shape shape = {.kind = exec->pipeline_schedule,
                                 .stages = exec->pipeline_par,
                                 .chunks = exec->pipeline_interleaving,
                                 .microbatches = (int64_t)stats->num_microbatches};
    if (!exec->training) {
        shape.kind = CALC_PIPELINE_SCHEDULE_GPIPE;
        shape.chunks = 1;
    } else if (is_v(shape.kind)) {
        shape.chunks = 2;
    }
    return shape;
}

/* At most three operations for each micro-batch and chunk: forward and two gradients. */
static double events_of(const calc_schedule_shape *shape)
{
    return 3.0 * (double)shape->stages * (double)shape->chunks * (double)shape->microbatches;
}

/* Leave out rounds of the steady state until the rest can be shown. */
static bool shorten(calc_schedule_shape *shape)
{
    int64_t round = 2 * shape->stages;
    calc_schedule_shape least = *shape;
    if (events_of(shape) <= CALC_TIMELINE_EVENTS) {
        return true;
    }
    least.microbatches = shape->microbatches < round ? shape->microbatches : round;
    if (events_of(&least) > CALC_TIMELINE_MOST) {
        return false;
    }
    int64_t rounds = CALC_TIMELINE_EVENTS / (3 * shape->stages * shape->chunks * round);
    if (round * rounds > least.microbatches) {
        least.microbatches = round * rounds;
    }
    *shape = least;
    return true;
}

/* Calculon charges every stage as the first, but lets the last ones have fewer blocks: that share
 * of a stage's blocks it does have. */
static double blocks_left(const calc_schedule_shape *shape, const calc_stats *stats, int64_t stage)
{
    double missing = stats->missing_blocks > 0 ? stats->missing_blocks : 0;
    double each = floor(missing / (double)shape->stages);
    double more = missing - each * (double)shape->stages;
    double lacks = each + ((double)(shape->stages - stage) <= more ? 1 : 0);
    return stats->blocks_per_proc > lacks ? 1 - lacks / stats->blocks_per_proc : 1;
}

/* Time of embedding, or head and loss, that is not spread over the chunks of a stage but part of
 * the first or the last. Which stage has them under a V is not known here. */
static double end_s(const calc_schedule_shape *shape, const calc_stage_stats *stage, int64_t chunk,
                    int64_t i)
{
    bool first = chunk == 0 && i == 0 && shape->stages > 1;
    bool last = chunk == shape->chunks - 1 && i == shape->stages - 1;
    return first || last ? stage[i].head_time : 0;
}

/* NaN stays NaN. */
static double at_least_0(double x)
{
    return x < 0 ? 0 : x;
}

/* A part of a stage: its share, and a third of what the ends take for each kind of operation. */
static calc_schedule_pass pass_of(const calc_schedule_shape *shape, const calc_stage_stats *s,
                                  double left, double ends_s)
{
    double share = left / (double)shape->chunks;
    bool apart = shape->chunks > 1 && !is_v(shape->kind);
    double spread_s = apart ? s->head_time / 3 : 0;
    double own_s = apart ? ends_s / 3 : 0;
    return (calc_schedule_pass){.fw_s = at_least_0(s->fw_time - spread_s) * share + own_s,
                                .bw_s = at_least_0(s->bw_time - s->wgrad_time - spread_s) * share +
                                        own_s,
                                .wgrad_s = at_least_0(s->wgrad_time - spread_s) * share + own_s};
}

/* Times of each part of the model, in the order of a micro-batch's way through it. */
static void put_passes(calc_schedule_pass *pass, const calc_schedule_shape *shape,
                       const calc_stats *stats, const calc_stage_stats *stage)
{
    for (int64_t chunk = 0; chunk < shape->chunks; chunk++) {
        bool back = is_v(shape->kind) && chunk == 1;
        for (int64_t i = 0; i < shape->stages; i++) {
            int64_t at = back ? shape->stages - 1 - i : i;
            double left = blocks_left(shape, stats, at);
            pass[chunk * shape->stages + i] =
                pass_of(shape, &stage[at], left, end_s(shape, stage, chunk, at));
        }
    }
}

/* Run it. @return false: out of memory */
static bool simulate(calc_page_timeline *out, const calc_stats *stats,
                     const calc_stage_stats *stage)
{
    const calc_schedule_shape *shape = &out->shape;
    calc_schedule_events events = {.capacity = (int64_t)events_of(shape)};
    calc_schedule_pass *pass = calloc((size_t)(shape->stages * shape->chunks), sizeof *pass);
    void *workspace = malloc(calc_schedule_sim_bytes(shape));
    out->event = calloc((size_t)events.capacity, sizeof *out->event);
    out->reason = "its stages have no finite time";
    bool room = pass && workspace && out->event;
    if (room) {
        put_passes(pass, shape, stats, stage);
        events.event = out->event;
        const calc_schedule_sim sim = {.shape = *shape, .pass = pass, .overlap = true};
        out->end_s = calc_schedule_sim_s(&sim, workspace, NULL, &events);
        bool timed = isfinite(out->end_s) && out->end_s > 0;
        out->count = timed ? (size_t)events.count : 0;
        out->reason = timed ? NULL : out->reason;
    }
    free(pass);
    free(workspace);
    return room;
}

calc_status calc_page_timeline_make(calc_page_timeline *out, const calc_exec *exec,
                                    const calc_stats *stats, const calc_stage_stats *stage,
                                    calc_errors *errors)
{
    out->shape = shape_of(exec, stats);
    out->microbatches = out->shape.microbatches;
    if (!stage || !(stats->num_microbatches >= 1)) {
        out->reason = "the stages of this layout are not known";
        return CALC_OK;
    }
    calc_schedule_status fits = calc_schedule_check(&out->shape);
    if (fits != CALC_SCHEDULE_OK) {
        out->reason = calc_schedule_status_text(fits);
        return CALC_OK;
    }
    if (!shorten(&out->shape)) {
        out->reason = "there are too many operations to show";
        return CALC_OK;
    }
    return simulate(out, stats, stage) ? CALC_OK : calc_errors_no_memory(errors);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Kinds as calc_schedule_op_kind numbers them. */
static const char *const columns[] = {"stage", "kind", "chunk", "microbatch", "start", "dur"};

static double value_of(const calc_schedule_event *e, size_t column)
{
    const double values[] = {e->stage,      e->kind,    e->chunk,
                             e->microbatch, e->start_s, e->end_s - e->start_s};
    return values[column];
}

void calc_page_timeline_put(calc_put *put, const calc_page_timeline *t)
{
    calc_put_object(put, "timeline", CALC_PUT_LINES);
    calc_put_text(put, "schedule", calc_pipeline_schedule_names[t->shape.kind]);
    calc_put_count(put, "stages", t->shape.stages);
    calc_put_count(put, "chunks", t->shape.chunks);
    calc_put_count(put, "microbatches", t->microbatches);
    calc_put_count(put, "shown", t->shape.microbatches);
    calc_put_number(put, "end_s", t->count > 0 ? t->end_s : 0);
    if (t->reason) {
        calc_put_text(put, "reason", t->reason);
    }
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        calc_put_array(put, columns[c], CALC_PUT_LINE);
        for (size_t i = 0; i < t->count; i++) {
            calc_put_rounded(put, NULL, value_of(&t->event[i], c), 7);
        }
        calc_put_close(put);
    }
    calc_put_close(put);
}

void calc_page_timeline_free(calc_page_timeline *timeline)
{
    free(timeline->event);
    timeline->event = NULL;
    timeline->count = 0;
}
