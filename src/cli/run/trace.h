/** @file trace.h  One step of a layout as a trace that Perfetto and Chrome show: docs/trace.md. */
#ifndef CALC_CLI_RUN_TRACE_H
#define CALC_CLI_RUN_TRACE_H

#include "cli/run/simulation.h"
#include "io/output.h"

enum { CALC_TRACE_MAX_EVENTS = 5000000 };

/** What is traced; borrows everything. */
typedef struct calc_trace {
    const calc_inputs *inputs;
    const calc_simulation *simulation;
    const calc_stats *stats; /**< of calc_run_exact() */
    int64_t microbatches;    /**< only the first so many are shown */
} calc_trace;

/** Events of the trace. */
int64_t calc_trace_count(const calc_trace *trace);

/** Write the trace. */
void calc_trace_write(calc_output *out, const calc_trace *trace);

#endif
