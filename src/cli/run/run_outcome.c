#include "cli/run/run_outcome.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "calc.h"
#include "cli/draw/breakdown.h"
#include "cli/draw/human.h"
#include "cli/run/simulation.h"
#include "cli/shell/complain.h"
#include "cli/shell/find.h"
#include "cli/shell/inputs.h"
#include "io/csv_table.h"
#include "io/json_put.h"
#include "model/run.h"
#include "report/page.h"
#include "report/run_data.h"
#include "spec/compat.h"
#include "spec/stage_list.h"
#include "validate/runs.h"

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
    STATISTIC(total_time, TIME, "time per step", calc_human_seconds_in),
    STATISTIC(sample_rate, RATE, "samples/s", calc_human_number_in),
    STATISTIC(tokens_per_s, RATE, "tokens/s", calc_human_number_in),
    STATISTIC(tokens_per_s_per_proc, RATE, "tokens/s/processor", calc_human_number_in),
    STATISTIC(model_flops_utilization, RATE, "model FLOPs utilisation", calc_human_percent_in),
    STATISTIC(days_per_trillion_tokens, TIME, NULL, NULL),
    STATISTIC(proc_hours_per_trillion_tokens, TIME, NULL, NULL),
    STATISTIC(usd_per_trillion_tokens, TIME, NULL, NULL),
    STATISTIC(energy_per_token, TIME, NULL, NULL),
    STATISTIC(proc_mem_tier1_cap_req, MEMORY, "memory, tier 1", calc_human_bytes_in),
};
enum { STATISTICS = sizeof statistics / sizeof *statistics, POINTS = 3 };
/* Standard deviations of a normal distribution that hold CALC_BAND_LEVEL of it, on both sides. */
#define REACH_OF_DEVIATION 1.645
static const char *const points[POINTS] = {"p5", "p50", "p95"};

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

/* Whether a text names a table, of letters, digits and '_', apart from longer names. */
static bool has_name(const char *text, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t length = strlen(name);
    const char *at = text ? strstr(text, name) : NULL;
    while (at &&
           (at == text || strchr(letters, at[-1]) || (at[length] && strchr(letters, at[length])))) {
        at = strstr(at + 1, name);
    }
    return at != NULL;
}

/* Whether nothing was fitted to the software that the layout names, or whose script it is. The
 * tables of runs that vouch for a software are in the source of its document; one without such
 * tables is unseen if it is eager, as others are to which nothing was fitted
 * (calc_unseen_of_memory). */
static bool is_unseen(const calc_run_band *b, const calc_inputs *in)
{
    const calc_input *said =
        &in->input[in->input[CALC_KIND_EXEC].text.data ? CALC_KIND_EXEC : CALC_KIND_APP];
    const char *script = said->framework ? said->framework->name : "";
    const char *name = in->exec.software[0] ? in->exec.software : script;
    char path[CALC_FIND_PATH_MAX], bare[128];
    calc_errors ignored = {0};
    calc_text text = {0};
    bool fitted = false;
    bool unseen = calc_unseen_of_memory(&in->exec) == CALC_UNSEEN_SOFTWARE;
    snprintf(bare, sizeof bare, "%s%.100s", strchr(name, '/') ? "" : "software/", name);
    if (name[0] && calc_is_yes(calc_find(CALC_KIND_EXEC, bare, path, &ignored))) {
        (void)!calc_text_read(&text, path, &ignored);
    }
    for (size_t i = 0; i < b->residuals.count; i++) {
        const calc_residual *r = &b->residuals.item[i];
        bool vouches = has_name(text.data, r->source) || strcmp(r->source, name) == 0;
        fitted = fitted || (vouches && isfinite(r->value[CALC_UNSEEN_WIDTH]));
        unseen = unseen || (vouches && isfinite(r->value[CALC_UNSEEN_SOFTWARE]));
    }
    calc_text_free(&text);
    return name[0] && unseen && !fitted;
}

/* Fraction of the comparable runs whose measured-to-predicted ratio would let this layout fit. */
static double fits_of(const calc_run_band *b, const calc_stats *stats)
{
    const calc_fits_query query = {&b->inputs->app,
                                   &b->inputs->system,
                                   &b->inputs->exec,
                                   b->traits.family,
                                   stats->proc_mem_tier1_cap_req,
                                   NULL};
    return calc_fits_share(&b->residuals, &query);
}

calc_status calc_run_band_make(calc_run_band *out, const calc_inputs *inputs, calc_errors *errors)
{
    calc_status status = calc_residuals_known(&out->residuals, calc_find_document, NULL, errors);
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
        band_of(out, trains ? CALC_QUANTITY_STEP_TIME : CALC_QUANTITY_COUNT, CALC_UNSEEN_SOFTWARE);
    out->is_later = out->is_later && !(out->later.reach < out->other.reach);
    out->is_unseen = isfinite(out->unseen.reach) && is_unseen(out, inputs);
    out->time = out->is_unseen  ? out->unseen
                : measured      ? band_of(out, CALC_QUANTITY_STEP_TIME, CALC_UNSEEN_WIDTH)
                : out->is_later ? out->later
                                : out->other;
    out->inputs = inputs;
    out->memory = band_of(out, CALC_QUANTITY_MEMORY, calc_unseen_of_memory(&inputs->exec));
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

/* Free what it owns; fine on {0}. */
void calc_run_band_free(calc_run_band *band)
{
    calc_residuals_free(&band->residuals);
}

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

static void write_class(calc_output *out, const calc_run_band *b, const calc_band *band)
{
    char text[CALC_BAND_TEXT];
    calc_output_text(out, isnan(band->reach) ? "too few for a band, " : "");
    calc_output_printf(out, "%s of %s: %s", calc_human_counted((double)band->runs, "run"),
                       calc_human_counted((double)band->tables, "table"),
                       calc_band_class(&b->traits, band->alike, text));
}

static void write_other(calc_output *out, const calc_run_band *b, const char *software,
                        const calc_band *band, double step_s)
{
    calc_output_printf(out, "  with software %s: %s to %s per step\n    (", software,
                       calc_human_seconds(step_s * exp(-band->reach)),
                       calc_human_seconds(step_s * exp(band->reach)));
    write_class(out, b, band);
    calc_output_text(out, ")\n");
}

static void write_statistic(calc_output *out, const statistic *s, const calc_run_outcome *o)
{
    double value[POINTS];
    values_of(s, &o->band, &o->stats, value);
    calc_output_printf(out, "  %-26s", s->label);
    for (int i = 0; i < POINTS; i++) {
        char text[CALC_HUMAN_MAX];
        calc_output_printf(out, "%16s", s->text(value[i], text));
    }
    calc_output_text(out, "\n");
}

void calc_run_band_write(calc_output *out, const calc_run_outcome *o)
{
    const calc_run_band *b = &o->band;
    calc_report_title(out, &o->paint, "Band of nine in ten comparable runs");
    calc_output_printf(out, "  %-26s%16s%16s%16s\n", "", "P5", "P50", "P95");
    for (int i = 0; i < STATISTICS; i++) {
        if (statistics[i].label) {
            write_statistic(out, &statistics[i], o);
        }
    }
    if (*b->note) {
        calc_output_printf(out, "  %s\n", b->note);
    }
    calc_output_text(out, b->is_unseen  ? "  time, as of software that no fit has seen: "
                          : b->is_later ? "  time, as of software later than theirs: "
                                        : "  time: ");
    write_class(out, b, &b->time);
    calc_output_text(out, "\n");
    if (b->machine == CALC_RUN_BAND_MACHINE_MEASURED && b->is_unseen) {
        calc_band like = band_of(b, CALC_QUANTITY_STEP_TIME, CALC_UNSEEN_WIDTH);
        write_other(out, b, "like that of fitted runs", &like, o->stats.total_time);
    } else if (b->machine == CALC_RUN_BAND_MACHINE_MEASURED) {
        write_other(out, b, "unlike theirs", &b->other, o->stats.total_time);
        write_other(out, b, "later than theirs", &b->later, o->stats.total_time);
    }
    if (isfinite(b->unseen.reach) && !b->is_unseen) {
        write_other(out, b, "that no fit has seen", &b->unseen, o->stats.total_time);
    }
    calc_output_text(out, "  memory: ");
    write_class(out, b, &b->memory);
    double fits = fits_of(b, &o->stats);
    if (isfinite(fits)) {
        calc_output_printf(out, "\n    %s of such runs would fit %s", calc_human_percent(fits),
                           calc_human_bytes(o->stats.mem_tier1_capacity));
    }
    calc_output_text(out, "\n");
    bool inside = b->is_assumed || b->machine != CALC_RUN_BAND_MACHINE_UNMEASURED;
    calc_output_printf(out, "  %s of %s: %s of the time%s\n",
                       b->is_assumed ? "plausible errors" : "standard errors",
                       calc_human_counted((double)b->errors.count,
                                          b->is_assumed ? "assumed constant" : "fitted constant"),
                       calc_human_percent(b->deviation), inside ? ", in the band" : "");
}

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
    calc_putf(put, "class: %s, runs: %zu, tables: %zu",
              calc_band_class(&b->traits, band->alike, text), band->runs, band->tables);
    put_points(put, factor);
}

/* Write the member "band" of the open object. */
static void calc_run_band_put(calc_put *put, const calc_run_band *b, const calc_stats *stats)
{
    static const char *const machines[] = {CALC_RUN_BAND_MACHINE_LIST(CALC_WORD_OF)};
    calc_putf(put, "band: {\nlevel: %g, machine: %s, note: %s", CALC_BAND_LEVEL,
              machines[b->machine], b->note);
    put_band(put, "time", b, &b->time);
    put_band(put, "time_of_other_software", b, &b->other);
    put_band(put, "time_of_later_software", b, &b->later);
    put_band(put, "time_of_unseen_software", b, &b->unseen);
    put_band(put, "memory", b, &b->memory);
    calc_put_number(put, "fits", fits_of(b, stats));
    for (int assumed = 0; assumed < 2; assumed++) {
        bool these = b->is_assumed == assumed;
        calc_put_object(put, assumed ? "assumed_constants" : "fitted_constants", CALC_PUT_LINE);
        calc_putf(put, "count: %jd, deviation: %g}", these ? (int64_t)b->errors.count : 0,
                  these ? b->deviation : 0);
    }
    calc_put_object(put, "stats", CALC_PUT_LINES);
    for (int i = 0; i < STATISTICS; i++) {
        double value[POINTS];
        values_of(&statistics[i], b, stats, value);
        calc_put_object(put, statistics[i].key, CALC_PUT_LINE);
        put_points(put, value);
    }
    calc_putf(put, "}}");
}

static const char *const passes[CALC_PASS_COUNT] = {"forward", "activation gradient",
                                                    "weight gradient"};

calc_status calc_run_operators_make(calc_run_operators *out, const char *path, const char *rows,
                                    const calc_inputs *in, calc_stats *stats, calc_errors *errors)
{
    if (in->exec.inference.phase != CALC_INFERENCE_PHASE_NONE) {
        return calc_errors_add(
            errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, NULL,
            "measured operators are looked up in training steps, not in serving");
    }
    calc_text text = {0};
    calc_status status = calc_text_read(&text, path, errors);
    if (status == CALC_OK) {
        calc_digest_text(text.data, text.length, out->sha256);
        status = calc_points_parse(&out->points, text, path, errors);
        calc_complain_points(&out->points);
    }
    status =
        status == CALC_OK ? calc_points_select(&out->points, rows, &in->system, errors) : status;
    if (status == CALC_OK) {
        calc_layout layout;
        calc_point_table_make(&out->table, out->points.item, out->points.count, NULL, &in->system);
        calc_layout_of(&in->app, &in->system, &in->exec, CALC_COMPAT_NONE, &out->table.table, NULL,
                       &layout);
        out->block = calc_measured_block_of(&layout.context);
        calc_run_measured(&in->app, &in->system, &in->exec, &out->table.table, stats);
        out->count = calc_operator_stats_measured(&in->app, &in->system, &in->exec,
                                                  CALC_COMPAT_NONE, &out->table.table, out->layer,
                                                  out->source, CALC_MAX_LAYERS);
    }
    return status;
}

/* The mark after a time that names its source. */
static const char marks[CALC_KERNEL_SOURCES + 1] = " ^~=";

static bool runs(const calc_operator_source *s)
{
    bool any = false;
    for (int pass = 0; pass < CALC_PASS_COUNT; pass++) {
        any = any || s->time_s[pass] > 0;
    }
    return any;
}

/* A block as a whole, where the file has some; without measurements of it, its operators follow. */
static void write_block(calc_output *out, const calc_measured_block *b)
{
    static const char *const what[CALC_KERNEL_SOURCES] = {
        "no block of this structure is measured", "no block near this one is measured",
        "forward and backward, communication included",
        "forward and backward, communication included"};
    if (b->time_s > 0) {
        calc_output_printf(out, "  %-26s%16s %c %s\n", "block", calc_human_seconds(b->time_s),
                           marks[b->source], what[b->source]);
    }
}

void calc_run_operators_write(calc_output *out, const calc_run_operators *o)
{
    double time_s[CALC_KERNEL_SOURCES] = {0};
    double total_s = 0;
    calc_output_printf(out, "\n%-28s%16s%18s%18s\n", "Where times come from", passes[0],
                       "activation grad.", "weight grad.");
    write_block(out, &o->block);
    if (o->block.measured) {
        time_s[o->block.source] = total_s = o->block.time_s;
    }
    for (size_t i = 0; i < o->count; i++) {
        const calc_operator_source *s = &o->source[i];
        if (!runs(s)) {
            continue;
        }
        calc_output_printf(out, "  %-26s", o->layer[i].name);
        for (int pass = 0; pass < CALC_PASS_COUNT; pass++) {
            bool has = s->time_s[pass] > 0;
            char mark = has ? marks[s->source[pass]] : ' ';
            calc_output_printf(out, "%16s", has ? calc_human_seconds(s->time_s[pass]) : "-");
            if (mark != ' ' || pass + 1 < CALC_PASS_COUNT) {
                calc_output_printf(out, " %c", mark);
            }
            time_s[s->source[pass]] += s->time_s[pass];
            total_s += s->time_s[pass];
        }
        calc_output_text(out, "\n");
    }
    calc_output_text(out, "  ");
    for (int k = CALC_KERNEL_SOURCES; k-- > 0 && total_s > 0;) {
        calc_output_printf(out, "%s%c%s %.0f %%", k < CALC_KERNEL_EXACT ? ", " : "", marks[k],
                           calc_kernel_source_text((calc_kernel_source)k),
                           100 * time_s[k] / total_s);
    }
    calc_output_text(out, " of these times\n");
}

static void put_time(calc_put *put, const char *name, const char *pass, calc_kernel_source source,
                     double time_s, double model_s)
{
    if (time_s > 0) {
        calc_putf(put, "{name: %s, pass: %s, source: %s, time: %g, model_time: %g}", name, pass,
                  calc_kernel_source_text(source), time_s, model_s);
    }
}

/* Write the member "operators" of the open object: a row per operator and pass. */
static void run_operators_put(calc_put *put, const calc_run_operators *o)
{
    calc_put_array(put, "operators", CALC_PUT_LINES);
    put_time(put, "block", "forward and backward", o->block.source, o->block.time_s,
             o->block.model_s);
    for (size_t i = 0; i < o->count; i++) {
        for (int pass = 0; pass < CALC_PASS_COUNT; pass++) {
            const calc_operator_source *s = &o->source[i];
            put_time(put, o->layer[i].name, passes[pass], s->source[pass], s->time_s[pass],
                     s->model_s[pass]);
        }
    }
    calc_put_close(put);
}

calc_status calc_run_outcome_evaluate(calc_run_outcome *o, bool layers, calc_errors *errors)
{
    const calc_inputs *in = &o->inputs;
    if (calc_compat_check(&in->app, &in->exec, o->compat, errors) != CALC_OK) {
        return CALC_ERR_UNSUPPORTED;
    }
    calc_run(&in->app, &in->system, &in->exec, o->compat, &o->stats);
    calc_status status = o->exact ? calc_simulation_stats(in, &o->stats, errors) : CALC_OK;
    if (status != CALC_OK) {
        return status;
    }
    o->reason_count =
        calc_reasons(&in->app, &in->system, &in->exec, o->compat, &o->stats, o->reason);
    if (layers) {
        o->layer_count =
            calc_layers(&in->app, &in->system, &in->exec, o->compat, o->layer, CALC_MAX_LAYERS);
    }
    return CALC_OK;
}

void calc_run_outcome_stages(calc_run_outcome *o)
{
    const calc_inputs *in = &o->inputs;
    size_t count = calc_each_stage(&in->app, &in->system, &in->exec, o->compat, NULL, 0);
    o->stage = calc_make(count, sizeof *o->stage);
    o->stage_known = calc_each_stage(&in->app, &in->system, &in->exec, o->compat, o->stage, count);
}

static void put_words(calc_put *put, const char *option, const char *value)
{
    if (value) {
        calc_putf(put, "%s, %s", option, value);
    }
}

static void put_command(calc_put *put, const calc_run_outcome *o,
                        const char *const argument[CALC_INPUTS])
{
    calc_put_array(put, NULL, CALC_PUT_LINE);
    put_words(put, "calc", "run");
    for (int i = 0; i < CALC_INPUTS && argument[i]; i++) {
        calc_put_text(put, NULL, argument[i]);
    }
    put_words(put, "--procs", o->inputs.procs);
    put_words(put, "--batch", o->inputs.batch);
    for (size_t i = 0; i < o->set_count; i++) {
        /* The field by its key, so that a page finds it. */
        enum { KEY = 64 };
        const char *text = o->set[i];
        size_t name = strcspn(text, "=");
        calc_field_ref ref;
        const calc_field *field = calc_opt_field(text, &ref);
        bool alone = field && strcspn(text, ".[") > name;
        char *set = calc_make(strlen(text) + KEY, 1);
        snprintf(set, strlen(text) + KEY, "%s%s", alone ? field->key : "",
                 alone ? text + name : text);
        put_words(put, "--set", set);
        free(set);
    }
    put_words(put, "--schedule", o->exact ? "exact" : NULL);
    if (o->has_band) {
        calc_put_text(put, NULL, "--band");
    }
    put_words(put, "--operators", o->operators_file);
    put_words(put, "--rows", o->operators_rows);
    char rules[CALC_COMPAT_TEXT];
    put_words(put, "--compat",
              o->compat == CALC_COMPAT_NONE ? NULL : calc_compat_text(o->compat, rules));
    calc_put_close(put);
}

void calc_run_outcome_command(calc_run_outcome *o, const char *const argument[CALC_INPUTS])
{
    calc_text text = {0};
    calc_output *out = calc_write_to_memory(&text);
    calc_put put = calc_put_to(out);
    put_command(&put, o, argument);
    (void)calc_is_yes(calc_output_close(out, NULL));
    o->command = text.data;
}

/* Digests of the documents' bytes before --set (after decompression, for compressed ones): the
 * documents of the command, systems named by stages and a prefill pool, and measured operators. A
 * layout that was searched rather than read has no digest. */
static void put_digests(calc_put *put, const calc_run_outcome *o)
{
    const calc_input *input = o->inputs.input;
    static const char *const keys[CALC_INPUTS] = {"application", "system", "execution"};
    char digest[CALC_DIGEST_TEXT];
    calc_put_object(put, "sha256", CALC_PUT_LINE);
    for (int i = 0; i < CALC_INPUTS; i++) {
        const calc_text *text = &input[i].text;
        if (text->length > 0) {
            calc_put_text(put, keys[i], calc_digest_text(text->data, text->length, digest));
        }
    }
    if (o->operators) {
        calc_put_text(put, "operators", o->operators->sha256);
    }
    const calc_stage_list *list = &o->inputs.exec.stages;
    bool others = false;
    for (int32_t i = 0; i < list->chips; i++) {
        const char *sha256 = o->inputs.other.sha256[i];
        if (*sha256 && !others) {
            calc_put_object(put, "stages", CALC_PUT_LINE);
            others = true;
        }
        if (*sha256) {
            calc_put_text(put, list->name[i], sha256);
        }
    }
    if (others) {
        calc_put_close(put);
    }
    const char *prefill = o->inputs.other.sha256[CALC_MAX_CHIPS];
    if (*prefill) {
        calc_put_text(put, "prefill_system", prefill);
    }
    calc_put_close(put);
}

static void put_names(calc_put *put, const calc_run_outcome *o)
{
    const calc_input *input = o->inputs.input;
    calc_putf(put, "names: {application: %s, system: %s, execution: %s", input[CALC_KIND_APP].name,
              input[CALC_KIND_SYSTEM].name, input[CALC_KIND_EXEC].name);
    if (o->command) {
        calc_put_raw(put, "command", o->command);
    }
    if (input[CALC_KIND_EXEC].absent > 0) {
        calc_put_flag(put, "completed", true);
    }
    put_digests(put, o);
    calc_put_close(put);
}

void calc_run_write_json(calc_output *out, const calc_run_outcome *o)
{
    calc_put put = calc_put_to(out);
    calc_put_document(&put);
    calc_put_text(&put, "version", CALC_VERSION);
    char rules[CALC_COMPAT_TEXT];
    calc_put_text(&put, "compat", calc_compat_text(o->compat, rules));
    put_names(&put, o);
    calc_put_struct(&put, "application", CALC_KIND_APP, &o->inputs.app);
    calc_put_struct(&put, "system", CALC_KIND_SYSTEM, &o->inputs.system);
    calc_put_struct(&put, "execution", CALC_KIND_EXEC, &o->inputs.exec);
    calc_inputs_put_remarks(&put, &o->inputs);
    calc_put_text(&put, "verdict", calc_verdict_text(o->stats.verdict));
    calc_put_reasons(&put, o->reason, o->reason_count);
    calc_put_struct(&put, "stats", CALC_KIND_STATS, &o->stats);
    if (o->has_band) {
        calc_run_band_put(&put, &o->band, &o->stats);
    }
    if (o->layer_count > 0) {
        calc_put_layers(&put, o->layer, o->layer_count);
    }
    if (o->stage_count > 0) {
        calc_put_stages(&put, o->stage, o->stage_count);
    }
    if (o->operators) {
        run_operators_put(&put, o->operators);
    }
    calc_put_end(&put);
}

void calc_run_write_csv(calc_output *out, const calc_run_outcome *o)
{
    calc_output_text(out, "application,system,execution,verdict");
    calc_csv_header(out, CALC_KIND_EXEC, false);
    calc_csv_header(out, CALC_KIND_STATS, false);
    calc_output_text(out, "\n");
    for (int kind = 0; kind < CALC_INPUTS; kind++) {
        calc_csv_text(out, o->inputs.input[kind].name, kind == 0);
    }
    calc_csv_text(out, calc_verdict_text(o->stats.verdict), false);
    calc_csv_values(out, CALC_KIND_EXEC, &o->inputs.exec, false);
    calc_csv_values(out, CALC_KIND_STATS, &o->stats, false);
    calc_output_text(out, "\n");
}

void calc_run_write_stages(calc_output *out, const calc_run_outcome *o)
{
    calc_csv_header(out, CALC_KIND_STAGE, true);
    calc_output_text(out, "\n");
    for (size_t i = 0; i < o->stage_count; i++) {
        calc_csv_values(out, CALC_KIND_STAGE, &o->stage[i], true);
        calc_output_text(out, "\n");
    }
}

void calc_run_write_peers(calc_output *out, const calc_run_outcome *o)
{
    calc_peers_save(out, &o->inputs.exec);
}

void calc_run_outcome_free(calc_run_outcome *o)
{
    free(o->stage);
    free(o->set);
    calc_run_band_free(&o->band);
    if (o->operators) {
        calc_points_free(&o->operators->points);
        calc_point_table_free(&o->operators->table);
    }
    free(o->operators);
    free(o->command);
    calc_inputs_free(&o->inputs);
}

/* The band if the machine or its family was measured, else null. */
static calc_status put_page_band(calc_put *put, const calc_run_outcome *o, calc_errors *errors)
{
    calc_run_band band = {0};
    char path[CALC_FIND_PATH_MAX];
    calc_errors ignored = {0};
    bool asked = o->compat == CALC_COMPAT_NONE && o->stats.verdict == CALC_VERDICT_OK &&
                 calc_is_yes(calc_find_data(CALC_FIND_RESIDUALS, path, &ignored));
    calc_status status = asked ? calc_run_band_make(&band, &o->inputs, errors) : CALC_OK;
    if (asked && status == CALC_OK && band.machine != CALC_RUN_BAND_MACHINE_UNMEASURED) {
        calc_run_band_put(put, &band, &o->stats);
    } else {
        calc_put_raw(put, "band", "null");
    }
    calc_run_band_free(&band);
    return status;
}

/* Published runs of the same sizes, and their times. */
static void put_measured(calc_put *put, const calc_run_outcome *o)
{
    enum { MOST = 8 };
    const calc_inputs *in = &o->inputs;
    calc_same_run same[MOST];
    calc_runs runs = {0};
    calc_errors ignored = {0};
    char path[CALC_FIND_PATH_MAX];
    bool there = o->compat == CALC_COMPAT_NONE &&
                 calc_is_yes(calc_find_data("measured/runs.csv", path, &ignored)) &&
                 calc_is_yes(calc_runs_read(&runs, path, NULL, &ignored));
    size_t count = there ? calc_same_runs_find(same, MOST, &runs, &in->app,
                                               in->input[CALC_KIND_SYSTEM].name, &in->exec)
                         : 0;
    calc_put_array(put, "measured", CALC_PUT_LINES);
    for (size_t i = 0; i < count && i < MOST; i++) {
        calc_putf(put, "{id: %s, source: %s, step_s: %g}", same[i].row->id, same[i].row->source,
                  same[i].step_s);
    }
    calc_put_close(put);
    calc_runs_free(&runs);
}

/* System and recomputation of each stage, if stages list them; otherwise null. */
static void put_listed(calc_put *put, const calc_inputs *in)
{
    const calc_exec *e = &in->exec;
    const char *name = in->input[CALC_KIND_SYSTEM].name;
    char text[CALC_STAGE_WORDS_SIZE];
    calc_stage_run place[CALC_MAX_PLACES];
    if (e->stages.count == 0) {
        calc_put_raw(put, "listed", "null");
        return;
    }
    int64_t places = calc_stage_list_expand(&e->stages, place);
    calc_putf(put, "listed: {\nmachine: %s, stages: [\n", calc_stage_words_machine(e, name, text));
    for (int64_t stage = 0; stage < e->pipeline_par; stage++) {
        calc_exec own = *e;
        own.stages.count = 0;
        for (int64_t i = stage; i < places && own.stages.count < CALC_MAX_STAGE_RUNS;
             i += e->pipeline_par) {
            own.stages.run[own.stages.count++] = place[i];
        }
        int chip = place[stage].chip;
        calc_putf(put, "{system: %s, recompute: %s}", chip > 0 ? e->stages.name[chip - 1] : name,
                  calc_stage_words_recompute(&own, text));
    }
    calc_putf(put, "]}");
}

/* A run on a changed machine, simulated if the page's own is. */
static calc_status run_again(const void *context, const calc_system *system, const calc_exec *exec,
                             calc_stats *stats, calc_errors *errors)
{
    const calc_run_outcome *o = context;
    calc_run_outcome more = {.inputs = o->inputs, .compat = o->compat, .exact = o->exact};
    more.inputs.system = *system;
    more.inputs.exec = *exec;
    calc_status status = calc_run_outcome_evaluate(&more, false, errors);
    *stats = more.stats;
    return status;
}

static calc_status write_page(calc_output *out, const calc_run_outcome *o, const calc_text *plan,
                              calc_errors *errors)
{
    const calc_inputs *in = &o->inputs;
    calc_page page = plan ? CALC_PAGE_PLAN : CALC_PAGE_RUN;
    const calc_run_data data = {.app = &in->app,
                                .system = &in->system,
                                .exec = &in->exec,
                                .compat = o->compat,
                                .stats = &o->stats,
                                .stage = o->stage,
                                .stages = o->stage_known,
                                .run = run_again,
                                .context = o};
    calc_put put = calc_page_begin(out, page);
    if (plan) {
        calc_put_key(&put, "plan");
        calc_output_write(out, plan->data, plan->length);
    }
    calc_put_key(&put, "run");
    calc_run_write_json(out, o);
    put_listed(&put, in);
    put_measured(&put, o);
    calc_status status = put_page_band(&put, o, errors);
    status = status == CALC_OK ? calc_run_data_put(&put, &data, errors) : status;
    calc_page_end(&put, page);
    return status;
}

calc_status calc_run_page_write(const char *path, const calc_run_outcome *o, const calc_text *plan,
                                calc_errors *errors)
{
    calc_output *out = NULL;
    calc_status status = calc_output_open(&out, path, errors);
    return status == CALC_OK ? calc_output_end(out, write_page(out, o, plan, errors), errors)
                             : status;
}
