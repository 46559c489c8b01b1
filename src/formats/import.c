#include "formats/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "base/error.h"
#include "formats/read.h"
#include "io/text.h"
#include "io/utf8.h"
#include "spec/field.h"
#include "spec/rules.h"

/* The row of a setting; NULL: there is none. */
static const calc_setting_row *row_of(const calc_import *import, const calc_setting *setting)
{
    const calc_setting_row *row =
        setting->row ? setting->row : calc_framework_row(import->framework, setting->key);
    bool elsewhere = row && row->text && row->when == CALC_PLAN_SIZED_LAYERS; /* in its file */
    return elsewhere ? NULL : row;
}

calc_status calc_import_wrong(const calc_import *import, const calc_setting *setting,
                              calc_status status, const char *hint, const char *text,
                              calc_errors *errors)
{
    if (!setting) {
        return calc_errors_at(errors, status, import->name, 0, 0, hint, "%s", text);
    }
    const char *argument =
        setting->argument > 0 ? CALC_TEXT(32, "argument %d: ", setting->argument) : "";
    const calc_setting_row *row = row_of(import, setting);
    const int *unsure = setting->unsure, last = unsure[0];
    const char *why =
        !last        ? "nothing in a script is executed"
        : !unsure[1] ? CALC_TEXT(96, "line %d sets it as a run decides", last)
        : unsure[0] == unsure[1]
            ? CALC_TEXT(96, "line %d sets it to several values", last)
            : CALC_TEXT(96, "lines %d and %d set it to several values", unsure[1], last);
    const char *unknown =
        CALC_TEXT(240, "%s: write the value there%s", why,
                  calc_row_is_of_job(row) ? "; --procs N of calc import replaces it" : "");
    return calc_errors_at(errors, status, setting->file ? setting->file : import->name,
                          setting->line, setting->column,
                          hint || !strchr(setting->value, '$') ? hint : unknown, "%s%s: %s",
                          argument, calc_utf8_shown(setting->key, strlen(setting->key)), text);
}

/* What is read of a file, and of the files that it names. */
typedef struct reading {
    calc_plan *plan;
    const calc_setting_row *owner[CALC_PLAN_COUNT], *assumed[CALC_PLAN_COUNT];
    const char *told[16]; /* sentences on keys that are not read, which have been told */
    size_t told_count;
    const calc_framework *named; /* of a file that the settings name; NULL: they name none */
    calc_errors *errors;
} reading;

static bool is_of_engine(const calc_setting_row *row)
{
    const calc_framework *engine = &calc_framework_deepspeed;
    return row >= engine->rows && row < engine->rows + engine->count;
}

static calc_status take(const calc_import *import, const calc_setting *setting,
                        const calc_setting_row *row, reading *r)
{
    calc_plan *plan = r->plan;
    char expect[160];
    const calc_setting_row *other = r->owner[row->member];
    double before = plan->value[row->member];
    const char *value = setting->null ? "null" : setting->value;
    if (!calc_row_read(row, value, plan, expect, sizeof expect)) {
        return calc_import_wrong(import, setting, CALC_ERR_RANGE, NULL,
                                 CALC_TEXT(320, "expected %s, found \"%s\"", expect,
                                           calc_utf8_shown(setting->value, setting->length)),
                                 r->errors);
    }
    double now = plan->value[row->member];
    bool one_of = row->how == CALC_HOW_IS || row->how == CALC_HOW_RECOMPUTED;
    bool said = other && other != row && !isnan(before);    /* false says nothing */
    bool place = said && row->member == CALC_PLAN_POSITION; /* without learned ones, "none" */
    if (said && one_of && !place && other->how != CALC_HOW_SWITCH && now != before &&
        (other->how == CALC_HOW_IS || other->how == CALC_HOW_RECOMPUTED)) {
        return calc_import_wrong(import, setting, CALC_ERR_RULE, NULL,
                                 CALC_TEXT(320, "contradicts %s", other->key), r->errors);
    }
    /* What DeepSpeed's file has, an option of the program may repeat and not change. */
    if (said && row->how == CALC_HOW_NUMBER && other->how == CALC_HOW_NUMBER && now != before &&
        is_of_engine(row) != is_of_engine(other)) {
        return calc_import_wrong(
            import, setting, CALC_ERR_RULE, NULL,
            CALC_TEXT(320, "contradicts %s, which says %g", other->key, before), r->errors);
    }
    /* Either of two rates; an option for the kernel, whatever the implementation is. */
    bool larger = row->member == CALC_PLAN_DROPOUT || row->member == CALC_PLAN_FLASH;
    if (said && ((larger && !(now >= before)) || (place && now == CALC_POSITION_TYPE_NONE))) {
        plan->value[row->member] = before;
    }
    r->owner[row->member] = row;
    return CALC_OK;
}

/* How many words of a row a text is: "llama3" is the name of several models. */
static int count_words(const calc_setting_row *row, const char *text)
{
    int found = 0;
    calc_word word;
    for (const char *at = row->words; calc_word_next(row, &at, &word);) {
        found += strlen(text) == word.length && strncasecmp(word.text, text, word.length) == 0;
    }
    return found;
}

/* Whether a value leaves the member open: null, "default", -1 for a size, or a value that the
 * framework computes ("${.hidden_size}", "auto"). */
static bool says_nothing(const calc_import *import, const calc_setting *setting,
                         const calc_setting_row *row, bool *computed)
{
    calc_syntax syntax = import->framework->syntax;
    const char *value = setting->value;
    bool shell = syntax == CALC_SYNTAX_SHELL ||
                 (setting->key[0] == '-' && !strchr(setting->key, '.')); /* a key of the file */
    bool listed = row && row->words; /* "auto" may be one of the words */
    bool number = row && (row->how == CALC_HOW_NUMBER || row->how == CALC_HOW_FACTOR);
    *computed = !shell && (strncmp(value, "${", 2) == 0 ||
                           (strcmp(value, "auto") == 0 && !(syntax == CALC_SYNTAX_YAML && listed)));
    if (shell) { /* servers find sizes by themselves */
        return import->framework->serves && number && strcmp(value, "auto") == 0;
    }
    if (syntax == CALC_SYNTAX_YAML) {
        return (!value[0] && !(setting->null && listed && count_words(row, "null") > 0)) ||
               strcmp(value, "null") == 0 || (number && strcasecmp(value, "none") == 0);
    }
    return !value[0] || (number && strcmp(value, "-1") == 0) || strcmp(value, "default") == 0;
}

void calc_import_tell(const calc_import *import, const char *key, calc_unread what,
                      const char *assumed)
{
    if (import->unread) {
        import->unread(import->context, key, what, assumed);
    }
}

/* Whether a sentence has been told, for another key; from now on it has. */
static bool was_told(reading *r, const char *sentence)
{
    for (size_t i = 0; i < r->told_count; i++) {
        if (r->told[i] == sentence) {
            return true;
        }
    }
    if (r->told_count < sizeof r->told / sizeof *r->told) {
        r->told[r->told_count++] = sentence;
    }
    return false;
}

calc_unread calc_import_unread(const calc_framework *framework, const calc_setting *setting,
                               char sentence[CALC_UNREAD_TEXT], const char **key)
{
    const calc_framework launchers = {.unread = "launchers"};
    const char *option = CALC_TEXT(160, "%.*s", (int)strcspn(setting->key, "."), setting->key);
    calc_unread what = calc_framework_unread(framework, setting->key, setting->value, key);
    if (what == CALC_UNREAD_UNKNOWN && setting->key[0] == '-') {
        what = calc_framework_unread(&launchers, setting->key, setting->value, key);
    }
    if (what == CALC_UNREAD_UNKNOWN && setting->key[0] == '-') { /* part of an option's value */
        what = calc_framework_unread(framework, option, "-", key);
    }
    snprintf(sentence, CALC_UNREAD_TEXT, "%.*s", *key ? (int)strcspn(*key, "\n") : 0,
             *key ? *key : "");
    return what;
}

/* Tells of a setting that is not read. What the framework computes leaves time and memory as they
 * are by default, but not the model. */
static calc_status leave(const calc_import *import, const calc_setting *setting, bool computed,
                         reading *r)
{
    const char *assumed;
    char sentence[CALC_UNREAD_TEXT];
    calc_unread what = calc_import_unread(import->framework, setting, sentence, &assumed);
    if (computed && what != CALC_UNREAD_MODEL) {
        what = CALC_UNREAD_HARMLESS;
    }
    if (what == CALC_UNREAD_MODEL && import->model) {
        char text[320];
        snprintf(text, sizeof text, "changes the model, and calc does not read it: %s",
                 assumed ? sentence : "calc import without --app writes the layout alone");
        return calc_import_wrong(import, setting, CALC_ERR_UNSUPPORTED, NULL, text, r->errors);
    }
    if (assumed && what != CALC_UNREAD_HARMLESS && was_told(r, assumed)) {
        return CALC_OK;
    }
    calc_import_tell(import, setting->key, what, assumed ? sentence : NULL);
    return CALC_OK;
}

/* Sets what the framework is to compute, where no setting says it; of rows for the same, the first
 * in the table counts. */
static void assume(const calc_import *import, const reading *r)
{
    for (int i = 0; i < CALC_PLAN_COUNT; i++) {
        const calc_setting_row *row = r->assumed[i];
        if (!row || calc_plan_says(r->plan, row->member)) {
            continue;
        }
        if (row->value > 0) {
            r->plan->value[row->member] = row->value;
        }
        calc_import_tell(import, row->key, CALC_UNREAD_COMPUTED, row->assumed);
    }
    for (size_t i = 0; i < import->framework->count; i++) {
        const calc_setting_row *row = &import->framework->rows[i];
        if (row->how == CALC_HOW_DEFAULT && row->assumed && !calc_plan_says(r->plan, row->member)) {
            calc_import_tell(import, NULL, CALC_UNREAD_COMPUTED, row->assumed);
        }
    }
}

static calc_status read_settings(const calc_import *import, reading *r);

/* Reads the file that a setting names into the same plan. @param row  NULL: it is not here */
static calc_status take_file(const calc_import *import, const calc_setting *setting,
                             const calc_setting_row *row, reading *r)
{
    char path[CALC_NAMED_PATH_SIZE];
    calc_text text = {0};
    calc_settings settings = {0};
    calc_import inner = *import;
    calc_status status =
        row ? calc_named_open(setting->file ? setting->file : import->name, setting, path, &text)
            : CALC_ERR_IO;
    if (status == CALC_ERR_NOMEM) {
        return calc_errors_status(r->errors, status);
    }
    if (!row || status != CALC_OK) {
        calc_import_tell(import, setting->key, CALC_UNREAD_COST,
                         "its file is not here; what it says is not in the layout");
        return CALC_OK;
    }
    inner.name = path;
    inner.settings = &settings;
    inner.framework = r->named = calc_framework_find(row->text);
    status = calc_settings_from_text(&settings, inner.framework->syntax, text.data, text.length,
                                     path, r->errors);
    status = status == CALC_OK ? read_settings(&inner, r) : status;
    calc_settings_free(&settings);
    calc_text_free(&text);
    return status;
}

/* Whether a row is of a field of the model. @param field  NULL: any */
static bool is_of_model(const calc_setting_row *row, const char *field)
{
    const char *path = row ? calc_plan_field(row->member) : NULL;
    return path && strncmp(path, "app.", 4) == 0 && (!field || strcmp(path + 4, field) == 0);
}

static calc_status read_settings(const calc_import *import, reading *r)
{
    calc_status status = CALC_OK;
    for (size_t i = 0; i < import->settings->count; i++) {
        const calc_setting *setting = &import->settings->item[i];
        const calc_setting_row *row = row_of(import, setting);
        bool computed,
            again = false; /* a factor, which would be multiplied twice: the last counts */
        for (size_t k = i + 1; row && row->how == CALC_HOW_FACTOR && k < import->settings->count;
             k++) {
            again |= row_of(import, &import->settings->item[k]) == row;
        }
        calc_status one = CALC_OK;
        if (says_nothing(import, setting, row, &computed) ||
            (calc_row_is_of_job(row) && import->procs > 0) || again ||
            (row && row->member == CALC_PLAN_MODEL &&
             (row->how == CALC_HOW_NAME || count_words(row, setting->value) != 1))) {
            continue; /* the layout does not need the model's name */
        }
        bool flag = row && *setting->value == '$' && setting->line > 0 &&
                    (row->how == CALC_HOW_IS || row->how == CALC_HOW_SWITCH);
        if (setting->key[0] == '$' || flag) { /* a flag has no value: they are options */
            const char *words = flag ? setting->value : setting->key;
            calc_import_tell(import, words, CALC_UNREAD_COMPUTED,
                             setting->unsure[0] ? "its options are what a run makes them"
                             : words[1] == '('  ? "what it prints is not known"
                                                : "nothing here sets it");
        }
        if (setting->key[0] == '$') {
            continue;
        }
        if (strncmp(setting->key, "line ", 5) == 0) { /* of a script, with a sentence */
            calc_import_tell(import, setting->key, CALC_UNREAD_COMPUTED, setting->value);
        } else if (!row && calc_setting_names_files(setting)) {
            one = take_file(import, setting, NULL, r);
        } else if (row && row->how == CALC_HOW_FILE && count_words(row, setting->value) == 0) {
            one = setting->value[0] ? take_file(import, setting, row, r) : CALC_OK;
        } else if (row && !computed && !import->model && is_of_model(row, NULL) &&
                   strchr(setting->value, '$')) { /* the layout does not need it */
            calc_import_tell(import, setting->key, CALC_UNREAD_COMPUTED, NULL);
        } else if (row && !computed) {
            one = take(import, setting, row, r);
            if (setting->conditional && one == CALC_OK) {
                calc_import_tell(import, setting->key, CALC_UNREAD_BRANCH, NULL);
            }
        } else if (row && row->assumed) {
            if (!r->assumed[row->member] || row < r->assumed[row->member]) {
                r->assumed[row->member] = row;
            }
        } else if (row && (row->how == CALC_HOW_MARKS || row->how == CALC_HOW_LETTERS) &&
                   import->model) {
            one = calc_import_wrong(
                import, setting, CALC_ERR_UNSUPPORTED, NULL,
                "says what the layers are: calc import without --app writes the layout alone",
                r->errors);
        } else if (row) {
            calc_import_tell(import, setting->key, CALC_UNREAD_COMPUTED, NULL);
        } else {
            one = leave(import, setting, computed, r);
        }
        status = status == CALC_OK ? one : status;
    }
    return status;
}

/* Whether settings have one of several options: "--use-a|--use-b=1", up to a blank. */
static bool has_any(const calc_import *import, const char *options, size_t length)
{
    for (size_t i = 0; i < import->settings->count; i++) {
        const calc_setting *s = &import->settings->item[i];
        const char *given = CALC_TEXT(160, "%s=%s", s->key, s->value);
        for (const char *at = options; at < options + length; at += at[strcspn(at, "| ")] == '|') {
            size_t end = strcspn(at, "| "), key = strlen(s->key);
            bool same = strncmp(given, at, end) == 0;
            if (same && (end == key || given[end] == '\0')) {
                return true;
            }
            at += end;
        }
    }
    return false;
}

/* Tells of options that the program refuses without others, which nothing gives it. */
static void check_needs(const calc_import *import)
{
    for (size_t i = 0; i < import->settings->count; i++) {
        const calc_setting *s = &import->settings->item[i];
        const calc_setting_row *row = row_of(import, s);
        if (!row || !row->needs || s->key[0] != '-') {
            continue;
        }
        const char *needs = row->needs;
        bool number = row->how == CALC_HOW_NUMBER;
        for (size_t length; (length = calc_next_word(&needs, " ")) > 0;) {
            char text[200];
            if (!(number && strtod(s->value, NULL) <= 1) &&
                !has_any(import, needs - length, length)) {
                const char *need = needs - length;
                snprintf(text, sizeof text, "refuses %s without %.*s", row->key,
                         (int)strcspn(need, "| "), need);
                if (s->line > 0) {
                    calc_append(text, sizeof text, " (line %d)", s->line);
                }
                calc_import_tell(import, NULL, CALC_UNREAD_COMPUTED, text);
            }
        }
    }
}

calc_status calc_import_plan(const calc_import *import, calc_plan *plan, calc_errors *errors)
{
    reading r = {.plan = plan, .errors = errors};
    calc_plan_clear(plan);
    calc_status status = read_settings(import, &r);
    check_needs(import);
    assume(import, &r);
    /* Megatron Core asks what is sharded where Megatron-FSDP shards it. */
    const calc_setting_row *sharded = r.owner[CALC_PLAN_SHARDED];
    if (sharded && sharded->when == CALC_PLAN_FSDP &&
        !(calc_plan_value(plan, CALC_PLAN_FSDP) > 0)) {
        plan->value[CALC_PLAN_SHARDED] = (double)NAN;
    }
    if (import->procs > 0) {
        plan->value[CALC_PLAN_PROCS] = (double)import->procs;
    }
    if (!calc_plan_says(plan, CALC_PLAN_SEQ) && calc_plan_says(plan, CALC_PLAN_RESPONSE)) {
        plan->value[CALC_PLAN_SEQ] =
            plan->value[CALC_PLAN_RESPONSE] + calc_plan_get(plan, CALC_PLAN_PROMPT, 0);
    }
    const calc_framework *const order[] = {r.named, import->framework};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const calc_framework *settles = order[i];
        while (settles && !settles->settle && !settles->reconcile) {
            settles = settles->bases ? settles->bases[0] : NULL;
        }
        if (settles && settles->reconcile && status == CALC_OK) {
            status = settles->reconcile(plan, errors);
        } else if (settles && status == CALC_OK) {
            settles->settle(plan);
        }
        if (order[i]) {
            calc_framework_defaults(order[i], plan);
        }
    }
    for (size_t i = 0; i < sizeof plan->note / sizeof *plan->note && plan->note[i]; i++) {
        calc_import_tell(import, NULL, CALC_UNREAD_COMPUTED, plan->note[i]);
    }
    return status;
}

calc_status calc_import_run(const calc_import *import, calc_app *app, calc_exec *exec,
                            calc_errors *errors)
{
    calc_plan plan;
    calc_status status = calc_import_plan(import, &plan, errors);
    return status == CALC_OK ? calc_plan_apply(&plan, app, exec, errors) : status;
}

calc_status calc_import_complete(const calc_import *import, const calc_app *app,
                                 calc_errors *errors)
{
    const calc_table *table = calc_table_of(CALC_KIND_APP);
    calc_status status = CALC_OK;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        if ((field->flags & CALC_OPTIONAL) ||
            calc_member_number(field, (const char *)app + field->offset) > 0) {
            continue;
        }
        const char *key = NULL;
        for (size_t k = 0; k < import->framework->count && !key; k++) {
            const calc_setting_row *row = &import->framework->rows[k];
            key = !row->read_only && is_of_model(row, field->key) ? row->key : NULL;
        }
        status = calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL, NULL,
                                 "the model needs %s, and %s is missing", field->key,
                                 key ? key : "its setting");
    }
    calc_errors found = {0};
    calc_rules_model(app, false, &found);
    if (status != CALC_OK || found.count == 0) {
        return status;
    }
    const calc_error *e = &found.item[0];
    for (size_t i = 0; i < import->settings->count; i++) {
        const calc_setting *s = &import->settings->item[i];
        const calc_setting_row *row = row_of(import, s);
        if (is_of_model(row, e->pointer + 1)) {
            return calc_import_wrong(import, s, e->status, NULL, e->text, errors);
        }
    }
    return calc_errors_add(errors, e->status, CALC_KIND_NONE, NULL, e->hint, "the model: %s: %s",
                           e->pointer + 1, e->text);
}
