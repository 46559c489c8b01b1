#include "cli/explain/why_log.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/run/run_outcome.h"
#include "spec/value_text.h"
#include "validate/serving_reach.h"

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
        char hint[64];
        snprintf(hint, sizeof hint, "--set batch_size=%.0f", last);
        return calc_errors_at(errors, CALC_ERR_RULE, out->name, 0, 0, hint,
                              "its last global batch is %.0f, that of the layout %lld", last,
                              (long long)in->exec.batch_size);
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
static void look_for_size(void *context, const char *path, const char *from, const char *to)
{
    (void)path, (void)from;
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
    char text[CALC_RESOURCE_TEXT], share[CALC_HUMAN_MAX];
    calc_why_log_cause cause = {.rate = true, .off = fabs(low + high) / 2};
    snprintf(cause.text, sizeof cause.text, "%s at %s",
             calc_resource_text(&in->system, which, false, text),
             calc_human_percent(exp((low + high) / 2), share));
    if (fabs(value / measured - 1) < 1e-3) {
        judge(out, in, before, &system, exec, &cause);
    }
}

static void find_causes(calc_why_log *out, const calc_inputs *in, const calc_why *why)
{
    calc_exec exec; /* its stages on the system of the run follow changes of that system */
    bool used = calc_inputs_own_stages(in, &exec);
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
    char runs[CALC_FIND_PATH_MAX], results[CALC_FIND_PATH_MAX];
    const char *engine = in->exec.inference.engine.name;
    calc_serving_reach reach = {.reach = NAN};
    if (!engine[0] || out->value[0].what != CALC_LOG_TPOT) {
        return CALC_OK;
    }
    calc_status status = calc_find_data(CALC_FIND_SERVING_RUNS, runs, errors);
    status =
        status == CALC_OK ? calc_find_data(CALC_FIND_SERVING_RESULTS, results, errors) : status;
    status =
        status == CALC_OK ? calc_serving_reach_read(&reach, engine, runs, results, errors) : status;
    out->reach = reach.reach;
    snprintf(out->of, sizeof out->of, "%zu of %s", reach.runs, reach.own ? engine : "all engines");
    return status;
}

calc_status calc_why_log_make(calc_why_log *out, const char *path, const calc_inputs *inputs,
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
    if (status == CALC_OK && !trains) {
        status = find_serving_reach(out, inputs, errors);
    }
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
    return (unit == BYTES    ? calc_human_bytes
            : unit == NUMBER ? calc_human_number
                             : calc_human_seconds)(value, text);
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
    char a[CALC_HUMAN_MAX], b[CALC_HUMAN_MAX];
    if (most) {
        calc_output_printf(out, "Of the %s between them, the log has %s in: %s.\n",
                           calc_human_seconds(fabs(gap), a),
                           calc_human_seconds(fabs(gap) * largest, b), most);
    }
}

void calc_why_log_write(calc_output *out, const calc_why_log *log)
{
    const calc_why_log_value *v = &log->value[0];
    char a[CALC_HUMAN_MAX], b[CALC_HUMAN_MAX];
    write_values(out, log);
    if (isnan(log->reach)) {
        calc_output_text(out, v->what == CALC_LOG_TPOT
                                  ? "  no range: the layout names no inference.engine\n"
                                  : "  no range: too few such runs are known\n");
    } else {
        calc_output_printf(out, "  nine in ten comparable runs (%s) take %s to %s\n", log->of,
                           calc_human_seconds(v->predicted * exp(-log->reach), a),
                           calc_human_seconds(v->predicted * exp(log->reach), b));
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
                           calc_human_seconds(log->cause[i].value, a),
                           log->cause[i].rate ? "  of the machine's" : "");
    }
    calc_output_text(out, log->causes > 1 ? "The log does not tell which of them it is.\n" : "");
}

void calc_why_log_put(calc_put *put, const calc_why_log *log)
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
