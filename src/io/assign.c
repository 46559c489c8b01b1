/* calc_set(): one field by name. The value is JSON, or a bare word where JSON would need quotes. */

#include "base/buffer.h"
#include "io/json_load.h"
#include "io/json_report.h"
#include "io/json_runs.h"
#include "io/utf8.h"
#include "spec/alias.h"
#include "spec/field.h"
#include "spec/software.h"
#include "spec/stack.h"
#include "spec/value_text.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 128, KINDS = 3 };

static const calc_kind kinds[KINDS] = {CALC_KIND_APP, CALC_KIND_SYSTEM, CALC_KIND_EXEC};

/* One assignment, taken apart. */
typedef struct assignment {
    calc_kind only;       /* the prefix; CALC_KIND_NONE if there is none */
    char path[PATH_SIZE]; /* without the prefix */
    void *object[KINDS];
} assignment;

/* Parse `[app.|sys.|exe.]path`, which ends at `end`. */
static bool split_path(assignment *set, const char *text, const char *end, calc_json_report *report)
{
    set->only = calc_kind_split(&text, CALC_KIND_EXEC);
    if (end - text >= PATH_SIZE) {
        calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, NULL,
                             "no field has so long a name");
        return false;
    }
    snprintf(set->path, sizeof set->path, "%.*s", (int)(end - text), text);
    return true;
}

static void ambiguous_field(const assignment *set, const calc_field_ref *refs, int count,
                            calc_json_report *report)
{
    char list[64] = "";
    char hint[256] = "qualify it:";
    for (int i = 0; i < count; i++) {
        const char *name = calc_kind_name(refs[i].kind);
        const char *comma = i == 0 ? "" : i + 1 < count ? "," : " and";
        const char * or = i == 0 ? "" : i + 1 < count ? "," : " or";
        calc_append(list, sizeof list, "%s %s", comma, name);
        calc_append(hint, sizeof hint, "%s %s.%s", or, name, set->path);
    }
    calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, hint, "\"%s\" is in%s", set->path,
                         list);
}

/* Whether the element at the path's index exists in the struct. */
static bool element_exists(const assignment *set, int i, calc_json_report *report)
{
    char list[PATH_SIZE];
    calc_field_ref ref;
    const char *bracket = strchr(set->path, '[');
    if (!bracket) {
        return true;
    }
    snprintf(list, sizeof list, "%.*s", (int)(bracket - set->path), set->path);
    if (calc_field_find(kinds[i], list, &ref) != CALC_OK || ref.field->type != CALC_TYPE_LIST) {
        return true;
    }
    const char *object = set->object[i];
    const void *member = object + ref.offset - ref.field->offset + ref.field->count;
    long long count = (long long)*(const int64_t *)member;
    long long index = strtoll(bracket + 1, NULL, 10);
    if (index < count) {
        return true;
    }
    calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, "the first one has index 0",
                         "there is no %s[%lld]: the list has %lld element%s", list, index, count,
                         count == 1 ? "" : "s");
    return false;
}

/* Find the one field that the path names; *which is the document it is in. */
static bool find(const assignment *set, calc_field_ref *ref, int *which, calc_json_report *report)
{
    calc_field_ref refs[KINDS];
    int count = 0;
    for (int i = 0; i < KINDS; i++) {
        if (set->only != CALC_KIND_NONE && set->only != kinds[i]) {
            continue;
        }
        if (!element_exists(set, i, report)) {
            return false;
        }
        if (calc_field_find(kinds[i], set->path, &refs[count]) == CALC_OK) {
            *which = i;
            count++;
        }
    }
    if (count == 0) {
        char hint[PATH_SIZE + 32];
        calc_alias_hint(set->only, set->path, NULL, hint, sizeof hint);
        calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, hint,
                             "unknown field \"%s\"%s%s",
                             calc_utf8_shown(set->path, strlen(set->path)),
                             set->only == CALC_KIND_NONE ? "" : " in ", calc_kind_name(set->only));
    } else if (refs[0].field->type == CALC_TYPE_NOTE && !calc_json_is_list(refs[0].field)) {
        calc_json_report_add(report, CALC_ERR_FIELD, CALC_JSON_VALUE, NULL,
                             "\"%s\" is a note for people and cannot be set", set->path);
    } else if (count > 1 && refs[count - 1].field->type != CALC_TYPE_INT &&
               !calc_json_is_list(refs[count - 1].field)) {
        ambiguous_field(set, refs, count, report);
    } else {
        /* A field that the execution has too (seq_size) means the execution's, which overrides the
         * application's. For choices the application's may apply first, so the assignment must say
         * which is meant. */
        *ref = refs[count - 1];
        return true;
    }
    return false;
}

static bool is_utf8(const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        size_t step = calc_utf8_length(text, left);
        if (step == 0) {
            return false;
        }
        text += step;
        left -= step;
    }
    return true;
}

/* Blocks of stages or layers, "3,7x11", as the array that a file would have. */
static json_t *blocks_of(const char *text)
{
    json_t *array = json_array();
    bool fine = array != NULL;
    while (fine && *text) {
        size_t length = strcspn(text, ",");
        char *end;
        long blocks = strtol(text, &end, 10);
        fine = json_array_append_new(array, end == text + length ? json_integer(blocks)
                                                                 : json_stringn(text, length)) == 0;
        text += length + (text[length] == ',');
    }
    if (!fine) {
        json_decref(array);
    }
    return fine ? array : NULL;
}

/* The value as JSON; NULL if an error was added. */
static json_t *read_value(const calc_field *field, const char *text, calc_json_report *report)
{
    bool list = calc_json_is_list(field);
    bool composite = list || field->table || field->type == CALC_TYPE_CURVE ||
                     field->type == CALC_TYPE_OP || field->type == CALC_TYPE_SET;
    bool bracket = text[0] == '[' || text[0] == '{';
    if ((composite && bracket) || !is_utf8(text)) {
        return calc_json_load_text(report, text, strlen(text));
    }
    calc_json_mistake mistake;
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    bool word = isalpha((unsigned char)text[0]);
    if (!value && !word && !calc_json_syntax_check(text, strlen(text), false, &mistake)) {
        return calc_json_load_text(report, text, strlen(text)); /* which says why it is not read */
    }
    if (list && !json_is_null(value)) {
        json_decref(value);
        value = field->flags & (CALC_STACK | CALC_SOFTWARE) ? json_string(text) : blocks_of(text);
    } else if (!value) {
        value = json_string(text);
    }
    return calc_json_report_made(report, value);
}

/* "80GiB" as the number that the field has in a file; other values as they are. NULL: no memory. */
static json_t *number_of_amount(const calc_field *field, json_t *value)
{
    double number;
    const char *text = json_string_value(value);
    bool whole = field->type == CALC_TYPE_INT;
    if (!text || !(whole || field->type == CALC_TYPE_REAL) ||
        calc_amount_read(text, field->unit, &number) != CALC_AMOUNT_UNIT) {
        return json_incref(value);
    }
    return whole && number == floor(number) && fabs(number) < 0x1p53
               ? json_integer((json_int_t)number)
               : json_real(number);
}

/* Set the field if its value is right. */
static void bind(const assignment *set, const calc_field_ref *ref, int which, json_t *value,
                 calc_json_report *report)
{
    union {
        calc_app app;
        calc_system system;
        calc_exec exec;
    } changed;
    size_t size = calc_table_of(ref->kind)->size;
    int before = report->found.count + report->found.dropped;
    json_t *number = calc_json_report_made(report, number_of_amount(ref->field, value));
    memcpy(&changed, set->object[which], size);
    if (calc_json_is_list(ref->field) && json_is_null(value)) {
        calc_json_lists_take(ref->field, &changed);
    } else if (calc_json_is_list(ref->field)) {
        calc_json_lists_bind(report, ref->field, value, &changed);
    } else if (number && !calc_json_bind_automatic(ref->field, value, &changed)) {
        calc_json_bind_field(report, ref->field, number, (char *)&changed + ref->offset);
    }
    json_decref(number);
    if (ref->kind == CALC_KIND_EXEC) {
        calc_software_state(&changed.exec, ref->field);
    } else if (ref->kind == CALC_KIND_APP) {
        calc_stack_follow(set->object[which], &changed.app);
    }
    if (report->found.count + report->found.dropped == before) {
        memcpy(set->object[which], &changed, size);
    }
}

/* @param known  the field that the text names; NULL: it is to be found */
static calc_status assign(assignment *set, const char *text, const calc_field_ref *known,
                          calc_field_ref *where, calc_errors *errors)
{
    calc_field_ref ref;
    int which = 0;
    char name[CALC_UTF8_SHOW_SIZE + 8];
    snprintf(name, sizeof name, "--set %s", calc_utf8_shown(text, strlen(text)));
    calc_json_report report; /* its errors are large, and set when they are found */
    memset(&report, 0, offsetof(calc_json_report, found.item));
    report.kind = CALC_KIND_NONE;
    report.name = name;
    const char *equals = strchr(text, '=');
    if (!equals) {
        calc_json_report_add(&report, CALC_ERR_FIELD, CALC_JSON_VALUE, "for example tensor_par=8",
                             "expected FIELD=VALUE");
    }
    if (!equals || !split_path(set, text, equals, &report) ||
        (!known && !find(set, &ref, &which, &report))) {
        return calc_json_report_close(&report, errors);
    }
    if (known) {
        ref = *known;
        while (which < KINDS - 1 && kinds[which] != ref.kind) {
            which++;
        }
    }
    report.kind = ref.kind;
    calc_path_pointer(set->path, report.pointer, sizeof report.pointer);
    json_t *value = read_value(ref.field, equals + 1, &report);
    if (value) {
        bind(set, &ref, which, value, &report);
        json_decref(value);
    }
    if (where && report.found.count == 0) {
        *where = ref;
    }
    return calc_json_report_close(&report, errors);
}

calc_status calc_set(calc_app *app, calc_system *system, calc_exec *exec, const char *text,
                     calc_field_ref *where, calc_errors *errors)
{
    assignment set = {.object = {app, system, exec}};
    return assign(&set, text, NULL, where, errors);
}

calc_status calc_assign_again(void *const object[CALC_ASSIGN_KINDS], const calc_field_ref *field,
                              const char *text, calc_errors *errors)
{
    assignment set = {.object = {object[0], object[1], object[2]}};
    return assign(&set, text, field, NULL, errors);
}

void calc_assign(calc_json_report *report, void *const object[CALC_ASSIGN_KINDS], const char *path,
                 json_t *value)
{
    assignment set = {.object = {object[0], object[1], object[2]}};
    calc_field_ref ref;
    int which = 0;
    if (split_path(&set, path, path + strlen(path), report) && find(&set, &ref, &which, report)) {
        bind(&set, &ref, which, value, report);
    }
}
