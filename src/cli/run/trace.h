/** @file trace.h  Writes one step of a layout as a trace for Perfetto and Chrome: docs/trace.md. */
#ifndef CALC_CLI_RUN_TRACE_H
#define CALC_CLI_RUN_TRACE_H

#include "cli/run/simulation.h"
#include "io/output.h"

enum { CALC_TRACE_MAX_EVENTS = 5000000 };

/** Contents of a trace; borrows everything. */
typedef struct calc_trace {
    const calc_inputs *inputs;
    const calc_simulation *simulation;
    const calc_stats *stats; /**< of calc_run_exact() */
    int64_t microbatches;    /**< number of micro-batches shown, from the first */
} calc_trace;

/** Events of the trace. */
int64_t calc_trace_count(const calc_trace *trace);

/** Write the trace. */
void calc_trace_write(calc_output *out, const calc_trace *trace);

#endif
