#include "session/session.h"

#include "base/error.h"
#include "io/json_save.h"
#include "io/request.h"
#include "spec/field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 256 /* documents that are remembered by name */ };

typedef struct kept_document {
    calc_kind kind;
    char *name;
    void *object;
} kept_document;

struct calc_session {
    calc_session_find *find; /* NULL: names are paths */
    void *context;
    kept_document kept[KEPT];
    size_t count, next; /* next: which one a new one replaces when all are in use */
    calc_request_reader reader;
    calc_request request;
    calc_stats stats;
    calc_layer_stats layer[CALC_MAX_LAYERS];
    calc_reason reason[CALC_MAX_REASONS];
};

/* ---- Documents by name ----------------------------------------------------------------------- */

static calc_status out_of_memory(calc_errors *errors)
{
    return calc_errors_add(errors, CALC_ERR_NOMEM, CALC_KIND_NONE, NULL, NULL, "%s",
                           calc_status_text(CALC_ERR_NOMEM));
}

static void forget(kept_document *kept)
{
    free(kept->name);
    free(kept->object);
    *kept = (kept_document){0};
}

static calc_status load(calc_session *session, calc_kind kind, const char *name, void *object,
                        calc_errors *errors)
{
    enum { PATH_SIZE = 4096 };
    char path[PATH_SIZE];
    if (strcmp(name, "-") == 0) {
        return calc_errors_add(errors, CALC_ERR_NOT_FOUND, kind, NULL, NULL,
                               "\"-\" is no document: requests come from standard input");
    }
    if (session->find) {
        calc_status status = session->find(session->context, kind, name, path, sizeof path, errors);
        return status == CALC_OK ? calc_load(kind, object, path, errors) : status;
    }
    return calc_load(kind, object, name, errors);
}

/* Remember a copy. The oldest goes when there are too many. */
static calc_status keep(calc_session *session, calc_kind kind, const char *name, const void *object,
                        calc_errors *errors)
{
    size_t size = calc_table_of(kind)->size;
    kept_document made = {kind, strdup(name), malloc(size)};
    if (!made.name || !made.object) {
        forget(&made);
        return out_of_memory(errors);
    }
    memcpy(made.object, object, size);
    kept_document *slot = &session->kept[session->next];
    forget(slot);
    *slot = made;
    session->next = (session->next + 1) % KEPT;
    session->count += session->count < KEPT;
    return CALC_OK;
}

/* calc_request_find */
static calc_status find_document(void *context, calc_kind kind, const char *name, void *object,
                                 calc_errors *errors)
{
    calc_session *session = context;
    for (size_t i = 0; i < session->count; i++) {
        const kept_document *kept = &session->kept[i];
        if (kept->kind == kind && strcmp(kept->name, name) == 0) {
            memcpy(object, kept->object, calc_table_of(kind)->size);
            return CALC_OK;
        }
    }
    calc_status status = load(session, kind, name, object, errors);
    return status == CALC_OK ? keep(session, kind, name, object, errors) : status;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Where answers go. */
typedef struct answering {
    calc_session *session;
    calc_output *out;
    bool is_array;
    size_t count;
} answering;

static void write_errors(calc_output *out, const calc_errors *errors)
{
    calc_output_text(out, "\"errors\": [");
    for (int i = 0; i < errors->count; i++) {
        calc_output_text(out, i ? ", " : "");
        calc_request_write_error(out, &errors->item[i]);
    }
    calc_output_text(out, "]}");
}

static void write_number(calc_output *out, const char *glue, const calc_field *field,
                         const void *object)
{
    char number[32];
    double value = calc_member_number(field, (const char *)object + field->offset);
    calc_output_text(out, glue);
    calc_output_text(out, "\"");
    calc_output_text(out, field->key);
    calc_output_text(out, "\": ");
    calc_output_text(out, calc_number_text(value, 1, number));
}

/* Members of a struct of numbers, the first after `glue`. */
static void write_numbers(calc_output *out, const char *glue, calc_kind kind, const void *object)
{
    const calc_table *table = calc_table_of(kind);
    for (size_t i = 0; i < table->count; i++) {
        write_number(out, i ? ", " : glue, &table->rows[i], object);
    }
    calc_output_text(out, "}");
}

static void write_stats(calc_output *out, const calc_request *request, const calc_stats *stats)
{
    calc_output_text(out, ", \"stats\": ");
    if (request->all_stats) {
        write_numbers(out, "{", CALC_KIND_STATS, stats);
        return;
    }
    calc_output_text(out, "{");
    for (size_t i = 0; i < request->stat_count; i++) {
        write_number(out, i ? ", " : "", request->stat[i], stats);
    }
    calc_output_text(out, "}");
}

static void write_reasons(calc_session *session, calc_output *out)
{
    const calc_request_documents *in = &session->request.used;
    size_t count = calc_reasons(&in->app, &in->system, &in->exec, session->request.compat,
                                &session->stats, session->reason);
    for (size_t i = 0; i < count; i++) {
        const calc_reason *reason = &session->reason[i];
        calc_output_printf(out, "%s{\"verdict\": \"%s\", \"text\": ", i ? ", " : ", \"reasons\": [",
                           calc_verdict_text(reason->verdict));
        calc_json_string(out, reason->text);
        calc_output_text(out, ", \"hint\": ");
        calc_json_string(out, reason->hint);
        calc_output_text(out, i + 1 < count ? "}" : "}]");
    }
}

static void write_layers(calc_session *session, calc_output *out)
{
    const calc_request_documents *in = &session->request.used;
    size_t count = calc_layers(&in->app, &in->system, &in->exec, session->request.compat,
                               session->layer, CALC_MAX_LAYERS);
    calc_output_text(out, ", \"layers\": [");
    for (size_t i = 0; i < count; i++) {
        calc_output_text(out, i ? ", {\"name\": " : "{\"name\": ");
        calc_json_string(out, session->layer[i].name);
        write_numbers(out, ", ", CALC_KIND_LAYER, &session->layer[i]);
    }
    calc_output_text(out, "]");
}

static void write_stages(calc_session *session, calc_output *out)
{
    const calc_request_documents *in = &session->request.used;
    calc_compat compat = session->request.compat;
    size_t count = calc_each_stage(&in->app, &in->system, &in->exec, compat, NULL, 0);
    calc_stage_stats *stage = calloc(count + 1, sizeof *stage);
    if (stage) {
        count = calc_each_stage(&in->app, &in->system, &in->exec, compat, stage, count);
    }
    calc_output_text(out, ", \"stages\": [");
    for (size_t i = 0; stage && i < count; i++) {
        write_numbers(out, i ? ", {" : "{", CALC_KIND_STAGE, &stage[i]);
    }
    calc_output_text(out, "]");
    free(stage);
}

/* A document on one line: the writer's line ends mean nothing inside JSON. */
static void write_document(calc_output *out, calc_kind kind, const void *object)
{
    static const char *const keys[] = {"app", "sys", "exe"};
    calc_text text = {0};
    calc_output *memory;
    calc_output_printf(out, ", \"%s\": ", keys[kind]);
    if (calc_output_open_memory(&memory, &text, NULL) != CALC_OK) {
        calc_output_text(out, "null");
        return;
    }
    calc_json_save(memory, kind, object, 0);
    if (calc_output_close(memory, NULL) == CALC_OK) {
        for (size_t i = 0; i < text.length; i++) {
            calc_output_write(out, &text.data[i], text.data[i] != '\n');
        }
    }
    calc_text_free(&text);
}

static void evaluate(calc_session *session, calc_output *out)
{
    const calc_request *request = &session->request;
    const calc_request_documents *in = &request->used;
    calc_run(&in->app, &in->system, &in->exec, request->compat, &session->stats);
    calc_output_text(out, "\"verdict\": \"");
    calc_output_text(out, calc_verdict_text(session->stats.verdict));
    calc_output_text(out, "\"");
    if (session->stats.verdict != CALC_VERDICT_OK) {
        write_reasons(session, out);
    }
    write_stats(out, request, &session->stats);
    if (request->inputs) {
        write_document(out, CALC_KIND_APP, &in->app);
        write_document(out, CALC_KIND_SYSTEM, &in->system);
        write_document(out, CALC_KIND_EXEC, &in->exec);
    }
    if (request->layers) {
        write_layers(session, out);
    }
    if (request->stages) {
        write_stages(session, out);
    }
    calc_output_text(out, "}");
}

/* calc_request_handle */
static void answer_one(void *context, const calc_request *request, const calc_errors *errors)
{
    answering *a = context;
    const calc_request_documents *in = &request->used;
    calc_errors found = {0};
    calc_output_text(a->out, a->count > 0 ? ", {" : a->is_array ? "[{" : "{");
    a->count++;
    if (request->id) {
        calc_output_text(a->out, "\"id\": ");
        calc_output_text(a->out, request->id);
        calc_output_text(a->out, ", ");
    }
    if (errors->count > 0) {
        write_errors(a->out, errors);
    } else if (calc_check(&in->app, &in->system, &in->exec, &found) != CALC_OK) {
        write_errors(a->out, &found);
    } else {
        evaluate(a->session, a->out);
    }
}

void calc_session_answer(calc_session *session, const char *text, size_t length, calc_output *out)
{
    answering a = {.session = session, .out = out};
    calc_request_each(&session->reader, text, length, &session->request, &a.is_array, answer_one,
                      &a);
    if (a.is_array) {
        calc_output_text(out, a.count > 0 ? "]" : "[]");
    }
}

/* ---- For other languages --------------------------------------------------------------------- */

calc_session *calc_session_open(calc_session_find *find, void *context)
{
    calc_session *session = calloc(1, sizeof *session);
    if (session) {
        session->find = find;
        session->context = context;
        session->reader.find = find_document;
        session->reader.context = session;
    }
    return session;
}

char *calc_session_ask(calc_session *session, const char *request, size_t length)
{
    calc_text text = {0};
    calc_output *out;
    if (calc_output_open_memory(&out, &text, NULL) != CALC_OK) {
        return NULL;
    }
    calc_session_answer(session, request, length, out);
    if (calc_output_close(out, NULL) != CALC_OK) {
        calc_text_free(&text);
        return NULL;
    }
    return text.data;
}

void calc_session_release(char *answer)
{
    free(answer);
}

void calc_session_close(calc_session *session)
{
    if (session) {
        for (size_t i = 0; i < session->count; i++) {
            forget(&session->kept[i]);
        }
        free(session);
    }
}

const char *calc_version(void)
{
    return CALC_VERSION;
}
