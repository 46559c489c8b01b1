#include "formats/import.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "io/utf8.h"
#include "spec/field.h"

/* Whether a row is of the size of the job, which --procs gives instead. */
static bool is_of_job(const calc_setting_row *row)
{
    return row && (row->member == CALC_PLAN_NODES || row->member == CALC_PLAN_NODE_PROCS);
}

/* Adds an error about a setting, with its place or the number of the argument. */
static calc_status wrong(const calc_import *import, const calc_setting *setting, calc_status status,
                         const char *text, calc_errors *errors)
{
    char argument[32] = "";
    char key[CALC_UTF8_SHOW_SIZE];
    if (setting->argument > 0) {
        snprintf(argument, sizeof argument, "argument %d: ", setting->argument);
    }
    const calc_setting_row *row = calc_framework_row(import->framework, setting->key);
    const char *hint = !strchr(setting->value, '$') ? NULL
                       : is_of_job(row)             ? "--procs N says how many processors there are"
                                        : "nothing in a script is executed: write the value there";
    return calc_errors_at(errors, status, setting->line > 0 ? import->name : NULL, setting->line,
                          setting->column, hint, "%s%s: %s", argument,
                          calc_utf8_show(key, setting->key, strlen(setting->key)), text);
}

static calc_status take(const calc_import *import, const calc_setting *setting,
                        const calc_setting_row *row, const calc_setting_row *owner[CALC_PLAN_COUNT],
                        calc_plan *plan, calc_errors *errors)
{
    char expect[160];
    char text[320];
    char shown[CALC_UTF8_SHOW_SIZE];
    const calc_setting_row *other = owner[row->member];
    double before = plan->value[row->member];
    if (!calc_row_read(row, setting->value, plan, expect, sizeof expect)) {
        snprintf(text, sizeof text, "expected %s, found \"%s\"", expect,
                 calc_utf8_show(shown, setting->value, strlen(setting->value)));
        return wrong(import, setting, CALC_ERR_RANGE, text, errors);
    }
    double now = plan->value[row->member];
    bool one_of = row->how == CALC_HOW_IS || row->how == CALC_HOW_RECOMPUTED;
    if (other && other != row && one_of && other->how != CALC_HOW_SWITCH && now != before &&
        (other->how == CALC_HOW_IS || other->how == CALC_HOW_RECOMPUTED)) {
        snprintf(text, sizeof text, "contradicts %s", other->key);
        return wrong(import, setting, CALC_ERR_RULE, text, errors);
    }
    if (row->member == CALC_PLAN_DROPOUT && before > now) {
        plan->value[row->member] = before; /* either of the two rates */
    }
    owner[row->member] = row;
    return CALC_OK;
}

/* Whether a value leaves the member open: null, "default", -1 for a size, or a value that the
 * framework computes ("${.hidden_size}", "auto"). */
static bool says_nothing(const calc_import *import, const calc_setting *setting,
                         const calc_setting_row *row, bool *computed)
{
    calc_syntax syntax = import->framework->syntax;
    bool number = row && row->how == CALC_HOW_NUMBER;
    *computed = syntax != CALC_SYNTAX_SHELL && strncmp(setting->value, "${", 2) == 0;
    if (syntax != CALC_SYNTAX_JSON && syntax != CALC_SYNTAX_TOML) {
        return syntax != CALC_SYNTAX_SHELL && !setting->value[0];
    }
    *computed = *computed || strcmp(setting->value, "auto") == 0;
    return !setting->value[0] || (number && strcmp(setting->value, "-1") == 0) ||
           strcmp(setting->value, "default") == 0;
}

/* Whether a model's name matches exactly one name of the table: "llama3" matches several. */
static bool names_one_model(const calc_setting_row *row, const char *name)
{
    int found = 0;
    for (const calc_word *word = row->words; word->word; word++) {
        found += strcasecmp(word->word, name) == 0;
    }
    return found == 1;
}

/* Tells of a setting that is not read. */
static calc_status leave(const calc_import *import, const calc_setting *setting, calc_unread what,
                         calc_errors *errors)
{
    if (what == CALC_UNREAD_MODEL && import->model) {
        return wrong(import, setting, CALC_ERR_UNSUPPORTED,
                     "changes the model, and calc does not read it: without --app the layout alone "
                     "is written",
                     errors);
    }
    if (import->unread) {
        import->unread(import->context, setting->key, what, NULL);
    }
    return CALC_OK;
}

/* Sets what the framework is to compute, where no setting says it; of rows for the same, the first
 * in the table counts. */
static void assume(const calc_import *import,
                   const calc_setting_row *const assumed[CALC_PLAN_COUNT], calc_plan *plan)
{
    for (int i = 0; i < CALC_PLAN_COUNT; i++) {
        const calc_setting_row *row = assumed[i];
        if (!row || calc_plan_says(plan, row->member)) {
            continue;
        }
        if (row->value > 0) {
            plan->value[row->member] = row->value;
        }
        if (import->unread) {
            import->unread(import->context, row->key, CALC_UNREAD_COMPUTED, row->assumed);
        }
    }
}

calc_status calc_import_plan(const calc_import *import, calc_plan *plan, calc_errors *errors)
{
    const calc_setting_row *owner[CALC_PLAN_COUNT] = {NULL}, *assumed[CALC_PLAN_COUNT] = {NULL};
    calc_status status = CALC_OK;
    calc_plan_clear(plan);
    for (size_t i = 0; i < import->settings->count; i++) {
        const calc_setting *setting = &import->settings->item[i];
        const calc_setting_row *row = calc_framework_row(import->framework, setting->key);
        bool computed;
        calc_status one = CALC_OK;
        if (says_nothing(import, setting, row, &computed) ||
            (is_of_job(row) && import->procs > 0)) {
            continue;
        }
        if (row && row->member == CALC_PLAN_MODEL && !names_one_model(row, setting->value)) {
            continue; /* the layout does not need it */
        }
        if (!row) {
            one = leave(
                import, setting,
                computed ? CALC_UNREAD_HARMLESS
                         : calc_framework_unread(import->framework, setting->key, setting->value),
                errors);
        } else if (!computed) {
            one = take(import, setting, row, owner, plan, errors);
        } else if (!row->assumed) {
            one = leave(import, setting, CALC_UNREAD_COMPUTED, errors);
        } else if (!assumed[row->member] || row < assumed[row->member]) {
            assumed[row->member] = row;
        }
        status = status == CALC_OK ? one : status;
    }
    assume(import, assumed, plan);
    /* Layers that recompute from one checkpoint together are each taken with one of its own. */
    const calc_setting_row *groups = owner[CALC_PLAN_RECOMPUTE_BLOCKS];
    if (groups && calc_plan_value(plan, CALC_PLAN_RECOMPUTE_BLOCKS) > 1 &&
        calc_plan_value(plan, CALC_PLAN_RECOMPUTE) == 2 &&
        calc_plan_value(plan, CALC_PLAN_RECOMPUTE_METHOD) == 0 && import->unread) {
        import->unread(import->context, groups->key, CALC_UNREAD_COST, NULL);
    }
    if (import->procs > 0) {
        plan->value[CALC_PLAN_PROCS] = (double)import->procs;
    }
    if (status == CALC_OK && import->framework->settle) {
        status = import->framework->settle(plan, errors);
    }
    calc_framework_defaults(import->framework, plan);
    return status;
}

calc_status calc_import_run(const calc_import *import, calc_app *app, calc_exec *exec,
                            calc_errors *errors)
{
    calc_plan plan;
    calc_status status = calc_import_plan(import, &plan, errors);
    return status == CALC_OK ? calc_plan_apply(&plan, app, exec, errors) : status;
}

/* The framework's name of a field; NULL if it has none. */
static const char *key_of(const calc_framework *framework, const char *field)
{
    for (size_t i = 0; i < framework->count; i++) {
        const calc_setting_row *row = &framework->rows[i];
        const char *path = calc_plan_field(row->member);
        if (row->key && !row->read_only && path && strncmp(path, "app.", 4) == 0 &&
            strcmp(path + 4, field) == 0) {
            return row->key;
        }
    }
    return NULL;
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
        const char *key = key_of(import->framework, field->key);
        status = calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL, NULL,
                                 "the model needs %s, and %s is missing", field->key,
                                 key ? key : "its setting");
    }
    return status;
}
