/** @file trace_out.h  Writes records of a trace in the Trace Event Format of Chrome, which Perfetto
 *  and chrome://tracing show:
 *   https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 *
 *  Starts and ends are rounded to nanoseconds alike, so that adjacent and nested slices stay
 *  adjacent and nested. */
#ifndef CALC_CLI_RUN_TRACE_OUT_H
#define CALC_CLI_RUN_TRACE_OUT_H

#include "io/output.h"

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

#endif
