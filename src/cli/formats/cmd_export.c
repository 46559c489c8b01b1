#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "formats/export.h"
#include "formats/refusal.h"
#include "formats/write.h"
#include "io/json_save.h"

static const char *const targets[] = {"megatron",   "nemo",      "megatron-bridge", "deepspeed",
                                      "torchtitan", "mindspeed", "mindformers",     "paddle",
                                      "json",       NULL};

#define OPTIONS(X)                                                                                 \
    X(TO, "to", "FRAMEWORK", .doc = "whose options or file", .choices = targets,                   \
      .preset = "megatron")                                                                        \
    CALC_INPUTS_SET(X)                                                                             \
    X(PER_NODE, "per-node", "N", .doc = "processors of one node, for the launcher", .preset = "8") \
    X(OUT, "out", "FILE", .doc = "where to write", .preset = "-")                                  \
    X(KEYS, "keys", NULL,                                                                          \
      .doc = "list the keys and the fields they stand for, as Markdown, instead")

enum { OPTIONS(CALC_OPT_NUMBER) };
static const calc_opt opts[] = {OPTIONS(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {
    CALC_ARG_DOCUMENT("APP", CALC_KIND_APP, .optional = true,
                      .doc = "the model: a path, \"-\" for standard input, or a name in models/"),
    CALC_ARG_DOCUMENT("EXE", CALC_KIND_EXEC, .optional = true,
                      .doc = "how it is laid out: likewise, or a name in executions/"),
    {0}};
static const char *const examples[] = {
    "calc export --to megatron gpt3-175B 3072_t4_p64_d12_mbs4_full",
    "calc export --to torchtitan model.json run.json --out run.toml", NULL};

/* ---- The table of keys ----------------------------------------------------------------------- */

static void write_words(calc_output *out, const calc_row *row)
{
    for (const calc_word *word = row->words; word->word; word++) {
        calc_output_printf(out, "%s`%s`", word == row->words ? "" : ", ", word->word);
    }
}

static void write_key(calc_output *out, const calc_row *row)
{
    const char *field = calc_plan_field(row->member);
    bool constant = row->how == CALC_HOW_CONSTANT;
    calc_output_printf(out, "| `%s` | ", row->key);
    calc_output_printf(out, field && !constant ? "`%s`" : "%s", constant ? "" : field ? field : "");
    calc_output_printf(out, " | %s", constant ? "always" : calc_plan_meaning(row->member));
    if (row->words) {
        calc_output_text(out, ": ");
        write_words(out, row);
    } else if (constant && row->text[0]) {
        calc_output_printf(out, " `%s`", row->text);
    } else if (row->how == CALC_HOW_SWITCH && row->value == 0) {
        calc_output_text(out, "; the opposite");
    }
    calc_output_printf(out, "%s |\n", row->read_only ? " (read only)" : "");
}

static void write_keys(calc_output *out, const calc_framework *framework)
{
    calc_output_text(out, "| key | field | meaning |\n|---|---|---|\n");
    for (size_t i = 0; i < framework->count; i++) {
        if (framework->rows[i].key) {
            write_key(out, &framework->rows[i]);
        }
    }
}

/* ---- The export ------------------------------------------------------------------------------ */

static void tell_lost(void *context, const char *field, const char *value)
{
    const calc_framework *framework = context;
    fprintf(stderr, "not in %s: %s = %s\n", framework->title, field, value);
}

static void tell_refused(void *context, const char *reason)
{
    const calc_framework *framework = context;
    fprintf(stderr, "%s refuses this: %s\n", framework->title, reason);
}

static void write_json(calc_output *out, const calc_app *app, const calc_exec *exec)
{
    calc_put put = calc_put_to(out);
    calc_put_object(&put, NULL, CALC_PUT_LINES);
    calc_put_struct(&put, "application", CALC_KIND_APP, app);
    calc_put_struct(&put, "execution", CALC_KIND_EXEC, exec);
    calc_put_end(&put);
}

static calc_status export_documents(const calc_args *args, const calc_framework *framework,
                                    const calc_app *app, const calc_exec *exec, int64_t per_node,
                                    calc_errors *errors)
{
    calc_settings settings = {0};
    calc_output *out;
    calc_status status =
        framework ? calc_export(framework, app, exec, per_node, &settings, errors) : CALC_OK;
    if (status == CALC_OK) {
        status = calc_output_open(&out, calc_opt_value(args, OPT_OUT), errors);
    }
    if (status == CALC_OK) {
        if (framework) {
            calc_settings_write(out, framework, &settings);
        } else {
            write_json(out, app, exec);
        }
        status = calc_output_close(out, errors);
    }
    if (status == CALC_OK && framework) {
        if (!framework->has_model) {
            fprintf(stderr, "not in %s: the shape of the model\n", framework->title);
        }
        void *context = (void *)(uintptr_t)framework;
        calc_export_lost(framework, app, exec, &settings, tell_lost, context);
        calc_export_refused(framework, app, exec, tell_refused, context);
    }
    calc_settings_free(&settings);
    return status;
}

static calc_status load(const calc_args *args, calc_app *app, calc_exec *exec, calc_errors *errors)
{
    void *const object[] = {app, exec};
    static const calc_kind kind[] = {CALC_KIND_APP, CALC_KIND_EXEC};
    calc_status status = CALC_OK;
    for (size_t i = 0; i < 2; i++) {
        calc_input input = {0};
        calc_status one = calc_input_load(&input, kind[i], object[i], args->argument[i], errors);
        status = status == CALC_OK ? one : status;
        calc_text_free(&input.text);
    }
    return status == CALC_OK ? calc_inputs_set(args, OPT_SET, app, NULL, exec, errors) : status;
}

static calc_exit list_keys(const calc_args *args, const calc_framework *framework)
{
    calc_errors errors = {0};
    calc_output *out;
    if (!framework) {
        return calc_complain_usage(args->command, "json has the keys of our own documents");
    }
    if (calc_output_open(&out, calc_opt_value(args, OPT_OUT), &errors) == CALC_OK) {
        write_keys(out, framework);
        (void)!calc_output_close(out, &errors);
    }
    return calc_complain_errors(&errors);
}

static calc_exit run(const calc_args *args)
{
    const calc_framework *framework = calc_framework_find(calc_opt_value(args, OPT_TO));
    if (calc_opt_value(args, OPT_KEYS)) {
        return list_keys(args, framework);
    }
    double per_node;
    if (!calc_opt_number(calc_opt_value(args, OPT_PER_NODE), true, 1, 1e6, &per_node)) {
        return calc_complain_usage(args->command, "--per-node takes a number from 1 to 1000000");
    }
    if (args->argument_count != 2) {
        return calc_complain_usage(args->command, "APP and EXE are both needed");
    }
    calc_app app = {0};
    calc_exec exec = {0};
    calc_errors errors = {0};
    if (load(args, &app, &exec, &errors) == CALC_OK) {
        (void)!export_documents(args, framework, &app, &exec, (int64_t)per_node, &errors);
    }
    return calc_complain_errors(&errors);
}

const calc_command calc_cmd_export = {
    .name = "export",
    .summary = "write a model and its layout for a training framework",
    .detail =
        "Writes the options or the configuration with which a framework runs this layout, for "
        "the release named in the file. Fields of ours that the framework cannot be told are "
        "named on standard error, and so are combinations that it refuses. json is one object of "
        "our own two documents.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
