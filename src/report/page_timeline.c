#include "report/page_timeline.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "model/operators/processor.h"
#include "spec/field.h"

/* At most three operations per micro-batch and chunk: forward and two gradients. */
static double events_of(const calc_schedule_shape *shape)
{
    return 3.0 * (double)shape->stages * (double)shape->chunks * (double)shape->microbatches;
}

/* Drops rounds of the steady state until the rest can be shown. */
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

/* Runs the schedule. @return false: out of memory */
static bool simulate(calc_page_timeline *out, const calc_schedule_pass *pass)
{
    calc_schedule_events events = {.capacity = (int64_t)events_of(&out->shape)};
    void *workspace = malloc(calc_schedule_sim_bytes(&out->shape));
    out->event = calloc((size_t)events.capacity, sizeof *out->event);
    out->reason = "its stages have no finite time";
    bool room = workspace && out->event;
    if (room) {
        events.event = out->event;
        const calc_schedule_sim sim = {.shape = out->shape, .pass = pass};
        out->end_s = calc_schedule_sim_s(&sim, workspace, NULL, &events);
        bool timed = isfinite(out->end_s) && out->end_s > 0;
        out->count = timed ? (size_t)events.count : 0;
        out->reason = timed ? NULL : out->reason;
    }
    free(workspace);
    return room;
}

calc_status calc_page_timeline_make(calc_page_timeline *out, const calc_schedule_shape *shape,
                                    const calc_schedule_pass *pass, calc_errors *errors)
{
    out->shape = *shape;
    out->microbatches = shape->microbatches;
    if (!pass) {
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
    return simulate(out, pass) ? CALC_OK : calc_errors_no_memory(errors);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Precision of the drawn times: 1 ns up to 1 s, and 10 ns up to 100 s. */
enum { DIGITS = 10 };

/* Kinds in the order of calc_schedule_op_kind. */
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
            calc_put_rounded(put, NULL, value_of(&t->event[i], c), DIGITS);
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

enum { PAGE_STEP_DIGITS = 7 };

static void put_spent(calc_put *put, const char *key, const double *spent_s)
{
    calc_put_array(put, key, CALC_PUT_LINE);
    for (int i = 0; i < CALC_TIMELINE_PARTS; i++) {
        calc_put_rounded(put, NULL, spent_s[i], PAGE_STEP_DIGITS);
    }
    calc_put_close(put);
}

static void put_passes(calc_put *put, const calc_timeline *t, int64_t stage)
{
    calc_put_array(put, "passes", CALC_PUT_LINE);
    for (int64_t chunk = 0; chunk < calc_timeline_held(&t->shape); chunk++) {
        calc_timeline_spent spent;
        calc_timeline_spent_of(t, stage, chunk, &spent);
        calc_put_object(put, NULL, CALC_PUT_LINE);
        put_spent(put, "fw", spent.fw_s);
        put_spent(put, "bw", spent.bw_s);
        put_spent(put, "wgrad", spent.wgrad_s);
        calc_put_close(put);
    }
    calc_put_close(put);
}

/* @return end of the last phase [s] */
static double put_after(calc_put *put, const calc_timeline *t, int64_t stage, double pipeline_s)
{
    calc_timeline_slice slice[CALC_TIMELINE_AFTER];
    double end_s = pipeline_s;
    calc_timeline_after(t, stage, pipeline_s, pipeline_s * t->growth, slice);
    calc_put_array(put, "after", CALC_PUT_LINE);
    for (int i = 0; i < CALC_TIMELINE_AFTER; i++) {
        const calc_timeline_slice *s = &slice[i];
        if (s->end_s > s->start_s) {
            calc_put_object(put, NULL, CALC_PUT_LINE);
            calc_put_text(put, "name", s->name);
            calc_put_flag(put, "link", s->link);
            calc_put_number(put, "start", s->start_s);
            calc_put_number(put, "end", s->end_s);
            calc_put_close(put);
            end_s = calc_max(end_s, s->end_s);
        }
    }
    calc_put_close(put);
    return end_s;
}

void calc_page_step_put(calc_put *put, const calc_timeline *t, double pipeline_s)
{
    double end_s = 0;
    calc_put_object(put, "step", CALC_PUT_LINES);
    calc_put_array(put, "parts", CALC_PUT_LINE);
    for (int i = 0; i < CALC_TIMELINE_PARTS; i++) {
        calc_put_text(put, NULL, calc_timeline_part_text((calc_timeline_part)i));
    }
    calc_put_close(put);
    calc_put_array(put, "stages", CALC_PUT_LINES);
    for (int64_t stage = 0; stage < t->shape.stages; stage++) {
        calc_timeline_memory memory = calc_timeline_memory_of(t, stage);
        calc_put_object(put, NULL, CALC_PUT_LINE);
        put_passes(put, t, stage);
        end_s = calc_max(end_s, put_after(put, t, stage, pipeline_s));
        calc_put_number(put, "fixed", memory.fixed_bytes);
        calc_put_number(put, "flight", memory.flight_bytes);
        calc_put_close(put);
    }
    calc_put_close(put);
    calc_put_number(put, "overhead_s", t->overhead_s);
    calc_put_number(put, "end_s", end_s + t->overhead_s);
    calc_put_close(put);
}
