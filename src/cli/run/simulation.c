#include "cli/run/simulation.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "spec/field.h"

/* Report an error whose place is the execution. */
static calc_status locate(const calc_inputs *inputs, calc_status status, calc_errors *errors)
{
    if (status != CALC_OK) {
        const calc_input *input = &inputs->input[CALC_KIND_EXEC];
        calc_errors_locate(errors, CALC_KIND_EXEC, input->text.data, input->text.length,
                           input->path);
    }
    return status;
}

/* Whether a step can be simulated, and the memory that takes. */
static calc_status needs(const calc_inputs *inputs, size_t *bytes, calc_errors *errors)
{
    return locate(inputs, calc_exact_bytes(&inputs->exec, bytes, errors), errors);
}

calc_status calc_simulation_run(calc_simulation *s, const calc_inputs *inputs, calc_errors *errors)
{
    size_t bytes = 0;
    calc_status status =
        inputs->exec.inference.phase == CALC_INFERENCE_PHASE_NONE
            ? needs(inputs, &bytes, errors)
            : locate(inputs,
                     calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC,
                                     "/inference/phase", "run `calc run` for the numbers",
                                     "what is served has no step of a pipeline: its passes change"),
                     errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_timeline_of(&inputs->app, &inputs->system, &inputs->exec, CALC_COMPAT_NONE, &s->timeline);
    const calc_schedule_shape *shape = &s->timeline.shape;
    if (!s->timeline.fits) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                               "run `calc run` for the numbers",
                               "the stages and chunks do not divide the blocks: there is no step "
                               "to simulate");
    }
    size_t parts = (size_t)(shape->stages * shape->chunks);
    /* Both halves of a pair are events, but a pair is one operation of three. */
    size_t room = (size_t)(shape->stages * calc_schedule_ops_room(shape));
    calc_schedule_pass *pass = calc_make(parts, sizeof *pass);
    void *workspace = calc_make(1, bytes);
    s->stage = calc_make((size_t)shape->stages, sizeof *s->stage);
    s->live = calc_make((size_t)shape->stages, sizeof *s->live);
    s->events = (calc_schedule_events){.event = calc_make(room, sizeof *s->events.event),
                                       .capacity = (int64_t)room};
    calc_timeline_passes(&s->timeline, pass);
    calc_schedule_sim sim = {.shape = *shape, .pass = pass};
    s->pipeline_s = calc_schedule_sim_s(&sim, workspace, s->stage, &s->events);
    free(pass);
    free(workspace);
    return CALC_OK;
}

bool calc_simulation_paired(const calc_schedule_event *e)
{
    return e[0].kind == CALC_SCHEDULE_FW && e[1].kind == CALC_SCHEDULE_BW_WHOLE &&
           e[0].stage == e[1].stage && e[0].chunk != e[1].chunk && e[0].start_s == e[1].start_s &&
           e[0].end_s == e[1].end_s && e[0].end_s > e[0].start_s;
}

CALC_FREES(calc_simulation_free, calc_simulation, of->stage, of->live, of->events.event)

calc_status calc_simulation_stats(const calc_inputs *inputs, calc_stats *stats, calc_errors *errors)
{
    size_t bytes;
    calc_status status = needs(inputs, &bytes, errors);
    if (status != CALC_OK) {
        return status;
    }
    void *workspace = calc_make(1, bytes);
    calc_run_exact(&inputs->app, &inputs->system, &inputs->exec, workspace, stats);
    free(workspace);
    return CALC_OK;
}

enum { LEFT = 9, RIGHT = 9, FEWEST_COLUMNS = 16 };

static const calc_paint_mark kinds[CALC_PLOT_KINDS] = {
#define CALC_X(name, ...) [CALC_PLOT_##name] = {__VA_ARGS__},
    CALC_PLOT_KIND_LIST(CALC_X)
#undef CALC_X
};

/* Rows of columns; each row is a stage. */
typedef struct canvas {
    calc_plot_share *share; /* [rows * columns] */
    int64_t rows, every;    /* stages that one drawn row stands for */
    int columns;
    double column_s;
    bool seen[CALC_PLOT_KINDS];
} canvas;

static void add_events(canvas *c, const calc_schedule_events *events)
{
    static const calc_plot_kind of[] = {CALC_PLOT_FORWARD, CALC_PLOT_BACKWARD, CALC_PLOT_WGRAD,
                                        CALC_PLOT_BACKWARD};
    for (int64_t i = 0; i < events->count; i++) {
        const calc_schedule_event *e = &events->event[i];
        bool pair = i + 1 < events->count && calc_simulation_paired(e);
        i += pair;
        if (e->stage % c->every != 0) {
            continue;
        }
        calc_plot_kind kind = pair ? CALC_PLOT_PAIR : of[e->kind];
        calc_plot_share *row = &c->share[e->stage / c->every * c->columns];
        double start = e->start_s / c->column_s, end = fmin(e->end_s / c->column_s, c->columns);
        for (int k = (int)start; k < c->columns && k < end; k++) {
            row[k].of[kind] += fmin(end, k + 1) - fmax(start, k);
        }
        c->seen[kind] = c->seen[kind] || end > start;
    }
}

/* Fills the rest of the columns with idle time. */
static void add_idle(canvas *c)
{
    enum { ROUNDING = 1000000 };
    for (int64_t i = 0; i < c->rows * c->columns; i++) {
        double busy = 0;
        for (int kind = 0; kind < CALC_PLOT_IDLE; kind++) {
            busy += c->share[i].of[kind];
        }
        double idle = 1 - busy > 1.0 / ROUNDING ? 1 - busy : 0;
        c->share[i].of[CALC_PLOT_IDLE] = idle;
        c->seen[CALC_PLOT_IDLE] = c->seen[CALC_PLOT_IDLE] || idle > 0;
    }
}

void calc_plot_choose(const calc_plot_share *share, int columns, calc_plot_kind *kind)
{
    double due[CALC_PLOT_KINDS] = {0};
    for (int i = 0; i < columns; i++) {
        int best = -1;
        for (int k = 0; k < CALC_PLOT_KINDS; k++) {
            due[k] += share[i].of[k];
            bool here = share[i].of[k] > 0;
            best = here && (best < 0 || due[k] > due[best]) ? k : best;
        }
        best = best < 0 ? CALC_PLOT_IDLE : best;
        due[best] -= 1;
        kind[i] = (calc_plot_kind)best;
    }
}

static void write_row(calc_output *out, const calc_paint *paint, const canvas *c, int64_t row,
                      double idle)
{
    calc_plot_kind kind[CALC_PAINT_MAX_COLUMNS];
    calc_plot_choose(c->share + row * c->columns, c->columns, kind);
    calc_output_printf(out, "%*jd ", LEFT - 1, (row * c->every));
    for (int i = 0, end; i < c->columns; i = end) {
        end = i + 1;
        while (end < c->columns && kind[end] == kind[i]) {
            end++;
        }
        calc_paint_marks(out, paint, &kinds[kind[i]], end - i);
    }
    calc_output_printf(out, "%*s\n", RIGHT, calc_human_percent(idle));
}

static void write_legend(calc_output *out, const calc_paint *paint, const canvas *c)
{
    const char *glue = "";
    calc_output_printf(out, "%*s", LEFT, "");
    for (int k = 0; k < CALC_PLOT_KINDS; k++) {
        if (c->seen[k]) {
            calc_output_text(out, glue);
            calc_paint_marks(out, paint, &kinds[k], 1);
            calc_output_printf(out, " %s", kinds[k].words);
            glue = "   ";
        }
    }
    calc_output_text(out, "\n");
}

static void write_canvas(calc_output *out, const calc_paint *paint, const canvas *c,
                         const calc_simulation *s)
{
    const char *every = c->every > 1 ? CALC_TEXT(64, ", one stage of %jd", c->every) : "";
    calc_report_title(out, paint,
                      CALC_TEXT(600, "Pipeline of one step, simulated: %s, %s per column%s",
                                calc_human_seconds(s->pipeline_s), calc_human_seconds(c->column_s),
                                every));
    calc_output_printf(out, "%*s%*s\n", LEFT - 1, "stage", c->columns + RIGHT + 1, "idle");
    for (int64_t row = 0; row < c->rows; row++) {
        write_row(out, paint, c, row, s->stage[row * c->every].bubble_s / s->pipeline_s);
    }
    write_legend(out, paint, c);
}

calc_status calc_plot_write(calc_output *out, const calc_paint *paint, const calc_inputs *inputs,
                            calc_errors *errors)
{
    calc_simulation simulation = {0}, *s = &simulation;
    calc_status status = calc_simulation_run(s, inputs, errors);
    if (status != CALC_OK) {
        calc_simulation_free(s);
        return status;
    }
    int64_t stages = s->timeline.shape.stages;
    int columns = calc_paint_columns() - LEFT - RIGHT;
    canvas c = {.columns = columns < FEWEST_COLUMNS ? FEWEST_COLUMNS : columns};
    c.every = (stages + CALC_PLOT_MAX_ROWS - 1) / CALC_PLOT_MAX_ROWS;
    c.rows = (stages + c.every - 1) / c.every;
    c.column_s = s->pipeline_s / c.columns;
    c.share = calc_make((size_t)(c.rows * c.columns), sizeof *c.share);
    add_events(&c, &s->events);
    add_idle(&c);
    write_canvas(out, paint, &c, s);
    free(c.share);
    calc_simulation_free(s);
    return CALC_OK;
}

int64_t calc_trace_ns(double seconds)
{
    return llround(seconds * 1e9);
}

/* Count a record, and write it where there is an output. */
CALC_PRINTF(2, 3)
static void record(calc_trace_out *t, const char *fmt, ...)
{
    char text[512];
    va_list args;
    if (t->out) {
        va_start(args, fmt);
        vsnprintf(text, sizeof text, fmt, args);
        va_end(args);
        calc_output_printf(t->out, "%s\n{%s}", t->count > 0 ? "," : "", text);
    }
    t->count++;
}

void calc_trace_process(calc_trace_out *t, int64_t process, const char *name)
{
    record(t, "\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%jd,\"args\":{\"name\":\"%s\"}",
           process, name);
    record(t,
           "\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%jd,\"args\":{\"sort_index\":%jd}",
           process, process);
}

/* Of a track, and of a time in the unit of the format [us]. */
#define TRACK "\"pid\":%jd,\"tid\":%d"
#define US "%jd.%03jd"
#define IN_US(ns) (ns) / 1000, (ns) % 1000

void calc_trace_thread(calc_trace_out *t, calc_trace_track track, const char *name)
{
    record(t, "\"ph\":\"M\",\"name\":\"thread_name\"," TRACK ",\"args\":{\"name\":\"%s\"}",
           track.process, track.thread, name);
}

void calc_trace_slice(calc_trace_out *t, calc_trace_track track, const char *name,
                      const char *category, double start_s, double end_s)
{
    int64_t start_ns = calc_trace_ns(start_s), end_ns = calc_trace_ns(end_s);
    if (end_ns > start_ns) {
        record(t, "\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\"," TRACK ",\"ts\":" US ",\"dur\":" US,
               name, category, track.process, track.thread, IN_US(start_ns),
               IN_US(end_ns - start_ns));
    }
}

void calc_trace_counter(calc_trace_out *t, int64_t process, const char *name, const char *series,
                        double at_s, double value)
{
    int64_t at_ns = calc_trace_ns(at_s);
    record(t, "\"ph\":\"C\",\"name\":\"%s\",\"pid\":%jd,\"ts\":" US ",\"args\":{\"%s\":%s}", name,
           process, IN_US(at_ns), series, CALC_NUMBER(value));
}

void calc_trace_arrow(calc_trace_out *t, calc_trace_track track, bool begins, int64_t id,
                      const char *name, int64_t at_ns)
{
    record(t, "\"ph\":\"%s\",\"id\":%jd,\"name\":\"%s\",\"cat\":\"message\"," TRACK ",\"ts\":" US,
           begins ? "s" : "f\",\"bp\":\"e", id, name, track.process, track.thread, IN_US(at_ns));
}
