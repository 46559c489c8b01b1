#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/formats/export.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "formats/hf.h"
#include "formats/import.h"
#include "formats/launch.h"
#include "formats/read.h"
#include "galvatron/layout.h"
#include "io/text.h"
#include "io/utf8.h"
#include "spec/rules.h"

static const char *const sources[] = {CALC_FRAMEWORK_NAMES CALC_FRAMEWORK_NAMES_READ "galvatron",
                                      "hf", "huggingface", NULL};

#define OPTIONS(X)                                                                                 \
    X(FROM, "from", "FRAMEWORK",                                                                   \
      .doc =                                                                                       \
          "whose options or file, where the keys do not say it: hf for a config.json of Hugging "  \
          "Face, galvatron for one of its strategy files",                                         \
      .choices = sources)                                                                          \
    X(APP, "app", "FILE", .output = true,                                                          \
      .doc = "write the model too; the sequence length is then part of it, not of the layout")     \
    X(EXE, "exe", "FILE", .output = true,                                                          \
      .doc = "where to write the layout; without: standard output")                                \
    X(JOB, "job", "FILE",                                                                          \
      .doc = "of reinforcement learning (verl, slime, nemo-rl, openrlhf): write all of it, with "  \
             "the layouts of actor and engines, as a job for calc rl")                             \
    X(SEQ, "seq-size", "N", CALC_OPT_IS_WHOLE(1, 1e9),                                             \
      .doc = "sequence length of the model, instead of the file's")                                \
    X(PROCS, "procs", "N", CALC_OPT_IS_WHOLE(1, 1e9),                                              \
      .doc = "processors, instead of nodes times processors of a node; one replica if neither is " \
             "known")                                                                              \
    X(KEYS, "keys", NULL,                                                                          \
      .doc = "list the keys of --from and the fields they stand for, as Markdown, instead")

CALC_OPTIONS(OPTIONS);
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
    "calc import --from nemo megatron_gpt_config.yaml --app model.json --exe run.json",
    "calc import run_grpo.sh --job job.json", NULL};

/* The request. */
typedef struct request {
    const calc_args *args;
    const char *from;
    int64_t procs, seq_size; /* 0: as in the settings */
    bool options;            /* settings are on the command line, not in a file */
    calc_script_unread unread;
} request;

/* Writes remarks on a configuration of Hugging Face. */
static void tell_remark(void *context, const char *text)
{
    (void)context;
    calc_say("%s\n", text);
}

static calc_status convert_hf(const request *r, const char *name, const calc_text *text,
                              calc_errors *errors)
{
    const calc_hf hf = {.name = name,
                        .path = strcmp(name, "-") == 0 ? NULL : name,
                        .seq_size = r->seq_size,
                        .tell = tell_remark};
    const char *model = calc_opt_value(r->args, OPT_APP);
    calc_app app;
    calc_status status = calc_hf_read_text(&hf, text->data, text->length, &app, errors);
    status =
        status == CALC_OK ? calc_save_to(model ? model : "-", CALC_KIND_APP, &app, errors) : status;
    if (status == CALC_OK && model && strcmp(model, "-") != 0) {
        char number[CALC_SCRIPT_PARAMETERS];
        calc_say("Hugging Face: %s\nwrote %s; next: calc sweep %s MACHINE --procs N "
                 "--batch N\n",
                 calc_script_parameters(&app, number), model, model);
    }
    return status;
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
    return status == CALC_OK ? calc_save_to(layout ? layout : "-", CALC_KIND_EXEC, &exec, errors)
                             : status;
}

static calc_status convert(const request *r, const calc_import *import, calc_errors *errors)
{
    calc_app app;
    calc_exec exec;
    calc_plan plan;
    const char *model = calc_opt_value(r->args, OPT_APP);
    const char *layout = calc_opt_value(r->args, OPT_EXE);
    calc_status status = calc_import_plan(import, &plan, errors);
    if (status == CALC_OK && r->seq_size > 0) {
        plan.value[CALC_PLAN_SEQ] = (double)r->seq_size;
    }
    status = status == CALC_OK ? calc_plan_apply(&plan, &app, &exec, errors) : status;
    status = status == CALC_OK ? calc_script_model(import, &plan, &app, &exec, errors) : status;
    if (status != CALC_OK) {
        return status;
    }
    if (import->framework->serves) {
        calc_script_tell_requests(&plan, model ? &app : NULL, &exec);
    } else if (r->procs == 0 && (!import->framework->has_model || import->framework->launched ||
                                 exec.num_procs == 1)) {
        calc_say("%jd processor%s, as far as the file says: --procs says how many\n",
                 exec.num_procs, exec.num_procs == 1 ? "" : "s");
    }
    if (model) {
        if (app.vocab_size == 0) {
            calc_say("no vocabulary, which is the tokenizer's: embedding, head and loss are "
                     "not timed until \"vocab_size\" is added to the model\n");
        }
        status = calc_save_to(model, CALC_KIND_APP, &app, errors);
    } else {
        exec.seq_size = app.seq_size;
    }
    status = status == CALC_OK ? calc_save_to(layout ? layout : "-", CALC_KIND_EXEC, &exec, errors)
                               : status;
    if (status == CALC_OK && layout && strcmp(layout, "-") != 0) {
        calc_script_tell(import->framework, model ? &app : NULL, &exec);
        calc_say("wrote %s%s%s; next: calc why %s MACHINE %s\n", model ? model : "",
                 model ? ", " : "", layout, model ? model : "MODEL", layout);
    }
    return status;
}

/* Says what was read of a job, where it went, and what comes next. */
static void tell_job(const calc_framework *framework, const calc_job_launch *launch,
                     const char *path)
{
    const calc_job *job = &launch->job;
    const calc_exec *actor = &launch->actor, *engine = &launch->rollout;
    calc_say("%s: %jd x %jd sequences, actor TP %jd PP %jd CP %jd EP %jd", framework->title,
             job->prompts, job->samples, actor->strategy.tensor_par, actor->pipeline_par,
             calc_ranks_or_one(actor->strategy.context_par),
             calc_ranks_or_one(actor->strategy.expert_par));
    calc_say(", engines of %jd, on", engine->num_procs);
    for (int64_t i = 0; i < job->pools_count; i++) {
        calc_say("%s %jd%s%s", i > 0 ? " +" : "", job->pools[i].chips,
                 job->pools_count > 1 ? " " : "", job->pools_count > 1 ? job->pools[i].name : "");
    }
    calc_say(" processors\nwrote %s; next: calc rl MODEL MACHINE %s\n", path, path);
    if (launch->model[0]) {
        calc_say("MODEL is %s: a name of calc show names, or what calc import of its config.json "
                 "writes\n",
                 calc_utf8_shown(launch->model, strlen(launch->model)));
    } else {
        calc_say("the file does not name the model\n");
    }
}

/* Imports a job of reinforcement learning. */
static calc_status convert_job(const request *r, const calc_import *import, const calc_text *text,
                               calc_errors *errors)
{
    const char *path = calc_opt_value(r->args, OPT_JOB);
    const calc_job_launch_format *format = calc_job_launch_format_of(import->framework);
    if (!format) {
        return calc_errors_at(errors, CALC_ERR_UNSUPPORTED, import->name, 0, 0,
                              "--job is for verl, slime, NeMo-RL and OpenRLHF",
                              "%s has no jobs of reinforcement learning", import->framework->title);
    }
    calc_job_launch *launch = malloc(sizeof *launch);
    if (!launch) {
        return calc_errors_no_memory(errors);
    }
    calc_output *out;
    calc_status status = calc_job_launch_read(format, import, text, launch, errors);
    status = status == CALC_OK ? calc_output_open(&out, path, errors) : status;
    if (status == CALC_OK) {
        char source[256];
        const char *slash = import->name ? strrchr(import->name, '/') : NULL;
        snprintf(source, sizeof source, "%s, %.200s", import->framework->title,
                 slash          ? slash + 1
                 : import->name ? import->name
                                : "options");
        calc_job_launch_put_job(out, launch, source);
        status = calc_output_close(out, errors);
    }
    if (status == CALC_OK && strcmp(path, "-") != 0) {
        tell_job(import->framework, launch, path);
    }
    free(launch);
    return status;
}

/* Imports a framework's settings from a file or the command line. */
static calc_status convert_settings(request *r, const char *name, const calc_text *text,
                                    calc_errors *errors)
{
    calc_settings settings = {0}, prepared = {0};
    calc_import import = {.framework = r->from ? calc_framework_find(r->from) : NULL,
                          .settings = &settings,
                          .name = name,
                          .procs = r->procs,
                          .model = calc_opt_value(r->args, OPT_APP) != NULL,
                          .unread = calc_script_tell_unread,
                          .context = &r->unread};
    calc_status status =
        text ? calc_detect(&import.framework, text->data, text->length, name, &settings, errors)
             : calc_detect_options(&import.framework, r->args->argument, r->args->argument_count,
                                   &settings, errors);
    if (status == CALC_OK) {
        const calc_job_launch_format *format = calc_job_launch_format_of(import.framework);
        bool job = calc_opt_value(r->args, OPT_JOB) != NULL;
        r->unread.title = import.framework->title;
        if (format && (job || format->switches)) {
            status = calc_job_launch_prepare(format, &import, &prepared, errors);
            import.settings = &prepared;
        }
        if (status == CALC_OK) {
            status = job ? convert_job(r, &import, text, errors) : convert(r, &import, errors);
        }
    }
    calc_settings_free(&prepared);
    calc_settings_free(&settings);
    return status;
}

/* @param misused  the feature that a given option requires and the file lacks; else NULL */
static calc_status convert_file(request *r, const char **misused, calc_errors *errors)
{
    const char *name = r->args->argument[0];
    calc_text text = {0};
    calc_status status = calc_text_read(&text, name, errors);
    if (status == CALC_OK) {
        r->from = r->from                                                         ? r->from
                  : calc_is_yes(calc_hf_is_text(text.data, text.length))          ? "hf"
                  : calc_is_yes(calc_galvatron_layout_is(text.data, text.length)) ? "galvatron"
                                                                                  : NULL;
        bool hf = r->from && (strcmp(r->from, "hf") == 0 || strcmp(r->from, "huggingface") == 0);
        bool galvatron = r->from && strcmp(r->from, "galvatron") == 0;
        if (hf && (r->procs > 0 || calc_opt_value(r->args, OPT_EXE))) {
            *misused = "a configuration of Hugging Face says nothing of a layout: --exe and "
                       "--procs are not for it";
        } else if ((hf || galvatron) && calc_opt_value(r->args, OPT_JOB)) {
            *misused = "--job is for launch files of verl, slime, NeMo-RL and OpenRLHF";
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
    bool prints;
    return status == CALC_OK || r->from ? status : calc_input_is_log(name, &prints, errors);
}

static calc_exit run(const calc_args *args)
{
    request r = {.args = args,
                 .from = calc_opt_value(args, OPT_FROM),
                 .procs = (int64_t)calc_opt_real(args, OPT_PROCS),
                 .seq_size = (int64_t)calc_opt_real(args, OPT_SEQ)};
    const calc_framework *framework = r.from ? calc_framework_find(r.from) : NULL;
    if (calc_opt_value(args, OPT_KEYS)) {
        return calc_keys_list(args, framework, NULL);
    }
    if (args->argument_count == 0) {
        return calc_complain_usage(args->command, "FILE, or options after \"--\", are needed");
    }
    for (size_t i = 0; i < args->argument_count; i++) {
        r.options = r.options || calc_settings_is_option(args->argument[i]);
    }
    if (!r.options && args->argument_count > 1) {
        return calc_complain_usage(args->command, "one FILE is read");
    }
    if (calc_opt_value(args, OPT_JOB) &&
        (calc_opt_value(args, OPT_EXE) || calc_opt_value(args, OPT_APP) || r.seq_size > 0)) {
        return calc_complain_usage(args->command,
                                   "--job writes both layouts: --exe, --app and --seq-size are "
                                   "not for it");
    }
    if (r.options && r.from &&
        (!framework || (framework->syntax != CALC_SYNTAX_SHELL && !framework->options))) {
        return calc_complain_usage(args->command, "this framework has a file, not options");
    }
    calc_errors errors = {0};
    const char *misused = NULL;
    calc_status status =
        r.options ? convert_settings(&r, NULL, NULL, &errors) : convert_file(&r, &misused, &errors);
    if (misused) {
        return calc_complain_usage(args->command, misused);
    }
    if (status == CALC_ERR_NOMEM && errors.count == 0) {
        calc_errors_no_memory(&errors);
    }
    calc_script_tell_rest(&r.unread);
    return calc_complain_errors(&errors);
}

const calc_command calc_cmd_import = {
    .name = "import",
    .summary = "read a Hugging Face model or the options of a framework",
    .detail =
        "Reads the options of Megatron-LM or MindSpeed, or the YAML, JSON or TOML file of "
        "another framework, and writes the layout they describe, and the model if --app is "
        "given. Which framework it is, is found by the keys. Of the config.json of a model of "
        "Hugging Face the model is written, of a strategy file of Galvatron the layout. "
        "Options that calc does not read are named on standard error, unless they change "
        "neither time nor memory; with --app, one that changes the model is an error. Nothing in a "
        "script is executed.",
    CALC_COMMAND_PARTS};
