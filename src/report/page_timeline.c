#include "report/page_timeline.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
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
