#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/as/flags.h"
#include "cli/as/galvatron_show.h"
#include "cli/shell/complain.h"
#include "cli/shell/inputs.h"
#include "galvatron/arguments.h"
#include "galvatron/synthesis.h"

static const char *const formats[] = {"text", "json", NULL};

/* Upstream's arguments keep their row numbers in both tables. */
#define TAKES_COUNT .value = "N"
#define TAKES_LIMIT .value = "N"
#define TAKES_REAL .value = "X"
#define TAKES_TRUTH .value = "0|1", .lone = true
#define TAKES_WORD .value = "WORD"
#define TAKES_TEXT .value = "TEXT"
#define TAKES_LAYERS .value = "N[,N]..."
#define TAKES_UNUSED .value = "VALUE", .lone = true, .unused = true

#define OWN(X)                                                                                     \
    X(COMPAT, "--compat", NULL, TEXT, .ours = true,                                                \
      .doc = "answer as upstream does: its budget, whole MB, objective and ties")                  \
    X(FORMAT, "--format", "FORMAT", TEXT, .choices = formats, .preset = "text", .ours = true,      \
      .doc = "what is printed")                                                                    \
    X(MODEL, "--model", "APP", TEXT, .ours = true,                                                 \
      .doc = "no profiles: a model of calc's, with --system; a path, or a name in models/")        \
    X(SYSTEM, "--system", "SYS", TEXT, .ours = true, .doc = "likewise, a name in systems/")

enum {
#define CALC_ARGUMENT(in, key, ...) FLAG_##key,
#include "galvatron/arguments.fields.h"
#undef CALC_ARGUMENT
    OWN(CALC_FLAG_NUMBER_OF)
};
static const calc_flag rows[] = {
#define CALC_ARGUMENT(in, key, kind_, where, ...) {.name = "--" #key, TAKES_##kind_, __VA_ARGS__},
#include "galvatron/arguments.fields.h"
#undef CALC_ARGUMENT
    OWN(CALC_FLAG_ROW){0}};
static const char *const examples[] = {
    "calc as galvatron search search_dist.yaml",
    "calc as galvatron search --model llama2-7B --system a100_sxm_40g --memory_constraint 36 "
    "--settle_bsz 64 --default_dp_type zero2 --pipeline_type pipedream_flush",
    "calc as galvatron search search_dist.yaml --memory_constraint 24 --compat", NULL};

typedef struct task {
    const calc_flags *flags;
    calc_galvatron_arguments arguments;
    calc_app app;
    calc_system system;
    calc_galvatron_profiles profiles;
    calc_galvatron_found found;
    calc_galvatron_layout layout;
    char file[CALC_AS_PATH_SIZE]; /* path of the written file */
} task;

/* ---- The request ----------------------------------------------------------------------------- */

static calc_status read_file(task *t, calc_errors *errors)
{
    calc_text text = {0};
    if (!t->flags->file) {
        return CALC_OK;
    }
    calc_status status = calc_text_read(&text, t->flags->file, errors);
    status = status ? status
                    : calc_galvatron_arguments_read(&t->arguments, text.data, text.length,
                                                    t->flags->file, errors);
    calc_text_free(&text);
    return status;
}

/* Applies the flags after the file, so that flags win. */
static bool take_flags(task *t, char *complaint, size_t size)
{
    char why[400];
    for (int i = 0; i < FLAG_COMPAT; i++) {
        const calc_galvatron_argument *row = &calc_galvatron_argument_rows[i];
        /* Unused arguments of flags and files are reported later, in one line each. */
        bool takes = t->flags->given[i] && row->kind != CALC_GALVATRON_TAKES_UNUSED;
        if (takes && !calc_galvatron_arguments_set(&t->arguments, row, calc_flags_text(t->flags, i),
                                                   why, sizeof why)) {
            snprintf(complaint, size, "%s: %s", rows[i].name, why);
            return false;
        }
    }
    t->arguments.request.compat = t->flags->given[FLAG_COMPAT];
    return true;
}

static void take_size(calc_galvatron_sizes *sizes, int64_t value)
{
    if (sizes->count == 0) {
        *sizes = (calc_galvatron_sizes){1, {value}};
    }
}

/* Loads a calc model, which supplies values that are not given elsewhere. */
static calc_status take_model(task *t, calc_errors *errors)
{
    calc_galvatron_arguments *a = &t->arguments;
    calc_input app = {.text = {0}}, system = {.text = {0}};
    calc_status status = calc_input_load(&app, CALC_KIND_APP, &t->app,
                                         calc_flags_text(t->flags, FLAG_MODEL), errors);
    calc_status other = calc_input_load(&system, CALC_KIND_SYSTEM, &t->system,
                                        calc_flags_text(t->flags, FLAG_SYSTEM), errors);
    if (!status && !other) {
        calc_galvatron_request of = a->request;
        of.layers[0].seq_len = a->seq_length.count > 0 ? a->seq_length.of[0] : 0;
        calc_galvatron_layers_of_app(&t->app, &of);
        take_size(&a->hidden_size, of.layers[0].hidden_size);
        take_size(&a->num_layers, of.layers[0].layer_num);
        take_size(&a->seq_length, of.layers[0].seq_len);
        if (!*a->model_size && !*a->hf_model_name_or_path) {
            snprintf(a->model_size, sizeof a->model_size, "%s", app.name);
        }
    }
    calc_text_free(&app.text);
    calc_text_free(&system.text);
    return status ? status : other;
}

static calc_status load_profiles(task *t, calc_errors *errors)
{
    const calc_galvatron_request *r = &t->arguments.request;
    if (calc_flags_text(t->flags, FLAG_MODEL)) {
        return calc_galvatron_profiles_of_model(&t->app, &t->system, r, &t->profiles, errors);
    }
    calc_galvatron_paths paths = calc_galvatron_arguments_paths(&t->arguments);
    return calc_galvatron_profiles_load(&t->profiles, r, &paths, errors);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static calc_status write_file(task *t, calc_errors *errors)
{
    char name[CALC_GALVATRON_NAME_SIZE];
    const calc_galvatron_arguments *a = &t->arguments;
    const char *folder = *a->output_config_path ? a->output_config_path : "configs";
    calc_output *out;
    calc_as_path(folder, calc_galvatron_layout_name(&a->request, name), t->file);
    calc_status status = calc_as_make_folder(folder, errors);
    status = status ? status : calc_output_open(&out, t->file, errors);
    if (status == CALC_OK) {
        calc_galvatron_layout_write(&t->layout, out);
        status = calc_output_close(out, errors);
    }
    return status;
}

static calc_status show(const task *t, calc_errors *errors)
{
    bool feasible = t->found.best.feasible;
    const calc_galvatron_shown shown = {&t->arguments.request, &t->profiles, &t->found,
                                        feasible ? &t->layout : NULL, feasible ? t->file : NULL};
    calc_output *out;
    calc_status status = calc_output_open(&out, "-", errors);
    if (status == CALC_OK) {
        bool json = strcmp(calc_flags_text(t->flags, FLAG_FORMAT), "json") == 0;
        (json ? calc_galvatron_show_json : calc_galvatron_show)(&shown, out);
        status = calc_output_close(out, errors);
        calc_galvatron_tell(&shown, "galvatron search");
    }
    return status;
}

static calc_status answer(task *t, calc_errors *errors)
{
    calc_status status = load_profiles(t, errors);
    if (status == CALC_OK) {
        status = calc_galvatron_search(&t->arguments.request, &t->profiles, &t->found);
        status = calc_errors_status(errors, status);
    }
    if (status == CALC_OK && t->found.best.feasible) {
        calc_galvatron_layout_answer(&t->arguments.request, &t->found.best, &t->layout);
        status = write_file(t, errors);
    }
    return status ? status : show(t, errors);
}

/* @return CALC_EXIT_COUNT to continue */
static calc_exit prepare(task *t, calc_errors *errors)
{
    char complaint[512];
    const calc_flags *f = t->flags;
    bool model = calc_flags_text(f, FLAG_MODEL);
    if (model != (calc_flags_text(f, FLAG_SYSTEM) != NULL)) {
        return calc_flags_complain(f, "--model and --system are given together");
    }
    calc_galvatron_arguments_start(&t->arguments);
    if (read_file(t, errors) != CALC_OK) {
        return calc_complain_failure(errors);
    }
    if (!take_flags(t, complaint, sizeof complaint)) {
        return calc_flags_complain(f, complaint);
    }
    if (model && take_model(t, errors) != CALC_OK) {
        return calc_complain_failure(errors);
    }
    calc_flags_tell_unused(f);
    if (*t->arguments.unused) {
        calc_say("%s: no effect here: %s\n", f->file, t->arguments.unused);
    }
    return calc_galvatron_arguments_finish(&t->arguments, complaint, sizeof complaint)
               ? CALC_EXIT_COUNT
               : calc_flags_complain(f, complaint);
}

static calc_exit run(const calc_flags *flags)
{
    calc_errors errors = {0};
    task *t = calloc(1, sizeof *t);
    if (!t) {
        calc_errors_no_memory(&errors);
        return calc_complain_errors(&errors);
    }
    t->flags = flags;
    calc_exit code = prepare(t, &errors);
    if (code == CALC_EXIT_COUNT) {
        code = answer(t, &errors) == CALC_OK ? calc_complain_errors(&errors)
                                             : calc_complain_failure(&errors);
    }
    free(t);
    return code;
}

const calc_as_tool calc_as_galvatron = {
    .planner = "galvatron",
    .program = "search",
    .theirs = "search_dist.py",
    .summary = "the fastest strategy of every layer, from profiles or without",
    .detail =
        "Finds how each layer is split over GPUs, sharded and recomputed, so that a sample "
        "takes least in the memory there is, and writes the strategy file that Galvatron "
        "trains from. FILE has a search_engine block, as YAML or JSON; flags count more. With "
        "--model and --system nothing need have been profiled.",
    .flags = rows,
    .file = "FILE",
    .examples = examples,
    .run = run};
