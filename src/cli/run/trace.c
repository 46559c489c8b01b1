#include <math.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/run/simulation.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "io/json_put.h"
#include "io/output.h"
#include "spec/field.h"
#include "spec/schedule.h"

/* Writes one step of a layout as a trace for Perfetto and Chrome: docs/trace.md. */

enum { TRACE_MAX_EVENTS = 5000000 };

/* Contents of a trace; borrows everything. */
typedef struct calc_trace {
    const calc_inputs *inputs;
    const calc_simulation *simulation;
    const calc_stats *stats; /* of calc_run_exact() */
    int64_t microbatches;    /* number of micro-batches shown, from the first */
} calc_trace;

/* Process 0 is the step as a whole, process i + 1 is stage i. */
enum { THREAD_STEP = 1, THREAD_COMPUTE = 1, THREAD_P2P, THREAD_DATA };

typedef struct writer {
    const calc_trace *trace;
    const calc_timeline *timeline;
    calc_trace_out *out;
    int64_t stage; /* stage whose events are written */
} writer;

static calc_trace_track track_of(const writer *w, int thread)
{
    return (calc_trace_track){w->stage + 1, thread};
}

/* Slices inside the slice of the pass, in the order of the list; messages come last. */
static double write_parts(const writer *w, const double *spent_s, const char *compute,
                          const char *category, double at_s, double end_s)
{
    for (int i = 0; i < CALC_SPENT_MESSAGE; i++) {
        double part_end_s = fmin(at_s + spent_s[i], end_s);
        const char *name =
            i == CALC_SPENT_COMPUTE ? compute : calc_spent_part_text((calc_spent_part)i);
        calc_trace_slice(w->out, track_of(w, THREAD_COMPUTE), name, category, at_s, part_end_s);
        at_s = part_end_s;
    }
    return at_s;
}

/* A pass with a single part is not divided. */
static bool several(const double *first_s, const double *second_s)
{
    int count = 0;
    for (int i = 0; i < CALC_SPENT_PARTS; i++) {
        count += (first_s && first_s[i] > 0) + (second_s && second_s[i] > 0);
    }
    return count > 1;
}

/* Activation gradient and weight gradient, or one of them. */
static void write_backward(const writer *w, const calc_stage_spent *s, calc_schedule_op_kind kind,
                           double start_s, double end_s)
{
    const double *bw_s = kind != CALC_SCHEDULE_WGRAD ? s->bw_s : NULL;
    const double *wgrad_s = kind != CALC_SCHEDULE_BW ? s->wgrad_s : NULL;
    double at_s = start_s;
    if (!several(bw_s, wgrad_s)) {
        return;
    }
    if (bw_s) {
        at_s = write_parts(w, bw_s, "activation gradient", "backward", at_s, end_s);
    }
    if (wgrad_s) {
        write_parts(w, wgrad_s, "weight gradient", "backward", at_s, end_s);
    }
}

static int64_t arrow_id(const writer *w, const calc_schedule_event *e, int64_t place, bool forward)
{
    return 2 * (place * w->timeline->shape.microbatches + e->microbatch) + forward;
}

/* The message at the end of a pass, on a thread of its own, and the arrow to its receiver. */
static void write_message(const writer *w, const calc_schedule_event *e, bool forward,
                          double message_s, double end_s)
{
    const calc_schedule_shape *shape = &w->timeline->shape;
    int64_t to = forward ? calc_timeline_next(shape, e->stage, e->chunk)
                         : calc_timeline_before(shape, e->stage, e->chunk);
    if (to < 0) {
        return;
    }
    int64_t place = calc_schedule_place(shape, e->stage, e->chunk);
    const char *name = CALC_TEXT(64, "to stage %jd", to);
    int64_t start_ns = calc_trace_ns(end_s - message_s);
    int64_t end_ns = calc_trace_ns(end_s);
    bool shows = end_ns > start_ns;
    calc_trace_slice(w->out, track_of(w, THREAD_P2P), name, "message", end_s - message_s, end_s);
    calc_trace_arrow(w->out, track_of(w, shows ? THREAD_P2P : THREAD_COMPUTE), true,
                     arrow_id(w, e, place, forward), forward ? "activations" : "gradients",
                     shows ? start_ns : end_ns - 1);
}

static void write_arrival(const writer *w, const calc_schedule_event *e, bool forward)
{
    const calc_schedule_shape *shape = &w->timeline->shape;
    int64_t from = forward ? calc_timeline_before(shape, e->stage, e->chunk)
                           : calc_timeline_next(shape, e->stage, e->chunk);
    if (from >= 0) {
        int64_t place = calc_schedule_place(shape, e->stage, e->chunk) + (forward ? -1 : 1);
        calc_trace_arrow(w->out, track_of(w, THREAD_COMPUTE), false, arrow_id(w, e, place, forward),
                         forward ? "activations" : "gradients", calc_trace_ns(e->start_s));
    }
}

/* "F 3", or "F 3.1" with several chunks. */
static char *name_of(const writer *w, const calc_schedule_event *e, char *buffer, size_t size)
{
    static const char *const letters[] = {"F", "B", "W", "B"};
    if (calc_schedule_held(&w->timeline->shape) > 1) {
        snprintf(buffer, size, "%s %d.%d", letters[e->kind], e->microbatch, e->chunk);
    } else {
        snprintf(buffer, size, "%s %d", letters[e->kind], e->microbatch);
    }
    return buffer;
}

/* An event: its slice, its parts, its messages. In a pair of a forward and a backward that run at
 * once, each keeps its own time within the slice of the pair. */
static void write_operation(const writer *w, const calc_schedule_event *e, double start_s,
                            double end_s)
{
    char name[64];
    calc_stage_spent s;
    calc_timeline_spent_of(w->timeline, e->stage, e->chunk, &s);
    calc_trace_slice(w->out, track_of(w, THREAD_COMPUTE), name_of(w, e, name, sizeof name),
                     e->kind == CALC_SCHEDULE_FW      ? "forward"
                     : e->kind == CALC_SCHEDULE_WGRAD ? "weight gradient"
                                                      : "backward",
                     start_s, end_s);
    if (e->kind == CALC_SCHEDULE_FW) {
        write_arrival(w, e, true);
        if (several(s.fw_s, NULL)) {
            write_parts(w, s.fw_s, "kernels", "forward", start_s, end_s);
        }
        write_message(w, e, true, s.fw_s[CALC_SPENT_MESSAGE], end_s);
        return;
    }
    if (e->kind != CALC_SCHEDULE_WGRAD) {
        write_arrival(w, e, false);
    }
    write_backward(w, &s, e->kind, start_s, end_s);
    if (e->kind != CALC_SCHEDULE_WGRAD) {
        write_message(w, e, false, s.bw_s[CALC_SPENT_MESSAGE], end_s);
    }
}

static void write_memory(const writer *w, double at_s)
{
    const calc_schedule_shape *shape = &w->timeline->shape;
    double parts = (double)(calc_schedule_traits_of(shape->kind).copies > 1 ? 1 : shape->chunks);
    double live = (double)w->trace->simulation->live[w->stage];
    calc_timeline_memory memory = calc_timeline_memory_of(w->timeline, w->stage);
    double bytes = memory.fixed_bytes + memory.flight_bytes * live / parts;
    calc_trace_counter(w->out, w->stage + 1, "memory", "GiB", at_s, bytes / 0x1p30);
}

/* Memory in use: a pass keeps activations from the start of its forward to the end of its weight
 * gradient. */
static void count_memory(const writer *w, const calc_schedule_event *e, bool shown)
{
    bool begins = e->kind == CALC_SCHEDULE_FW;
    bool ends = e->kind == CALC_SCHEDULE_WGRAD || e->kind == CALC_SCHEDULE_BW_WHOLE;
    w->trace->simulation->live[w->stage] += begins - ends;
    if (shown && (begins || ends)) {
        write_memory(w, begins ? e->start_s : e->end_s);
    }
}

static void write_pair(const writer *w, const calc_schedule_event *e)
{
    char first[32];
    char second[32];
    calc_schedule_pass forward = calc_timeline_pass_of(w->timeline, e->stage, e->chunk);
    double between_s = fmin(e->start_s + forward.fw_s, e->end_s);
    const char *name = CALC_TEXT(80, "%s + %s", name_of(w, e, first, sizeof first),
                                 name_of(w, e + 1, second, sizeof second));
    calc_trace_slice(w->out, track_of(w, THREAD_COMPUTE), name, "pair", e->start_s, e->end_s);
    write_operation(w, e, e->start_s, between_s);
    write_operation(w, e + 1, between_s, e->end_s);
}

/* Passes of zero time in the simulation are the backward passes of inference. */
static void write_operations(writer *w)
{
    const calc_schedule_events *events = &w->trace->simulation->events;
    int64_t shown = w->trace->microbatches;
    bool training = w->timeline->placed.exec->training;
    for (int64_t i = 0; i < events->count; i++) {
        const calc_schedule_event *e = &events->event[i];
        if (e->kind != CALC_SCHEDULE_FW && !training) {
            continue;
        }
        w->stage = e->stage;
        if (i + 1 < events->count && calc_simulation_paired(e) && e->microbatch < shown &&
            e[1].microbatch < shown) {
            write_pair(w, e);
            count_memory(w, e, true);
            count_memory(w, e + 1, true);
            i++;
            continue;
        }
        if (e->microbatch < shown) {
            write_operation(w, e, e->start_s, e->end_s);
        }
        count_memory(w, e, e->microbatch < shown && training);
    }
}

static void write_end(const writer *w)
{
    calc_timeline_slice slice[CALC_TIMELINE_AFTER];
    calc_timeline_after(w->timeline, w->stage, w->trace->simulation->pipeline_s,
                        w->trace->stats->straggler_time, slice);
    for (int i = 0; i < CALC_TIMELINE_AFTER; i++) {
        const calc_timeline_slice *s = &slice[i];
        calc_trace_slice(w->out, track_of(w, s->link ? THREAD_DATA : THREAD_COMPUTE), s->name,
                         s->category, s->start_s, s->end_s);
    }
}

static void write_names(writer *w, int64_t stages)
{
    calc_trace_process(w->out, 0, "step");
    calc_trace_thread(w->out, (calc_trace_track){0, THREAD_STEP}, "step");
    for (int64_t i = 0; i < stages; i++) {
        w->stage = i;
        calc_trace_process(w->out, i + 1, CALC_TEXT(64, "stage %jd", i));
        calc_trace_thread(w->out, track_of(w, THREAD_COMPUTE), "compute");
        calc_trace_thread(w->out, track_of(w, THREAD_P2P), "messages between stages");
        calc_trace_thread(w->out, track_of(w, THREAD_DATA), "data parallel");
    }
}

/* The step and its phases, which add up to it. */
static void write_phases(const writer *w)
{
    const calc_stats *s = w->trace->stats;
    const calc_trace_track track = {0, THREAD_STEP};
    double pipeline_s = w->trace->simulation->pipeline_s;
    double rest_s = pipeline_s + s->straggler_time;
    double end_s = s->total_time - s->overhead_time;
    calc_trace_slice(w->out, track, "step", "step", 0, s->total_time);
    calc_trace_slice(w->out, track, "pipeline", "step", 0, pipeline_s);
    calc_trace_slice(w->out, track, "stragglers", "step", pipeline_s, rest_s);
    calc_trace_slice(w->out, track, "data parallelism and optimizer", "step", rest_s, end_s);
    calc_trace_slice(w->out, track, "fixed overhead", "step", end_s, s->total_time);
}

static void write_events(const calc_trace *trace, calc_trace_out *out)
{
    writer w = {.trace = trace, .timeline = &trace->simulation->timeline, .out = out};
    int64_t stages = w.timeline->shape.stages;
    write_names(&w, stages);
    write_phases(&w);
    for (w.stage = 0; w.stage < stages; w.stage++) {
        trace->simulation->live[w.stage] = 0;
        write_memory(&w, 0);
        write_end(&w);
    }
    write_operations(&w);
}

/* Write the trace. */
static void trace_write(calc_output *out, const calc_trace *trace)
{
    const calc_schedule_shape *shape = &trace->simulation->timeline.shape;
    const calc_input *input = trace->inputs->input;
    calc_trace_out records = {.out = out};
    calc_put put = {.out = out};
    calc_putf(&put, "{\ndisplayTimeUnit: %s, otherData: {version: %s, application: %s", "ms",
              CALC_VERSION, input[CALC_KIND_APP].name);
    calc_put_text(&put, "system", input[CALC_KIND_SYSTEM].name);
    calc_putf(&put,
              "execution: %s, verdict: %s, pipeline_schedule: %s, stages: %jd, chunks: %jd, "
              "microbatches: %jd, microbatches_shown: %jd, pipeline_time: %g, total_time: %g}, "
              "traceEvents: [",
              input[CALC_KIND_EXEC].name, calc_verdict_text(trace->stats->verdict),
              calc_pipeline_schedule_names[shape->kind], shape->stages, shape->chunks,
              shape->microbatches, trace->microbatches, trace->simulation->pipeline_s,
              trace->stats->total_time);
    write_events(trace, &records);
    calc_output_text(out, "\n");
    calc_put_close(&put);
    calc_put_end(&put);
}

calc_status calc_trace_write(const char *path, const calc_inputs *inputs, int64_t microbatches,
                             calc_errors *errors)
{
    calc_simulation simulation = {0};
    calc_stats stats;
    calc_status status = calc_simulation_run(&simulation, inputs, errors);
    status = status == CALC_OK ? calc_simulation_stats(inputs, &stats, errors) : status;
    if (status == CALC_OK) {
        int64_t all = simulation.timeline.shape.microbatches;
        const calc_trace trace = {.inputs = inputs,
                                  .simulation = &simulation,
                                  .stats = &stats,
                                  .microbatches =
                                      microbatches > 0 && microbatches < all ? microbatches : all};
        calc_trace_out counted = {0};
        write_events(&trace, &counted);
        int64_t count = counted.count;
        if (count > TRACE_MAX_EVENTS) {
            status = calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL,
                                     "show some of the micro-batches: --microbatches N",
                                     "the trace would have %jd events: at most %d are written",
                                     count, TRACE_MAX_EVENTS);
        } else {
            calc_output *out = calc_write_to(path);
            trace_write(out, &trace);
            status = calc_output_close(out, errors);
        }
    }
    calc_simulation_free(&simulation);
    return status;
}
