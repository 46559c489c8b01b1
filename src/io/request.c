#include "io/request.h"

#include "base/error.h"
#include "io/assign.h"
#include "io/json_bind.h"
#include "io/json_load.h"
#include "io/json_value.h"
#include "io/utf8.h"
#include "spec/field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Keys ------------------------------------------------------------------------------------ */

/* One request while it is read. */
typedef struct reading {
    calc_request_reader *reader;
    calc_request *request;
    calc_json_report *report;
} reading;

static void *document(calc_request_documents *documents, calc_kind kind)
{
    void *const object[] = {&documents->app, &documents->system, &documents->exec};
    return object[kind];
}

/* Errors beyond those that are kept count too. */
static int found_so_far(const calc_json_report *report)
{
    return report->found.count + report->found.dropped;
}

/* Add an error that already has its place. */
static void append(calc_json_report *report, const calc_error *error)
{
    if (report->found.count < CALC_MAX_ERRORS) {
        report->found.item[report->found.count++] = *error;
    } else {
        report->found.dropped++;
    }
}

/* What a document that came as contents says beside its fields. */
static calc_remark_facts facts_of(const json_t *value)
{
    const json_t *source = json_object_get(value, "source");
    calc_text text = {.data = json_is_string(source) ? strdup(json_string_value(source)) : NULL};
    calc_remark_facts facts = calc_remark_read(&text);
    facts.no_structure = !json_object_get(value, "structure_type");
    facts.no_attention = !json_object_get(value, "causal");
    calc_text_free(&text);
    return facts;
}

/* A document: its name, or its contents. It replaces the last one if it has no errors. */
static void read_document(reading *r, json_t *value, size_t which)
{
    const calc_kind kind = (calc_kind)which;
    calc_request_documents *last = &r->reader->last;
    calc_json_report *report = r->report;
    void *object = document(&r->request->used, kind);
    int before = found_so_far(report);
    calc_remark_facts facts = {0};
    if (json_is_string(value)) {
        calc_errors errors = {0};
        if (r->reader->find(r->reader->context, kind, json_string_value(value), object, &facts,
                            &errors) != CALC_OK) {
            for (int i = 0; i < errors.count; i++) {
                append(report, &errors.item[i]);
            }
        }
    } else if (json_is_object(value)) {
        report->kind = kind;
        calc_json_bind_table(report, calc_table_of(kind), value, object);
        report->kind = CALC_KIND_NONE;
        facts = facts_of(value);
    } else {
        calc_json_value_type_error(report, "a name or an object", value, NULL);
    }
    if (found_so_far(report) == before) {
        memcpy(document(last, kind), object, calc_table_of(kind)->size);
        last->given[kind] = true;
        r->request->used.facts[kind] = last->facts[kind] = facts;
        if (kind == CALC_KIND_SYSTEM) {
            const char *name = json_string_value(value);
            snprintf(last->machine, sizeof last->machine, "%s", name ? name : "");
            memcpy(r->request->used.machine, last->machine, sizeof last->machine);
        }
    }
}

/* A change as text: "tensor_par=8". */
static void set_text(reading *r, json_t *value)
{
    calc_request_documents *used = &r->request->used;
    calc_errors errors = {0};
    if (!json_is_string(value)) {
        calc_json_value_type_error(r->report, "\"FIELD=VALUE\"", value, NULL);
    } else if (calc_set(&used->app, &used->system, &used->exec, json_string_value(value), NULL,
                        &errors) != CALC_OK) {
        append(r->report, &errors.item[0]);
    }
}

/* Changes: {"FIELD": VALUE} or ["FIELD=VALUE"]. */
static void read_set(reading *r, json_t *value, size_t none)
{
    (void)none;
    calc_request_documents *used = &r->request->used;
    void *const object[CALC_ASSIGN_KINDS] = {&used->app, &used->system, &used->exec};
    const char *key;
    json_t *element;
    if (json_is_object(value)) {
        json_object_foreach (value, key, element) {
            size_t mark = calc_json_report_enter(r->report, key);
            calc_assign(r->report, object, key, element);
            calc_json_report_leave(r->report, mark);
        }
    } else if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++) {
            size_t mark = calc_json_report_enter_index(r->report, i);
            set_text(r, json_array_get(value, i));
            calc_json_report_leave(r->report, mark);
        }
    } else {
        calc_json_value_type_error(r->report, "an object or an array of \"FIELD=VALUE\"", value,
                                   NULL);
    }
}

static void read_stat(reading *r, const json_t *value)
{
    const calc_table *table = calc_table_of(CALC_KIND_STATS);
    const char *name = json_string_value(value);
    const calc_field *field = name ? calc_table_find(table, name) : NULL;
    bool again = false;
    for (size_t i = 0; i < r->request->stat_count; i++) {
        again = again || r->request->stat[i] == field;
    }
    if (!name) {
        calc_json_value_type_error(r->report, "the name of a statistic", value, NULL);
    } else if (!field) {
        char shown[CALC_UTF8_SHOW_SIZE];
        char hint[CALC_HINT_SIZE];
        calc_did_you_mean(calc_json_bind_nearest(table, name), hint);
        calc_json_report_add(r->report, CALC_ERR_FIELD, CALC_JSON_VALUE, hint,
                             "no statistic \"%s\"", calc_utf8_show(shown, name, strlen(name)));
    } else if (again) {
        calc_json_report_add(r->report, CALC_ERR_FIELD, CALC_JSON_VALUE, NULL, "%s is named twice",
                             field->key);
    } else {
        r->request->stat[r->request->stat_count++] = field;
    }
}

static void read_stats(reading *r, json_t *value, size_t none)
{
    (void)none;
    size_t count = json_array_size(value);
    if (!json_is_array(value)) {
        calc_json_value_type_error(r->report, "an array of names", value, NULL);
        return;
    }
    if (count > CALC_REQUEST_STATS) {
        calc_json_report_add(r->report, CALC_ERR_RANGE, CALC_JSON_VALUE, NULL,
                             "%zu names are out of range, expected at most %d", count,
                             CALC_REQUEST_STATS);
        return;
    }
    r->request->all_stats = false;
    for (size_t i = 0; i < count; i++) {
        size_t mark = calc_json_report_enter_index(r->report, i);
        read_stat(r, json_array_get(value, i));
        calc_json_report_leave(r->report, mark);
    }
}

static void read_compat(reading *r, json_t *value, size_t none)
{
    (void)none;
    calc_json_value_compat(r->report, value, &r->request->compat);
}

/* The name of a kind. Its fields are the whole answer: what a run would need has no place. */
static void read_fields(reading *r, json_t *value, size_t none)
{
    (void)none;
    const char *name = json_string_value(value);
    for (calc_kind kind = CALC_KIND_APP; name && kind < CALC_KIND_COUNT; kind++) {
        if (strcmp(name, calc_kind_name(kind)) == 0) {
            r->request->fields = kind;
            return;
        }
    }
    calc_json_value_type_error(
        r->report, "\"app\", \"sys\", \"exe\", \"stats\", \"layer\" or \"stage\"", value, NULL);
}

static void read_flag(reading *r, json_t *value, size_t offset)
{
    static const calc_field row = {.type = CALC_TYPE_BOOL};
    calc_json_value_scalar(r->report, &row, value, (char *)r->request + offset);
}

/* In the order in which they are read: changes come after the documents. */
static const struct {
    const char *key;
    void (*read)(reading *r, json_t *value, size_t argument);
    size_t argument;
} keys[] = {{"app", read_document, CALC_KIND_APP},
            {"sys", read_document, CALC_KIND_SYSTEM},
            {"exe", read_document, CALC_KIND_EXEC},
            {"set", read_set, 0},
            {"stats", read_stats, 0},
            {"compat", read_compat, 0},
            {"inputs", read_flag, offsetof(calc_request, inputs)},
            {"layers", read_flag, offsetof(calc_request, layers)},
            {"stages", read_flag, offsetof(calc_request, stages)},
            {"fields", read_fields, 0}};

enum { KEYS_COUNT = sizeof keys / sizeof *keys };

static void check_keys(reading *r, json_t *object)
{
    const char *names[KEYS_COUNT + 2] = {[KEYS_COUNT] = "id"};
    for (size_t i = 0; i < KEYS_COUNT; i++) {
        names[i] = keys[i].key;
    }
    const char *key;
    json_t *value;
    int position = 0;
    json_object_foreach (object, key, value) {
        if (calc_choice_index(names, key) < 0) {
            calc_json_bind_unknown(r->report, key, position, calc_nearest(key, names));
        }
        position++;
    }
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* Keys other than "fields" and "id" would have no effect. */
static void check_alone(reading *r, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach (object, key, value) {
        if (strcmp(key, "id") != 0 && strcmp(key, "fields") != 0) {
            size_t mark = calc_json_report_enter(r->report, key);
            calc_json_report_add(r->report, CALC_ERR_RULE, CALC_JSON_VALUE,
                                 "ask for fields in a request of their own",
                                 "a request for fields has no \"%s\"", key);
            calc_json_report_leave(r->report, mark);
            return;
        }
    }
}

static void check_documents(reading *r)
{
    for (calc_kind kind = CALC_KIND_APP; kind <= CALC_KIND_EXEC; kind++) {
        if (!r->reader->last.given[kind] && r->report->found.count == 0) {
            calc_json_report_add(r->report, CALC_ERR_FIELD, CALC_JSON_VALUE,
                                 "later requests may leave it out", "missing key \"%s\"",
                                 calc_kind_name(kind));
        }
    }
}

static void read_request(reading *r, json_t *object)
{
    calc_request *request = r->request;
    request->used = r->reader->last;
    request->compat = CALC_COMPAT_NONE;
    request->all_stats = true;
    request->stat_count = 0;
    request->inputs = request->layers = request->stages = false;
    request->fields = CALC_KIND_NONE;
    request->id = NULL;
    if (!json_is_object(object)) {
        calc_json_value_type_error(r->report, "an object", object, NULL);
        return;
    }
    json_t *id = json_object_get(object, "id");
    if (id) {
        request->id = json_dumps(id, JSON_COMPACT | JSON_ENCODE_ANY);
    }
    check_keys(r, object);
    for (size_t i = 0; i < KEYS_COUNT; i++) {
        json_t *value = json_object_get(object, keys[i].key);
        /* Changes of a document that is broken would only repeat its errors. */
        if (value && (keys[i].read != read_set || r->report->found.count == 0)) {
            size_t mark = calc_json_report_enter(r->report, keys[i].key);
            keys[i].read(r, value, keys[i].argument);
            calc_json_report_leave(r->report, mark);
        }
    }
    if (request->fields == CALC_KIND_NONE) {
        check_documents(r);
    } else if (r->report->found.count == 0) {
        check_alone(r, object);
    }
}

void calc_request_each(calc_request_reader *reader, const char *text, size_t length,
                       calc_request *scratch, bool *is_array, calc_request_handle *handle,
                       void *context)
{
    calc_json_report report = {
        .kind = CALC_KIND_NONE, .name = "request", .text = text, .length = length};
    json_t *root = calc_json_load_text(&report, text, length);
    reading r = {reader, scratch, &report};
    *is_array = json_is_array(root);
    size_t count = *is_array ? json_array_size(root) : 1;
    scratch->id = NULL;
    for (size_t i = 0; i < count; i++) {
        if (*is_array) {
            report.found.count = report.found.dropped = 0;
            size_t mark = calc_json_report_enter_index(&report, i);
            read_request(&r, json_array_get(root, i));
            calc_json_report_leave(&report, mark);
        } else if (root) {
            read_request(&r, root);
        }
        handle(context, scratch, &report.found);
        free(scratch->id);
        scratch->id = NULL;
    }
    json_decref(root);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

static void put_text(calc_put *put, const char *key, const char *text)
{
    if (text[0]) {
        calc_put_text(put, key, text);
    }
}

void calc_request_put_error(calc_put *put, const calc_error *error)
{
    char line[1200];
    calc_error_print(error, line, sizeof line);
    calc_put_object(put, NULL, CALC_PUT_LINE);
    put_text(put, "status", calc_status_text(error->status));
    put_text(put, "message", line);
    if (error->kind != CALC_KIND_NONE) {
        put_text(put, "document", calc_kind_name(error->kind));
    }
    put_text(put, "file", error->file);
    if (error->line > 0) {
        calc_put_count(put, "line", error->line);
        calc_put_count(put, "column", error->column);
    }
    put_text(put, "pointer", error->pointer);
    put_text(put, "text", error->text);
    put_text(put, "hint", error->hint);
    calc_put_close(put);
}
