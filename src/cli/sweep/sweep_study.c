#include "cli/sweep/sweep_study.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "base/error.h"
#include "cli/shell/inputs.h"
#include "cli/sweep/sweep_axes.h"
#include "cli/sweep/sweep_opts.h"
#include "cli/sweep/sweep_read.h"
#include "cli/sweep/sweep_rows.h"
#include "cli/sweep/sweep_tokens.h"
#include "defaults.h"
#include "formats/refusal.h"
#include "io/space_load.h"
#include "io/utf8.h"
#include "spec/absent.h"
#include "spec/compat.h"
#include "spec/field.h"
#include "units.h"

enum { WORD_SIZE = 4096, TOP_MAX = 1000000, THREADS_MAX = 4096, TOP = 10 };

/* Sources of a study. */
typedef struct sources {
    calc_sweep_study *study;
    const calc_args *args;
    const calc_inputs *read; /* NULL: args or the file name the documents */
    calc_space_entries file; /* empty without a file */
    const char *app, *system, *space;
    calc_errors *errors;
} sources;

/* ---- Places of errors ------------------------------------------------------------------------ */

/* Errors from `first` on that have no place yet get the place of an option. */
static void blame_option(const sources *s, int first, calc_sweep_opt opt, const char *value)
{
    char shown[CALC_UTF8_SHOW_SIZE];
    char name[128];
    snprintf(name, sizeof name, "--%s %s", calc_sweep_opts[opt].name,
             calc_utf8_show(shown, value, strlen(value)));
    for (int i = first; i < s->errors->count; i++) {
        calc_error *error = &s->errors->item[i];
        if (!error->file[0] && !error->pointer[0]) {
            calc_error_place(error, name, 0, 0);
        }
    }
}

/* ... or of an item in the file. */
static void blame_item(const sources *s, int first, const calc_space_entry *entry, size_t item)
{
    for (int i = first; i < s->errors->count; i++) {
        calc_error *error = &s->errors->item[i];
        if (!error->file[0] && !error->pointer[0]) {
            calc_space_entry_pointer(entry, item, error->pointer);
        }
    }
    calc_space_entries_locate(&s->file, s->errors, first);
}

/* ---- Settings: lists of words, in an option or in the file ----------------------------------- */

/* Take one word of a setting. */
typedef calc_status setting(sources *s, const char *word);

/* The next word between commas, without blanks around it. */
static bool next_word(const char **text, char word[WORD_SIZE])
{
    if (!*text) {
        return false;
    }
    const char *start = *text + strspn(*text, " ");
    size_t length = strcspn(start, ",");
    *text = start[length] ? start + length + 1 : NULL;
    while (length > 0 && start[length - 1] == ' ') {
        length--;
    }
    snprintf(word, WORD_SIZE, "%.*s", (int)(length < WORD_SIZE ? length : WORD_SIZE - 1), start);
    return true;
}

static void take_words(sources *s, const char *text, setting *take)
{
    char word[WORD_SIZE];
    while (next_word(&text, word) && take(s, word) == CALC_OK) {
    }
}

static const calc_space_entry *find_entry(const sources *s, calc_study_key key)
{
    for (size_t i = 0; i < s->file.count; i++) {
        if (calc_study_key_find(s->file.entry[i].key) == key) {
            return &s->file.entry[i];
        }
    }
    return NULL;
}

/* Take the words of a key of the file. */
static void take_entry(sources *s, calc_study_key key, setting *take)
{
    const calc_space_entry *entry = find_entry(s, key);
    for (size_t i = 0; entry && i < entry->count; i++) {
        int first = s->errors->count;
        take(s, entry->item[i]);
        blame_item(s, first, entry, i);
    }
}

/* Take a setting from its option, otherwise from the file. */
static void take_setting(sources *s, calc_sweep_opt opt, calc_study_key key, setting *take)
{
    const char *text = calc_opt_value(s->args, (int)opt);
    if (text) {
        int first = s->errors->count;
        take_words(s, text, take);
        blame_option(s, first, opt, text);
    } else if (key != CALC_STUDY_KEY_COUNT) {
        take_entry(s, key, take);
    }
}

static calc_status take_objective(sources *s, const char *word)
{
    calc_sweep_options *o = &s->study->options;
    if (o->objectives == CALC_MAX_OBJECTIVES) {
        return calc_errors_add(s->errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                               "at most %d objectives", CALC_MAX_OBJECTIVES);
    }
    calc_status status = calc_objective_parse(&o->objective[o->objectives], word, s->errors);
    o->objectives += status == CALC_OK;
    return status;
}

static calc_status take_top_by(sources *s, const char *word)
{
    return calc_objective_parse(&s->study->options.top_by, word, s->errors);
}

static calc_status take_constraint(sources *s, const char *word)
{
    calc_sweep_study *study = s->study;
    size_t size = (study->constraints + 1) * sizeof *study->constraint;
    calc_constraint *constraint = realloc(study->constraint, size);
    if (!constraint) {
        return calc_errors_no_memory(s->errors);
    }
    study->constraint = constraint;
    calc_status status = calc_constraint_parse(&constraint[study->constraints], word, s->errors);
    study->constraints += status == CALC_OK;
    return status;
}

static calc_status take_per(sources *s, const char *word)
{
    bool procs = strcmp(word, "num_procs") == 0;
    bool design = strcmp(word, "design") == 0;
    s->study->options.per_num_procs |= procs;
    s->study->options.per_design |= design;
    return procs || design ? CALC_OK
                           : calc_errors_add(s->errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL, NULL,
                                             "expected num_procs, design or both");
}

/* A number in a range that errors name. */
static calc_status take_number(calc_errors *errors, const char *word, bool whole, double lo,
                               double hi, double *out)
{
    return calc_opt_number(word, whole, lo, hi, out)
               ? CALC_OK
               : calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                                 "expected a %snumber from %.15g to %.15g", whole ? "whole " : "",
                                 lo, hi);
}

static calc_status take_top(sources *s, const char *word)
{
    double top = 0;
    calc_status status = take_number(s->errors, word, true, 0, TOP_MAX, &top);
    s->study->top = (size_t)top;
    return status;
}

static calc_status take_threads(sources *s, const char *word)
{
    double threads = 0;
    calc_status status = take_number(s->errors, word, true, 1, THREADS_MAX, &threads);
    s->study->options.threads = (int)threads;
    return status;
}

static calc_status take_verify(sources *s, const char *word)
{
    return take_number(s->errors, word, false, 0, 1, &s->study->options.verify);
}

/* Default objectives: speed and memory for training; for serving, the usual chart of tokens per
 * second of a user over those of a processor, or, where no user sees tokens, the first objective
 * only. */
static void take_usual(sources *s)
{
    calc_sweep_options *o = &s->study->options;
    calc_inference_phase phase = s->study->space.inference.phase;
    bool trains = phase == CALC_INFERENCE_PHASE_NONE;
    bool prompts = phase == CALC_INFERENCE_PHASE_PREFILL;
    if (o->objectives == 0) {
        take_words(s,
                   trains    ? "sample_rate,mem1,mem2"
                   : prompts ? "tokens_per_s_per_proc,ttft"
                             : "output_tokens_per_s_per_proc,tokens_per_s_per_user",
                   take_objective);
    }
    if (!o->top_by.field) {
        take_words(s,
                   trains    ? "sample_rate"
                   : prompts ? "tokens_per_s_per_proc"
                             : "output_tokens_per_s_per_proc",
                   take_top_by);
    }
}

static void take_options(sources *s)
{
    static const struct {
        calc_sweep_opt opt;
        calc_study_key key; /* COUNT: the file has no such key */
        setting *take;
    } settings[] = {
        {CALC_SWEEP_OPT_OBJECTIVES, CALC_STUDY_KEY_OBJECTIVES, take_objective},
        {CALC_SWEEP_OPT_TOP, CALC_STUDY_KEY_TOP, take_top},
        {CALC_SWEEP_OPT_TOP_BY, CALC_STUDY_KEY_COUNT, take_top_by},
        {CALC_SWEEP_OPT_PER, CALC_STUDY_KEY_PER, take_per},
        {CALC_SWEEP_OPT_THREADS, CALC_STUDY_KEY_COUNT, take_threads},
        {CALC_SWEEP_OPT_VERIFY, CALC_STUDY_KEY_COUNT, take_verify},
    };
    calc_sweep_options *o = &s->study->options;
    int first = s->errors->count;
    s->study->top = TOP;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        take_setting(s, settings[i].opt, settings[i].key, settings[i].take);
    }
    bool groups = o->per_num_procs || o->per_design;
    o->top = groups ? s->study->top : calc_sweep_rows_keep(s->study->top);
    if (s->errors->count == first) {
        take_usual(s);
    }
    take_entry(s, CALC_STUDY_KEY_WHERE, take_constraint);
    size_t cursor = 0;
    const char *condition;
    while ((condition = calc_opt_next(s->args, CALC_SWEEP_OPT_WHERE, &cursor))) {
        first = s->errors->count;
        take_constraint(s, condition);
        blame_option(s, first, CALC_SWEEP_OPT_WHERE, condition);
    }
    o->constraints = s->study->constraints;
    o->constraint = s->study->constraint;
    (void)!calc_sweep_tokens_limit(s->study, s->args, s->errors);
    o->no_prune = calc_opt_value(s->args, CALC_SWEEP_OPT_NO_PRUNE) != NULL;
    o->cpu = calc_opt_value(s->args, CALC_SWEEP_OPT_CPU);
}

/* ---- Models and machines --------------------------------------------------------------------- */

static calc_status add(sources *s, const calc_input *input, calc_kind kind, const void *object)
{
    char remark[CALC_REMARK_SIZE];
    calc_designs_builder *b = &s->study->builder;
    calc_status status = kind == CALC_KIND_APP ? calc_designs_add_app(b, input->name, object)
                                               : calc_designs_add_system(b, input->name, object);
    return status == CALC_OK
               ? calc_sweep_read_note(s->study, input->name, &input->text,
                                      calc_input_remark(input, kind, object, remark), s->errors)
               : calc_errors_no_memory(s->errors);
}

static calc_status take(sources *s, calc_kind kind, void *object, const char *word)
{
    calc_input input = {0};
    calc_status status = calc_input_load(&input, kind, object, word, s->errors);
    status = status == CALC_OK ? add(s, &input, kind, object) : status;
    calc_text_free(&input.text);
    return status;
}

static calc_status take_app(sources *s, const char *word)
{
    calc_app app;
    return take(s, CALC_KIND_APP, &app, word);
}

static calc_status take_system(sources *s, const char *word)
{
    calc_system system;
    return take(s, CALC_KIND_SYSTEM, &system, word);
}

/* Load the documents that the arguments name, or otherwise those that the file names. */
static void take_documents(sources *s)
{
    static const char hint[] = "calc sweep APP SYS SPACE";
    if (s->read) {
        const calc_input *input = s->read->input;
        (void)!add(s, &input[CALC_KIND_APP], CALC_KIND_APP, &s->read->app);
        (void)!add(s, &input[CALC_KIND_SYSTEM], CALC_KIND_SYSTEM, &s->read->system);
        return;
    }
    if (s->app) {
        take_words(s, s->app, take_app);
        take_words(s, s->system, take_system);
        return;
    }
    take_entry(s, CALC_STUDY_KEY_APPLICATIONS, take_app);
    take_entry(s, CALC_STUDY_KEY_SYSTEMS, take_system);
    bool fine = find_entry(s, CALC_STUDY_KEY_APPLICATIONS) && find_entry(s, CALC_STUDY_KEY_SYSTEMS);
    if (!fine) {
        calc_errors_add(s->errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL, hint,
                        "the space does not name \"applications\" and \"systems\"");
        calc_error_place(&s->errors->item[s->errors->count - 1], s->file.name, 0, 0);
    }
}

/* Errors of a model or a machine alone, independent of the layout: a part that is not modelled
 * yet. */
static void check_documents(const sources *s)
{
    const calc_designs_builder *b = &s->study->builder;
    for (size_t i = 0; i < b->apps * b->systems; i++) {
        const calc_design_app *app = &b->app[i / b->systems];
        const calc_design_system *system = &b->system[i % b->systems];
        calc_exec exec;
        calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &exec);
        exec.num_procs = exec.strategy.tensor_par = exec.pipeline_par = exec.strategy.data_par = 1;
        exec.batch_size = exec.microbatch_size = exec.pipeline_interleaving = 1;
        exec.strategy.datatype = calc_units_datatype(&system->system);
        calc_errors found = {0};
        if (calc_check(&app->app, &system->system, &exec, &found) == CALC_OK) {
            continue;
        }
        for (int e = 0; e < found.count; e++) {
            const calc_error *error = &found.item[e];
            bool of_app = error->kind == CALC_KIND_APP;
            if (of_app || error->kind == CALC_KIND_SYSTEM) {
                calc_errors_add(s->errors, error->status, error->kind, error->pointer, error->hint,
                                "%s: %s", of_app ? app->name : system->name, error->text);
            }
        }
    }
}

/* ---- Axes ------------------------------------------------------------------------------------ */

static void set_axis(sources *s, const char *key, const char *item, const char *name)
{
    const calc_axis_text text = {.key = key, .item = &item, .count = 1, .name = name};
    (void)!calc_axis_set(&s->study->space, &s->study->builder, &text, s->errors);
}

static void take_file_axes(sources *s)
{
    for (size_t i = 0; i < s->file.count; i++) {
        const calc_space_entry *entry = &s->file.entry[i];
        const calc_axis_text text = {.key = entry->key,
                                     .item = (const char *const *)entry->item,
                                     .count = entry->count,
                                     .pointer = entry->pointer,
                                     .list = entry->list};
        int first = s->errors->count;
        if (calc_study_key_find(entry->key) == CALC_STUDY_KEY_COUNT) {
            (void)!calc_axis_set(&s->study->space, &s->study->builder, &text, s->errors);
            calc_space_entries_locate(&s->file, s->errors, first);
        }
    }
}

static void need_axis(const sources *s, calc_axis axis, const char *key, const char *option,
                      const char *hint)
{
    if (s->study->space.axis[axis].count == 0) {
        calc_errors_at(s->errors, CALC_ERR_FIELD, option, 0, 0, hint, "nothing says %s", key);
    }
}

/* The system of prefill pools. If it is also the only system of the sweep, swept fields apply to it
 * too. */
static void take_prefill_system(sources *s)
{
    calc_designs_builder *b = &s->study->builder;
    calc_other_system *other = &s->study->space.inference.prefill_system;
    calc_input input = {.text = {0}};
    calc_app app;
    calc_designs designs;
    if (!other->name[0]) {
        return;
    }
    other->system = &s->study->prefill;
    if (calc_input_load(&input, CALC_KIND_SYSTEM, &s->study->prefill, other->name, s->errors) ==
            CALC_OK &&
        b->systems == 1 && strcmp(input.name, b->system[0].name) == 0 &&
        calc_designs_make(b, &designs, s->errors) == CALC_OK) {
        designs.get(designs.context, 0, &app, &s->study->prefill);
    }
    calc_text_free(&input.text);
}

/* Rules of Calculon: they also choose the default space. */
static void take_rules(sources *s)
{
    (void)!calc_compat_read(calc_opt_value(s->args, CALC_SWEEP_OPT_COMPAT),
                            &s->study->options.compat, s->errors);
}

static calc_status some_run(const void *context, const calc_app *app, const calc_system *system,
                            const calc_exec *exec, bool *runs)
{
    (void)context;
    return calc_export_starts(app, system, exec, runs);
}

static calc_status one_runs(const void *context, const calc_app *app, const calc_system *system,
                            const calc_exec *exec, bool *runs)
{
    return calc_export_runs(context, app, system, exec, runs);
}

/* The framework that a layout is for. Calculon's rules are of none. Where one is named, its own
 * rules say how it keeps state, instead of those of the usual choice. */
static void take_framework(sources *s)
{
    static const struct {
        calc_axis axis;
        size_t count;
        int64_t value[3];
    } own[] = {{CALC_AXIS_zero_stage, 3, {0, 2, 3}},
               {CALC_AXIS_grad_datatype, 2, {CALC_FORMAT_AUTO, CALC_FORMAT_BFLOAT16}}};
    calc_sweep_options *o = &s->study->options;
    const char *name = calc_opt_value(s->args, CALC_SWEEP_OPT_FOR);
    const calc_framework *framework = calc_framework_find(name);
    if (strcmp(name, "none") == 0 || o->compat != CALC_COMPAT_NONE) {
        return;
    }
    o->runs = framework ? one_runs : some_run;
    o->runs_context = framework;
    o->runs_name = name;
    for (size_t i = 0; i < sizeof own / sizeof *own && framework && !framework->serves; i++) {
        if (s->study->space.axis[own[i].axis].standard &&
            calc_space_set(&s->study->space, own[i].axis, own[i].value, own[i].count) != CALC_OK) {
            calc_errors_no_memory(s->errors);
        }
    }
}

/* Ranks of one size in every dimension are so many processors. */
static void take_num_procs(calc_space *space)
{
    static const calc_axis ranks[] = {CALC_AXIS_tensor_par, CALC_AXIS_pipeline_par,
                                      CALC_AXIS_data_par, CALC_AXIS_context_par};
    int64_t procs = 1;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const calc_values *v = &space->axis[ranks[i]];
        bool none = ranks[i] == CALC_AXIS_context_par && v->standard;
        procs = none ? procs : v->count == 1 && !v->standard ? procs * v->value[0] : 0;
    }
    if (procs > 0 && space->axis[CALC_AXIS_num_procs].count == 0) {
        (void)!calc_space_set(space, CALC_AXIS_num_procs, &procs, 1);
    }
}

static void take_axes(sources *s)
{
    if (!s->space && !s->read && s->args->argument_count == 0) { /* the default study */
        set_axis(s, "num_procs", "4096", "");
        set_axis(s, "batch_size", "<=2340", "");
        set_axis(s, "fused_activation", "*", "");
    }
    take_file_axes(s);
    calc_sweep_axes_options(s->study, s->args, s->errors);
    take_prefill_system(s);
    take_framework(s);
    if (calc_defaults_set(&s->study->space, &s->study->builder, s->study->options.compat) !=
        CALC_OK) {
        calc_errors_no_memory(s->errors);
    }
    calc_sweep_axes_software(&s->study->space, s->errors);
    if (s->space) {
        calc_space_entries_locate(&s->file, s->errors, 0);
    }
    take_num_procs(&s->study->space);
    if (s->errors->count == 0) {
        calc_defaults_check(&s->study->space, &s->study->builder, s->errors);
        if (s->space) {
            calc_space_entries_locate(&s->file, s->errors, 0);
        }
        need_axis(s, CALC_AXIS_num_procs, "num_procs", "--procs", "for example --procs 512");
        need_axis(s, CALC_AXIS_batch_size, "batch_size", "--batch", "for example --batch 512");
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void take_arguments(sources *s)
{
    const char *const *argument = s->args->argument;
    size_t count = s->args->argument_count;
    s->app = count == 0 ? "gpt3-175B" : count > 1 ? argument[0] : NULL;
    s->system = count == 0 ? "h100_80g_nvl8" : count > 1 ? argument[1] : NULL;
    s->space = count == 1 ? argument[0] : count > 2 ? argument[2] : NULL;
}

static calc_status load_file(sources *s)
{
    char path[CALC_FIND_PATH_MAX];
    calc_status status = calc_find(CALC_KIND_EXEC, s->space, path, s->errors);
    char name[256];
    status = status == CALC_OK ? calc_space_load(&s->file, path, s->errors) : status;
    return status == CALC_OK
               ? calc_sweep_read_note(s->study, calc_find_name(path, name, sizeof name),
                                      &s->file.text, "", s->errors)
               : status;
}

calc_status calc_sweep_study_load(calc_sweep_study *study, const calc_args *args,
                                  const calc_inputs *read, calc_errors *errors)
{
    sources s = {.study = study, .args = args, .read = read, .errors = errors};
    take_arguments(&s);
    if (calc_space_init(&study->space) != CALC_OK) {
        return calc_errors_no_memory(errors);
    }
    if (!s.space || load_file(&s) == CALC_OK) {
        take_documents(&s);
    }
    if (errors->count == 0) {
        check_documents(&s);
        take_rules(&s);
        take_axes(&s);
        take_options(&s);
        if (calc_defaults_stages(&study->space, &study->builder, &study->options) != CALC_OK) {
            calc_errors_no_memory(errors);
        }
    }
    if (errors->count == 0) {
        (void)!calc_designs_make(&study->builder, &study->designs, errors);
    }
    calc_space_entries_free(&s.file);
    return calc_errors_first(errors);
}

void calc_sweep_study_free(calc_sweep_study *study)
{
    calc_space_free(&study->space);
    calc_designs_builder_free(&study->builder);
    free(study->constraint);
    free(study->document);
    *study = (calc_sweep_study){0};
}
