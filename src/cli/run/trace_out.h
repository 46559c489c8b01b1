/** @file trace_out.h  Records of a trace in the Trace Event Format of Chrome, which Perfetto and
 *  chrome://tracing show:
 * https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 *
 *  Times are rounded to nanoseconds, starts and ends alike, so that slices that follow one another
 *  or lie in one another still do. */
#ifndef CALC_CLI_RUN_TRACE_OUT_H
#define CALC_CLI_RUN_TRACE_OUT_H

#include "io/output.h"

/** Where records go, and how many there were. Without `out` they are counted only. */
typedef struct calc_trace_out {
    calc_output *out;
    int64_t count;
} calc_trace_out;

/** A thread of a process. */
typedef struct calc_trace_track {
    int64_t process;
    int thread;
} calc_trace_track;

/** Name a process, and give its place in the list. */
void calc_trace_process(calc_trace_out *trace, int64_t process, const char *name);

/** Name a thread. */
void calc_trace_thread(calc_trace_out *trace, calc_trace_track track, const char *name);

/** Something that took time; nothing is written if that is less than half a nanosecond.
 *  @param name, category  without characters that JSON escapes */
void calc_trace_slice(calc_trace_out *trace, calc_trace_track track, const char *name,
                      const char *category, double start_s, double end_s);

/** A value from `at_s` on. */
void calc_trace_counter(calc_trace_out *trace, int64_t process, const char *name,
                        const char *series, double at_s, double value);

/** One end of an arrow between two slices: each binds to the slice that is there at that time. */
void calc_trace_arrow(calc_trace_out *trace, calc_trace_track track, bool begins, int64_t id,
                      const char *name, int64_t at_ns);

/** A time as it is written [ns]. */
int64_t calc_trace_ns(double seconds);

#endif
