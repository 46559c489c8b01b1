#include "cli/run/run_outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/run/simulation.h"
#include "cli/shell/complain.h"
#include "cli/shell/digest.h"
#include "io/csv.h"
#include "io/json_save.h"
#include "io/put_answer.h"
#include "model/run.h"
#include "spec/compat.h"
#include "spec/field.h"

/* ---- Operators ------------------------------------------------------------------------------- */

static const char *const passes[CALC_PASS_COUNT] = {"forward", "activation gradient",
                                                    "weight gradient"};

/* Why a layout has no operators to look up; NULL if it has some. */
static const char *refusal(const calc_inputs *in)
{
    if (in->exec.inference.phase != CALC_INFERENCE_PHASE_NONE) {
        return "measured operators are looked up in training steps, not in serving";
    }
    return NULL;
}

calc_status calc_run_operators_make(calc_run_operators *out, const char *path, const char *rows,
                                    const calc_inputs *in, calc_stats *stats, calc_errors *errors)
{
    const char *why = refusal(in);
    if (why) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL, NULL, "%s", why);
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
    status = status == CALC_OK ? calc_point_table_make(&out->table, out->points.item,
                                                       out->points.count, NULL, &in->system, errors)
                               : status;
    if (status == CALC_OK) {
        calc_layout layout;
        calc_layout_of(&in->app, &in->system, &in->exec, CALC_COMPAT_NONE, &out->table.table,
                       &layout);
        out->block = calc_measured_block_of(&layout.context);
        calc_run_measured(&in->app, &in->system, &in->exec, &out->table.table, stats);
        out->count = calc_operator_stats_measured(&in->app, &in->system, &in->exec,
                                                  CALC_COMPAT_NONE, &out->table.table, out->layer,
                                                  out->source, CALC_MAX_LAYERS);
    }
    return status;
}

static void run_operators_free(calc_run_operators *operators)
{
    calc_points_free(&operators->points);
    calc_point_table_free(&operators->table);
}

/* ---- For people ------------------------------------------------------------------------------ */

/* The mark after a time that names its source. */
static const char marks[CALC_KERNEL_SOURCES + 1] = " ^~=";

static void write_pass(calc_output *out, const calc_operator_source *s, int pass)
{
    char text[CALC_HUMAN_MAX];
    bool has = s->time_s[pass] > 0;
    char mark = has ? marks[s->source[pass]] : ' ';
    calc_output_printf(out, "%16s", has ? calc_human_seconds(s->time_s[pass], text) : "-");
    if (mark != ' ' || pass + 1 < CALC_PASS_COUNT) {
        calc_output_printf(out, " %c", mark);
    }
}

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
    char text[CALC_HUMAN_MAX];
    if (b->time_s > 0) {
        calc_output_printf(out, "  %-26s%16s %c %s\n", "block", calc_human_seconds(b->time_s, text),
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
            write_pass(out, s, pass);
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

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_time(calc_put *put, const char *name, const char *pass, calc_kernel_source source,
                     double time_s, double model_s)
{
    if (time_s > 0) {
        calc_put_object(put, NULL, CALC_PUT_LINE);
        calc_put_text(put, "name", name);
        calc_put_text(put, "pass", pass);
        calc_put_text(put, "source", calc_kernel_source_text(source));
        calc_put_number(put, "time", time_s);
        calc_put_number(put, "model_time", model_s);
        calc_put_close(put);
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

/* ---- The run --------------------------------------------------------------------------------- */

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

calc_status calc_run_outcome_stages(calc_run_outcome *o, calc_errors *errors)
{
    const calc_inputs *in = &o->inputs;
    size_t count = calc_each_stage(&in->app, &in->system, &in->exec, o->compat, NULL, 0);
    if (count == 0) {
        return CALC_OK;
    }
    o->stage = calloc(count, sizeof *o->stage);
    if (!o->stage) {
        return calc_errors_no_memory(errors);
    }
    o->stage_known = calc_each_stage(&in->app, &in->system, &in->exec, o->compat, o->stage, count);
    return CALC_OK;
}

/* ---- Comparison with a written document ------------------------------------------------------ */

/* The first statistic that differs; NULL if none does. */
static const calc_field *find_difference(const calc_stats *written, const calc_stats *found)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        double was = calc_member_number(field, (const char *)written + field->offset);
        double is = calc_member_number(field, (const char *)found + field->offset);
        if (isfinite(is) ? was != is : isfinite(was)) {
            return field;
        }
    }
    return NULL;
}

calc_status calc_run_outcome_same(const calc_run_outcome *o, const calc_stats *written,
                                  const char *where, const char *command, calc_errors *errors)
{
    const calc_field *field = find_difference(written, &o->stats);
    char was[32], is[32], pointer[96], hint[96];
    if (!field) {
        return CALC_OK;
    }
    calc_number_text(calc_member_number(field, (const char *)written + field->offset), 1, was);
    calc_number_text(calc_member_number(field, (const char *)&o->stats + field->offset), 1, is);
    snprintf(pointer, sizeof pointer, "%s/stats/%s", where, field->key);
    snprintf(hint, sizeof hint, "%s makes a page of what this calc finds", command);
    return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, pointer, hint,
                           "%s is %s in the document, but this calc, " CALC_VERSION
                           ", finds %s: it is of another version, or was changed",
                           field->key, was, is);
}

/* ---- The command that repeats the run -------------------------------------------------------- */

static void put_words(calc_put *put, const char *option, const char *value)
{
    if (value) {
        calc_put_text(put, NULL, option);
        calc_put_text(put, NULL, value);
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
        put_words(put, "--set", o->set[i]);
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

calc_status calc_run_outcome_command(calc_run_outcome *o, const char *const argument[CALC_INPUTS],
                                     calc_errors *errors)
{
    calc_output *out;
    calc_text text = {0};
    calc_status status = calc_output_open_memory(&out, &text, errors);
    if (status == CALC_OK) {
        calc_put put = calc_put_to(out);
        put_command(&put, o, argument);
        status = calc_output_close(out, errors);
    }
    o->command = text.data;
    return status;
}

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

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
    calc_put_object(put, "names", CALC_PUT_LINE);
    calc_put_text(put, "application", input[CALC_KIND_APP].name);
    calc_put_text(put, "system", input[CALC_KIND_SYSTEM].name);
    calc_put_text(put, "execution", input[CALC_KIND_EXEC].name);
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
    calc_put_object(&put, NULL, CALC_PUT_LINES);
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
        run_operators_free(o->operators);
    }
    free(o->operators);
    free(o->command);
    calc_inputs_free(&o->inputs);
}
