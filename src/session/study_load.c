#include "session/study_load.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axis.h"
#include "base/buffer.h"
#include "base/decimal.h"
#include "base/error.h"
#include "defaults.h"
#include "formats/export.h"
#include "io/space_load.h"
#include "io/utf8.h"
#include "spec/absent.h"
#include "spec/compat.h"
#include "spec/field.h"
#include "spec/rules.h"
#include "spec/software.h"
#include "spec/value_text.h"
#include "units.h"

enum {
    NAME_SIZE = 128,
    WORD_SIZE = 4096,
    TOP_MAX = 1000000,
    THREADS_MAX = 4096,
    TOP = 10,
    ITEM_SIZE = 32
};

/* A setting that is a number. */
typedef struct ranged {
    bool whole;
    double lo, hi, *value;
} ranged;

/* A study on its way. */
typedef struct sources {
    calc_sweep_study *study;
    const calc_study_source *in;
    calc_errors *errors;
    ranged number; /* of the setting at hand */
} sources;

/* ---- Words ----------------------------------------------------------------------------------- */

/* The last value of an option; NULL: it is not given. */
static const char *value_of(const sources *s, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < s->in->uses; i++) {
        value = strcmp(s->in->use[i].name, name) == 0 ? s->in->use[i].value : value;
    }
    return value;
}

/* ---- Places of errors ------------------------------------------------------------------------ */

/* "--batch 512", what errors call an option. */
static void name_option(char name[NAME_SIZE], const char *option, const char *value)
{
    snprintf(name, NAME_SIZE, "--%s %s", option, calc_utf8_shown(value, strlen(value)));
}

/* Errors from `first` on that have no place yet get the place of an option. */
static void blame_option(const sources *s, int first, const char *option, const char *value)
{
    char name[NAME_SIZE];
    name_option(name, option, value);
    for (int i = first; i < s->errors->count; i++) {
        calc_error *error = &s->errors->item[i];
        if (!error->file[0] && !error->pointer[0]) {
            calc_error_place(error, name, 0, 0);
        }
    }
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
    for (size_t i = 0; i < s->in->file.count; i++) {
        if (calc_study_key_find(s->in->file.entry[i].key) == key) {
            return &s->in->file.entry[i];
        }
    }
    return NULL;
}

/* Take the words of a key of the file. Errors that have no place yet get that of the item. */
static void take_entry(sources *s, calc_study_key key, setting *take)
{
    const calc_space_entry *entry = find_entry(s, key);
    for (size_t i = 0; entry && i < entry->count; i++) {
        int first = s->errors->count;
        take(s, entry->item[i]);
        for (int e = first; e < s->errors->count; e++) {
            calc_error *error = &s->errors->item[e];
            if (!error->file[0] && !error->pointer[0]) {
                calc_space_entry_pointer(entry, i, error->pointer);
            }
        }
        calc_space_entries_locate(&s->in->file, s->errors, first);
    }
}

/* Take a setting from its option, otherwise from the file. */
static void take_setting(sources *s, const char *opt, calc_study_key key, setting *take)
{
    const char *text = value_of(s, opt);
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

/* A number, in the range that errors name, of the setting at hand. */
static calc_status take_number(sources *s, const char *word)
{
    const ranged *n = &s->number;
    return calc_decimal_read(word, n->whole, n->lo, n->hi, n->value)
               ? CALC_OK
               : calc_errors_add(s->errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                                 "expected a %snumber from %.15g to %.15g",
                                 n->whole ? "whole " : "", n->lo, n->hi);
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
    s->study->ranked = o->top_by.field != NULL;
    if (!s->study->ranked) {
        take_words(s,
                   trains                  ? "sample_rate"
                   : prompts               ? "tokens_per_s_per_proc"
                   : value_of(s, "budget") ? "output_tokens_per_s" /* of all that it pays for */
                                           : "output_tokens_per_s_per_proc",
                   take_top_by);
    }
}

/* Of training no statistic of serving is known: no layout would differ in it, or meet it. */
static void need_training(sources *s)
{
    const calc_sweep_options *o = &s->study->options;
    const calc_field *asked = o->top_by.field;
    for (size_t i = 0; i < o->objectives && !calc_objective_serves(asked); i++) {
        asked = o->objective[i].field;
    }
    for (size_t i = 0; i < o->constraints && !calc_objective_serves(asked); i++) {
        asked = o->constraint[i].field;
    }
    if (calc_objective_serves(asked)) {
        calc_errors_add(s->errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                        "--set inference.phase=serve", "%s is known of serving, not of training",
                        asked->key);
    }
}

static void take_options(sources *s)
{
    enum { LEAST = 120 };
    calc_sweep_options *o = &s->study->options;
    double top = TOP, threads = o->threads;
    const struct {
        const char *opt;
        calc_study_key key; /* COUNT: the file has no such key */
        setting *take;
        ranged number;
    } settings[] = {
        {"objectives", CALC_STUDY_KEY_OBJECTIVES, take_objective, {0}},
        {"top", CALC_STUDY_KEY_TOP, take_number, {true, 0, TOP_MAX, &top}},
        {"top-by", CALC_STUDY_KEY_COUNT, take_top_by, {0}},
        {"per", CALC_STUDY_KEY_PER, take_per, {0}},
        {"threads", CALC_STUDY_KEY_COUNT, take_number, {true, 1, THREADS_MAX, &threads}},
        {"verify", CALC_STUDY_KEY_COUNT, take_number, {false, 0, 1, &o->verify}},
    };
    int first = s->errors->count;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        s->number = settings[i].number;
        take_setting(s, settings[i].opt, settings[i].key, settings[i].take);
    }
    s->study->top = (size_t)top;
    o->threads = (int)threads;
    bool groups = o->per_num_procs || o->per_design;
    /* The layout to start with is chosen from so many. */
    o->top = groups || s->study->top > LEAST ? s->study->top : LEAST;
    if (s->errors->count == first) {
        take_usual(s);
    }
    take_entry(s, CALC_STUDY_KEY_WHERE, take_constraint);
    for (size_t i = 0; i < s->in->uses; i++) {
        const calc_space_option *use = &s->in->use[i];
        first = s->errors->count;
        if (strcmp(use->name, "where") == 0) {
            take_constraint(s, use->value);
            blame_option(s, first, use->name, use->value);
        }
    }
    /* Adds the condition of --tokens and --days. */
    char text[96];
    double tokens = calc_study_amount(value_of(s, "tokens"), "tokens");
    double days = calc_study_amount(value_of(s, "days"), "days");
    if (tokens > 0 && days > 0) {
        snprintf(text, sizeof text, "days_per_trillion_tokens <= %.17g", days / (tokens / 1e12));
        (void)!take_constraint(s, text);
    }
    double budget = calc_study_amount(value_of(s, "budget"), NULL);
    if (budget > 0) {
        snprintf(text, sizeof text, "job_usd_per_hour <= %.17g", budget);
        (void)!take_constraint(s, text);
    }
    o->constraints = s->study->constraints;
    o->constraint = s->study->constraint;
    if (s->errors->count == 0 && s->study->space.inference.phase == CALC_INFERENCE_PHASE_NONE) {
        need_training(s);
    }
    o->no_prune = value_of(s, "no-prune") != NULL;
    o->cpu = value_of(s, "cpu");
}

/* ---- Models and machines --------------------------------------------------------------------- */

/* Load a document; none may be there already. */
static calc_status take_document(sources *s, calc_kind kind, const char *word)
{
    calc_sweep_study *study = s->study;
    calc_designs_builder *b = &study->builder;
    union {
        calc_app app;
        calc_system system;
    } object;
    calc_study_document *said =
        realloc(study->document, (study->documents + 1) * sizeof *study->document);
    if (!said) {
        return calc_errors_no_memory(s->errors);
    }
    study->document = said;
    said += study->documents;
    *said = (calc_study_document){.name = ""};
    calc_status status = s->in->read(s->in->context, kind, word, false, &object, said, s->errors);
    if (status != CALC_OK) {
        return status;
    }
    study->documents++;
    bool app = kind == CALC_KIND_APP;
    for (size_t i = 0; i < (app ? b->apps : b->systems); i++) {
        const void *other = app ? (const void *)&b->app[i].app : &b->system[i].system;
        if (strcmp(app ? b->app[i].name : b->system[i].name, said->name) == 0 &&
            calc_same(calc_table_of(kind), other, &object)) {
            return calc_errors_add(s->errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL, NULL,
                                   "%s is named twice", said->name);
        }
    }
    status = app ? calc_designs_add_app(b, said->name, &object.app)
                 : calc_designs_add_system(b, said->name, &object.system);
    return calc_errors_status(s->errors, status);
}

static calc_status take_app(sources *s, const char *word)
{
    return take_document(s, CALC_KIND_APP, word);
}

static calc_status take_system(sources *s, const char *word)
{
    return take_document(s, CALC_KIND_SYSTEM, word);
}

/* Load the documents that are named, or otherwise those that the file names. */
static void take_documents(sources *s)
{
    static const char hint[] = "calc sweep APP SYS SPACE";
    if (s->in->app) {
        take_words(s, s->in->app, take_app);
        take_words(s, s->in->system, take_system);
        return;
    }
    take_entry(s, CALC_STUDY_KEY_APPLICATIONS, take_app);
    take_entry(s, CALC_STUDY_KEY_SYSTEMS, take_system);
    bool fine = find_entry(s, CALC_STUDY_KEY_APPLICATIONS) && find_entry(s, CALC_STUDY_KEY_SYSTEMS);
    if (!fine) {
        calc_errors_add(s->errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL, hint,
                        "the space does not name \"applications\" and \"systems\"");
        calc_error_place(&s->errors->item[s->errors->count - 1], s->in->file.name, 0, 0);
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

/* Tokens per sequence if they are the same in all layouts; else 0. */
static int64_t sequence_tokens(const calc_sweep_study *study)
{
    const calc_values *own = &study->space.axis[CALC_AXIS_seq_size];
    const calc_designs_builder *b = &study->builder;
    int64_t same = own->count == 1 ? own->value[0] : 0;
    if (same > 0 || own->count > 1 || own->all) {
        return same;
    }
    for (size_t i = 0; i < b->axes; i++) {
        if (b->axis[i].ref.kind == CALC_KIND_APP &&
            b->axis[i].ref.field->offset == offsetof(calc_app, seq_size)) {
            return b->axis[i].count == 1 ? (int64_t)b->axis[i].value[0] : 0;
        }
    }
    for (size_t i = 0; i < b->apps; i++) {
        if (i > 0 && b->app[i].app.seq_size != same) {
            return 0;
        }
        same = b->app[i].app.seq_size;
    }
    return same;
}

/* The batch in sequences, as an axis takes it: a number without a unit as it is; a number of tokens
 * must be whole sequences of the one length that all layouts have. */
static calc_status read_batch(const calc_sweep_study *study, const char *text, char item[ITEM_SIZE],
                              calc_errors *errors)
{
    double tokens, sequences;
    char number[CALC_DECIMAL_SIZE], length[CALC_DECIMAL_SIZE], hint[128];
    bool of_tokens = strstr(text, "tok") != NULL;
    if (!of_tokens && calc_amount_read(text, NULL, &sequences) == CALC_AMOUNT_UNIT) {
        snprintf(hint, sizeof hint, "write %.40stokens, or the number of sequences", text);
        return calc_errors_add(errors, CALC_ERR_TYPE, CALC_KIND_NONE, NULL, hint,
                               "sequences or tokens?");
    }
    if (!of_tokens || calc_amount_read(text, "tokens", &tokens) != CALC_AMOUNT_UNIT) {
        snprintf(item, ITEM_SIZE, "<=%.29s", text);
        return CALC_OK;
    }
    int64_t each = sequence_tokens(study);
    if (each == 0) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL,
                               "give the number of sequences",
                               "the sequences of these layouts do not have one length");
    }
    sequences = tokens / (double)each;
    if (sequences < 1 || sequences != floor(sequences) || sequences > 1e12) {
        double below = fmax(1, floor(sequences));
        snprintf(hint, sizeof hint, "%.0f sequences are %s tokens; Mi is 1,048,576", below,
                 calc_decimal_grouped(below * (double)each, number));
        char all[CALC_DECIMAL_SIZE];
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, hint,
                               "%s tokens are no whole number of sequences of %s",
                               calc_decimal_grouped(tokens, all),
                               calc_decimal_grouped((double)each, length));
    }
    snprintf(item, ITEM_SIZE, "<=%.0f", sequences);
    return CALC_OK;
}

static void take_batch(sources *s)
{
    char name[NAME_SIZE], item[ITEM_SIZE];
    const char *value = value_of(s, "batch");
    int first = s->errors->count;
    if (!value) {
        return;
    }
    name_option(name, "batch", value);
    if (read_batch(s->study, value, item, s->errors) == CALC_OK) {
        set_axis(s, "batch_size", item, name);
    } else if (s->errors->count > first) {
        calc_error_place(&s->errors->item[first], name, 0, 0);
    }
}

/* Errors name their options; --axis and --set are taken in the order given. */
static void take_axis_options(sources *s)
{
    char name[NAME_SIZE];
    const char *procs = value_of(s, "procs");
    if (procs) {
        name_option(name, "procs", procs);
        set_axis(s, "num_procs", procs, name);
    }
    for (size_t i = 0; i < s->in->uses; i++) {
        const calc_space_option *use = &s->in->use[i];
        bool one = strcmp(use->name, "set") == 0;
        if (one || strcmp(use->name, "axis") == 0) {
            (void)!calc_axis_assign(&s->study->space, &s->study->builder, one, use->value,
                                    s->errors);
        }
    }
    take_batch(s); /* it may be in tokens, of sequences whose length an axis sets */
}

calc_status calc_study_software(calc_space *space, calc_session_find *find, void *context,
                                calc_errors *errors)
{
    calc_exec software;
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &software);
    strcpy(software.software, space->software);
    software.inference.engine = space->inference.engine;
    calc_status status = calc_software_read(&software, find, context, errors);
    space->inference.engine = software.inference.engine;
    return status != CALC_OK                                     ? status
           : calc_defaults_software(space, &software) == CALC_OK ? CALC_OK
                                                                 : calc_errors_no_memory(errors);
}

static void take_file_axes(sources *s)
{
    for (size_t i = 0; i < s->in->file.count; i++) {
        const calc_space_entry *entry = &s->in->file.entry[i];
        const calc_axis_text text = {.key = entry->key,
                                     .item = (const char *const *)entry->item,
                                     .count = entry->count,
                                     .pointer = entry->pointer,
                                     .list = entry->list};
        int first = s->errors->count;
        if (calc_study_key_find(entry->key) == CALC_STUDY_KEY_COUNT) {
            (void)!calc_axis_set(&s->study->space, &s->study->builder, &text, s->errors);
            calc_space_entries_locate(&s->in->file, s->errors, first);
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
    calc_app app;
    calc_designs designs;
    if (!other->name[0]) {
        return;
    }
    calc_system *pool = &s->study->prefill;
    other->system = pool;
    calc_study_document said;
    if (s->in->read(s->in->context, CALC_KIND_SYSTEM, other->name, true, pool, &said, s->errors) ==
            CALC_OK &&
        b->systems == 1 && strcmp(said.name, b->system[0].name) == 0 &&
        calc_designs_make(b, &designs, s->errors) == CALC_OK) {
        designs.get(designs.context, 0, &app, pool);
    }
}

static calc_status some_run(const void *context, const calc_app *app, const calc_system *system,
                            const calc_exec *exec, int *known, bool *runs)
{
    (void)context;
    return calc_export_starts(app, system, exec, known, runs);
}

static calc_status one_runs(const void *context, const calc_app *app, const calc_system *system,
                            const calc_exec *exec, int *known, bool *runs)
{
    (void)known;
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
    const char *said = value_of(s, "for");
    const char *name = said ? said : "any";
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

/* What the software of the framework does, whatever it is told, counts where nobody asks for other
 * software: it is asked with a layout that has ranks in every dimension, and fused gates. */
static void take_framework_software(sources *s)
{
    enum { EACH = 2, RANKS = EACH * EACH * EACH };
    calc_space *space = &s->study->space;
    const calc_sweep_options *o = &s->study->options;
    const calc_framework *framework = o->runs == one_runs ? o->runs_context : NULL;
    calc_exec asked, told, software;
    calc_status status = CALC_OK;
    if (!framework || framework->serves || space->software[0]) {
        return;
    }
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &asked);
    told = software = asked;
    for (int i = 0; i < CALC_AXIS_EXEC_COUNT; i++) {
        const calc_values *v = &space->axis[i];
        calc_axis_put(&asked, (calc_axis)i,
                      v->count > 0 ? v->value[v->count - 1] : calc_axis_get(&asked, (calc_axis)i));
    }
    asked.strategy.tensor_par = asked.strategy.data_par = EACH;
    asked.pipeline_par = asked.pipeline_interleaving = EACH;
    asked.num_procs = asked.batch_size = RANKS;
    asked.microbatch_size = asked.strategy.context_par = asked.strategy.expert_tensor_par = 1;
    asked.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    asked.strategy.zero_stage = asked.strategy.fsdp_par = asked.strategy.unfused_experts = 0;
    for (size_t i = 0; i < s->study->builder.apps && status == CALC_OK; i++) {
        const calc_app *app = &s->study->builder.app[i].app;
        asked.strategy.expert_par = app->num_experts > 0 ? EACH : 0;
        status = calc_export_software(framework, app, &asked, &told);
    }
    calc_software_apply(&software, &told);
    if (status != CALC_OK || calc_defaults_software(space, &software) != CALC_OK) {
        calc_errors_no_memory(s->errors);
    }
}

/* The lowest price of a processor that a machine may have. @return whether all have one */
static bool least_price(const calc_designs_builder *b, double *least)
{
    bool all = true;
    *least = HUGE_VAL;
    for (size_t i = 0; i < b->systems; i++) {
        double price = b->system[i].system.chip.usd_per_hour;
        all = all && price > 0;
        *least = fmin(*least, price);
    }
    for (size_t i = 0; i < b->axes; i++) {
        const calc_design_axis *axis = &b->axis[i];
        if (axis->ref.kind == CALC_KIND_SYSTEM &&
            strcmp(axis->ref.field->key, "usd_per_hour") == 0) {
            all = true;
            *least = HUGE_VAL;
            for (size_t k = 0; k < axis->count; k++) {
                all = all && axis->value[k] > 0;
                *least = fmin(*least, axis->value[k]);
            }
        }
    }
    return all;
}

/* Processors that --budget pays for: powers of two of a node, and at most NUMBERS times whole nodes
 * of all machines. */
static void take_budget(sources *s)
{
    enum { NUMBERS = 128 };
    const char *text = value_of(s, "budget");
    double budget = calc_study_amount(text, NULL), price;
    char name[NAME_SIZE], range[512];
    const calc_designs_builder *b = &s->study->builder;
    const calc_values *procs = &s->study->space.axis[CALC_AXIS_num_procs];
    if (!text) {
        return;
    }
    name_option(name, "budget", text);
    if (budget < 0) {
        calc_errors_at(s->errors, CALC_ERR_RANGE, name, 0, 0, "for example --budget 1000",
                       "expected US dollars an hour");
        return;
    }
    if (!least_price(b, &price)) {
        calc_errors_at(s->errors, CALC_ERR_RULE, name, 0, 0, "--set price=USD an hour",
                       "not all machines have a price");
        return;
    }
    if (procs->count > 0) {
        return;
    }
    int64_t node = 0;
    for (size_t i = 0; i < b->systems; i++) {
        node = calc_gcd(node, b->system[i].system.networks[0].size);
    }
    double most = fmin(floor(budget / price), 1e9);
    if (most < 1) {
        calc_errors_at(s->errors, CALC_ERR_RULE, name, 0, 0, NULL,
                       "it pays for no processor: the cheapest costs %.4g an hour", price);
        return;
    }
    while (most / (double)node > NUMBERS) {
        node *= 2;
    }
    *range = '\0';
    for (int64_t part = 1; part < node && (double)part <= most; part *= 2) {
        calc_append(range, sizeof range, "%s%" PRId64, *range ? "," : "", part);
    }
    if ((double)node <= most) {
        calc_append(range, sizeof range, "%s%" PRId64 ":%.0f:%" PRId64, *range ? "," : "", node,
                    most, node);
    }
    set_axis(s, "num_procs", range, name);
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
    if (s->in->standard) { /* the default study */
        set_axis(s, "num_procs", "4096", "");
        set_axis(s, "batch_size", "<=2340", "");
        if (s->study->options.compat != CALC_COMPAT_NONE) {
            set_axis(s, "fused_activation", "*", "");
        }
    }
    take_file_axes(s);
    take_axis_options(s);
    take_prefill_system(s);
    take_framework(s);
    if (calc_defaults_set(&s->study->space, &s->study->builder, s->study->options.compat) !=
        CALC_OK) {
        calc_errors_no_memory(s->errors);
    }
    (void)!calc_study_software(&s->study->space, s->in->find, s->in->find_context, s->errors);
    take_framework_software(s);
    if (s->in->file.count > 0) {
        calc_space_entries_locate(&s->in->file, s->errors, 0);
    }
    take_num_procs(&s->study->space);
    take_budget(s);
    if (s->errors->count == 0) {
        calc_defaults_check(&s->study->space, &s->study->builder, s->errors);
        if (s->in->file.count > 0) {
            calc_space_entries_locate(&s->in->file, s->errors, 0);
        }
        need_axis(s, CALC_AXIS_num_procs, "num_procs", "--procs", "for example --procs 512");
        need_axis(s, CALC_AXIS_batch_size, "batch_size", "--batch", "for example --batch 512");
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

double calc_study_amount(const char *text, const char *unit)
{
    double number = 0;
    if (!text) {
        return 0;
    }
    bool fine = calc_amount_read(text, unit, &number) <= CALC_AMOUNT_UNIT && number > 0;
    return fine ? number : -1;
}

void calc_study_cut(const calc_sweep_study *study, calc_sweep_result *result)
{
    for (size_t g = 0; g < result->groups_count; g++) {
        calc_front *list = &result->group[g].top;
        list->count = list->count < study->top ? list->count : study->top;
    }
}

calc_status calc_study_load(calc_sweep_study *study, const calc_study_source *source,
                            calc_errors *errors)
{
    sources s = {.study = study, .in = source, .errors = errors};
    if (calc_space_init(&study->space) != CALC_OK) {
        return calc_errors_no_memory(errors);
    }
    if (errors->count == 0) {
        take_documents(&s);
    }
    if (errors->count == 0) {
        check_documents(&s);
        /* Rules of Calculon: they also choose the default space. */
        const char *rules = value_of(&s, "compat");
        (void)!calc_compat_read(rules ? rules : "none", &s.study->options.compat, s.errors);
        take_axes(&s);
        take_options(&s);
        if (calc_defaults_stages(&study->space, &study->builder, &study->options) != CALC_OK) {
            calc_errors_no_memory(errors);
        }
    }
    if (errors->count == 0) {
        (void)!calc_designs_make(&study->builder, &study->designs, errors);
    }
    return calc_errors_first(errors);
}

void calc_study_free(calc_sweep_study *study)
{
    calc_space_free(&study->space);
    calc_designs_builder_free(&study->builder);
    free(study->constraint);
    free(study->document);
    *study = (calc_sweep_study){0};
}
