#include "io/request.h"

#include "base/buffer.h"
#include "base/error.h"
#include "io/json_load.h"
#include "io/utf8.h"
#include "spec/field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One request while it is read. */
typedef struct reading {
    calc_request_reader *reader;
    calc_request *request;
    calc_json_report *report;
    char *text;      /* of a document that leaves keys out. Owned */
    size_t argument; /* of the key: which document, or the place of a flag */
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

/* A document that came as contents, and what it says beside its fields. An execution may leave
 * required keys out; its text is then r->text, too. */
static calc_remark_facts bind_document(reading *r, calc_kind kind, json_t *value, void *object)
{
    calc_json_report *report = r->report;
    const json_t *source = json_object_get(value, "source");
    calc_text text = {.data = json_is_string(source) ? strdup(json_string_value(source)) : NULL};
    calc_remark_facts facts = calc_remark_read(&text);
    facts.no_structure = !json_object_get(value, "structure_type");
    facts.no_attention = !json_object_get(value, "causal");
    calc_text_free(&text);
    report->kind = kind;
    report->partial = true;
    report->absent = 0;
    calc_json_bind_table(report, calc_table_of(kind), value, object);
    report->kind = CALC_KIND_NONE;
    report->partial = false;
    if (report->absent > 0) {
        free(r->text);
        facts.partial = r->text = calc_json_report_made(report, json_dumps(value, JSON_COMPACT));
    }
    return facts;
}

/* A document: its name, or its contents. It replaces the last one if it has no errors. */
static void read_document(reading *r, json_t *value)
{
    const calc_kind kind = (calc_kind)r->argument;
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
        facts = bind_document(r, kind, value, object);
    } else {
        calc_json_value_type_error(report, "a name or an object", value, NULL);
    }
    if (kind == CALC_KIND_EXEC && found_so_far(report) == before) {
        char *partial = facts.partial ? calc_json_report_made(report, strdup(facts.partial)) : NULL;
        free(r->reader->partial);
        facts.partial = r->reader->partial = partial;
    }
    free(r->text);
    r->text = NULL;
    if (found_so_far(report) == before) {
        memcpy(document(last, kind), object, calc_table_of(kind)->size);
        last->given[kind] = true;
        r->request->used.facts[kind] = last->facts[kind] = facts;
        const char *name = json_string_value(value);
        snprintf(last->name[kind], sizeof last->name[kind], "%s", name ? name : "");
        if (kind == CALC_KIND_SYSTEM) {
            const char *file = name && strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
            const char *end = file ? strstr(file, ".json") : NULL;
            snprintf(last->machine, sizeof last->machine, "%.*s",
                     (int)(end ? (size_t)(end - file) : strlen(file ? file : "")),
                     file ? file : "");
        }
        memcpy(r->request->used.name, last->name, sizeof last->name);
        memcpy(r->request->used.machine, last->machine, sizeof last->machine);
    }
}

/* "KEY=" and a value as `calc sweep --set` takes it: words of a set are joined by plus signs.
 * @return NULL: memory is short */
static char *words_of(const char *key, const json_t *value)
{
    char *text = calc_json_value_words(value);
    size_t size = strlen(key) + sizeof "=" + strlen(text ? text : ""), words = 0, count;
    for (count = json_array_size(value); words < count; words++) {
        if (!json_is_string(json_array_get(value, words))) {
            break;
        }
    }
    char *out = text ? malloc(size) : NULL;
    if (out) {
        bool set = count > 0 && words == count;
        snprintf(out, size, "%s=%s", key, set ? "" : text);
        for (size_t i = 0; set && i < words; i++) {
            calc_append(out, size, "%s%s", i ? "+" : "",
                        json_string_value(json_array_get(value, i)));
        }
    }
    free(text);
    return out;
}

/* Notes a change as words, where an execution is to be completed. @param key  NULL: it is words */
static void note(reading *r, const char *key, json_t *value)
{
    calc_request *request = r->request;
    const char *name;
    json_t *item;
    if (json_is_object(value)) {
        json_object_foreach (value, name, item) {
            char path[256];
            snprintf(path, sizeof path, "%s.%s", key, name);
            note(r, path, item);
        }
        return;
    }
    char **more = realloc(request->change, (request->changes + 1) * sizeof *more);
    request->change = more ? more : request->change;
    char *words = !more ? NULL : key ? words_of(key, value) : strdup(json_string_value(value));
    if (calc_json_report_made(r->report, words)) {
        request->change[request->changes++] = words;
    }
}

/* Changes: {"FIELD": VALUE} or ["FIELD=VALUE"]. */
static void read_set(reading *r, json_t *value)
{
    calc_request_documents *used = &r->request->used;
    void *const object[CALC_ASSIGN_KINDS] = {&used->app, &used->system, &used->exec};
    const char *key;
    json_t *element;
    size_t i;
    bool notes = used->facts[CALC_KIND_EXEC].partial != NULL;
    CALC_JSON_MEMBERS (r->report, value, key, element) {
        calc_assign(r->report, object, key, element);
        if (notes) {
            note(r, key, element);
        }
    }
    CALC_JSON_ELEMENTS (r->report, value, i, element) {
        const char *text = json_string_value(element);
        calc_errors errors = {0};
        if (!text) {
            calc_json_value_type_error(r->report, "\"FIELD=VALUE\"", element, NULL);
        } else if (calc_set(&used->app, &used->system, &used->exec, text, NULL, &errors) !=
                   CALC_OK) {
            append(r->report, &errors.item[0]);
        }
        if (text && notes) {
            note(r, NULL, element);
        }
    }
    if (!json_is_object(value) && !json_is_array(value)) {
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
        calc_json_report_add(r->report, CALC_ERR_FIELD, CALC_JSON_VALUE,
                             CALC_DID_YOU_MEAN(calc_json_bind_nearest(table, name)),
                             "no statistic \"%s\"", calc_utf8_shown(name, strlen(name)));
    } else if (again) {
        calc_json_report_add(r->report, CALC_ERR_FIELD, CALC_JSON_VALUE, NULL, "%s is named twice",
                             field->key);
    } else {
        r->request->stat[r->request->stat_count++] = field;
    }
}

static void read_stats(reading *r, json_t *value)
{
    size_t count = json_array_size(value);
    size_t i;
    json_t *name;
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
    CALC_JSON_ELEMENTS (r->report, value, i, name) {
        read_stat(r, name);
    }
}

static void read_compat(reading *r, json_t *value)
{
    calc_json_value_compat(r->report, value, &r->request->compat);
}

/* The name of a kind. Its fields are the whole answer: what a run would need has no place. */
static void read_fields(reading *r, json_t *value)
{
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

/* {"NAME": {...}} of a kind. */
static void keep_documents(reading *r, calc_kind kind, json_t *documents)
{
    void *object = document(&r->request->used, kind);
    const char *name;
    json_t *value;
    CALC_JSON_MEMBERS (r->report, documents, name, value) {
        int before = found_so_far(r->report);
        calc_errors errors = {0};
        const calc_remark_facts facts = bind_document(r, kind, value, object);
        if (found_so_far(r->report) == before &&
            r->reader->keep(r->reader->context, kind, name, object, facts, &errors) != CALC_OK) {
            append(r->report, &errors.item[0]);
        }
        r->request->kept++;
    }
}

static void read_keep(reading *r, json_t *value)
{
    const char *key;
    json_t *documents;
    r->request->keeps = true;
    if (!json_is_object(value)) {
        calc_json_value_type_error(r->report, "an object", value, NULL);
    }
    CALC_JSON_MEMBERS (r->report, value, key, documents) {
        calc_kind kind = CALC_KIND_APP;
        while (kind <= CALC_KIND_EXEC && strcmp(key, calc_kind_name(kind)) != 0) {
            kind++;
        }
        if (kind > CALC_KIND_EXEC || !json_is_object(documents)) {
            calc_json_value_type_error(r->report, "documents by name in \"app\", \"sys\", \"exe\"",
                                       documents, NULL);
        } else {
            keep_documents(r, kind, documents);
        }
    }
}

static void add_option(reading *r, const char *name, const json_t *value)
{
    calc_request *request = r->request;
    if (json_is_object(value) || json_is_array(value) || json_is_null(value) ||
        json_is_false(value)) {
        calc_json_value_type_error(r->report, "a text, a number or true", value, NULL);
        return;
    }
    calc_space_option *more =
        realloc(request->option, (request->options + 1) * sizeof *request->option);
    if (!more) {
        calc_json_report_made(r->report, more);
        return;
    }
    request->option = more;
    char *text = json_is_true(value) ? strdup("") : calc_json_value_words(value);
    if (calc_json_report_made(r->report, text)) {
        request->option[request->options++] = (calc_space_option){name, text};
    }
}

/* The options of `calc sweep` by their names, and its space file as "space". */
static void read_sweep(reading *r, json_t *value)
{
    const char *key;
    json_t *item, *element;
    size_t i;
    r->request->sweeps = true;
    if (!json_is_object(value)) {
        calc_json_value_type_error(r->report, "an object of options of calc sweep", value, NULL);
    }
    json_object_foreach (value, key, item) {
        int known = calc_choice_index(calc_space_options, key);
        if (strcmp(key, "space") == 0) {
            free(r->request->space);
            r->request->space = json_dumps(item, JSON_COMPACT | JSON_ENCODE_ANY);
            continue;
        }
        if (known < 0) {
            calc_json_bind_unknown(r->report, value, key, calc_nearest(key, calc_space_options));
            continue;
        }
        CALC_JSON_INSIDE (r->report, calc_json_report_enter(r->report, key)) {
            CALC_JSON_ELEMENTS (r->report, item, i, element) {
                add_option(r, calc_space_options[known], element);
            }
            if (!json_is_array(item)) {
                add_option(r, calc_space_options[known], item);
            }
        }
    }
}

static void read_export(reading *r, json_t *value)
{
    if (!json_is_string(value)) {
        calc_json_value_type_error(r->report, "a framework, or \"any\"", value, NULL);
    } else if (!r->request->export) {
        r->request->export = strdup(json_string_value(value));
    }
}

static void read_import(reading *r, json_t *value)
{
    if (json_is_string(value)) { /* with what Python writes and JSON has not: NaN, Infinity */
        r->request->import = strdup(json_string_value(value));
    } else if (json_is_object(value)) {
        r->request->import = json_dumps(value, JSON_COMPACT);
    } else {
        calc_json_value_type_error(r->report, "an object, or its text", value, NULL);
    }
}

static void read_flag(reading *r, json_t *value)
{
    static const calc_field row = {.type = CALC_TYPE_BOOL};
    calc_json_value_scalar(r->report, &row, value, (char *)r->request + r->argument);
}

/* true: the whole page; the name of one of its parts. */
static void read_page(reading *r, json_t *value)
{
    static const char *const parts[] = {"", "cloud", "rest", NULL}; /* as calc_page_parts */
    int part = json_is_string(value) ? calc_choice_index(parts, json_string_value(value)) : 0;
    if (part <= 0 && !json_is_boolean(value)) {
        calc_json_value_type_error(r->report, "true, \"cloud\" or \"rest\"", value, NULL);
    }
    r->request->page = part > 0 ? (unsigned)part : json_is_true(value) ? CALC_PAGE_WHOLE : 0;
}

/* In the order in which they are read: changes come after the documents. */
static const struct {
    const char *key;
    void (*read)(reading *r, json_t *value);
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
            {"page", read_page, 0},
            {"export", read_export, 0},
            {"sweep", read_sweep, 0},
            {"import", read_import, 0},
            {"keep", read_keep, 0},
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
    json_object_foreach (object, key, value) {
        if (calc_choice_index(names, key) < 0) {
            calc_json_bind_unknown(r->report, object, key, calc_nearest(key, names));
        }
    }
}

/* Keys other than this one and "id" would have no effect. */
static void check_alone(reading *r, json_t *object, const char *own)
{
    const char *key;
    json_t *value;
    json_object_foreach (object, key, value) {
        if (strcmp(key, "id") != 0 && strcmp(key, own) != 0) {
            size_t mark = calc_json_report_enter(r->report, key);
            calc_json_report_add(r->report, CALC_ERR_RULE, CALC_JSON_VALUE,
                                 "send a request of its own for it",
                                 "a request with \"%s\" has no \"%s\"", own, key);
            calc_json_report_leave(r->report, mark);
            return;
        }
    }
}

static void check_documents(reading *r)
{
    const calc_request *request = r->request;
    calc_kind last = request->sweeps ? CALC_KIND_SYSTEM : CALC_KIND_EXEC;
    if (request->page > 0 && request->page != CALC_PAGE_WHOLE && !request->sweeps) {
        calc_json_report_add(r->report, CALC_ERR_RULE, CALC_JSON_VALUE, "ask for page: true",
                             "only the page of a sweep has parts");
    }
    for (calc_kind kind = CALC_KIND_APP; kind <= last; kind++) {
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
            CALC_JSON_INSIDE (r->report, calc_json_report_enter(r->report, keys[i].key)) {
                r->argument = keys[i].argument;
                keys[i].read(r, value);
            }
        }
    }
    static const char *const alone[] = {"keep", "import", "fields", NULL};
    size_t i = 0;
    while (alone[i] && !json_object_get(object, alone[i])) {
        i++;
    }
    if (!alone[i]) {
        check_documents(r);
    } else if (r->report->found.count == 0) {
        check_alone(r, object, alone[i]);
    }
}

/* Free what a request owns, and begin the next. */
static void release(calc_request *request, const calc_request_documents *last)
{
    for (size_t i = 0; i < request->options; i++) {
        free((char *)request->option[i].value);
    }
    for (size_t i = 0; i < request->changes; i++) {
        free(request->change[i]);
    }
    void *const owned[] = {request->change, request->option, request->space,
                           request->export, request->import, request->id};
    calc_free_all(owned, sizeof owned / sizeof *owned);
    *request = (calc_request){
        .used = *last, .compat = CALC_COMPAT_NONE, .all_stats = true, .fields = CALC_KIND_NONE};
}

void calc_request_each(calc_request_reader *reader, const char *text, size_t length,
                       calc_request *scratch, bool *is_array, calc_request_handle *handle,
                       void *context)
{
    calc_json_report report = {
        .kind = CALC_KIND_NONE, .name = "request", .text = text, .length = length};
    json_t *root = calc_json_load_text(&report, text, length);
    reading r = {reader, scratch, &report, NULL, 0};
    *is_array = json_is_array(root);
    size_t count = *is_array ? json_array_size(root) : 1;
    memset(scratch, 0, sizeof *scratch);
    for (size_t i = 0; i < count; i++) {
        release(scratch, &reader->last);
        if (*is_array) {
            report.found.count = report.found.dropped = 0;
            size_t mark = calc_json_report_enter_index(&report, i);
            read_request(&r, json_array_get(root, i));
            calc_json_report_leave(&report, mark);
        } else if (root) {
            read_request(&r, root);
        }
        handle(context, scratch, &report.found);
    }
    release(scratch, &reader->last);
    free(r.text);
    json_decref(root);
}

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
        calc_putf(put, "line: %d, column: %d", error->line, error->column);
    }
    put_text(put, "pointer", error->pointer);
    put_text(put, "text", error->text);
    put_text(put, "hint", error->hint);
    calc_put_close(put);
}
