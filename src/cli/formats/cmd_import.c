#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/shell/complain.h"
#include "cli/shell/opt.h"
#include "formats/import.h"
#include "formats/read.h"
#include "io/json_save.h"
#include "io/text.h"
#include "io/utf8.h"

enum { SHOWN = 20 /* ignored keys that are named */ };

static const char *const sources[] = {"megatron",    "mindspeed", "nemo", "megatron-bridge",
                                      "mindformers", "paddle",    NULL};

#define OPTIONS(X)                                                                                 \
    X(FROM, "from", "FRAMEWORK", .doc = "whose options or file", .choices = sources,               \
      .preset = "megatron")                                                                        \
    X(APP, "app", "FILE",                                                                          \
      .doc = "write the model too; the sequence length is then part of it, not of the layout")     \
    X(EXE, "exe", "FILE", .doc = "where to write the layout", .preset = "-")                       \
    X(PROCS, "procs", "N",                                                                         \
      .doc = "processors, instead of nodes times processors of a node; one replica if neither is " \
             "known")

enum { OPTIONS(CALC_OPT_NUMBER) };
static const calc_opt opts[] = {OPTIONS(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {
    {.name = "FILE",
     .optional = true,
     .repeated = true,
     .doc = "a script, a list of options, a YAML or JSON file, \"-\" for standard input; or, after "
            "\"--\", the options themselves"},
    {0}};
static const char *const examples[] = {
    "calc import --from megatron --procs 64 -- --tensor-model-parallel-size 8 --bf16",
    "calc import --from nemo megatron_gpt_config.yaml --app model.json --exe run.json", NULL};

/* Counts the keys that are ignored and names the first. */
static void tell_ignored(void *context, const char *key)
{
    size_t *count = context;
    char shown[CALC_UTF8_SHOW_SIZE];
    if ((*count)++ < SHOWN) {
        fprintf(stderr, "ignored: %s\n", calc_utf8_show(shown, key, strlen(key)));
    }
}

static calc_status read_file(const calc_import *import, calc_settings *settings,
                             calc_errors *errors)
{
    calc_text text = {0};
    calc_status status = calc_text_read(&text, import->name, errors);
    if (status == CALC_OK) {
        switch (import->framework->syntax) {
        case CALC_SYNTAX_YAML:
            status =
                calc_settings_from_yaml(settings, text.data, text.length, import->name, errors);
            break;
        case CALC_SYNTAX_JSON:
            status =
                calc_settings_from_json(settings, text.data, text.length, import->name, errors);
            break;
        default:
            status = calc_settings_from_script(settings, text.data, text.length);
        }
    }
    calc_text_free(&text);
    return status;
}

static calc_status write_document(calc_kind kind, const void *object, const char *path,
                                  calc_errors *errors)
{
    calc_output *out;
    calc_status status = calc_output_open(&out, path, errors);
    if (status == CALC_OK) {
        calc_json_save(out, kind, object, 0);
        calc_output_text(out, "\n");
        status = calc_output_close(out, errors);
    }
    return status;
}

static calc_status convert(const calc_args *args, const calc_import *import, calc_errors *errors)
{
    calc_app app;
    calc_exec exec;
    const char *model = calc_opt_value(args, OPT_APP);
    calc_status status = calc_import_run(import, &app, &exec, errors);
    if (status == CALC_OK && model) {
        status = calc_import_complete(import, &app, errors);
    }
    if (status != CALC_OK) {
        return status;
    }
    if (model) {
        status = write_document(CALC_KIND_APP, &app, model, errors);
    } else {
        exec.seq_size = app.seq_size;
    }
    return status == CALC_OK
               ? write_document(CALC_KIND_EXEC, &exec, calc_opt_value(args, OPT_EXE), errors)
               : status;
}

static calc_exit import_settings(const calc_args *args, const calc_import *import,
                                 calc_settings *settings)
{
    calc_errors errors = {0};
    calc_status status =
        import->name ? read_file(import, settings, &errors)
                     : calc_settings_from_words(settings, args->argument, args->argument_count);
    if (status == CALC_OK) {
        status = convert(args, import, &errors);
    }
    if (status == CALC_ERR_NOMEM && errors.count == 0) {
        calc_errors_no_memory(&errors);
    }
    size_t ignored = *(const size_t *)import->context;
    if (ignored > 0) {
        fprintf(stderr, "%zu setting%s ignored\n", ignored, ignored == 1 ? "" : "s");
    }
    return calc_complain_errors(&errors);
}

static calc_exit run(const calc_args *args)
{
    const char *procs = calc_opt_value(args, OPT_PROCS);
    calc_settings settings = {0};
    size_t ignored = 0;
    calc_import import = {.framework = calc_framework_find(calc_opt_value(args, OPT_FROM)),
                          .settings = &settings,
                          .ignored = tell_ignored,
                          .context = &ignored};
    double count = 0;
    if (procs && !calc_opt_number(procs, true, 1, 1e9, &count)) {
        return calc_complain_usage(args->command, "--procs takes a number from 1 to 1000000000");
    }
    import.procs = (int64_t)count;
    if (args->argument_count == 0) {
        return calc_complain_usage(args->command, "FILE, or options after \"--\", are needed");
    }
    bool options = false;
    for (size_t i = 0; i < args->argument_count; i++) {
        options = options || strncmp(args->argument[i], "--", 2) == 0;
    }
    if (!options && args->argument_count > 1) {
        return calc_complain_usage(args->command, "one FILE is read");
    }
    if (options && import.framework->syntax != CALC_SYNTAX_SHELL) {
        return calc_complain_usage(args->command, "this framework has a file, not options");
    }
    import.name = options ? NULL : args->argument[0];
    calc_exit result = import_settings(args, &import, &settings);
    calc_settings_free(&settings);
    return result;
}

const calc_command calc_cmd_import = {
    .name = "import",
    .summary = "read the options or the configuration of a training framework",
    .detail = "Reads the options of Megatron-LM or MindSpeed, or the YAML or JSON file of another "
              "framework, "
              "and writes the layout they describe, and the model if --app is given. Options that "
              "do not change time or memory, or that calc does not know, are named on standard "
              "error. Nothing in a script is executed.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
