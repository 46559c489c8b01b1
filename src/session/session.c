#include "session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/notes.h"
#include "formats/export.h"
#include "formats/hf.h"
#include "formats/write.h"
#include "io/json_put.h"
#include "io/remark.h"
#include "io/request.h"
#include "io/space_load.h"
#include "report/run_data.h"
#include "report/sweep_data.h"
#include "session/completion.h"
#include "session/sweep_order.h"
#include "spec/compat.h"
#include "spec/field.h"
#include "spec/software.h"
#include "spec/stage_list.h"

static void put_reason(void *context, const char *reason)
{
    calc_put_text(context, NULL, reason);
}

/* The text that starts a layout. @return owned; NULL if it cannot be written */
static char *write_settings(const calc_framework *framework, const calc_request_documents *in)
{
    enum { NODE = 8 /* processors, as calc export assumes */ };
    calc_settings settings = {0};
    calc_errors ignored = {0};
    calc_text text = {0};
    calc_output *out;
    if (calc_export(framework, &in->app, &in->exec, NODE, &settings, &ignored) == CALC_OK &&
        calc_output_open_memory(&out, &text, NULL) == CALC_OK) {
        calc_settings_write(out, framework, &settings);
        if (calc_output_close(out, NULL) != CALC_OK) {
            calc_text_free(&text);
        }
    }
    calc_settings_free(&settings);
    return text.data;
}

/* Write the member "export" for a run that was resolved and checked: "framework" and "text", which
 * starts it as `calc export` would, or "refused": why the framework cannot run it. "any" is the
 * first framework that can; without one "refused" says so. */
static void answer_export(calc_put *put, const calc_request *request)
{
    const calc_request_documents *in = &request->used;
    const char *name = request->export;
    size_t refused = 0;
    if (strcmp(name, "any") == 0 &&
        calc_export_starter(&in->app, &in->system, &in->exec, false, &name) != CALC_OK) {
        name = NULL;
    }
    const calc_framework *framework = name ? calc_framework_find(name) : NULL;
    calc_putf(put, "export: {framework: %s, refused: [", name ? name : "");
    if (!framework) {
        calc_put_text(put, NULL, "calc exports to no framework of this name that runs the layout");
    } else if (calc_framework_has_pools(framework, &in->exec)) {
        calc_put_text(put, NULL, "two pools are two scripts: calc export writes them");
        refused = 1;
    } else if (calc_export_refused(framework, &in->app, &in->exec, put_reason, put, &refused) !=
               CALC_OK) {
        refused = 1;
    }
    calc_put_close(put);
    char *text = framework && refused == 0 ? write_settings(framework, in) : NULL;
    if (text) {
        calc_put_text(put, "text", text);
    }
    free(text);
    calc_put_close(put);
}

static void note(void *context, const char *text)
{
    calc_notes_add(context, "%s", text);
}

/* Write the members "app" and "remarks": the model of a configuration, and what is to know of it.
 * @return CALC_OK; else nothing was written, and an error was added */
static calc_status answer_import(calc_put *put, const char *json, calc_errors *errors)
{
    calc_app app;
    calc_notes notes = {0};
    const calc_hf hf = {.name = "import", .tell = note, .context = &notes};
    calc_status status = calc_hf_read_text(&hf, json, strlen(json), &app, errors);
    if (status != CALC_OK) {
        return status;
    }
    calc_put_struct(put, "app", CALC_KIND_APP, &app);
    calc_put_array(put, "remarks", CALC_PUT_LINE);
    for (int i = 0; i < notes.count; i++) {
        calc_put_text(put, NULL, notes.text[i]);
    }
    calc_put_close(put);
    return CALC_OK;
}

enum { KEPT = 1024 /* documents remembered by name */ };

typedef struct kept_document {
    calc_kind kind;
    char *name;
    void *object;
    calc_remark_facts facts; /* owns its text */
} kept_document;

struct calc_session {
    calc_session_find *find; /* NULL: names are paths */
    void *context;
    calc_residuals measured; /* read when they are first asked for */
    bool has_measured, asked_measured;
    kept_document kept[KEPT];
    size_t count, next; /* next: index of the document to replace when the list is full */
    calc_request_reader reader;
    calc_request request;
    calc_system other[CALC_MAX_CHIPS + 1]; /* systems named by stages, and by the prefill pool */
    calc_remark_facts other_facts[CALC_MAX_CHIPS + 1]; /* of all these, the pool's last */
    calc_stats stats;
    calc_layer_stats layer[CALC_MAX_LAYERS];
    calc_reason reason[CALC_MAX_REASONS];
};

/* ---- Documents by name ----------------------------------------------------------------------- */

static CALC_FREES(forget, kept_document, of->name, of->object, (char *)of->facts.partial)

/* @param text  owned by the caller: it has what *facts borrow */
static calc_status load(calc_session *session, calc_kind kind, const char *name, void *object,
                        calc_remark_facts *facts, calc_text *text, calc_errors *errors)
{
    enum { PATH_SIZE = 4096 };
    char path[PATH_SIZE];
    if (strcmp(name, "-") == 0) {
        return calc_errors_add(errors, CALC_ERR_NOT_FOUND, kind, NULL, NULL,
                               "\"-\" is no document: requests come from standard input");
    }
    int absent = 0;
    calc_status status =
        session->find ? session->find(session->context, kind, name, path, sizeof path, errors)
                      : CALC_OK;
    const char *file = session->find ? path : name;
    status = status == CALC_OK ? calc_text_read(text, file, errors) : status;
    if (status == CALC_OK) {
        status =
            kind == CALC_KIND_EXEC
                ? calc_space_parse_exec(object, &absent, text->data, text->length, file, errors)
                : calc_parse(kind, object, text->data, text->length, file, errors);
        *facts = calc_remark_read(text);
        facts->partial = absent > 0 ? text->data : NULL;
    }
    if (status == CALC_OK && kind == CALC_KIND_APP) {
        calc_hf_name_take(name, file, object);
    }
    return status;
}

static kept_document *find_kept(calc_session *session, calc_kind kind, const char *name)
{
    for (size_t i = 0; i < session->count; i++) {
        if (session->kept[i].kind == kind && strcmp(session->kept[i].name, name) == 0) {
            return &session->kept[i];
        }
    }
    return NULL;
}

/* calc_request_keep. The oldest is replaced when the list is full. */
static calc_status keep(void *context, calc_kind kind, const char *name, const void *object,
                        calc_remark_facts facts, calc_errors *errors)
{
    calc_session *session = context;
    size_t size = calc_table_of(kind)->size;
    kept_document made = {kind, strdup(name), malloc(size), facts};
    made.facts.partial = facts.partial ? strdup(facts.partial) : NULL;
    if (!made.name || !made.object || (facts.partial && !made.facts.partial)) {
        forget(&made);
        return calc_errors_no_memory(errors);
    }
    memcpy(made.object, object, size);
    kept_document *slot = find_kept(session, kind, name);
    if (!slot) {
        slot = &session->kept[session->next];
        session->next = (session->next + 1) % KEPT;
        session->count += session->count < KEPT;
    }
    forget(slot);
    *slot = made;
    return CALC_OK;
}

/* calc_request_find */
static calc_status find_document(void *context, calc_kind kind, const char *name, void *object,
                                 calc_remark_facts *facts, calc_errors *errors)
{
    calc_session *session = context;
    const kept_document *kept = find_kept(session, kind, name);
    calc_text text = {0};
    if (!kept) {
        calc_status status = load(session, kind, name, object, facts, &text, errors);
        status = status == CALC_OK ? keep(session, kind, name, object, *facts, errors) : status;
        calc_text_free(&text);
        if (status != CALC_OK) {
            return status;
        }
        kept = find_kept(session, kind, name);
    }
    memcpy(object, kept->object, calc_table_of(kind)->size);
    *facts = kept->facts;
    return CALC_OK;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Destination of the answers. */
typedef struct answering {
    calc_session *session;
    calc_put put;
    bool is_array;
    bool any;
} answering;

static void put_stats(calc_put *put, const calc_request *request, const calc_stats *stats)
{
    calc_put_object(put, "stats", CALC_PUT_LINE);
    if (request->all_stats) {
        calc_put_rows(put, CALC_KIND_STATS, stats);
    }
    for (size_t i = 0; !request->all_stats && i < request->stat_count; i++) {
        const calc_field *field = request->stat[i];
        calc_put_number(put, field->key,
                        calc_member_number(field, (const char *)stats + field->offset));
    }
    calc_put_close(put);
}

static void put_remark(calc_put *put, const char *text, bool *open)
{
    if (*text && !*open) {
        calc_put_array(put, "remarks", CALC_PUT_LINE);
        *open = true;
    }
    if (*text) {
        calc_put_text(put, NULL, text);
    }
}

/* What to know before using the numbers, if there is anything. */
static void put_remarks(calc_session *session, calc_put *put)
{
    const calc_request_documents *in = &session->request.used;
    const calc_stage_list *list = &in->exec.stages;
    const char *prefill = in->exec.inference.prefill_system.name;
    const char *own = in->name[CALC_KIND_SYSTEM];
    const char *name = own[0] ? own : "the system";
    char text[CALC_REMARK_SIZE];
    bool open = false;
    put_remark(put, calc_remark_app(in->facts[CALC_KIND_APP], &in->app, text), &open);
    put_remark(put, calc_remark_exec(&in->app, &in->exec, text), &open);
    put_remark(put, calc_remark_system(name, in->facts[CALC_KIND_SYSTEM], "", text), &open);
    for (int32_t i = 0; i < list->chips; i++) {
        if (strcmp(list->name[i], name) != 0) {
            put_remark(put, calc_remark_system(list->name[i], session->other_facts[i], "", text),
                       &open);
        }
    }
    if (prefill[0] && strcmp(prefill, name) != 0) {
        put_remark(put, calc_remark_system(prefill, session->other_facts[CALC_MAX_CHIPS], "", text),
                   &open);
    }
    if (open) {
        calc_put_close(put);
    }
}

/* Every stage, which the caller frees. */
static size_t make_stages(calc_session *session, calc_stage_stats **stage)
{
    const calc_request_documents *in = &session->request.used;
    calc_compat compat = session->request.compat;
    size_t count = calc_each_stage(&in->app, &in->system, &in->exec, compat, NULL, 0);
    *stage = calloc(count + 1, sizeof **stage);
    return *stage ? calc_each_stage(&in->app, &in->system, &in->exec, compat, *stage, count) : 0;
}

/* What the page of the run draws: the run as calc run --json has it, but for the names of its
 * documents, and what is drawn beside it. */
static void put_page(calc_session *session, calc_put *put)
{
    const calc_request_documents *in = &session->request.used;
    char rules[CALC_COMPAT_TEXT];
    calc_errors ignored = {0}; /* memory is short: the page lacks what it was for */
    calc_stage_stats *stage;
    size_t stages = make_stages(session, &stage);
    const calc_run_data data = {.app = &in->app,
                                .system = &in->system,
                                .exec = &in->exec,
                                .compat = session->request.compat,
                                .stats = &session->stats,
                                .stage = stage,
                                .stages = stages};
    calc_putf(put, "page: {run: {version: %s, compat: %s", CALC_VERSION,
              calc_compat_text(session->request.compat, rules));
    calc_put_struct(put, "application", CALC_KIND_APP, &in->app);
    calc_put_struct(put, "system", CALC_KIND_SYSTEM, &in->system);
    calc_put_struct(put, "execution", CALC_KIND_EXEC, &in->exec);
    put_remarks(session, put);
    calc_put_text(put, "verdict", calc_verdict_text(session->stats.verdict));
    calc_put_reasons(put, session->reason,
                     calc_reasons(&in->app, &in->system, &in->exec, session->request.compat,
                                  &session->stats, session->reason));
    calc_put_struct(put, "stats", CALC_KIND_STATS, &session->stats);
    calc_put_close(put);
    (void)!calc_run_data_put(put, &data, &ignored);
    calc_put_close(put);
    free(stage);
}

static void put_chosen(void *context, const calc_exec *exec, calc_axis axis)
{
    calc_field row = *calc_axis_field(axis);
    char *path = CALC_TEXT(64, "%s%s", axis < CALC_AXIS_EXEC_COUNT ? "" : "inference.", row.key);
    row.key = path;
    calc_json_put_member(context, &row, (const char *)exec + calc_axis_offset(axis));
}

/* The fields of a layout that the request left to calc. @param c  NULL: it was whole */
static void put_completed(calc_put *put, const calc_completed *c)
{
    if (c) {
        calc_put_object(put, "completed", CALC_PUT_LINE);
        if (*c->procs) {
            put_chosen(put, &c->exec, CALC_AXIS_num_procs);
        }
        if (*c->batch) {
            put_chosen(put, &c->exec, CALC_AXIS_batch_size);
        }
        (void)calc_completed_each(c, put_chosen, put);
        calc_put_close(put);
    }
}

static void evaluate(calc_session *session, calc_put *put, const calc_completed *completed)
{
    const calc_request *request = &session->request;
    const calc_request_documents *in = &request->used;
    calc_run(&in->app, &in->system, &in->exec, request->compat, &session->stats);
    calc_put_text(put, "verdict", calc_verdict_text(session->stats.verdict));
    size_t reasons = session->stats.verdict == CALC_VERDICT_OK
                         ? 0
                         : calc_reasons(&in->app, &in->system, &in->exec, request->compat,
                                        &session->stats, session->reason);
    if (reasons > 0) {
        calc_put_reasons(put, session->reason, reasons);
    }
    put_remarks(session, put);
    put_completed(put, completed);
    put_stats(put, request, &session->stats);
    if (request->inputs) {
        calc_put_struct(put, "app", CALC_KIND_APP, &in->app);
        calc_put_struct(put, "sys", CALC_KIND_SYSTEM, &in->system);
        calc_put_struct(put, "exe", CALC_KIND_EXEC, &in->exec);
    }
    if (request->layers) {
        calc_put_layers(put, session->layer,
                        calc_layers(&in->app, &in->system, &in->exec, request->compat,
                                    session->layer, CALC_MAX_LAYERS));
    }
    if (request->stages) {
        calc_stage_stats *stage;
        size_t count = make_stages(session, &stage);
        calc_put_stages(put, stage, count);
        free(stage);
    }
    if (request->page) {
        put_page(session, put);
    }
    if (request->export) {
        answer_export(put, request);
    }
}

/* A system that a stage or the prefill pool names: the request's own, with what it changes, where
 * that has the name. @param at  its index in `other` */
static bool find_system(calc_session *session, const char *name, int32_t at,
                        const calc_system **out, calc_errors *errors)
{
    const calc_request_documents *in = &session->request.used;
    bool own = strcmp(name, in->name[CALC_KIND_SYSTEM]) == 0;
    *out = own ? &in->system : &session->other[at];
    return own || find_document(session, CALC_KIND_SYSTEM, name, &session->other[at],
                                &session->other_facts[at], errors) == CALC_OK;
}

/* Loads the systems that the stages of a request and its prefill pool name. */
static bool find_systems(calc_session *session, calc_errors *errors)
{
    calc_stage_list *list = &session->request.used.exec.stages;
    calc_other_system *prefill = &session->request.used.exec.inference.prefill_system;
    if (prefill->name[0] &&
        !find_system(session, prefill->name, CALC_MAX_CHIPS, &prefill->system, errors)) {
        return false;
    }
    for (int32_t i = 0; i < list->chips; i++) {
        if (!find_system(session, list->name[i], i, &list->system[i], errors)) {
            return false;
        }
    }
    return true;
}

/* What measured runs say of layouts. @return NULL: their files are not there */
static const calc_residuals *measured_runs(calc_session *session)
{
    calc_errors ignored = {0};
    if (!session->asked_measured) {
        session->asked_measured = true;
        session->has_measured = calc_residuals_known(&session->measured, session->find,
                                                     session->context, &ignored) == CALC_OK;
    }
    return session->has_measured ? &session->measured : NULL;
}

static const char *name_of(const calc_request *request, calc_kind kind)
{
    const char *name = request->used.name[kind];
    return name[0] ? name : kind == CALC_KIND_APP ? "model" : "system";
}

/* The model or the machine of the request, with what is to know of it; or a system of that name. */
static calc_status read_document(void *context, calc_kind kind, const char *name, bool pool,
                                 void *object, calc_study_document *said, calc_errors *errors)
{
    calc_session *session = context;
    const calc_request_documents *in = &session->request.used;
    calc_remark_facts facts;
    snprintf(said->name, sizeof said->name, "%.63s", name);
    if (pool) {
        return find_document(session, kind, name, object, &facts, errors);
    }
    if (kind == CALC_KIND_APP) {
        memcpy(object, &in->app, sizeof in->app);
        calc_remark_app(in->facts[kind], &in->app, said->remark);
    } else {
        memcpy(object, &in->system, sizeof in->system);
        calc_remark_system(name, in->facts[kind], "", said->remark);
        strcpy(said->calibrated, in->facts[kind].calibrated);
    }
    return CALC_OK;
}

static calc_status load_study(calc_sweep_study *study, calc_session *session, calc_errors *errors)
{
    const calc_request *request = &session->request;
    calc_study_source source = {.use = request->option,
                                .uses = request->options,
                                .app = name_of(request, CALC_KIND_APP),
                                .system = name_of(request, CALC_KIND_SYSTEM),
                                .read = read_document,
                                .context = session,
                                .find = session->find,
                                .find_context = session->context};
    calc_status status = CALC_OK;
    if (request->space) {
        status =
            calc_space_parse(&source.file, request->space, strlen(request->space), "space", errors);
    }
    status = status == CALC_OK ? calc_study_load(study, &source, errors) : status;
    calc_space_entries_free(&source.file);
    return status;
}

/* Write the members "sweep": the question, counts, the layout to start with, the best and the front
 * as `calc sweep --out` has them; and, where it is asked for, "page": what the sweep's page draws.
 * @return CALC_OK; else nothing was written, and an error was added */
static calc_status answer_sweep(calc_put *put, calc_session *session, calc_errors *errors)
{
    const calc_request *request = &session->request;
    const calc_residuals *measured = measured_runs(session);
    calc_sweep_study study = {0};
    calc_sweep_result result = {0};
    calc_sweep_data data = {.study = &study, .result = &result, .parts = request->page};
    calc_status status = load_study(&study, session, errors);
    status = status == CALC_OK
                 ? calc_sweep(&study.space, &study.designs, &study.options, &result, errors)
                 : status;
    if (status == CALC_OK) {
        calc_sweep_found_systems(&study, &result);
        if (!request->page && !calc_sweep_study_mixes(&study)) {
            const calc_sweep_advice advice = calc_sweep_order_advise(measured, &study, &result);
            data.start = advice.status == CALC_OK ? advice.start.layout : NULL;
        }
        calc_study_cut(&study, &result);
        calc_put_object(put, "sweep", CALC_PUT_LINE);
        calc_sweep_put_summary(put, "summary", &result);
        calc_sweep_put_results(put, &data);
        calc_put_close(put);
        if (request->page) {
            calc_putf(put, "page: {");
            if (request->page & CALC_PAGE_REST) {
                calc_putf(put, "study: {");
                calc_sweep_put_study(put, &study);
                calc_putf(put, "designs: %jd, per_num_procs?: %d}", (intmax_t)study.designs.count,
                          study.options.per_num_procs);
            }
            status = calc_sweep_data_put(put, &data, errors);
            calc_put_close(put);
        }
    }
    calc_sweep_result_free(&result);
    calc_study_free(&study);
    return status;
}

/* An option that a completion asks for is a field of a request. */
static void name_field(calc_errors *errors)
{
    for (int i = 0; i < errors->count; i++) {
        calc_error *error = &errors->item[i];
        bool procs = strcmp(error->file, "--procs") == 0;
        if (procs || strcmp(error->file, "--batch") == 0) {
            calc_error_place(error, "exe", 0, 0);
            snprintf(error->hint, sizeof error->hint, "for example \"%s\": 512",
                     procs ? "num_procs" : "batch_size");
        }
    }
}

/* Gives the execution of a request what it leaves out. The changes of it are part of what is said.
 * @return false with errors */
static bool complete(calc_session *session, calc_completed *c, calc_errors *errors)
{
    const calc_request *request = &session->request;
    calc_request_documents *in = &session->request.used;
    const char *text = in->facts[CALC_KIND_EXEC].partial;
    const char **set = calloc(request->changes + 1, sizeof *set);
    char rules[CALC_COMPAT_TEXT];
    calc_completion said = {.source = {.app = name_of(request, CALC_KIND_APP),
                                       .system = *in->machine ? in->machine : "system",
                                       .read = read_document,
                                       .context = session,
                                       .find = session->find,
                                       .find_context = session->context},
                            .measured = measured_runs(session),
                            .text = text,
                            .length = strlen(text),
                            .path = "exe",
                            .set = set,
                            .compat = calc_compat_text(request->compat, rules),
                            .system = &in->system};
    if (!set) {
        return calc_errors_no_memory(errors) == CALC_OK;
    }
    for (size_t i = 0; i < request->changes; i++) {
        calc_field_ref where;
        calc_errors ignored = {0};
        bool made = calc_set(&in->app, &in->system, &in->exec, request->change[i], &where,
                             &ignored) == CALC_OK &&
                    where.kind != CALC_KIND_EXEC;
        set[said.set_count] = request->change[i];
        said.set_count += !made; /* model and machine have theirs */
    }
    calc_status status = calc_completion_find(c, &said, errors);
    if (status == CALC_OK && !c->found) {
        (void)calc_sweep_empty(&c->study, errors);
    }
    if (!c->found && errors->count == 0) {
        calc_errors_add(errors, status == CALC_OK ? CALC_ERR_RULE : status, CALC_KIND_EXEC, NULL,
                        NULL, "no layout has the values that are said");
    }
    in->exec = c->exec;
    strcpy(in->exec.software, c->study.space.software);
    calc_software_state_all(&in->exec);
    for (size_t i = 0; i < said.set_count && errors->count == 0; i++) {
        (void)!calc_set(&in->app, &in->system, &in->exec, set[i], NULL, errors);
    }
    name_field(errors);
    free(set);
    return errors->count == 0;
}

/* calc_request_handle */
static void answer_one(void *context, const calc_request *request, const calc_errors *errors)
{
    answering *a = context;
    calc_request_documents *in = &a->session->request.used;
    calc_errors found = {0};
    if (a->is_array && !a->any) {
        calc_put_array(&a->put, NULL, CALC_PUT_LINE);
    }
    a->any = true;
    calc_put_object(&a->put, NULL, CALC_PUT_LINE);
    if (request->id) {
        calc_put_raw(&a->put, "id", request->id);
    }
    calc_session *session = a->session;
    bool run = errors->count == 0 && request->fields == CALC_KIND_NONE && !request->keeps &&
               !request->import && !request->sweeps;
    bool partial = run && in->facts[CALC_KIND_EXEC].partial;
    calc_completed completed = {0};
    if (run && (!partial || complete(session, &completed, &found)) &&
        calc_software_read(&in->exec, session->find, session->context, &found) == CALC_OK &&
        find_systems(session, &found)) {
        calc_resolve(&in->app, &in->system, &in->exec);
    }
    found = errors->count > 0 ? *errors : found;
    if (found.count > 0) {
        /* told below */
    } else if (request->sweeps) {
        (void)!answer_sweep(&a->put, session, &found);
    } else if (request->import) {
        (void)!answer_import(&a->put, request->import, &found);
    } else if (request->keeps) {
        calc_put_count(&a->put, "kept", (int64_t)request->kept);
    } else if (!run) {
        calc_put_fields(&a->put, request->fields);
    } else if (calc_check(&in->app, &in->system, &in->exec, &found) == CALC_OK &&
               calc_compat_check(&in->app, &in->exec, request->compat, &found) == CALC_OK) {
        evaluate(session, &a->put, partial ? &completed : NULL);
    }
    if (found.count > 0) {
        calc_put_array(&a->put, "errors", CALC_PUT_LINE);
        for (int i = 0; i < found.count; i++) {
            calc_request_put_error(&a->put, &found.item[i]);
        }
        calc_put_close(&a->put);
    }
    calc_put_close(&a->put);
    calc_completed_free(&completed);
}

void calc_session_answer(calc_session *session, const char *text, size_t length, calc_output *out)
{
    answering a = {.session = session, .put = {.out = out, .flat = true}};
    calc_request_each(&session->reader, text, length, &session->request, &a.is_array, answer_one,
                      &a);
    if (a.is_array && a.any) {
        calc_put_close(&a.put);
    } else if (a.is_array) {
        calc_output_text(out, "[]");
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
        session->reader.keep = keep;
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
        free(session->reader.partial);
        calc_residuals_free(&session->measured);
        free(session);
    }
}

const char *calc_version(void)
{
    return CALC_VERSION;
}
