/* The published runs as calc tune sees them: candidates with errors, campaigns of one publisher,
 * and sets of layouts that compete. Predictions are those of fits that had not seen the model's
 * width (tests/measured/residuals.csv). */
#ifndef CALC_TESTS_TUNE_RUNS_H
#define CALC_TESTS_TUNE_RUNS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/tune_learn.h"
#include "validate/residuals.h"
#include "validate/results.h"

enum { TUNE_RUNS = 4000, TUNE_NAME = 24, TUNE_KEY = 256, TUNE_FILES = 8 };

typedef struct tune_run {
    char campaign[TUNE_KEY], set[TUNE_KEY], layout[TUNE_KEY];
    double measured_s; /* of a sequence; NaN: none */
    calc_tune_known known;
    const calc_exec *exec;
} tune_run;

static struct {
    calc_runs runs[3], more[TUNE_FILES]; /* `more`: that nothing was fitted to */
    calc_remarks remarks;
    calc_documents systems;
    calc_results results, other[TUNE_FILES]; /* of `more` */
    size_t files;                            /* more of them */
    calc_residuals residuals;
    tune_run *run;
    size_t count;
    char publisher[CALC_TUNE_PUBLISHERS][TUNE_NAME];
    size_t publishers;
} tune_runs;

static calc_status tune_load_system(calc_kind kind, const char *name, void *out,
                                    calc_errors *errors)
{
    char path[512];
    snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/systems/%s.json", name);
    return calc_load(kind, out, path, errors);
}

static size_t tune_publisher(const char *source)
{
    char name[TUNE_NAME];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(source, "_ ,"), source);
    for (size_t i = 0; i < tune_runs.publishers; i++) {
        if (strcmp(tune_runs.publisher[i], name) == 0) {
            return i;
        }
    }
    strcpy(tune_runs.publisher[tune_runs.publishers], name);
    return tune_runs.publishers++;
}

static void tune_name_run(tune_run *r, const calc_run_map *m, const char *publisher, double shown)
{
    const calc_strategy *s = &m->exec.strategy;
    char model[TUNE_KEY];
    snprintf(model, sizeof model, "%s %s %.0f %.0f %.0f %.0f %d %d", publisher, m->row->sys,
             (double)m->app.hidden, (double)m->app.num_blocks, (double)m->app.seq_size,
             (double)m->app.attn_heads, (int)s->datatype, (int)s->matrix_datatype);
    bool many = strcmp(publisher, "vtrain") == 0;
    bool by_sequence = strcmp(publisher, "foundry") == 0; /* of which batches differ */
    snprintf(r->campaign, TUNE_KEY, "%.200s %.0f", model, many ? (double)m->exec.num_procs : 0.0);
    snprintf(r->set, TUNE_KEY, "%.200s %.0f %.0f", model, (double)m->exec.num_procs,
             by_sequence ? 0.0 : (double)m->exec.batch_size);
    snprintf(r->layout, TUNE_KEY, "%.0f %.0f %.0f %.0f %.0f %.0f %.0f %d %.9g",
             (double)s->tensor_par, (double)m->exec.pipeline_par, (double)s->data_par,
             (double)s->context_par, (double)s->expert_par, (double)m->exec.microbatch_size,
             (double)m->exec.pipeline_interleaving, (int)s->activation_recompute, shown);
}

/* The run of a result, if it is new; the next result of the same run is its memory. */
static tune_run *tune_run_of(const calc_result *x, bool fitted)
{
    const calc_run_map *m = &x->prediction->map;
    const calc_document *entry = calc_documents_get(&tune_runs.systems, m->row->sys);
    tune_run *r = &tune_runs.run[tune_runs.count];
    *r = (tune_run){.measured_s = (double)NAN};
    r->known.time_error = r->known.memory_error = (double)NAN;
    if (!calc_tune_candidate_of(&r->known.candidate, &m->app, &entry->system, &m->exec)) {
        return NULL;
    }
    r->known.publisher = tune_publisher(m->row->source);
    r->exec = &m->exec;
    tune_name_run(r, m, fitted ? tune_runs.publisher[r->known.publisher] : m->row->release,
                  x->prediction->predicted[CALC_QUANTITY_STEP_TIME]);
    tune_runs.count++;
    return r;
}

static void tune_add_result(const calc_result *x, const char **id, tune_run **last)
{
    const calc_run_map *m = &x->prediction->map;
    const calc_residual *residual =
        calc_residuals_find(&tune_runs.residuals, m->row->id, x->quantity);
    if (x->use != CALC_USE_SCORED || !residual) {
        return;
    }
    if (*id != m->row->id) {
        *id = m->row->id;
        *last = tune_run_of(x, true);
    }
    if (!*last) {
        return;
    }
    double error = residual->value[CALC_UNSEEN_WIDTH];
    if (x->quantity == CALC_QUANTITY_STEP_TIME) {
        double batch = (double)m->exec.batch_size;
        (*last)->measured_s = x->measured / batch;
        (*last)->known.time_error = error;
        (*last)->known.candidate.step_s = x->measured * exp(-error) / batch;
    } else if (x->measured >= 8 * 1073741824.0) { /* smaller ones are not near any capacity */
        (*last)->known.memory_error = error;
    }
}

static int tune_by_campaign(const void *a, const void *b)
{
    const tune_run *left = a;
    const tune_run *right = b;
    int order = strcmp(left->campaign, right->campaign);
    order = order ? order : strcmp(left->set, right->set);
    order = order ? order : strcmp(left->layout, right->layout);
    return order ? order
                 : (left->measured_s > right->measured_s) - (left->measured_s < right->measured_s);
}

static void tune_number_campaigns(void)
{
    qsort(tune_runs.run, tune_runs.count, sizeof *tune_runs.run, tune_by_campaign);
    for (size_t i = 0, campaign = 0; i < tune_runs.count; i++) {
        campaign += i > 0 && strcmp(tune_runs.run[i - 1].campaign, tune_runs.run[i].campaign) != 0;
        tune_runs.run[i].known.campaign = campaign;
    }
}

/* Read everything. @return whether it could be */
static bool tune_runs_read(void)
{
    static const char *const files[] = {"runs.csv", "runs_vtrain_single.csv.gz",
                                        "runs_megatron_small.csv.gz"};
    calc_errors errors = {0};
    calc_status status = CALC_OK;
    char path[512];
    for (int i = 0; i < 3 && status == CALC_OK; i++) {
        snprintf(path, sizeof path, CALC_DATA_DIR_SOURCE "/tests/measured/%s", files[i]);
        status = calc_runs_read(&tune_runs.runs[i], path, NULL, &errors);
    }
    if (status == CALC_OK) {
        status = calc_remarks_read(&tune_runs.remarks,
                                   CALC_DATA_DIR_SOURCE "/tests/measured/remarks.csv", &errors);
    }
    if (status == CALC_OK) {
        status = calc_residuals_read(&tune_runs.residuals,
                                     CALC_DATA_DIR_SOURCE "/tests/measured/residuals.csv", &errors);
    }
    tune_runs.systems.kind = CALC_KIND_SYSTEM;
    tune_runs.systems.load = tune_runs.systems.load ? tune_runs.systems.load : tune_load_system;
    if (status == CALC_OK) {
        status = calc_results_make(&tune_runs.results,
                                   &(const calc_measured_runs){.runs = tune_runs.runs,
                                                               .files = 3,
                                                               .remarks = &tune_runs.remarks,
                                                               .systems = &tune_runs.systems},
                                   &errors);
    }
    tune_runs.run = calloc(TUNE_RUNS, sizeof *tune_runs.run);
    if (status != CALC_OK || !tune_runs.run) {
        fprintf(stderr, "%s\n", errors.item[0].text);
        return false;
    }
    const char *id = NULL;
    tune_run *last = NULL;
    for (size_t i = 0; i < tune_runs.results.count; i++) {
        tune_add_result(&tune_runs.results.item[i], &id, &last);
    }
    tune_number_campaigns();
    return true;
}

/* Read further runs, to which nothing was fitted, so that predictions of today are of runs not
 * seen. Call it after what is learnt from the others. @return whether they could be read */
static inline bool tune_runs_more(const char *path)
{
    calc_errors errors = {0};
    size_t at = tune_runs.files++;
    calc_runs *runs = &tune_runs.more[at];
    calc_results *results = &tune_runs.other[at];
    if (at == TUNE_FILES || calc_runs_read(runs, path, NULL, &errors) != CALC_OK ||
        calc_results_make(results,
                          &(const calc_measured_runs){.runs = runs,
                                                      .files = 1,
                                                      .remarks = &tune_runs.remarks,
                                                      .systems = &tune_runs.systems},
                          &errors) != CALC_OK) {
        fprintf(stderr, "%s: %s\n", path, errors.item[0].text);
        return false;
    }
    for (size_t i = 0; i < results->count; i++) {
        const calc_result *x = &results->item[i];
        bool counts = x->use == CALC_USE_SCORED || x->use == CALC_USE_REFUSED;
        tune_run *r =
            counts && x->quantity == CALC_QUANTITY_STEP_TIME ? tune_run_of(x, false) : NULL;
        if (r) {
            double batch = (double)r->exec->batch_size;
            r->measured_s = x->measured / batch;
            r->known.candidate.step_s = x->predicted / batch;
        }
    }
    tune_number_campaigns();
    return true;
}

static void tune_runs_free(void)
{
    for (int i = 0; i < 3; i++) {
        calc_runs_free(&tune_runs.runs[i]);
    }
    for (size_t i = 0; i < tune_runs.files && i < TUNE_FILES; i++) {
        calc_runs_free(&tune_runs.more[i]);
        calc_results_free(&tune_runs.other[i]);
    }
    calc_remarks_free(&tune_runs.remarks);
    calc_residuals_free(&tune_runs.residuals);
    calc_results_free(&tune_runs.results);
    free(tune_runs.run);
}

/* The runs as calc_tune_learn() takes them; to be freed. */
static inline calc_tune_known *tune_runs_known(void)
{
    calc_tune_known *known = malloc((tune_runs.count + 1) * sizeof *known);
    for (size_t i = 0; known && i < tune_runs.count; i++) {
        known[i] = tune_runs.run[i].known;
    }
    return known;
}

#endif
