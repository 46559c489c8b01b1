#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/run/run_outcome.h"
#include "cli/shell/complain.h"
#include "cli/shell/help.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "cli/sweep/sweep_study.h"
#include "formats/export.h"
#include "formats/framework.h"
#include "formats/run_log.h"
#include "io/json_put.h"
#include "plan/why.h"
#include "spec/absent.h"
#include "spec/field.h"
#include "spec/stage_list.h"
#include "spec/value_text.h"
#include "validate/results.h"

enum { CALC_WHY_LOG_CAUSES = 8 };

/* A cause that would explain the measured value alone. */
typedef struct calc_why_log_cause {
    char text[200]; /* "activation_recompute none -> full", "bandwidth of networks[1] at 31 %" */
    double value;   /* predicted with it */
    double off;     /* distance from the measured value; of a rate, the logarithm of its factor */
    bool rate;      /* a rate of the machine, and not an option of the software */
} calc_why_log_cause;

/* A quantity of the log beside its prediction, in SI units; of rates the time that goes with them.
 */
typedef struct calc_why_log_value {
    calc_log_what what;
    calc_log_summary log;
    double measured, predicted;
} calc_why_log_value;

typedef struct calc_why_log {
    const char *name, *program; /* the file, borrowed; who wrote it */
    size_t count, causes;
    calc_why_log_value value[CALC_LOG_COUNT];      /* the first one is what is explained */
    calc_why_log_cause cause[CALC_WHY_LOG_CAUSES]; /* the likeliest first */
    double reach; /* nine in ten comparable runs are within prediction * exp(-reach) and
                     exp(reach); NaN: too few */
    char of[200]; /* which runs these are */
    int verdict;  /* -1: faster than the range; 0: within, or there is none; 1: slower */
} calc_why_log;

enum { TIME, RATE, NUMBER, BYTES };

static const struct {
    const char *label, *key;
    size_t predicted, rate; /* members of calc_stats */
    int unit;
} quantities[] = {
#define CALC_X(name, label, stat, rate, unit)                                                      \
    {label, #stat, offsetof(calc_stats, stat), offsetof(calc_stats, rate), unit},
    CALC_LOG_LIST(CALC_X)
#undef CALC_X
};

static double member(const calc_stats *stats, size_t offset)
{
    return *(const double *)(const void *)((const char *)stats + offset);
}

static double predicted_of(calc_log_what what, const calc_stats *stats)
{
    double rest =
        what == CALC_LOG_PASSES ? stats->optim_step_time + stats->dp_comm_exposed_time : 0;
    return member(stats, quantities[what].predicted) - rest;
}

static void add_value(calc_why_log *out, calc_log_what what, calc_log_series *series,
                      const calc_stats *stats)
{
    calc_why_log_value *v = &out->value[out->count];
    double rate = quantities[what].unit == RATE ? member(stats, quantities[what].rate) : 0;
    for (size_t i = 0; rate > 0 && i < series->count; i++) {
        series->value[i] = stats->total_time * rate / series->value[i];
    }
    *v = (calc_why_log_value){what, calc_log_summarize(series), 0, predicted_of(what, stats)};
    v->measured = v->log.median;
    for (size_t i = 0; what == CALC_LOG_MEMORY && i < series->count; i++) {
        v->measured = fmax(v->measured, series->value[i]); /* of the fullest processor */
    }
    out->count += isfinite(v->predicted) && v->predicted > 0;
}

static calc_status compare(calc_why_log *out, calc_run_log *log, const calc_inputs *in,
                           const calc_stats *stats, calc_errors *errors)
{
    bool serves = in->exec.inference.phase != CALC_INFERENCE_PHASE_NONE;
    const calc_log_series *batch = &log->series[CALC_LOG_BATCH];
    double last = batch->count > 0 ? batch->value[batch->count - 1] : 0;
    if (!serves && last > 0 && last != (double)in->exec.batch_size) {
        return calc_errors_at(
            errors, CALC_ERR_RULE, out->name, 0, 0, CALC_TEXT(64, "--set batch_size=%.0f", last),
            "its last global batch is %.0f, that of the layout %jd", last, in->exec.batch_size);
    }
    for (calc_log_what i = 0; i < CALC_LOG_COUNT; i++) {
        bool serving = i >= CALC_LOG_TPOT && i <= CALC_LOG_OUTPUT_TOKENS_PER_S;
        bool beside = i > CALC_LOG_TPOT; /* what is explained; one time of a step is enough */
        if (quantities[i].label && serving == serves && log->series[i].count > 0 &&
            beside == (out->count > 0)) {
            out->program = log->series[i].program;
            add_value(out, i, &log->series[i], stats);
        }
    }
    if (!out->program) {
        return calc_errors_at(errors, CALC_ERR_RULE, out->name, 0, 0,
                              serves ? "name a layout that trains"
                                     : "--set inference.phase=serve, or name a layout that serves",
                              "the log is of %s, and the layout %s",
                              serves ? "training" : "serving", serves ? "serves" : "trains");
    }
    return out->count > 0
               ? CALC_OK
               : calc_errors_at(errors, CALC_ERR_RULE, out->name, 0, 0, "calc run says why",
                                "nothing is predicted of this layout");
}

/* calc_value_differences(): sizes are known to who ran it; options are what software may not do. */
static void look_for_size(void *context, const char *path, const calc_field *field,
                          const char *from, const char *to)
{
    (void)path, (void)field, (void)from;
    *(bool *)context |= isdigit((unsigned char)*to) || *to == '-';
}

/* Keeps the likeliest: options before rates, and of each kind those that explain the time with the
 * least. */
static void add_cause(calc_why_log *out, const calc_why_log_cause *cause)
{
    size_t at = out->causes;
    while (at > 0 && out->cause[at - 1].rate >= cause->rate &&
           (out->cause[at - 1].rate > cause->rate || out->cause[at - 1].off > cause->off)) {
        at--;
    }
    if (at < CALC_WHY_LOG_CAUSES) {
        size_t last = out->causes < CALC_WHY_LOG_CAUSES ? out->causes++ : CALC_WHY_LOG_CAUSES - 1;
        memmove(&out->cause[at + 1], &out->cause[at], (last - at) * sizeof *cause);
        out->cause[at] = *cause;
    }
}

/* The distance between a prediction and what the log has of it: in the parts of a step that it
 * times, if there are any, or in the whole. */
static double distance(const calc_why_log *out, const calc_stats *stats)
{
    double sum = 0;
    for (size_t i = 1; i < out->count; i++) {
        const calc_why_log_value *v = &out->value[i];
        double off = fabs(v->measured - predicted_of(v->what, stats));
        sum += v->what >= CALC_LOG_OPTIMIZER ? off : 0;
    }
    return sum > 0 ? sum : fabs(out->value[0].measured - predicted_of(out->value[0].what, stats));
}

/* Adds a cause that leaves less than half of what is unexplained. */
static void judge(calc_why_log *out, const calc_inputs *in, const calc_stats *before,
                  const calc_system *system, const calc_exec *exec, calc_why_log_cause *cause)
{
    calc_stats stats;
    calc_run(&in->app, system, exec, CALC_COMPAT_NONE, &stats);
    cause->value = predicted_of(out->value[0].what, &stats);
    cause->off = cause->rate ? cause->off : distance(out, &stats);
    if (distance(out, &stats) < distance(out, before) / 2) {
        add_cause(out, cause);
    }
}

/* The factor of a rate with which the prediction is what was measured, by bisection of its
 * logarithm. */
static void find_rate(calc_why_log *out, const calc_inputs *in, const calc_exec *exec,
                      const calc_stats *before, size_t which)
{
    enum { STEPS = 40 };
    const double least = 0.02, measured = out->value[0].measured;
    bool slower = measured > out->value[0].predicted;
    double low = slower ? log(least) : 0, high = slower ? 0 : -log(least), value = NAN;
    calc_system system = in->system;
    for (int i = 0; i < STEPS; i++) {
        calc_stats stats;
        system = in->system;
        calc_resource_scale(&system, which, exp((low + high) / 2));
        calc_run(&in->app, &system, exec, CALC_COMPAT_NONE, &stats);
        value = predicted_of(out->value[0].what, &stats);
        *(value > measured ? &low : &high) = (low + high) / 2;
    }
    char text[CALC_RESOURCE_TEXT];
    calc_why_log_cause cause = {.rate = true, .off = fabs(low + high) / 2};
    snprintf(cause.text, sizeof cause.text, "%s at %s",
             calc_resource_text(&in->system, which, false, text),
             calc_human_percent(exp((low + high) / 2)));
    if (fabs(value / measured - 1) < 1e-3) {
        judge(out, in, before, &system, exec, &cause);
    }
}

static void find_causes(calc_why_log *out, const calc_inputs *in, const calc_why *why)
{
    calc_exec exec; /* its stages on the system of the run follow changes of that system */
    bool used = calc_stage_list_own(&in->exec, &in->system, &exec);
    for (size_t i = 0; i < why->count; i++) {
        calc_why_log_cause cause = {0};
        bool size = false;
        calc_value_differences(CALC_KIND_EXEC, &exec, &why->change[i].exec, look_for_size, &size);
        snprintf(cause.text, sizeof cause.text, "%s", why->change[i].text);
        if (!size) {
            judge(out, in, &why->before, &in->system, &why->change[i].exec, &cause);
        }
    }
    for (size_t i = 0; used && i < calc_resources_rates(&in->system); i++) {
        if (calc_resource_there(&in->system, i)) {
            find_rate(out, in, &exec, &why->before, i);
        }
    }
}

/* Of a server that names its engine. */
static calc_status find_serving_reach(calc_why_log *out, const calc_inputs *in, calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX];
    const char *engine = in->exec.inference.engine.name;
    calc_serving_reach reach = {.reach = NAN};
    if (!engine[0] || out->value[0].what != CALC_LOG_TPOT) {
        return CALC_OK;
    }
    calc_status status = calc_find_data(CALC_FIND_SERVING_UNSEEN, path, errors);
    status = status == CALC_OK ? calc_serving_reach_read(&reach, engine, path, errors) : status;
    out->reach = reach.reach;
    snprintf(out->of, sizeof out->of, "%zu of %s", reach.runs, reach.own ? engine : "all engines");
    return status;
}

/* Read a log and compare it with the prediction.
 *  @param why  changes of the layout (calc_why_find())
 *  @return CALC_OK; the status of calc_text_read() and calc_run_log_read(); CALC_ERR_RULE if the
 * log is of serving and the layout trains, or vice versa, if its batch is another, or the layout
 * cannot run */
static calc_status calc_why_log_make(calc_why_log *out, const char *path, const calc_inputs *inputs,
                                     const calc_why *why, calc_errors *errors)
{
    calc_text text = {0};
    calc_run_log read = {0};
    calc_run_band band = {0};
    *out = (calc_why_log){.name = path, .reach = NAN};
    calc_status status = calc_text_read(&text, path, errors);
    status = status == CALC_OK ? calc_run_log_read(&read, &text, out->name, errors) : status;
    status = status == CALC_OK ? compare(out, &read, inputs, &why->before, errors) : status;
    bool trains = inputs->exec.inference.phase == CALC_INFERENCE_PHASE_NONE;
    if (status == CALC_OK && trains) {
        char of[CALC_BAND_TEXT];
        status = calc_run_band_make(&band, inputs, errors);
        out->reach = band.time.reach;
        snprintf(out->of, sizeof out->of, "%s", calc_band_class(&band.traits, band.time.alike, of));
    }
    status = status == CALC_OK && !trains ? find_serving_reach(out, inputs, errors) : status;
    if (status == CALC_OK) {
        double off = log(out->value[0].measured / out->value[0].predicted);
        out->verdict = (off > out->reach) - (off < -out->reach);
        if (out->verdict != 0 || isnan(out->reach)) {
            find_causes(out, inputs, why);
        }
    }
    calc_run_band_free(&band);
    calc_run_log_free(&read);
    calc_text_free(&text);
    return status;
}

static char *value_text(const calc_why_log_value *v, double value, char text[CALC_HUMAN_MAX])
{
    int unit = quantities[v->what].unit;
    return (unit == BYTES    ? calc_human_bytes_in
            : unit == NUMBER ? calc_human_number_in
                             : calc_human_seconds_in)(value, text);
}

static void write_values(calc_output *out, const calc_why_log *log)
{
    calc_output_printf(out, "\n%-34s%12s%12s%10s\n", log->program, "measured", "predicted",
                       "ratio");
    for (size_t i = 0; i < log->count; i++) {
        const calc_why_log_value *v = &log->value[i];
        char a[CALC_HUMAN_MAX], b[CALC_HUMAN_MAX];
        calc_output_printf(out, "  %-32s%12s%12s%10.2f\n", quantities[v->what].label,
                           value_text(v, v->measured, a), value_text(v, v->predicted, b),
                           v->measured / v->predicted);
    }
    const calc_log_summary *s = &log->value[0].log;
    calc_output_printf(out, "  median of %zu of the log's %zu records\n", s->records,
                       s->records + s->warm_up);
    if (s->warm_up > 0) {
        calc_output_printf(out, "  left out: the first %zu, when a run warms up\n", s->warm_up);
    }
}

/* The part of the step in which most of the gap is, if the log times parts. */
static void write_part(calc_output *out, const calc_why_log *log)
{
    const char *most = NULL;
    double gap = log->value[0].measured - log->value[0].predicted, largest = 0;
    for (size_t i = 1; i < log->count; i++) {
        const calc_why_log_value *v = &log->value[i];
        double share = (v->measured - v->predicted) / gap;
        if (v->what >= CALC_LOG_OPTIMIZER && share > largest) {
            most = quantities[v->what].label;
            largest = share;
        }
    }
    if (most) {
        calc_output_printf(out, "Of the %s between them, the log has %s in: %s.\n",
                           calc_human_seconds(fabs(gap)), calc_human_seconds(fabs(gap) * largest),
                           most);
    }
}

/* Write it for people. */
static void calc_why_log_write(calc_output *out, const calc_why_log *log)
{
    const calc_why_log_value *v = &log->value[0];
    write_values(out, log);
    if (isnan(log->reach)) {
        calc_output_text(out, v->what == CALC_LOG_TPOT
                                  ? "  no range: the layout names no inference.engine\n"
                                  : "  no range: too few such runs are known\n");
    } else {
        calc_output_printf(out, "  nine in ten comparable runs (%s) take %s to %s\n", log->of,
                           calc_human_seconds(v->predicted * exp(-log->reach)),
                           calc_human_seconds(v->predicted * exp(log->reach)));
    }
    if (log->verdict == 0 && !isnan(log->reach)) {
        calc_output_text(out, "This run is among them: calc sees nothing wrong with it.\n");
        return;
    }
    calc_output_text(out,
                     log->verdict > 0 ? "It is slower than nine in ten of them.\n"
                     : log->verdict < 0
                         ? "It is faster than nine in ten of them, as another layout would be.\n"
                         : "");
    write_part(out, log);
    calc_output_text(out, log->causes > 0 ? "Alone, each of these would explain it:\n"
                                          : "No single option or rate would explain it.\n");
    for (size_t i = 0; i < log->causes; i++) {
        calc_output_printf(out, "  %-44s%14s%s\n", log->cause[i].text,
                           calc_human_seconds(log->cause[i].value),
                           log->cause[i].rate ? "  of the machine's" : "");
    }
    calc_output_text(out, log->causes > 1 ? "The log does not tell which of them it is.\n" : "");
}

/* Write the member "log" of the open object. */
static void calc_why_log_put(calc_put *put, const calc_why_log *log)
{
    static const char *const verdicts[] = {"faster", "within", "slower"};
    calc_putf(put, "log: {\nprogram: %s, values: [\n", log->program);
    for (size_t i = 0; i < log->count; i++) {
        const calc_why_log_value *v = &log->value[i];
        calc_putf(put, "{name: %s", quantities[v->what].label);
        if (v->what != CALC_LOG_PASSES) {
            calc_put_text(put, "statistic", quantities[v->what].key);
        }
        calc_putf(put, "measured: %g, predicted: %g, records: %zu, warm_up: %zu}", v->measured,
                  v->predicted, v->log.records, v->log.warm_up);
    }
    calc_putf(put, "], low: %g, high: %g, verdict: %s, causes: [\n",
              log->value[0].predicted * exp(-log->reach), log->value[0].predicted * exp(log->reach),
              isnan(log->reach) ? "unknown" : verdicts[log->verdict + 1]);
    for (size_t i = 0; i < log->causes; i++) {
        calc_putf(put, "{cause: %s, value: %g, of: %s}", log->cause[i].text, log->cause[i].value,
                  log->cause[i].rate ? "machine" : "software");
    }
    calc_putf(put, "]}");
}

enum { NODE_PROCS = 8, MARGIN = 4, PINNED = 64, PIN = CALC_VALUE_TEXT + 64 };

/* The framework of the script that is APP, if calc export writes its files; else NULL. */
static const calc_framework *calc_why_script_of(const calc_inputs *inputs)
{
    const calc_input *input = inputs->input;
    const calc_framework *const *found = calc_framework_list;
    while (*found &&
           (*found != input[CALC_KIND_APP].framework || input[CALC_KIND_EXEC].text.data)) {
        found++;
    }
    return *found;
}

/* Assignments that a layout is asked for with. */
typedef struct pinned {
    char text[PINNED][PIN];
    const char *set[PINNED];
    size_t count, served; /* served: those of them that say what is served, the first */
} pinned;

static void pin(pinned *p, const char *before, const char *equals, const calc_field *field,
                const void *at)
{
    char value[CALC_VALUE_TEXT];
    calc_value_text(field, at, value);
    if (*value && p->count < PINNED) {
        snprintf(p->text[p->count], PIN, "%s%s%s%s", before, field->key, equals, value);
        p->set[p->count] = p->text[p->count];
        p->count++;
    }
}

/* What stays: the number formats, optimizer and software of the layout; of a server its requests
 * and engine, else the batch. */
static void pin_all(pinned *p, const calc_exec *exec, bool serves)
{
    static const char open[] = " batch max_sequences prefill_batch chunk_size redundant_experts ";
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    const calc_field *inference = calc_table_find(table, "inference");
    p->count = 0;
    for (size_t i = 0; serves && i < inference->table->count; i++) {
        const calc_field *field = &inference->table->rows[i];
        const char *at = (const char *)&exec->inference + field->offset;
        if (field->type != CALC_TYPE_OBJECT && !calc_absent_is(field, at) &&
            !calc_is_word(open, field->key)) {
            pin(p, "inference.", "=", field, at);
        }
    }
    p->served = p->count;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        if (calc_why_keeps(field, exec) && strcmp(field->key, "num_procs") != 0 &&
            !(serves && strcmp(field->key, "batch_size") == 0)) {
            /* With the blank, "auto" of a number format is a value, and not left open. */
            pin(p, "exe.", "= ", field, (const char *)exec + field->offset);
        }
    }
}

/* The layout with which calc sweep would start, of those that the framework of the script runs on
 * as many processors; of servers, the one with the most tokens per second that lets no request wait
 * longer.
 *  @param stats  those of the layout itself; then those of the other
 *  @return whether there is one, and inputs are a script that trains, or one server */
static bool calc_why_script_start(const calc_inputs *inputs, const calc_why *why, calc_exec *start,
                                  calc_stats *stats)
{
    enum { MOST = 4096 };
    const calc_framework *framework = calc_why_script_of(inputs);
    bool serves = framework && framework->serves;
    pinned pins;
    calc_exec *found = NULL;
    calc_errors ignored = {0};
    size_t count = 0;
    bool is = false;
    if (!framework || (serves && inputs->exec.inference.phase != CALC_INFERENCE_PHASE_SERVE)) {
        return false;
    }
    calc_inputs own = *inputs;
    const char *procs = CALC_TEXT(24, "%jd", inputs->exec.num_procs);
    own.procs = procs;
    own.batch = NULL;
    own.framework = framework->name;
    pin_all(&pins, &inputs->exec, serves);
    calc_status status = calc_sweep_front_of(&own, pins.set, pins.count,
                                             serves ? "output_tokens_per_s,tpot,ttft" : NULL,
                                             serves ? MOST : 0, &found, &count, &ignored);
    for (size_t i = 0; status == CALC_OK && i < count && (serves || !is); i++) {
        calc_stats s;
        if (calc_run(&inputs->app, &inputs->system, &found[i], CALC_COMPAT_NONE, &s) ==
                CALC_VERDICT_OK &&
            (!serves || (s.tpot <= why->before.tpot && s.ttft <= why->before.ttft &&
                         s.output_tokens_per_s > stats->output_tokens_per_s))) {
            *start = found[i];
            *stats = s;
            is = true;
        }
    }
    free(found);
    return is;
}

/* A line under way. */
typedef struct line {
    calc_output *out;
    int columns, used;
} line;

static void add(void *context, const char *key, const char *from, const char *to)
{
    line *l = context;
    char text[256];
    snprintf(text, sizeof text, "%s%s%s%s%s", to ? "" : "without ", key, from && to ? " " : "",
             from && to ? from : "", to && (*to || from) ? from ? " -> " : " " : "");
    size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, "%s", to ? to : "");
    int width = (int)strlen(text) + 2;
    bool breaks = l->used == 0 || l->used + width > l->columns;
    if (breaks) {
        calc_output_printf(l->out, "%s%*s", l->used ? ",\n" : "", MARGIN, "");
        l->used = MARGIN;
    }
    calc_output_printf(l->out, "%s%s", breaks ? "" : ", ", text);
    l->used += width;
}

static void put_setting(void *context, const char *key, const char *from, const char *to)
{
    (void)from;
    if (to) {
        calc_put_text(context, key, to);
    } else {
        calc_put_raw(context, key, "null");
    }
}

/* Write the options of the script that make its layout another, on lines of their own, or as the
 * member "settings", an object of their new values; null: it is left out. @param put  or `out` */
static void write_settings(calc_output *out, calc_put *put, const calc_inputs *in,
                           const calc_exec *other)
{
    const calc_framework *framework = calc_why_script_of(in);
    calc_settings a = {0}, b = {0};
    calc_errors ignored = {0};
    line l = {out, calc_paint_columns(), 0};
    bool both =
        framework &&
        calc_is_yes(calc_export(framework, &in->app, &in->exec, NODE_PROCS, &a, &ignored)) &&
        calc_is_yes(calc_export(framework, &in->app, other, NODE_PROCS, &b, &ignored));
    if (both && put) {
        calc_put_object(put, "settings", CALC_PUT_LINE);
        calc_settings_compare(&a, &b, put_setting, put);
        calc_put_close(put);
    } else if (both) {
        calc_settings_compare(&a, &b, add, &l);
        calc_output_text(out, l.used ? "\n" : "");
    }
    calc_settings_free(&a);
    calc_settings_free(&b);
}

enum { WIDTH = 46 };

#define OPTIONS(X)                                                                                 \
    CALC_INPUTS_SET(X)                                                                             \
    CALC_COMPLETE_OPTS(X)                                                                          \
    X(TOP, "top", "N", CALC_OPT_IS_WHOLE(0, CALC_WHY_CHANGES),                                     \
      .doc = "how many changes to list at most", .preset = "10")                                   \
    X(LOG, "log", "FILE",                                                                          \
      .doc = "what a run of this layout left behind: show measured beside predicted, and what "    \
             "would explain a gap; logs of Megatron-LM, NeMo, torchtitan, DeepSpeed, MaxText, "    \
             "histories of W&B (CSV, JSON), results of vLLM, SGLang and AIPerf benchmarks; a log " \
             "of Megatron-LM, which prints its arguments, may stand in the place of APP and EXE")  \
    X(JSON, "json", "FILE", .doc = "write the answer as JSON instead")

CALC_OPTIONS(OPTIONS);
static const calc_arg rows[] = {CALC_ARGS_MACHINE, CALC_COMPLETE_EXE, {0}};
static const char *const examples[] = {
    "calc why qwen3-235B-A22B h200 best.json",
    "calc why llama3-70B h100_sxm llama3-70B_512 --log train.log",
    "calc why llama3-405B h100_sxm llama3-405B_16384 --top 3 --json -", NULL};

/* Index of the largest part. */
static size_t largest(const double *part, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        best = part[i] > part[best] ? i : best;
    }
    return best;
}

/* Writes the numbers behind the bottleneck. */
typedef struct bottleneck {
    const char *time, *space;
    double time_s, space_bytes;
} bottleneck;

static bottleneck bottleneck_of(const calc_inputs *in, const calc_stats *stats)
{
    double times[CALC_BREAKDOWN_TIMES], spaces[CALC_BREAKDOWN_SPACES];
    calc_breakdown_times(stats, times);
    calc_breakdown_spaces(&in->exec, stats, 1, spaces);
    size_t t = largest(times, CALC_BREAKDOWN_TIMES);
    size_t s = largest(spaces, CALC_BREAKDOWN_SPACES);
    return (bottleneck){calc_breakdown_time_label(t), calc_breakdown_space_label(s), times[t],
                        spaces[s]};
}

/* Number of changes to show: if the layout cannot run, all that can; else those faster by an amount
 * visible in the table. */
static size_t useful(const calc_why *why, size_t top)
{
    static const double least_gain = 0.0005;
    size_t count = 0;
    bool runs = why->before.verdict == CALC_VERDICT_OK;
    while (count < why->count && count < top &&
           (!runs || calc_why_gain(why, why->change[count].value) >= least_gain)) {
        count++;
    }
    return count;
}

static void write_bottleneck(calc_output *out, const calc_inputs *in, const calc_why *why)
{
    const calc_stats *s = &why->before;
    const bottleneck b = bottleneck_of(in, s);
    calc_reason reason[CALC_MAX_REASONS];
    size_t reasons = calc_reasons(&in->app, &in->system, &in->exec, CALC_COMPAT_NONE, s, reason);
    for (size_t i = 0; i < reasons; i++) {
        calc_output_printf(out, "It cannot run: %s: %s\n", calc_verdict_text(reason[i].verdict),
                           reason[i].text);
    }
    if (s->total_time > 0) {
        calc_output_printf(out, "Most time:    %-24s%s of %s, %s\n", b.time,
                           calc_human_seconds(b.time_s), calc_human_seconds(s->total_time),
                           calc_human_percent(b.time_s / s->total_time));
    }
    if (s->proc_mem_tier1_cap_req > 0) {
        calc_output_printf(out, "Most memory:  %-24s%s of %s, %s\n", b.space,
                           calc_human_bytes(b.space_bytes),
                           calc_human_bytes(s->proc_mem_tier1_cap_req),
                           calc_human_percent(b.space_bytes / s->proc_mem_tier1_cap_req));
    }
}

static void write_change(calc_output *out, const calc_why *why, const calc_why_change *change,
                         char mark, bool memory)
{
    char text[CALC_HUMAN_MAX];
    double gain = calc_why_gain(why, change->value);
    double tenths = round(1000 * (why->up ? gain : -gain));
    if ((int)strlen(change->text) > WIDTH - 3) {
        calc_output_printf(out, "%c %s\n%*s", mark, change->text, WIDTH, "");
    } else {
        calc_output_printf(out, "%c %-*s", mark, WIDTH - 2, change->text);
    }
    calc_output_printf(
        out, "%11s", (why->up ? calc_human_number_in : calc_human_seconds_in)(change->value, text));
    if (isfinite(tenths)) {
        calc_output_printf(out, "%+8.1f %%", tenths == 0 ? 0 : tenths / 10);
    }
    if (memory) {
        calc_output_printf(out, "%9.2f", change->tier1_bytes / 0x1p30);
    }
    calc_output_text(out, "\n");
}

/* Heading of the column of values. */
static const char *head_of(const calc_why *why)
{
    return why->up                                         ? "tokens/s"
           : strcmp(why->counts->key, "request_time") == 0 ? "request"
                                                           : "step";
}

/* Whether the framework of the script runs a layout; without a script, any framework. */
static bool runs(const calc_inputs *in, const calc_exec *exec)
{
    const calc_framework *framework = calc_why_script_of(in);
    bool is = false;
    return framework
               ? calc_is_yes(calc_export_runs(framework, &in->app, &in->system, exec, &is)) && is
               : calc_start_exists(&in->app, &in->system, exec);
}

/* The layout with which a sweep would start, as one more change. */
static void write_start(calc_output *out, const calc_inputs *in, const calc_why *why,
                        const calc_why_change *start)
{
    const char *model = in->input[CALC_KIND_APP].path;
    const calc_framework *framework = calc_why_script_of(in);
    pinned pins;
    char command[4096] = "";
    calc_output_text(out, "\n");
    write_change(out, why, start, ' ', true);
    write_settings(out, NULL, in, &start->exec);
    calc_append(command, sizeof command, "calc sweep %s %s --procs %jd --for %s", model,
                in->input[CALC_KIND_SYSTEM].name, in->exec.num_procs, framework->name);
    if (framework->serves) {
        pin_all(&pins, &in->exec, true);
        for (size_t i = 0; i < pins.served; i++) {
            calc_append(command, sizeof command, " --set %s", pins.set[i]);
        }
        calc_append(command, sizeof command, " --where 'ttft <= %.4gms' --where 'tpot <= %.4gms'",
                    1e3 * why->before.ttft, 1e3 * why->before.tpot);
    } else {
        calc_append(command, sizeof command, " --set gbs=%jd", in->exec.batch_size);
    }
    calc_help_command_line(out, command);
    calc_output_text(out, "  has the others, also of other number formats\n");
}

/* What calc why answers. */
typedef struct told {
    const calc_inputs *in;
    const calc_why *why;
    const calc_why_change *start; /* NULL: there is none */
    const calc_why_log *log;      /* likewise */
    size_t top;
} told;

static calc_status write_text(calc_output *out, void *what, calc_errors *errors)
{
    const told *t = what;
    const calc_inputs *in = t->in;
    const calc_why *why = t->why;
    size_t count = useful(why, t->top);
    (void)errors;
    bool starts = runs(in, &in->exec);
    bool marked = false;
    calc_inputs_write_remarks(out, in);
    write_bottleneck(out, in, why);
    if (t->log) {
        calc_why_log_write(out, t->log);
    }
    calc_output_printf(out, "\n%-*s%11s%10s%9s\n", WIDTH,
                       "Changes of a field, or of a pair of sizes", head_of(why), "change", "GiB");
    for (size_t i = 0; i < count; i++) {
        bool mark = starts && !runs(in, &why->change[i].exec);
        write_change(out, why, &why->change[i], mark ? '!' : ' ', true);
        if (!mark) {
            write_settings(out, NULL, in, &why->change[i].exec);
        }
        marked |= mark;
    }
    const calc_framework *framework = calc_why_script_of(in);
    calc_output_printf(out, "  %s%s tried", count == 0 ? "none helps; " : "",
                       calc_human_integer((double)why->tried));
    if (marked) {
        calc_output_printf(out, "; !: %s%s it: calc export says why",
                           framework ? framework->title : "no framework",
                           framework ? " does not run" : " runs");
    }
    calc_output_text(out, "\n");
    if (t->start) {
        write_start(out, in, why, t->start);
    }
    const char *system = in->input[CALC_KIND_SYSTEM].name;
    const char *title = in->exec.stages.chips > 0
                            ? CALC_TEXT(160, "10 %% more of each rate of %.100s", system)
                            : "10 % more of each rate";
    calc_output_printf(out, "\n%-*s%11s%10s\n", WIDTH, title, head_of(why), "change");
    if (why->resources == 0) {
        calc_output_printf(out, "  no stage runs on %s\n", system);
    }
    for (size_t i = 0; i < why->resources && why->before.total_time > 0; i++) {
        write_change(out, why, &why->resource[i], ' ', false);
    }
    return CALC_OK;
}

static void put_list(calc_put *put, const calc_inputs *in, const char *key, const char *counts,
                     const calc_why_change *change, size_t count)
{
    calc_put_array(put, key, CALC_PUT_LINES);
    for (size_t i = 0; i < count; i++) {
        calc_putf(put, "{change: %s", change[i].text);
        calc_put_number(put, counts, change[i].value);
        calc_put_number(put, "proc_mem_tier1_cap_req", change[i].tier1_bytes);
        write_settings(NULL, put, in, &change[i].exec);
        calc_put_close(put);
    }
    calc_put_close(put);
}

static void write_json(calc_output *out, const told *t)
{
    const calc_inputs *in = t->in;
    const calc_why *why = t->why;
    const bottleneck b = bottleneck_of(in, &why->before);
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_inputs_put_remarks(&put, in);
    calc_putf(&put, "verdict: %s, total_time: %g, proc_mem_tier1_cap_req: %g",
              calc_verdict_text(why->before.verdict), why->before.total_time,
              why->before.proc_mem_tier1_cap_req);
    calc_putf(&put,
              "most_time: {part: %s, time: %g}, most_memory: {part: %s, bytes: %g}, tried: %zu",
              b.time, b.time_s, b.space, b.space_bytes, (size_t)why->tried);
    put_list(&put, in, "changes", why->counts->key, why->change, useful(why, t->top));
    if (t->start) {
        put_list(&put, in, "start", why->counts->key, t->start, 1);
    }
    put_list(&put, in, "ten_percent_more", why->counts->key, why->resource, why->resources);
    if (t->log) {
        calc_why_log_put(&put, t->log);
    }
    calc_put_end(&put);
}

/* @return whether the layout can run */
static bool answer(const calc_args *args, const calc_inputs *inputs, size_t top,
                   calc_errors *errors)
{
    const char *json = calc_opt_value(args, OPT_JSON);
    const char *file = calc_opt_value(args, OPT_LOG);
    bool prints = false;
    calc_errors ignored = {0};
    if (!file) {
        (void)!calc_input_is_log(args->argument[0], &prints, &ignored);
        file = prints ? args->argument[0] : NULL;
    }
    calc_why_log log;
    calc_why *why = calc_make(1, sizeof *why);
    calc_exec exec; /* its stages on the system of the run follow changes of that system */
    bool used = calc_stage_list_own(&inputs->exec, &inputs->system, &exec);
    calc_why_find(&inputs->app, &inputs->system, &exec, why);
    why->resources = used ? why->resources : 0;
    calc_status status = file ? calc_why_log_make(&log, file, inputs, why, errors) : CALC_OK;
    bool serves = inputs->exec.inference.phase != CALC_INFERENCE_PHASE_NONE;
    calc_why_change start = {0};
    calc_stats stats = why->before;
    bool found = status == CALC_OK && calc_why_script_start(inputs, why, &start.exec, &stats);
    if (found) {
        snprintf(start.text, sizeof start.text, "%s",
                 serves ? "the most with which nobody waits longer"
                        : "the layout with which calc sweep starts");
        start.value = serves ? stats.output_tokens_per_s : stats.total_time;
        start.tier1_bytes = stats.proc_mem_tier1_cap_req;
    }
    told t = {inputs, why, found ? &start : NULL, file ? &log : NULL, top};
    if (status == CALC_OK && json) {
        calc_output *out = calc_write_to(json);
        write_json(out, &t);
        (void)!calc_output_close(out, errors);
    } else if (status == CALC_OK) {
        (void)!calc_fold_print(write_text, &t, errors);
    }
    bool runs = why->before.verdict == CALC_VERDICT_OK;
    free(why);
    return runs;
}

static calc_exit run(const calc_args *args)
{
    bool runs = true;
    calc_errors errors = {0};
    calc_inputs inputs = {0};
    calc_sweep_completes(&inputs, args, OPT_PROCS, OPT_BATCH, NULL);
    if (calc_inputs_load_args(&inputs, args, 0, OPT_SET, &errors) == CALC_OK) {
        runs = answer(args, &inputs, (size_t)calc_opt_real(args, OPT_TOP), &errors);
    }
    calc_inputs_free(&inputs);
    return errors.count > 0 ? calc_complain_errors(&errors)
           : runs           ? CALC_EXIT_OK
                            : CALC_EXIT_INFEASIBLE;
}

const calc_command calc_cmd_why = {
    .name = "why",
    .summary = "show the bottleneck of a layout and small changes that help",
    .detail = "Names the largest part of the time and of the memory, tries every field of the "
              "execution at its neighbouring values (parallel sizes in pairs that keep the number "
              "of processors) and lists those that are faster, or that can run where the layout "
              "cannot. Then what 10 % more of each rate of the machine buys. Batch, sequence "
              "length, number formats and what depends on the software stay as they are.",
    CALC_COMMAND_PARTS};
