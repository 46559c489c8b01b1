/** @file simulation.h  Simulates one step of a layout, operation by operation, for pictures. */
#ifndef CALC_CLI_RUN_SIMULATION_H
#define CALC_CLI_RUN_SIMULATION_H

#include "cli/run/run_outcome.h"
#include "cli/shell/inputs.h"
#include "io/output.h"
#include "model/timeline.h"

/** Owns its arrays. Borrows the inputs; not to be copied. Start with {0}. */
typedef struct calc_simulation {
    calc_timeline timeline;
    double pipeline_s;
    calc_schedule_stage *stage; /**< [timeline.shape.stages] */
    calc_schedule_events events;
    int64_t *live; /**< [timeline.shape.stages] scratch: activations each stage holds */
} calc_simulation;

/** Simulate a step.
 *  @return CALC_OK; CALC_ERR_UNSUPPORTED, CALC_ERR_RANGE or CALC_ERR_NOMEM, with an error */
CALC_MUST_USE calc_status calc_simulation_run(calc_simulation *simulation,
                                              const calc_inputs *inputs, calc_errors *errors);

/** Whether an event and the next one are a forward and a backward that run at once. Not for the
 *  last event. */
bool calc_simulation_paired(const calc_schedule_event *event);

/** Free the arrays; fine on {0}. */
void calc_simulation_free(calc_simulation *simulation);

/** calc_run_exact() with a workspace of its own. */
CALC_MUST_USE calc_status calc_simulation_stats(const calc_inputs *inputs, calc_stats *stats,
                                                calc_errors *errors);

/* Draws the pipeline of a step in characters: one row per stage, time to the
 * right. */

enum { CALC_PLOT_MAX_ROWS = 64 /**< with more stages, only every second, third, ... is drawn */ };

/** Kinds of time in a column: X(NAME, words, block character, letter, colour). The letter is drawn
 *  where there is no UTF-8. */
#define CALC_PLOT_KIND_LIST(X)                                                                     \
    X(FORWARD, "forward", "░", "F", CALC_PAINT_GREEN)                                              \
    X(BACKWARD, "backward", "█", "B", CALC_PAINT_BLUE)                                             \
    X(WGRAD, "weight gradient", "▒", "W", CALC_PAINT_MAGENTA)                                      \
    X(PAIR, "both at once", "▓", "X", CALC_PAINT_YELLOW)                                           \
    X(IDLE, "idle", "·", ".", NULL)

#define CALC_PLOT_KIND_NAME(name, text, block, letter, color) CALC_PLOT_##name,
typedef enum calc_plot_kind {
    CALC_PLOT_KIND_LIST(CALC_PLOT_KIND_NAME) CALC_PLOT_KINDS
} calc_plot_kind;
#undef CALC_PLOT_KIND_NAME

/** Shares of a column's time by kind. */
typedef struct calc_plot_share {
    double of[CALC_PLOT_KINDS];
} calc_plot_share;

/** Choose the kind drawn in each column of a row. Over a stretch of columns each kind appears as
 *  often as its share of the time; a column only shows a kind that occurs in it.
 *  @param share  [columns] each adds up to 1
 *  @param kind   [columns] */
void calc_plot_choose(const calc_plot_share *share, int columns, calc_plot_kind *kind);

/** Simulate the step and write its drawing with its legend, calc_paint_columns() wide.
 *  @return CALC_OK, or what calc_simulation_run() returns */
CALC_MUST_USE calc_status calc_plot_write(calc_output *out, const calc_paint *paint,
                                          const calc_inputs *inputs, calc_errors *errors);

/* Writes records of a trace in the Trace Event Format of Chrome, which Perfetto
 * and chrome://tracing show:
 *   https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 *
 * Starts and ends are rounded to nanoseconds alike, so that adjacent and nested slices stay
 * adjacent and nested. */

/** Target and number of records. Without `out` they are only counted. */
typedef struct calc_trace_out {
    calc_output *out;
    int64_t count;
} calc_trace_out;

/** A thread of a process. */
typedef struct calc_trace_track {
    int64_t process;
    int thread;
} calc_trace_track;

/** Name a process and set its position in the list. */
void calc_trace_process(calc_trace_out *trace, int64_t process, const char *name);

/** Name a thread. */
void calc_trace_thread(calc_trace_out *trace, calc_trace_track track, const char *name);

/** Write a slice; slices shorter than half a nanosecond are left out.
 *  @param name, category  without characters that JSON escapes */
void calc_trace_slice(calc_trace_out *trace, calc_trace_track track, const char *name,
                      const char *category, double start_s, double end_s);

/** Write a value that holds from `at_s` on. */
void calc_trace_counter(calc_trace_out *trace, int64_t process, const char *name,
                        const char *series, double at_s, double value);

/** Write one end of an arrow between two slices: each end binds to the slice at its time. */
void calc_trace_arrow(calc_trace_out *trace, calc_trace_track track, bool begins, int64_t id,
                      const char *name, int64_t at_ns);

/** The time as it is written [ns]. */
int64_t calc_trace_ns(double seconds);

/** Write the pipeline of a step, simulated operation by operation, for Perfetto and Chrome.
 *  @param microbatches  how many of the first are shown; 0: all */
CALC_MUST_USE calc_status calc_trace_write(const char *path, const calc_inputs *inputs,
                                           int64_t microbatches, calc_errors *errors);

#endif
