#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/draw/human.h"
#include "cli/shell/complain.h"
#include "cli/shell/opt.h"
#include "formats/hf.h"
#include "formats/import.h"
#include "formats/read.h"
#include "galvatron/layout.h"
#include "io/json_save.h"
#include "io/text.h"
#include "io/utf8.h"

enum { SHOWN = 20 /* most ignored keys to name */ };

static const char *const sources[] = {"megatron",    "mindspeed", "nemo",        "megatron-bridge",
                                      "mindformers", "paddle",    "deepspeed",   "torchtitan",
                                      "galvatron",   "hf",        "huggingface", NULL};

#define OPTIONS(X)                                                                                 \
    X(FROM, "from", "FRAMEWORK",                                                                   \
      .doc =                                                                                       \
          "whose options or file; without: hf for a config.json of Hugging Face, galvatron for "   \
          "one of its strategy files, else megatron",                                              \
      .choices = sources)                                                                          \
    X(APP, "app", "FILE",                                                                          \
      .doc = "write the model too; the sequence length is then part of it, not of the layout")     \
    X(EXE, "exe", "FILE", .doc = "where to write the layout; without: standard output")            \
    X(SEQ, "seq-size", "N", .doc = "sequence length of the model, instead of the file's")          \
    X(PROCS, "procs", "N",                                                                         \
      .doc = "processors, instead of nodes times processors of a node; one replica if neither is " \
             "known")

enum { OPTIONS(CALC_OPT_NUMBER) };
static const calc_opt opts[] = {OPTIONS(CALC_OPT_ROW){0}};
static const calc_arg rows[] = {
    {.name = "FILE",
     .optional = true,
     .repeated = true,
     .doc = "a script, a list of options, a YAML, JSON or TOML file, \"-\" for standard input; or, "
            "after \"--\", the options themselves"},
    {0}};
static const char *const examples[] = {
    "calc import config.json --app model.json",
    "calc import --from megatron --procs 64 -- --tensor-model-parallel-size 8 --bf16",
    "calc import --from nemo megatron_gpt_config.yaml --app model.json --exe run.json", NULL};

/* Counts the ignored keys and names the first. */
static void tell_ignored(void *context, const char *key)
{
    size_t *count = context;
    char shown[CALC_UTF8_SHOW_SIZE];
    if ((*count)++ < SHOWN) {
        fprintf(stderr, "ignored: %s\n", calc_utf8_show(shown, key, strlen(key)));
    }
}

static calc_status read_text(const calc_import *import, const calc_text *text,
                             calc_settings *settings, calc_errors *errors)
{
    switch (import->framework->syntax) {
    case CALC_SYNTAX_YAML:
        return calc_settings_from_yaml(settings, text->data, text->length, import->name, errors);
    case CALC_SYNTAX_JSON:
        return calc_settings_from_json(settings, text->data, text->length, import->name, errors);
    case CALC_SYNTAX_TOML:
        return calc_settings_from_toml(settings, text->data, text->length, import->name, errors);
    default:
        return calc_settings_from_script(settings, text->data, text->length);
    }
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

/* The request. */
typedef struct request {
    const calc_args *args;
    const char *from;
    int64_t procs, seq_size; /* 0: as in the settings */
    bool options;            /* settings are on the command line, not in a file */
    size_t ignored;
} request;

/* Writes remarks on a configuration of Hugging Face. */
static void tell_remark(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "%s\n", text);
}

static calc_status convert_hf(const request *r, const char *name, const calc_text *text,
                              calc_errors *errors)
{
    const calc_hf hf = {.name = name, .seq_size = r->seq_size, .tell = tell_remark};
    const char *model = calc_opt_value(r->args, OPT_APP);
    calc_app app;
    calc_status status = calc_hf_read_text(&hf, text->data, text->length, &app, errors);
    return status == CALC_OK ? write_document(CALC_KIND_APP, &app, model ? model : "-", errors)
                             : status;
}

/* Imports a strategy file of Galvatron's search. */
static calc_status convert_galvatron(const request *r, const char *name, const calc_text *text,
                                     calc_errors *errors)
{
    const char *layout = calc_opt_value(r->args, OPT_EXE);
    calc_notes notes = {0};
    calc_exec exec;
    calc_status status =
        calc_galvatron_exec_read(&exec, text->data, text->length, name, r->procs, &notes, errors);
    for (int i = 0; i < notes.count; i++) {
        tell_remark(NULL, notes.text[i]);
    }
    exec.seq_size = status == CALC_OK ? r->seq_size : 0;
    return status == CALC_OK ? write_document(CALC_KIND_EXEC, &exec, layout ? layout : "-", errors)
                             : status;
}

/* Says what was read, where it went, and what comes next. */
static void tell_read(const calc_framework *framework, const calc_app *app, const calc_exec *exec,
                      const char *model, const char *layout)
{
    const calc_strategy *s = &exec->strategy;
    const struct {
        const char *name;
        int64_t size;
    } sizes[] = {{"TP", s->tensor_par},
                 {"CP", s->context_par},
                 {"EP", s->expert_par},
                 {"PP", exec->pipeline_par},
                 {"DP", s->data_par}};
    fprintf(stderr, "%s:", framework->title);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].size > 1) {
            fprintf(stderr, " %s %lld", sizes[i].name, (long long)sizes[i].size);
        }
    }
    fprintf(stderr, " on %lld processor%s, batch %lld", (long long)exec->num_procs,
            exec->num_procs == 1 ? "" : "s", (long long)exec->batch_size);
    if (model) {
        char number[CALC_HUMAN_MAX];
        calc_parameters parameters;
        calc_count_parameters(app, &parameters);
        fprintf(stderr, ", %s parameters", calc_human_count(parameters.total, number));
    }
    fprintf(stderr, "\nwrote %s%s%s; next: calc why %s MACHINE %s\n", model ? model : "",
            model ? ", " : "", layout, model ? model : "MODEL", layout);
}

static calc_status convert(const request *r, const calc_import *import, calc_errors *errors)
{
    calc_app app;
    calc_exec exec;
    const char *model = calc_opt_value(r->args, OPT_APP);
    const char *layout = calc_opt_value(r->args, OPT_EXE);
    calc_status status = calc_import_run(import, &app, &exec, errors);
    app.seq_size = status == CALC_OK && r->seq_size > 0 ? r->seq_size : app.seq_size;
    if (status == CALC_OK && model) {
        status = calc_import_complete(import, &app, errors);
    }
    if (status != CALC_OK) {
        return status;
    }
    bool launched = import->framework == &calc_framework_deepspeed ||
                    import->framework == &calc_framework_torchtitan;
    if (launched && r->procs == 0) {
        fprintf(stderr, "%lld processor%s, as far as the file says: --procs says how many\n",
                (long long)exec.num_procs, exec.num_procs == 1 ? "" : "s");
    }
    if (model) {
        if (app.vocab_size == 0) {
            fprintf(stderr, "no vocabulary, which is the tokenizer's: embedding, head and loss are "
                            "not timed until \"vocab_size\" is added to the model\n");
        }
        status = write_document(CALC_KIND_APP, &app, model, errors);
    } else {
        exec.seq_size = app.seq_size;
    }
    status = status == CALC_OK
                 ? write_document(CALC_KIND_EXEC, &exec, layout ? layout : "-", errors)
                 : status;
    if (status == CALC_OK && layout && strcmp(layout, "-") != 0) {
        tell_read(import->framework, &app, &exec, model, layout);
    }
    return status;
}

/* Imports a framework's settings from a file or the command line. */
static calc_status convert_settings(request *r, const char *name, const calc_text *text,
                                    calc_errors *errors)
{
    calc_settings settings = {0};
    const calc_import import = {.framework = calc_framework_find(r->from),
                                .settings = &settings,
                                .name = name,
                                .procs = r->procs,
                                .ignored = tell_ignored,
                                .context = &r->ignored};
    calc_status status =
        text ? read_text(&import, text, &settings, errors)
             : calc_settings_from_words(&settings, r->args->argument, r->args->argument_count);
    if (status == CALC_OK) {
        status = convert(r, &import, errors);
    }
    calc_settings_free(&settings);
    return status;
}

/* The format of the file: given, or detected. */
static const char *source_of(const request *r, const calc_text *text)
{
    return r->from                                              ? r->from
           : calc_hf_is_text(text->data, text->length)          ? "hf"
           : calc_galvatron_layout_is(text->data, text->length) ? "galvatron"
                                                                : "megatron";
}

/* @param misused  the feature that a given option requires and the file lacks; else NULL */
static calc_status convert_file(request *r, const char **misused, calc_errors *errors)
{
    const char *name = r->args->argument[0];
    calc_text text = {0};
    calc_status status = calc_text_read(&text, name, errors);
    if (status == CALC_OK) {
        r->from = source_of(r, &text);
        bool hf = r->from[0] == 'h';
        bool galvatron = r->from[0] == 'g';
        if (hf && (r->procs > 0 || calc_opt_value(r->args, OPT_EXE))) {
            *misused = "a configuration of Hugging Face says nothing of a layout: --exe and "
                       "--procs are not for it";
        } else if (galvatron && calc_opt_value(r->args, OPT_APP)) {
            *misused = "a strategy file of Galvatron says nothing of the model: --app is not for "
                       "it";
        }
        status = *misused    ? CALC_OK
                 : hf        ? convert_hf(r, name, &text, errors)
                 : galvatron ? convert_galvatron(r, name, &text, errors)
                             : convert_settings(r, name, &text, errors);
    }
    calc_text_free(&text);
    return status;
}

static calc_exit import_request(request *r)
{
    calc_errors errors = {0};
    const char *misused = NULL;
    if (r->options) {
        r->from = r->from ? r->from : "megatron";
    }
    calc_status status =
        r->options ? convert_settings(r, NULL, NULL, &errors) : convert_file(r, &misused, &errors);
    if (misused) {
        return calc_complain_usage(r->args->command, misused);
    }
    if (status == CALC_ERR_NOMEM && errors.count == 0) {
        calc_errors_no_memory(&errors);
    }
    if (r->ignored > 0) {
        fprintf(stderr, "%zu setting%s ignored\n", r->ignored, r->ignored == 1 ? "" : "s");
    }
    return calc_complain_errors(&errors);
}

/* The value of an option that is a count; 0 without it. */
static bool count_of(const calc_args *args, int opt, int64_t *out)
{
    const char *text = calc_opt_value(args, opt);
    double count = 0;
    bool good = !text || calc_opt_number(text, true, 1, 1e9, &count);
    *out = (int64_t)count;
    return good;
}

static calc_exit run(const calc_args *args)
{
    request r = {.args = args, .from = calc_opt_value(args, OPT_FROM)};
    if (!count_of(args, OPT_PROCS, &r.procs)) {
        return calc_complain_usage(args->command, "--procs takes a number from 1 to 1000000000");
    }
    if (!count_of(args, OPT_SEQ, &r.seq_size)) {
        return calc_complain_usage(args->command, "--seq-size takes a number from 1 to 1000000000");
    }
    if (args->argument_count == 0) {
        return calc_complain_usage(args->command, "FILE, or options after \"--\", are needed");
    }
    for (size_t i = 0; i < args->argument_count; i++) {
        r.options = r.options || strncmp(args->argument[i], "--", 2) == 0;
    }
    if (!r.options && args->argument_count > 1) {
        return calc_complain_usage(args->command, "one FILE is read");
    }
    const calc_framework *framework = r.from ? calc_framework_find(r.from) : NULL;
    bool file = r.from && (!framework || framework->syntax != CALC_SYNTAX_SHELL);
    if (r.options && file) {
        return calc_complain_usage(args->command, "this framework has a file, not options");
    }
    return import_request(&r);
}

const calc_command calc_cmd_import = {
    .name = "import",
    .summary = "read a Hugging Face model or the options of a training framework",
    .detail = "Reads the options of Megatron-LM or MindSpeed, or the YAML, JSON or TOML file of "
              "another framework, and writes the layout they describe, and the model if --app is "
              "given. The config.json of a model of Hugging Face is known without --from: what is "
              "written is the model; so is a strategy file of Galvatron, galvatron_config_*.json. "
              "Options that "
              "do not change time or memory, or that calc does not know, are named on standard "
              "error. Nothing in a script is executed.",
    .args = rows,
    .opts = opts,
    .examples = examples,
    .run = run};
