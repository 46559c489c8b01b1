#include "session/answer_sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report/sweep_data.h"
#include "session/study_load.h"

/* What the study loader asks for documents. */
typedef struct asking {
    const calc_request *request;
    const calc_sweep_asked *asked;
    char prefill[64]; /* name of the system of a prefill pool */
} asking;

static const char *name_of(const calc_request *request, calc_kind kind)
{
    const char *name = request->used.name[kind];
    return name[0] ? name : kind == CALC_KIND_APP ? "model" : "system";
}

/* The model or the machine of the request, with what is to know of it. */
static calc_status add_document(void *context, calc_sweep_study *study, calc_kind kind,
                                const char *name, calc_errors *errors)
{
    const calc_request_documents *in = &((const asking *)context)->request->used;
    calc_study_document *more =
        realloc(study->document, (study->documents + 1) * sizeof *study->document);
    if (!more) {
        return calc_errors_no_memory(errors);
    }
    study->document = more;
    calc_study_document *document = &more[study->documents++];
    *document = (calc_study_document){.name = ""};
    snprintf(document->name, sizeof document->name, "%.63s", name);
    calc_status status;
    if (kind == CALC_KIND_APP) {
        calc_remark_app(in->facts[kind], &in->app, document->remark);
        status = calc_designs_add_app(&study->builder, name, &in->app);
    } else {
        calc_remark_system(name, in->facts[kind], "", document->remark);
        status = calc_designs_add_system(&study->builder, name, &in->system);
    }
    return status == CALC_OK ? CALC_OK : calc_errors_no_memory(errors);
}

static const char *load_pool(void *context, const char *name, calc_system *system,
                             calc_errors *errors)
{
    asking *a = context;
    calc_remark_facts facts;
    snprintf(a->prefill, sizeof a->prefill, "%.63s", name);
    return a->asked->find(a->asked->context, CALC_KIND_SYSTEM, name, system, &facts, errors) ==
                   CALC_OK
               ? a->prefill
               : NULL;
}

static calc_status load(calc_sweep_study *study, const calc_request *request,
                        const calc_sweep_asked *asked, calc_errors *errors)
{
    asking a = {.request = request, .asked = asked};
    calc_study_source source = {.use = request->option,
                                .uses = request->options,
                                .app = name_of(request, CALC_KIND_APP),
                                .system = name_of(request, CALC_KIND_SYSTEM),
                                .document = add_document,
                                .prefill = load_pool,
                                .context = &a,
                                .find = asked->file,
                                .find_context = asked->file_context};
    calc_status status = CALC_OK;
    if (request->space) {
        status =
            calc_space_parse(&source.file, request->space, strlen(request->space), "space", errors);
    }
    status = status == CALC_OK ? calc_study_load(study, &source, errors) : status;
    calc_space_entries_free(&source.file);
    return status;
}

static void put_study(calc_put *put, const calc_sweep_study *study)
{
    calc_put_object(put, "study", CALC_PUT_LINE);
    calc_sweep_put_study(put, study);
    calc_put_count(put, "designs", (int64_t)study->designs.count);
    calc_put_flag(put, "per_num_procs", study->options.per_num_procs);
    calc_put_close(put);
}

static calc_status put_page(calc_put *put, const calc_sweep_data *data, calc_errors *errors)
{
    calc_put_object(put, "page", CALC_PUT_LINE);
    put_study(put, data->study);
    calc_status status = calc_sweep_data_put(put, data, errors);
    calc_put_close(put);
    return status;
}

calc_status calc_answer_sweep(calc_put *put, const calc_request *request,
                              const calc_sweep_asked *asked, calc_errors *errors)
{
    calc_sweep_study study = {0};
    calc_sweep_result result = {0};
    const calc_sweep_data data = {.study = &study, .result = &result};
    calc_status status = load(&study, request, asked, errors);
    if (status == CALC_OK) {
        status = calc_sweep(&study.space, &study.designs, &study.options, &result, errors);
    }
    if (status == CALC_OK) {
        calc_sweep_found_systems(&study, &result);
        calc_study_cut(&study, &result);
        calc_put_object(put, "sweep", CALC_PUT_LINE);
        calc_sweep_put_summary(put, "summary", &result);
        calc_sweep_put_results(put, &data);
        calc_put_close(put);
        status = request->page ? put_page(put, &data, errors) : CALC_OK;
    }
    calc_sweep_result_free(&result);
    calc_study_free(&study);
    return status;
}
