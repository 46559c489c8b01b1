#include "io/space_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/json_load.h"
#include "io/json_runs.h"
#include "spec/field.h"
#include "spec/serving_engine.h"
#include "spec/software.h"

const char *const calc_space_options[] = {"procs",      "batch",    "axis",   "set",  "for",
                                          "compat",     "where",    "tokens", "days", "budget",
                                          "objectives", "top-by",   "top",    "per",  "threads",
                                          "verify",     "no-prune", "cpu",    NULL};

/* Lack of memory is not reported here: parse() sees that the entry is not whole. */

/* The text of a scalar; NULL if an error was added or memory is short. */
static char *text_of(calc_json_report *report, const json_t *value, const char *expected)
{
    if (json_is_object(value) || json_is_array(value) || json_is_null(value)) {
        calc_json_value_type_error(report, expected, value, NULL);
        return NULL;
    }
    return calc_json_value_words(value);
}

/* {"max": N} as "<=N"; NULL likewise. */
static char *maximum_of(calc_json_report *report, const json_t *object, const char *expected)
{
    const json_t *max = json_object_get(object, "max");
    if (!max || json_object_size(object) != 1) {
        calc_json_value_type_error(report, expected, object, NULL);
        return NULL;
    }
    char *number = NULL;
    CALC_JSON_INSIDE (report, calc_json_report_enter(report, "max")) {
        number = text_of(report, max, "a number or a range");
    }
    char *text = number ? malloc(strlen(number) + 3) : NULL;
    if (text) {
        sprintf(text, "<=%s", number);
    }
    free(number);
    return text;
}

static void read_list(calc_json_report *report, calc_space_entry *entry, const json_t *list)
{
    size_t count = json_array_size(list);
    if (count == 0) {
        calc_json_report_add(report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "the list is empty, expected at least one value");
        return;
    }
    entry->list = true;
    entry->item = calloc(count, sizeof *entry->item);
    for (size_t i = 0; entry->item && i < count && report->found.count < CALC_MAX_ERRORS; i++) {
        size_t mark = calc_json_report_enter_index(report, i);
        char *text = text_of(report, json_array_get(list, i), "a number, text, true or false");
        calc_json_report_leave(report, mark);
        if (text) {
            entry->item[entry->count++] = text;
        }
    }
}

static void read_entry(calc_json_report *report, calc_space_entry *entry, const char *key,
                       const json_t *value)
{
    const char *expected = "a value, a list, a range \"lo:hi:step\", \"*\" or {\"max\": N}";
    entry->key = strdup(key);
    snprintf(entry->pointer, sizeof entry->pointer, "%s", report->pointer);
    if (json_is_array(value)) {
        read_list(report, entry, value);
        return;
    }
    entry->item = malloc(sizeof *entry->item);
    char *text = json_is_object(value) ? maximum_of(report, value, expected)
                                       : text_of(report, value, expected);
    if (text && entry->item) {
        entry->item[entry->count++] = text;
    } else {
        free(text);
    }
}

/* Maximum number of entries of an object. */
static size_t entries_of(json_t *object)
{
    const char *key;
    json_t *value;
    size_t count = json_object_size(object);
    json_object_foreach (object, key, value) {
        count += entries_of(value);
    }
    return count;
}

/* Read the members of an object; their keys begin with `prefix`. */
static void read_object(calc_json_report *report, calc_space_entries *out, const char *prefix,
                        json_t *object)
{
    const char *key;
    json_t *value;
    int position = 0;
    json_object_foreach (object, key, value) {
        if (report->found.count == CALC_MAX_ERRORS) {
            break;
        }
        if (!*prefix && strcmp(key, "format") == 0) { /* was checked */
            position++;
            continue;
        }
        char name[128];
        const calc_field *field = calc_table_find(calc_table_of(CALC_KIND_EXEC), key);
        size_t mark = calc_json_report_enter(report, key);
        snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", key);
        calc_field_ref ref;
        if (json_is_object(value) && calc_field_find(CALC_KIND_EXEC, name, &ref) == CALC_OK &&
            ref.field->type == CALC_TYPE_OBJECT) { /* a field that has fields itself */
            read_object(report, out, name, value);
        } else if (!*prefix && field && field->flags & (CALC_STAGES | CALC_LAYERS)) {
            calc_json_report_add(report, CALC_ERR_FIELD, position, "leave the list out",
                                 "%s are not listed in a space: %s", key,
                                 strcmp(key, "stages") == 0 ? "a sweep spreads the blocks"
                                                            : "all of its layers are alike");
        } else {
            calc_space_entry *entry = &out->entry[out->count++];
            read_entry(report, entry, *prefix ? name : key, value);
            entry->position = *prefix ? -1 : position;
            /* Whether memory sufficed for an entry that had no error. */
            bool whole = entry->count == (json_is_array(value) ? json_array_size(value) : 1);
            if (report->found.count == 0) {
                calc_json_report_made(report, whole ? entry->key : NULL);
            }
        }
        calc_json_report_leave(report, mark);
        position++;
    }
}

/* Read out->text. */
static calc_status parse(calc_space_entries *out, calc_errors *errors)
{
    calc_json_report report = {.kind = CALC_KIND_NONE,
                               .name = out->name,
                               .text = out->text.data,
                               .length = out->text.length};
    json_t *root = calc_json_load_text(&report, out->text.data, out->text.length);
    if (root && !json_is_object(root)) {
        calc_json_value_type_error(&report, "an object", root, NULL);
    } else if (root && calc_json_bind_format(&report, root)) {
        out->entry = calloc(entries_of(root) + 1, sizeof *out->entry);
        if (calc_json_report_made(&report, out->entry)) {
            read_object(&report, out, "", root);
        }
    }
    json_decref(root);
    return calc_json_report_close(&report, errors);
}

calc_status calc_space_parse(calc_space_entries *out, const char *text, size_t length,
                             const char *name, calc_errors *errors)
{
    *out = (calc_space_entries){.name = strdup(name), .text = {malloc(length + 1), length}};
    if (!out->name || !out->text.data) {
        return calc_errors_no_memory(errors);
    }
    memcpy(out->text.data, text, length);
    out->text.data[length] = '\0';
    return parse(out, errors);
}

calc_status calc_space_parse_exec(calc_exec *exec, int *absent, const char *text, size_t length,
                                  const char *name, calc_errors *errors)
{
    calc_json_report report = {
        .kind = CALC_KIND_EXEC, .name = name, .text = text, .length = length, .partial = true};
    calc_json_bind_document(&report, calc_table_of(CALC_KIND_EXEC), exec);
    *absent = report.absent;
    return calc_json_report_close(&report, errors);
}

calc_status calc_space_load(calc_space_entries *out, const char *path, calc_errors *errors)
{
    *out = (calc_space_entries){.name = strdup(strcmp(path, "-") == 0 ? "<stdin>" : path)};
    if (!out->name) {
        return calc_errors_no_memory(errors);
    }
    calc_status status = calc_text_read(&out->text, path, errors);
    return status == CALC_OK ? parse(out, errors) : status;
}

void calc_space_entries_free(calc_space_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        calc_space_entry *entry = &entries->entry[i];
        for (size_t k = 0; k < entry->count; k++) {
            free(entry->item[k]);
        }
        free(entry->item);
        free(entry->key);
    }
    free(entries->entry);
    free(entries->name);
    calc_text_free(&entries->text);
    *entries = (calc_space_entries){0};
}

char *calc_space_entry_pointer(const calc_space_entry *entry, size_t item, char buffer[128])
{
    if (entry->list) {
        snprintf(buffer, 128, "%.100s/%zu", entry->pointer, item);
    } else {
        snprintf(buffer, 128, "%s", entry->pointer);
    }
    return buffer;
}

void calc_space_entries_locate(const calc_space_entries *entries, calc_errors *errors, int first)
{
    for (int i = first; i < errors->count; i++) {
        calc_error *error = &errors->item[i];
        if (error->pointer[0] && !error->file[0]) {
            calc_json_place place;
            int key = CALC_JSON_VALUE; /* position of the key that it is about, if of one */
            for (size_t n = entries->count; n-- > 0 && error->status == CALC_ERR_FIELD;) {
                const calc_space_entry *entry = &entries->entry[n];
                bool same = strcmp(entry->pointer, error->pointer) == 0 && entry->position >= 0;
                key = same ? entry->position : key;
            }
            calc_json_locate(entries->text.data, entries->text.length,
                             key == CALC_JSON_VALUE ? error->pointer : "", key, &place);
            calc_error_place(error, entries->name, place.line, place.column);
        }
    }
}

/* Reads documents that an execution names: of its software (spec/software.h), numbers and words of
 * an execution, of which any may be absent; and of its serving engine (spec/serving_engine.h). */

enum { PATH_SIZE = 4096 };

/* What needs documents or lists of its own is for a layout to say. */
static calc_status refuse(const calc_exec *software, calc_errors *errors)
{
    const calc_table *table = calc_table_of(CALC_KIND_EXEC);
    calc_status status = CALC_OK;
    for (size_t i = 0; i < table->count; i++) {
        const calc_field *field = &table->rows[i];
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/%s", field->key);
        if (calc_exec_rows_has(&software->stated, i) &&
            (field->type == CALC_TYPE_OBJECT ||
             field->flags & (CALC_STAGES | CALC_LAYERS | CALC_SOFTWARE))) {
            status = calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_EXEC, pointer,
                                     "a layout says it", "software has no \"%s\"", field->key);
        }
    }
    return status;
}

/* A document that a member of an execution names: a path, or a name in a folder of executions.
 * Errors of the name are placed at the member. */
static calc_status read_text(calc_text *text, char path[PATH_SIZE], const char *folder,
                             const char *name, const char *pointer, calc_session_find *find,
                             void *context, calc_errors *errors)
{
    char file[CALC_SOFTWARE_NAME + 16];
    bool is_path = !find || strchr(name, '/') || strstr(name, ".json");
    int before = errors->count;
    snprintf(file, sizeof file, "%s%s", is_path ? "" : folder, name);
    snprintf(path, PATH_SIZE, "%s", file);
    calc_status status =
        find ? find(context, CALC_KIND_EXEC, file, path, PATH_SIZE, errors) : CALC_OK;
    status = status == CALC_OK ? calc_text_read(text, path, errors) : status;
    if (status != CALC_OK && errors->count > before) {
        calc_error *error = &errors->item[before];
        error->kind = CALC_KIND_EXEC;
        error->file[0] = '\0';
        snprintf(error->pointer, sizeof error->pointer, "%s", pointer);
    }
    return status;
}

calc_status calc_engine_parse(calc_serving_engine *engine, const char *text, size_t length,
                              const char *name, calc_errors *errors)
{
    calc_json_report report = {
        .kind = CALC_KIND_NONE, .name = name, .text = text, .length = length};
    char own[sizeof engine->name];
    strcpy(own, engine->name);
    calc_json_bind_document(&report, calc_serving_engine_table(), engine);
    strcpy(engine->name, own);
    engine->read = true;
    return calc_json_report_close(&report, errors);
}

static calc_status read_engine(calc_serving_engine *engine, calc_session_find *find, void *context,
                               calc_errors *errors)
{
    char path[PATH_SIZE];
    calc_text text = {0};
    if (!*engine->name || engine->read) {
        return CALC_OK;
    }
    calc_status status = read_text(&text, path, CALC_ENGINE_FOLDER, engine->name,
                                   "/inference/engine", find, context, errors);
    status = status == CALC_OK ? calc_engine_parse(engine, text.data, text.length, path, errors)
                               : status;
    calc_text_free(&text);
    return status;
}

calc_status calc_software_read(calc_exec *exec, calc_session_find *find, void *context,
                               calc_errors *errors)
{
    char path[PATH_SIZE];
    calc_exec software;
    calc_text text = {0};
    int absent;
    calc_status status = read_engine(&exec->inference.engine, find, context, errors);
    if (!exec->software[0] || status != CALC_OK) {
        return status;
    }
    status = read_text(&text, path, CALC_SOFTWARE_FOLDER, exec->software, "/software", find,
                       context, errors);
    if (status != CALC_OK) {
        return status;
    }
    status = calc_space_parse_exec(&software, &absent, text.data, text.length, path, errors);
    if (status == CALC_OK) {
        status = refuse(&software, errors);
        calc_errors_locate(errors, CALC_KIND_EXEC, text.data, text.length, path);
        calc_software_apply(exec, &software);
    }
    calc_text_free(&text);
    return status;
}
