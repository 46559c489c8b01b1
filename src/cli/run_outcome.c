#include "cli/run_outcome.h"

#include <stdlib.h>

#include "base/error.h"
#include "cli/simulation.h"
#include "io/csv.h"
#include "io/json_save.h"
#include "io/peers.h"
#include "spec/compat.h"
#include "spec/field.h"

/* ---- The run ----------------------------------------------------------------------------------
 */

static calc_status no_memory(calc_errors *errors)
{
    return calc_errors_add(errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL, "%s",
                           calc_status_text(CALC_ERR_NOMEM));
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
        o->layer_count = calc_layers(&in->app, &in->system, &in->exec, o->compat, o->layer,
                                     CALC_MAX_LAYERS);
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
        return no_memory(errors);
    }
    o->stage_known =
        calc_each_stage(&in->app, &in->system, &in->exec, o->compat, o->stage, count);
    return CALC_OK;
}

/* ---- The command that gives it again -----------------------------------------------------------
 */

static void write_option(calc_output *out, const char *option, const char *value)
{
    if (value) {
        calc_output_printf(out, ", \"%s\", ", option);
        calc_json_string(out, value);
    }
}

static void write_words(calc_output *out, const calc_run_outcome *o,
                        const char *const argument[CALC_INPUTS])
{
    calc_output_text(out, "[\"calc\", \"run\"");
    for (int i = 0; i < CALC_INPUTS; i++) {
        calc_output_text(out, ", ");
        calc_json_string(out, argument[i]);
    }
    for (size_t i = 0; i < o->set_count; i++) {
        calc_output_text(out, ", \"--set\", ");
        calc_json_string(out, o->set[i]);
    }
    if (o->exact) {
        calc_output_text(out, ", \"--schedule\", \"exact\"");
    }
    if (o->has_band) {
        calc_output_text(out, ", \"--band\"");
    }
    write_option(out, "--operators", o->operators_file);
    write_option(out, "--rows", o->operators_rows);
    if (o->compat != CALC_COMPAT_NONE) {
        char rules[CALC_COMPAT_TEXT];
        calc_output_printf(out, ", \"--compat\", \"%s\"", calc_compat_text(o->compat, rules));
    }
    calc_output_text(out, "]");
}

calc_status calc_run_outcome_command(calc_run_outcome *o, const char *const argument[CALC_INPUTS],
                                     calc_errors *errors)
{
    calc_output *out;
    calc_text text = {0};
    calc_status status = calc_output_open_memory(&out, &text, errors);
    if (status == CALC_OK) {
        write_words(out, o, argument);
        status = calc_output_close(out, errors);
    }
    o->command = text.data;
    return status;
}

/* ---- JSON and CSV ---------------------------------------------------------------------------- */

static void write_member(calc_output *out, const char *key, calc_kind kind, const void *object)
{
    calc_output_printf(out, ",\n  \"%s\": ", key);
    calc_json_save(out, kind, object, 2);
}

static void write_text(calc_output *out, const char *glue, const char *key, const char *text)
{
    calc_output_printf(out, "%s\"%s\": ", glue, key);
    calc_json_string(out, text);
}

/* Members of a struct of numbers in one line, the first after `glue`. */
static void write_numbers(calc_output *out, const char *glue, calc_kind kind, const void *object)
{
    const calc_table *table = calc_table_of(kind);
    for (size_t i = 0; i < table->count; i++) {
        char number[32];
        const calc_field *field = &table->rows[i];
        double value = calc_member_number(field, (const char *)object + field->offset);
        calc_output_printf(out, "%s\"%s\": %s", i > 0 ? ", " : glue, field->key,
                           calc_number_text(value, 1, number));
    }
    calc_output_text(out, "}");
}

static void write_layers(calc_output *out, const calc_run_outcome *o)
{
    for (size_t i = 0; i < o->layer_count; i++) {
        calc_output_text(out, i ? ",\n" : ",\n  \"layers\": [\n");
        write_text(out, "    {", "name", o->layer[i].name);
        write_numbers(out, ", ", CALC_KIND_LAYER, &o->layer[i]);
    }
    calc_output_text(out, o->layer_count ? "\n  ]" : "");
}

static void write_json_stages(calc_output *out, const calc_run_outcome *o)
{
    for (size_t i = 0; i < o->stage_count; i++) {
        calc_output_text(out, i ? ",\n" : ",\n  \"stages\": [\n");
        write_numbers(out, "    {", CALC_KIND_STAGE, &o->stage[i]);
    }
    calc_output_text(out, o->stage_count ? "\n  ]" : "");
}

void calc_run_write_json(calc_output *out, const calc_run_outcome *o)
{
    const calc_input *input = o->inputs.input;
    write_text(out, "{\n  ", "version", CALC_VERSION);
    char rules[CALC_COMPAT_TEXT];
    write_text(out, ",\n  ", "compat", calc_compat_text(o->compat, rules));
    write_text(out, ",\n  \"names\": {", "application", input[CALC_KIND_APP].name);
    write_text(out, ", ", "system", input[CALC_KIND_SYSTEM].name);
    write_text(out, ", ", "execution", input[CALC_KIND_EXEC].name);
    if (o->command) {
        calc_output_printf(out, ", \"command\": %s", o->command);
    }
    calc_output_text(out, "}");
    write_member(out, "application", CALC_KIND_APP, &o->inputs.app);
    write_member(out, "system", CALC_KIND_SYSTEM, &o->inputs.system);
    write_member(out, "execution", CALC_KIND_EXEC, &o->inputs.exec);
    write_text(out, ",\n  ", "verdict", calc_verdict_text(o->stats.verdict));
    calc_output_text(out, ",\n  \"reasons\": [");
    for (size_t i = 0; i < o->reason_count; i++) {
        const calc_reason *reason = &o->reason[i];
        write_text(out, i ? ",\n    {" : "\n    {", "verdict", calc_verdict_text(reason->verdict));
        write_text(out, ", ", "text", reason->text);
        write_text(out, ", ", "hint", reason->hint);
        calc_output_text(out, "}");
    }
    calc_output_text(out, o->reason_count ? "\n  ]" : "]");
    write_member(out, "stats", CALC_KIND_STATS, &o->stats);
    if (o->band_json) {
        calc_output_printf(out, ",\n  \"band\": %s", o->band_json);
    } else if (o->has_band) {
        calc_output_text(out, ",\n  \"band\": ");
        calc_run_band_json(out, &o->band, &o->stats);
    }
    write_layers(out, o);
    write_json_stages(out, o);
    if (o->operators) {
        calc_run_operators_write_json(out, o->operators);
    }
    calc_output_text(out, "\n}\n");
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
        calc_run_operators_free(o->operators);
    }
    free(o->operators);
    free(o->command);
    free(o->band_json);
    calc_inputs_free(&o->inputs);
}
