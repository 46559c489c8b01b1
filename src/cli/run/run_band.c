#include "cli/run/run_band.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/known_runs.h"

/* How a statistic scales when a quantity is off by a factor. */
typedef enum follows { TIME, RATE, MEMORY } follows;

/* A statistic with a band; without a label it appears in JSON only. */
typedef struct statistic {
    const char *key;
    size_t offset;
    follows follows;
    const char *label;
    char *(*text)(double value, char *buffer);
} statistic;

#define STATISTIC(name, follows, ...)                                                              \
    {                                                                                              \
#name, offsetof(calc_stats, name), follows, __VA_ARGS__                                    \
    }
static const statistic statistics[] = {
    STATISTIC(total_time, TIME, "time per step", calc_human_seconds),
    STATISTIC(sample_rate, RATE, "samples/s", calc_human_number),
    STATISTIC(tokens_per_s, RATE, "tokens/s", calc_human_number),
    STATISTIC(tokens_per_s_per_proc, RATE, "tokens/s/processor", calc_human_number),
    STATISTIC(model_flops_utilization, RATE, "model FLOPs utilisation", calc_human_percent),
    STATISTIC(days_per_trillion_tokens, TIME, NULL, NULL),
    STATISTIC(proc_hours_per_trillion_tokens, TIME, NULL, NULL),
    STATISTIC(usd_per_trillion_tokens, TIME, NULL, NULL),
    STATISTIC(energy_per_token, TIME, NULL, NULL),
    STATISTIC(proc_mem_tier1_cap_req, MEMORY, "memory, tier 1", calc_human_bytes),
};
enum { STATISTICS = sizeof statistics / sizeof *statistics, POINTS = 3 };
/* Standard deviations of a normal distribution that hold CALC_BAND_LEVEL of it, on both sides. */
#define REACH_OF_DEVIATION 1.645
static const char *const points[POINTS] = {"p5", "p50", "p95"};

/* ---- Making it ------------------------------------------------------------------------------- */

/* Whether assignments changed a property of the machine that this layout uses. */
static bool is_changed(const calc_inputs *in)
{
    calc_system system;
    calc_stats as_read, now;
    calc_errors ignored = {0};
    const calc_text *text = &in->input[CALC_KIND_SYSTEM].text;
    if (!calc_is_yes(
            calc_parse(CALC_KIND_SYSTEM, &system, text->data, text->length, "", &ignored))) {
        return true;
    }
    calc_run(&in->app, &system, &in->exec, CALC_COMPAT_NONE, &as_read);
    calc_run(&in->app, &in->system, &in->exec, CALC_COMPAT_NONE, &now);
    return as_read.total_time != now.total_time && !isnan(now.total_time);
}

/* Determine how well the machine is measured. @return its family; "" if there is none */
static const char *place_machine(calc_run_band *b, const calc_inputs *in)
{
    const char *name = in->input[CALC_KIND_SYSTEM].name;
    const char *own = calc_residuals_family(&b->residuals, name);
    const char *family = own ? own : calc_residuals_family(&b->residuals, b->errors.machine);
    if (in->exec.inference.phase != CALC_INFERENCE_PHASE_NONE || !in->exec.training) {
        snprintf(b->note, sizeof b->note, "no run of inference was measured: all are training");
        return "";
    }
    if (in->exec.strategy.trained != CALC_TRAINED_ALL) {
        b->is_later = true;
        snprintf(b->note, sizeof b->note,
                 "no run that the band is of freezes weights: docs/post-training.md has those that "
                 "do");
        return "";
    }
    if (!*b->errors.machine || !family) {
        b->is_later = true;
        snprintf(b->note, sizeof b->note,
                 "no run of this machine was measured: %.60s is not calibrated", name);
        return "";
    }
    if (!own) {
        snprintf(b->note, sizeof b->note,
                 "no run of this machine was measured: its constants are those of %.60s",
                 b->errors.machine);
    } else if (is_changed(in)) {
        snprintf(b->note, sizeof b->note,
                 "no run of this machine was measured: --set made another of %.60s", name);
    }
    b->is_later = !own;
    b->machine = *b->note ? CALC_RUN_BAND_MACHINE_FAMILY : CALC_RUN_BAND_MACHINE_MEASURED;
    return family;
}

static calc_band band_of(const calc_run_band *b, calc_quantity quantity, calc_unseen unseen)
{
    const calc_band_query query = {quantity, b->traits, unseen, NULL};
    return calc_band_of(&b->residuals, &query);
}

/* Fraction of the comparable runs whose measured-to-predicted ratio would let this layout fit. */
static double fits_of(const calc_run_band *b, const calc_stats *stats)
{
    const calc_fits_query query = {&b->inputs->app, &b->inputs->system, &b->inputs->exec,
                                   b->traits.family, stats->proc_mem_tier1_cap_req};
    return calc_fits_share(&b->residuals, &query);
}

calc_status calc_run_band_make(calc_run_band *out, const calc_inputs *inputs, calc_errors *errors)
{
    calc_status status = calc_known_runs_read(&out->residuals, errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_standard_errors_read(&out->errors, &inputs->input[CALC_KIND_SYSTEM].text);
    out->traits = calc_traits_of(&inputs->app, &inputs->exec, place_machine(out, inputs));
    bool measured = out->machine == CALC_RUN_BAND_MACHINE_MEASURED;
    out->other = band_of(out, CALC_QUANTITY_STEP_TIME, CALC_UNSEEN_SOURCE);
    out->later = band_of(out, CALC_QUANTITY_STEP_TIME, CALC_UNSEEN_RELEASE);
    /* Of serving nothing is known: a quantity without residuals. */
    bool trains =
        inputs->exec.training && inputs->exec.inference.phase == CALC_INFERENCE_PHASE_NONE;
    out->unseen =
        band_of(out, trains ? CALC_QUANTITY_STEP_TIME : CALC_QUANTITY_MEMORY, CALC_UNSEEN_SOFTWARE);
    out->is_later = out->is_later && !(out->later.reach < out->other.reach);
    out->time = measured        ? band_of(out, CALC_QUANTITY_STEP_TIME, CALC_UNSEEN_WIDTH)
                : out->is_later ? out->later
                                : out->other;
    out->inputs = inputs;
    out->memory = band_of(out, CALC_QUANTITY_MEMORY, CALC_UNSEEN_SOURCE);
    out->is_assumed = !*out->errors.machine;
    if (out->is_assumed) {
        calc_standard_errors_assume(&out->errors, &inputs->system);
    }
    out->deviation =
        calc_standard_errors_of_time(&out->errors, &inputs->app, &inputs->system, &inputs->exec);
    if (out->is_assumed && isfinite(out->deviation)) {
        /* The residuals are those of fitted machines: what is only assumed adds to them. */
        out->time.reach = hypot(out->time.reach, REACH_OF_DEVIATION * out->deviation);
    }
    return CALC_OK;
}

void calc_run_band_free(calc_run_band *band)
{
    calc_residuals_free(&band->residuals);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Factors of a quantity at the points of the band. */
static void factors_of(const calc_band *band, double factor[POINTS])
{
    factor[0] = exp(-band->reach);
    factor[1] = exp(band->median);
    factor[2] = exp(band->reach);
}

/* Values of a statistic at the points of the band. */
static void values_of(const statistic *s, const calc_run_band *b, const calc_stats *stats,
                      double value[POINTS])
{
    const void *member = (const char *)stats + s->offset;
    double predicted = *(const double *)member;
    double factor[POINTS];
    factors_of(s->follows == MEMORY ? &b->memory : &b->time, factor);
    for (int i = 0; i < POINTS; i++) {
        value[i] = s->follows == RATE ? predicted / factor[POINTS - 1 - i] : predicted * factor[i];
    }
}

/* ---- For people ------------------------------------------------------------------------------ */

static void write_class(calc_output *out, const calc_run_band *b, const calc_band *band)
{
    char text[CALC_BAND_TEXT], runs[CALC_HUMAN_MAX], tables[CALC_HUMAN_MAX];
    calc_output_text(out, isnan(band->reach) ? "too few for a band, " : "");
    calc_output_printf(out, "%s of %s: %s", calc_human_counted((double)band->runs, "run", runs),
                       calc_human_counted((double)band->tables, "table", tables),
                       calc_band_class(&b->traits, band->alike, text));
}

static void write_other(calc_output *out, const calc_run_band *b, const char *software,
                        const calc_band *band, double step_s)
{
    char low[CALC_HUMAN_MAX], high[CALC_HUMAN_MAX];
    calc_output_printf(out, "  with software %s: %s to %s per step\n    (", software,
                       calc_human_seconds(step_s * exp(-band->reach), low),
                       calc_human_seconds(step_s * exp(band->reach), high));
    write_class(out, b, band);
    calc_output_text(out, ")\n");
}

static void write_parameters(calc_output *out, const calc_run_band *b)
{
    char percent[CALC_HUMAN_MAX], constants[CALC_HUMAN_MAX];
    bool inside = b->is_assumed || b->machine != CALC_RUN_BAND_MACHINE_UNMEASURED;
    calc_output_printf(out, "  %s of %s: %s of the time%s\n",
                       b->is_assumed ? "plausible errors" : "standard errors",
                       calc_human_counted((double)b->errors.count,
                                          b->is_assumed ? "assumed constant" : "fitted constant",
                                          constants),
                       calc_human_percent(b->deviation, percent), inside ? ", in the band" : "");
}

static void write_statistic(calc_output *out, const statistic *s, const calc_report *report)
{
    double value[POINTS];
    values_of(s, report->band, report->stats, value);
    calc_output_printf(out, "  %-26s", s->label);
    for (int i = 0; i < POINTS; i++) {
        char text[CALC_HUMAN_MAX];
        calc_output_printf(out, "%16s", s->text(value[i], text));
    }
    calc_output_text(out, "\n");
}

void calc_run_band_write(calc_output *out, const calc_report *report)
{
    const calc_run_band *b = report->band;
    calc_report_title(out, report, "Band of nine in ten comparable runs");
    calc_output_printf(out, "  %-26s%16s%16s%16s\n", "", "P5", "P50", "P95");
    for (int i = 0; i < STATISTICS; i++) {
        if (statistics[i].label) {
            write_statistic(out, &statistics[i], report);
        }
    }
    if (*b->note) {
        calc_output_printf(out, "  %s\n", b->note);
    }
    calc_output_text(out, b->is_later ? "  time, as of software later than theirs: " : "  time: ");
    write_class(out, b, &b->time);
    calc_output_text(out, "\n");
    if (b->machine == CALC_RUN_BAND_MACHINE_MEASURED) {
        write_other(out, b, "unlike theirs", &b->other, report->stats->total_time);
        write_other(out, b, "later than theirs", &b->later, report->stats->total_time);
    }
    if (isfinite(b->unseen.reach)) {
        write_other(out, b, "that no fit has seen", &b->unseen, report->stats->total_time);
    }
    calc_output_text(out, "  memory: ");
    write_class(out, b, &b->memory);
    double fits = fits_of(b, report->stats);
    if (isfinite(fits)) {
        char percent[CALC_HUMAN_MAX], capacity[CALC_HUMAN_MAX];
        calc_output_printf(out, "\n    %s of such runs would fit %s",
                           calc_human_percent(fits, percent),
                           calc_human_bytes(report->stats->mem_tier1_capacity, capacity));
    }
    calc_output_text(out, "\n");
    write_parameters(out, b);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_points(calc_put *put, const double value[POINTS])
{
    for (int i = 0; i < POINTS; i++) {
        calc_put_number(put, points[i], value[i]);
    }
    calc_put_close(put);
}

static void put_band(calc_put *put, const char *key, const calc_run_band *b, const calc_band *band)
{
    char text[CALC_BAND_TEXT];
    double factor[POINTS];
    factors_of(band, factor);
    calc_put_object(put, key, CALC_PUT_LINE);
    calc_put_text(put, "class", calc_band_class(&b->traits, band->alike, text));
    calc_put_count(put, "runs", (int64_t)band->runs);
    calc_put_count(put, "tables", (int64_t)band->tables);
    put_points(put, factor);
}

void calc_run_band_put(calc_put *put, const calc_run_band *b, const calc_stats *stats)
{
    static const char *const machines[] = {
#define CALC_X(name, word) word,
        CALC_RUN_BAND_MACHINE_LIST(CALC_X)
#undef CALC_X
    };
    calc_put_object(put, "band", CALC_PUT_LINES);
    calc_put_number(put, "level", CALC_BAND_LEVEL);
    calc_put_text(put, "machine", machines[b->machine]);
    calc_put_text(put, "note", b->note);
    put_band(put, "time", b, &b->time);
    put_band(put, "time_of_other_software", b, &b->other);
    put_band(put, "time_of_later_software", b, &b->later);
    put_band(put, "time_of_unseen_software", b, &b->unseen);
    put_band(put, "memory", b, &b->memory);
    calc_put_number(put, "fits", fits_of(b, stats));
    for (int assumed = 0; assumed < 2; assumed++) {
        bool these = b->is_assumed == assumed;
        calc_put_object(put, assumed ? "assumed_constants" : "fitted_constants", CALC_PUT_LINE);
        calc_put_count(put, "count", these ? (int64_t)b->errors.count : 0);
        calc_put_number(put, "deviation", these ? b->deviation : 0);
        calc_put_close(put);
    }
    calc_put_object(put, "stats", CALC_PUT_LINES);
    for (int i = 0; i < STATISTICS; i++) {
        double value[POINTS];
        values_of(&statistics[i], b, stats, value);
        calc_put_object(put, statistics[i].key, CALC_PUT_LINE);
        put_points(put, value);
    }
    calc_put_close(put);
    calc_put_close(put);
}
