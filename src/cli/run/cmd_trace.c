#include <stdio.h>

#include "base/error.h"
#include "cli/run/trace.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"

#define OPTIONS(X)                                                                                 \
    CALC_INPUTS_SET(X)                                                                             \
    X(OUT, "out", "FILE", .doc = "where the trace goes; names ending in .gz are compressed",       \
      .preset = "-")                                                                               \
    X(MICROBATCHES, "microbatches", "N",                                                           \
      .doc = "show the first N micro-batches only; the step is still simulated with all of them")

enum { OPTIONS(CALC_OPT_NUMBER) };
static const calc_opt opts[] = {OPTIONS(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {CALC_ARGS_RUN, {0}};
static const char *const examples[] = {
    "calc trace llama3-405B h100_sxm llama3-405B_16384 --out step.json",
    "calc trace deepseek-v3-671B h800 deepseek-v3_2048 --microbatches 16 --out step.json.gz", NULL};

/* Write the trace, unless it is too large for the viewers. */
static calc_status write_trace(const calc_args *args, const calc_trace *trace, calc_errors *errors)
{
    int64_t count = calc_trace_count(trace);
    if (count > CALC_TRACE_MAX_EVENTS) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL,
                               "show some of the micro-batches: --microbatches N",
                               "the trace would have %lld events: at most %d are written",
                               (long long)count, CALC_TRACE_MAX_EVENTS);
    }
    calc_output *out;
    calc_status status = calc_output_open(&out, calc_opt_value(args, OPT_OUT), errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_trace_write(out, trace);
    return calc_output_close(out, errors);
}

/* Micro-batches to show; 0: not a number. */
static int64_t shown(const calc_args *args)
{
    const char *text = calc_opt_value(args, OPT_MICROBATCHES);
    double value;
    if (!text) {
        return INT64_MAX;
    }
    return calc_opt_number(text, true, 1, 1e15, &value) ? (int64_t)value : 0;
}

static calc_status trace(const calc_args *args, int64_t microbatches, const calc_inputs *inputs,
                         calc_stats *stats, calc_errors *errors)
{
    calc_simulation simulation = {0};
    calc_status status = calc_simulation_run(&simulation, inputs, errors);
    if (status == CALC_OK) {
        status = calc_simulation_stats(inputs, stats, errors);
    }
    if (status == CALC_OK) {
        int64_t all = simulation.timeline.shape.microbatches;
        const calc_trace trace = {.inputs = inputs,
                                  .simulation = &simulation,
                                  .stats = stats,
                                  .microbatches = microbatches < all ? microbatches : all};
        status = write_trace(args, &trace, errors);
    }
    calc_simulation_free(&simulation);
    return status;
}

static calc_exit run(const calc_args *args)
{
    int64_t microbatches = shown(args);
    const char *complaint = calc_inputs_check_stdin(args);
    if (!complaint && microbatches == 0) {
        complaint = "--microbatches takes a number from 1 on";
    }
    if (complaint) {
        return calc_complain_usage(args->command, complaint);
    }
    calc_errors errors = {0};
    calc_inputs inputs = {0};
    calc_stats stats;
    calc_status status = calc_inputs_load_args(&inputs, args, 0, OPT_SET, &errors);
    if (status == CALC_OK) {
        status = trace(args, microbatches, &inputs, &stats, &errors);
    }
    calc_inputs_free(&inputs);
    if (status != CALC_OK) {
        return calc_complain_failure(&errors);
    }
    if (stats.verdict != CALC_VERDICT_OK) {
        fprintf(stderr, "infeasible: %s: `calc run` says why\n", calc_verdict_text(stats.verdict));
        return CALC_EXIT_INFEASIBLE;
    }
    return CALC_EXIT_OK;
}

const calc_command calc_cmd_trace = {
    .name = "trace",
    .summary = "write one step as a timeline for Perfetto or Chrome",
    .detail = "Simulates the pipeline of a step operation by operation and writes a trace that "
              "https://ui.perfetto.dev and chrome://tracing show: for each stage its passes with "
              "what they are spent on, messages, data parallelism, optimizer and memory. Its "
              "times are those of `calc run --schedule exact`.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
