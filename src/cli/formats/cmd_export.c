#include "cli/formats/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "calc.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "cli/shell/opt.h"
#include "cli/sweep/sweep_study.h"
#include "formats/export.h"
#include "formats/framework.h"
#include "formats/launcher.h"
#include "formats/write.h"
#include "galvatron/arguments.h"
#include "galvatron/layout.h"
#include "galvatron/synthesis.h"
#include "io/json_put.h"
#include "io/output.h"
#include "spec/field.h"
#include "spec/serving_engine.h"
#include "spec/stage_list.h"

/* Writes what Galvatron's profilers would measure as the files its search reads, into a folder that
 * is created if it does not exist. An incomplete set is removed. */
static calc_status export_files(const calc_galvatron_synthesis *synthesis, const char *folder,
                                calc_errors *errors)
{
    char path[CALC_GALVATRON_FILE_COUNT][CALC_GALVATRON_FILE_PATH_SIZE];
    calc_status status = calc_galvatron_synthesis_check(synthesis, errors);
    if (status != CALC_OK) {
        return status;
    }
    int done = 0;
    bool made = mkdir(folder, 0777) == 0;
    if (!made && errno != EEXIST) {
        return calc_errors_at(errors, CALC_ERR_IO, folder, 0, 0, NULL, "%s", strerror(errno));
    }
    for (; status == CALC_OK && done < CALC_GALVATRON_FILE_COUNT; done += status == CALC_OK) {
        char name[256];
        calc_output *out = NULL;
        calc_galvatron_file file = (calc_galvatron_file)done;
        calc_galvatron_file_name(synthesis->request, file, name, sizeof name);
        int length = snprintf(path[done], sizeof path[done], "%s/%s", folder, name);
        status = length >= (int)sizeof path[done] ? calc_errors_at(errors, CALC_ERR_IO, folder, 0,
                                                                   0, NULL, "the name is too long")
                                                  : calc_output_open(&out, path[done], errors);
        if (status == CALC_OK) {
            calc_galvatron_synthesis_write(synthesis, file, out);
            status = calc_output_close(out, errors);
        }
    }
    while (status != CALC_OK && done > 0) {
        unlink(path[--done]);
    }
    if (made && status != CALC_OK) {
        rmdir(folder);
    }
    return status;
}

/* Writes the strategy file of a layout. Settings that training will reject are reported on
 * standard error.
 *  @param path     of the file, "-" for standard output
 *  @param refused  set if such a file cannot express the layout; the reason is on standard error */
static void calc_export_strategies(const calc_app *app, const calc_exec *exec, const char *path,
                                   bool *refused, calc_errors *errors)
{
    calc_galvatron_layout *layout = calc_make(1, sizeof *layout);
    calc_errors reasons = {0};
    calc_output *out;
    *refused = calc_galvatron_layout_from(layout, app, exec, &reasons) != CALC_OK;
    if (*refused) {
        calc_say("%s\n", reasons.item[0].text);
    } else if (calc_output_open(&out, path, errors) == CALC_OK) {
        int64_t multiple = calc_galvatron_layout_multiple(layout);
        if (layout->gbsz % multiple != 0) {
            calc_say(CALC_GALVATRON_MULTIPLE "\n", (long long)layout->gbsz, (long long)multiple);
        }
        calc_galvatron_layout_write(layout, out);
        (void)!calc_output_close(out, errors);
    }
    free(layout);
}

static void write_key(calc_output *out, const calc_setting_row *row)
{
    const char *field = calc_plan_field(row->member);
    bool constant = row->how == CALC_HOW_CONSTANT;
    calc_output_printf(out, "| `%s`%s%s%s | ", row->key, row->also ? ", `" : "",
                       row->also ? row->also : "", row->also ? "`" : "");
    calc_output_printf(out, field && !constant ? "`%s`" : "%s", constant ? "" : field ? field : "");
    if (constant && row->when) {
        calc_output_printf(out, " | with %s%s", calc_plan_meaning(row->when),
                           row->text[0] ? ":" : "");
    } else {
        calc_output_printf(out, " | %s",
                           constant && !row->words ? "always" : calc_plan_meaning(row->member));
    }
    calc_word word;
    for (const char *at = row->words; calc_word_next(row, &at, &word);) {
        calc_output_printf(out, "%s`%.*s`", word.text == row->words ? ": " : ", ", (int)word.length,
                           word.text);
    }
    if (row->how == CALC_HOW_FILE) {
        calc_output_printf(out, "%s a file of `%s`", row->words ? ", or" : ":", row->text);
    } else if (row->how == CALC_HOW_NAME) {
        calc_output_text(out, ", which the file does not describe");
    } else if (constant && row->text[0]) {
        calc_output_printf(out, "%s `%s`", row->words ? "; read. Written:" : "", row->text);
    } else if (row->how == CALC_HOW_SWITCH && row->value == 0) {
        calc_output_text(out, "; the opposite");
    }
    calc_output_printf(out, "%s |\n", row->read_only ? " (read only)" : "");
}

/* Also the keys of bases that are no frameworks themselves. */
static void write_rows(calc_output *out, const calc_framework *framework)
{
    for (size_t i = 0; i < framework->count; i++) {
        if (framework->rows[i].key) {
            write_key(out, &framework->rows[i]);
        }
    }
    for (size_t i = 0; framework->bases && framework->bases[i]; i++) {
        const calc_framework *base = framework->bases[i];
        if (!base->name && base->rows != framework->rows) {
            write_rows(out, base);
        }
    }
}

static void write_others(calc_output *out, const calc_framework *framework)
{
    for (size_t i = 0; framework->bases && framework->bases[i]; i++) {
        const calc_framework *base = framework->bases[i];
        if (base->name) {
            calc_output_printf(out, "\nAlso the keys of %s.\n", base->title);
        } else {
            write_others(out, base);
        }
    }
}

calc_exit calc_keys_list(const calc_args *args, const calc_framework *framework, const char *path)
{
    if (!framework) {
        return calc_complain_usage(args->command, "it has no table of keys");
    }
    calc_output *out = calc_write_to(path ? path : "-");
    calc_output_text(out, "| key | field | meaning |\n|---|---|---|\n");
    write_rows(out, framework);
    write_others(out, framework);
    return calc_write_end(out);
}

static const char *const targets[] = {CALC_FRAMEWORK_NAMES "galvatron", "json", "galvatron-profile",
                                      NULL};
static const char *const precisions[] = {"fp32", "fp16", "bf16", NULL};

#define OPTIONS(X)                                                                                 \
    X(TO, "to", "FRAMEWORK", .doc = "whose options or file", .choices = targets,                   \
      .preset = "megatron")                                                                        \
    CALC_INPUTS_SET(X)                                                                             \
    CALC_COMPLETE_OPTS(X)                                                                          \
    X(PER_NODE, "per-node", "N", CALC_OPT_IS_WHOLE(1, 65536),                                      \
      .doc = "processors of one node, for the launcher", .preset = "8")                            \
    X(LAUNCHER, "launcher", "NAME",                                                                \
      .doc = "write a job that runs it: a file for sbatch (slurm), a PyTorchJob or "               \
             "LeaderWorkerSet for kubectl (kubernetes), a graph of servers (dynamo, llm-d)",       \
      .choices = calc_launcher_names)                                                              \
    X(NODES, "nodes", "N", CALC_OPT_IS_WHOLE(1, 65536),                                            \
      .doc = "galvatron-profile: nodes of the machine", .preset = "1")                             \
    X(PRECISION, "precision", "NAME", .doc = "galvatron-profile: number format of the training",   \
      .choices = precisions, .preset = "bf16")                                                     \
    X(DIFF, "diff", "EXE_B", .doc = "list the settings that EXE_B changes instead")                \
    X(OUT, "out", "FILE", .doc = "where to write; of galvatron-profile the folder", .preset = "-") \
    X(KEYS, "keys", NULL,                                                                          \
      .doc = "list the keys and the fields they stand for, as Markdown, instead")

CALC_OPTIONS(OPTIONS);
static const calc_arg rows[] = {
    CALC_ARG_DOCUMENT("APP", CALC_KIND_APP, .optional = true,
                      .doc = "the model: a path, \"-\" for standard input, or a name in models/"),
    CALC_ARG_DOCUMENT("SYS", CALC_KIND_SYSTEM, .optional = true, .or_next = true,
                      .doc = "the machine: needed for galvatron-profile, and where EXE leaves "
                             "fields out or says \"auto\""),
    CALC_ARG_DOCUMENT("EXE", CALC_KIND_EXEC, .optional = true,
                      .doc = "how it is laid out: likewise, or a name in executions/; completed "
                             "as by calc run"),
    {0}};
static const char *const examples[] = {
    "calc export --to megatron qwen3-235B-A22B best.json --out train.sh",
    "calc export --to torchtitan model.json run.json --out run.toml",
    "calc export --to vllm llama3-70B llama3-70B_serving_8",
    "calc export --to vllm --launcher kubernetes llama3-70B llama3-70B_serving_8 --out serve.yaml",
    "calc export --to megatron llama3-70B old.json --diff new.json",
    "calc export --to megatron llama3-70B h100_sxm --procs 64 --batch 512 --set tp=8",
    "calc export --to galvatron-profile llama3-8B h100_sxm --nodes 2 --out profiles",
    NULL};

/* What is exported, and the fields of the servers so far that are lost. */
typedef struct lost {
    const calc_framework *framework;
    char told[1024];
} lost_fields;

/* Reports fields that are lost, of several servers once. Losses that change a layout of training
 * are skipped here: they are reasons to refuse. */
static void tell_lost(void *context, const char *field, const char *value, bool layout)
{
    lost_fields *l = context;
    if ((!layout || l->framework->serves) && !calc_is_word(l->told, field)) {
        calc_say("not in %s: %s = %s\n", l->framework->title, field, value);
        calc_append(l->told, sizeof l->told, " %s ", field);
    }
}

/* Context of tell_refused(): the framework and the layout that it refuses. */
typedef struct refused {
    const calc_framework *framework;
    const char *layout;
} refused_layout;

static void tell_refused(void *context, const char *reason)
{
    const refused_layout *r = context;
    calc_say("%s cannot run %s: %s\n", r->framework->title, r->layout, reason);
}

/* Says why the framework does not run a layout. @param refused  set if there is a reason */
static calc_status say_refused(const calc_framework *framework, const calc_app *app,
                               const calc_exec *exec, const char *layout, bool *refused,
                               calc_errors *errors)
{
    size_t count;
    refused_layout r = {framework, layout};
    calc_status status = calc_export_refused(framework, app, exec, tell_refused, &r, &count);
    *refused = *refused || count > 0;
    return calc_errors_status(errors, status);
}

/* What --launcher asks for. */
static calc_launched launched_of(const calc_args *args, const calc_framework *framework,
                                 const calc_app *app, const calc_exec *exec)
{
    return (calc_launched){framework, calc_opt_value(args, OPT_LAUNCHER),
                           (int64_t)calc_opt_real(args, OPT_PER_NODE), app, exec};
}

/* calc_sweep_options.runs: a layout that is completed is one that the export can write. */
static calc_status writes(const void *context, const calc_app *app, const calc_system *system,
                          const calc_exec *exec, int *known, bool *does)
{
    (void)known;
    const calc_args *args = context;
    const calc_framework *framework = calc_framework_find(calc_opt_value(args, OPT_TO));
    const calc_launched l = launched_of(args, framework, app, exec);
    calc_status status = calc_export_runs(framework, app, system, exec, does);
    *does = *does && (!l.launcher || calc_launcher_starts(&l));
    return status;
}

static calc_status write_documents(const calc_args *args, const calc_framework *framework,
                                   const calc_app *app, const calc_exec *exec,
                                   const calc_settings settings[CALC_POOL_COUNT],
                                   const int64_t procs[CALC_POOL_COUNT], calc_errors *errors)
{
    const calc_launched l = launched_of(args, framework, app, exec);
    calc_output *out = calc_write_to(calc_opt_value(args, OPT_OUT));
    calc_status status = CALC_OK;
    if (l.launcher) {
        status = calc_launcher_write(out, &l, errors);
    } else if (framework && calc_framework_has_pools(framework, exec)) {
        calc_settings_write_pools(out, framework, settings, procs,
                                  exec->inference.prefill_system.name);
    } else if (framework) {
        calc_settings_write(out, framework, settings);
    } else {
        calc_put put = calc_put_to(out);
        calc_put_document(&put);
        calc_put_struct(&put, "application", CALC_KIND_APP, app);
        calc_put_struct(&put, "execution", CALC_KIND_EXEC, exec);
        calc_put_end(&put);
    }
    return calc_output_end(out, status, errors);
}

/* @param refused  set if the framework cannot run this; then nothing is written */
static void export_documents(const calc_args *args, const calc_framework *framework,
                             const calc_app *app, const calc_exec *exec, int64_t per_node,
                             bool *refused, calc_errors *errors)
{
    calc_settings settings[CALC_POOL_COUNT] = {{0}};
    calc_exec server[CALC_POOL_COUNT] = {*exec};
    const int count = framework ? calc_export_servers(framework, exec, server) : 0;
    lost_fields lost = {framework, ""};
    if (count > 1) { /* which of the pools it is, stands beside its settings */
        strcpy(lost.told, " inference.phase ");
    }
    bool fine = count < 2 || say_refused(framework, app, exec, "this", refused, errors) == CALC_OK;
    for (int i = 0; i < count && fine && !*refused; i++) {
        fine = calc_export(framework, app, &server[i], per_node, &settings[i], errors) == CALC_OK;
    }
    fine = fine &&
           (count != 1 || say_refused(framework, app, exec, "this", refused, errors) == CALC_OK);
    const int64_t procs[] = {server[0].num_procs, server[count > 1].num_procs};
    fine = fine && !*refused &&
           write_documents(args, framework, app, exec, settings, procs, errors) == CALC_OK;
    if (fine && count > 0) {
        if (framework->one_replica && count == 1 && exec->strategy.data_par > 1 &&
            !calc_serving_engine_shares(&exec->strategy)) {
            calc_say("%jd servers with this file: replicas that share no experts are servers of "
                     "their own\n",
                     exec->strategy.data_par);
            server[0].num_procs /= exec->strategy.data_par;
            server[0].inference.batch /= exec->strategy.data_par;
            server[0].strategy.data_par = 1;
        }
        if (!framework->has_model && !framework->serves) {
            calc_say("not in %s: the shape of the model\n", framework->title);
        }
    }
    for (int i = 0; i < count; i++) {
        fine = fine &&
               calc_errors_status(errors, calc_export_lost(framework, app, &server[i], &settings[i],
                                                           tell_lost, &lost)) == CALC_OK;
        calc_settings_free(&settings[i]);
    }
}

/* Rejects "auto", whose resolution also depends on the machine. */
static calc_status check_settled(const calc_exec *exec, calc_errors *errors)
{
    return exec->automatic == 0 ? CALC_OK
                                : calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_EXEC, NULL,
                                                  "calc export APP SYS EXE settles them",
                                                  "fields of the execution say \"auto\"");
}

static calc_status load(const calc_args *args, calc_inputs *in, calc_errors *errors)
{
    char path[CALC_FIND_PATH_MAX];
    calc_errors ignored = {0};
    calc_sweep_completes(in, args, OPT_PROCS, OPT_BATCH, NULL);
    if (calc_framework_find(calc_opt_value(args, OPT_TO))) {
        in->framework = calc_opt_value(args, OPT_TO);
        in->runs = writes;
        in->runs_context = args;
    }
    /* The machine and not a layout is the second argument. */
    if (args->argument_count == 3 ||
        (!calc_is_yes(calc_find(CALC_KIND_EXEC, args->argument[1], path, &ignored)) &&
         calc_is_yes(calc_find(CALC_KIND_SYSTEM, args->argument[1], path, &ignored)))) {
        return calc_inputs_load_args(in, args, 0, OPT_SET, errors);
    }
    calc_input *layout = &in->input[CALC_KIND_EXEC];
    layout->partial = true;
    calc_status first = calc_document_load(CALC_KIND_APP, args->argument[0], &in->app, errors);
    calc_status status =
        calc_input_load(layout, CALC_KIND_EXEC, &in->exec, args->argument[1], errors);
    status = first == CALC_OK ? status : first;
    if (status == CALC_OK && (layout->absent > 0 || in->procs || in->batch)) {
        status = calc_errors_at(errors, CALC_ERR_FIELD, layout->path, 0, 0,
                                "calc export APP SYS EXE: the machine is needed to complete it",
                                layout->absent > 0 ? "the layout is not complete"
                                                   : "--procs and --batch complete a layout");
    }
    status = status == CALC_OK ? calc_inputs_set(args, OPT_SET, &in->app, NULL, &in->exec, errors)
                               : status;
    if (calc_stage_list_only(&in->exec.stages) > 0) {
        in->exec.stages = (calc_stage_list){0}; /* the machine is not asked for here */
    }
    return status == CALC_OK ? check_settled(&in->exec, errors) : status;
}

/* The text of a setting; an option without a value is either present or absent. */
static const char *setting_text(const char *value)
{
    return !value ? "-" : *value ? value : "set";
}

static void write_changed(void *out, const char *key, const char *a, const char *b)
{
    calc_output_printf(out, "%-46s %-20s %s\n", key, setting_text(a), setting_text(b));
}

static void write_diff(const calc_args *args, const calc_framework *framework, const calc_app *app,
                       const calc_exec *exec, int64_t per_node, bool *refused, calc_errors *errors)
{
    const char *first = args->argument[args->argument_count - 1];
    const char *name = calc_opt_value(args, OPT_DIFF);
    calc_exec other = {0};
    calc_settings a = {0}, b = {0};
    if (calc_document_load(CALC_KIND_EXEC, name, &other, errors) != CALC_OK ||
        check_settled(&other, errors) != CALC_OK) {
        return;
    }
    if (calc_framework_has_pools(framework, exec) || calc_framework_has_pools(framework, &other)) {
        calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                        "compare layouts with phase prefill, and with phase decode",
                        "--diff: a disaggregated layout is two servers");
    } else if (calc_export(framework, app, exec, per_node, &a, errors) == CALC_OK &&
               calc_export(framework, app, &other, per_node, &b, errors) == CALC_OK &&
               say_refused(framework, app, exec, first, refused, errors) == CALC_OK &&
               say_refused(framework, app, &other, name, refused, errors) == CALC_OK && !*refused) {
        calc_output *out = calc_write_to(calc_opt_value(args, OPT_OUT));
        calc_settings_compare(&a, &b, write_changed, out);
        (void)!calc_output_close(out, errors);
    }
    calc_settings_free(&a);
    calc_settings_free(&b);
}

/* @return whether the options name something to profile; else *why is the complaint */
static bool read_profile(const calc_args *args, calc_galvatron_request *request, const char **why)
{
    const char *out = calc_opt_value(args, OPT_OUT);
    const char *precision = calc_opt_value(args, OPT_PRECISION);
    char name[sizeof request->model];
    *why = args->argument_count != 2 ? "APP and SYS are both needed"
           : strcmp(out, "-") == 0   ? "six files are written: --out takes their folder"
           : calc_opt_value(args, OPT_DIFF) || calc_opt_value(args, OPT_KEYS)
               ? "--diff and --keys are of settings; galvatron-profile has none"
               : NULL;
    if (*why) {
        return false;
    }
    *request = (calc_galvatron_request){
        .num_nodes = (int64_t)calc_opt_real(args, OPT_NODES),
        .num_gpus_per_node = (int64_t)calc_opt_real(args, OPT_PER_NODE),
        .max_tp_deg = -1,
        .max_sp_deg = -1,
        .max_pp_deg = -1,
        .mixed_precision = (calc_galvatron_precision)calc_choice_index(precisions, precision)};
    calc_find_name(args->argument[0], name, sizeof name);
    memcpy(request->model, name, sizeof name);
    return true;
}

static calc_exit export_profile(const calc_args *args)
{
    calc_app app = {0};
    calc_system system = {0};
    calc_errors errors = {0};
    calc_galvatron_request request;
    const char *why;
    if (!read_profile(args, &request, &why)) {
        return calc_complain_usage(args->command, why);
    }
    calc_status first = calc_document_load(CALC_KIND_APP, args->argument[0], &app, &errors);
    calc_status second = calc_document_load(CALC_KIND_SYSTEM, args->argument[1], &system, &errors);
    if (first == CALC_OK && second == CALC_OK &&
        calc_inputs_set(args, OPT_SET, &app, &system, NULL, &errors) == CALC_OK) {
        if (app.stack.layers > 0) {
            calc_errors_add(&errors, CALC_ERR_UNSUPPORTED, CALC_KIND_APP, "/layers", NULL,
                            "Galvatron profiles one kind of layer, not a list of them");
            return calc_complain_errors(&errors);
        }
        calc_galvatron_layers_of_app(&app, &request);
        const calc_galvatron_synthesis synthesis = {
            .app = &app, .system = &system, .request = &request};
        (void)!export_files(&synthesis, calc_opt_value(args, OPT_OUT), &errors);
    }
    return calc_complain_errors(&errors);
}

static calc_exit run(const calc_args *args)
{
    if (strcmp(calc_opt_value(args, OPT_TO), "galvatron-profile") == 0) {
        return export_profile(args);
    }
    const calc_framework *framework = calc_framework_find(calc_opt_value(args, OPT_TO));
    if (calc_opt_value(args, OPT_KEYS)) {
        return calc_keys_list(args, framework, calc_opt_value(args, OPT_OUT));
    }
    if (args->argument_count < 2) {
        return calc_complain_usage(args->command, "APP and EXE, or APP and SYS, are needed");
    }
    bool diff = calc_opt_value(args, OPT_DIFF) != NULL;
    if (diff && !framework) {
        return calc_complain_usage(args->command,
                                   "--diff compares settings; galvatron and json have none");
    }
    if (calc_opt_value(args, OPT_LAUNCHER) && (diff || !framework)) {
        return calc_complain_usage(args->command, "--launcher is of scripts that frameworks run");
    }
    calc_inputs in = {0};
    calc_errors errors = {0};
    bool refused = false;
    bool galvatron = strcmp(calc_opt_value(args, OPT_TO), "galvatron") == 0;
    if (load(args, &in, &errors) == CALC_OK && galvatron) {
        calc_export_strategies(&in.app, &in.exec, calc_opt_value(args, OPT_OUT), &refused, &errors);
    } else if (errors.count == 0) {
        (diff ? write_diff : export_documents)(args, framework, &in.app, &in.exec,
                                               (int64_t)calc_opt_real(args, OPT_PER_NODE), &refused,
                                               &errors);
    }
    calc_inputs_free(&in);
    return refused ? CALC_EXIT_INFEASIBLE : calc_complain_errors(&errors);
}

const calc_command calc_cmd_export = {
    .name = "export",
    .summary = "write the script or configuration that starts a layout",
    .detail =
        "Writes the options or the configuration with which a framework runs this layout, for "
        "the release named in the file. Fields that the framework has no setting for are "
        "listed on standard error. If the framework cannot run the layout, since its own checks "
        "refuse "
        "it or since it cannot be told a field that makes another layout, nothing is written, the "
        "reasons are named, and the exit status is 1. --diff lists the settings that another "
        "layout of "
        "the model changes, with both values. json is one object of our own two documents. "
        "galvatron-profile writes the six files that Galvatron's search reads, with what its "
        "profilers would measure of APP on SYS as calc computes it, into the folder of --out.",
    CALC_COMMAND_PARTS};
