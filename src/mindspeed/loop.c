#include "mindspeed/loop.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "io/csv_table.h"
#include "io/utf8.h"
#include "mindspeed/memory.h"

/* ---- Candidates ------------------------------------------------------------------------------ */

/* A configuration that calc tune has as a candidate. */
typedef struct tried {
    size_t item; /* of the ranking */
    calc_exec exec;
} tried;

typedef struct ranker {
    const calc_mindspeed_study *study;
    calc_mindspeed_evidence *evidence;
    const calc_mindspeed_results *results;
    calc_mindspeed_ranking *out;
    calc_app app; /* the same for all */
    tried *tried; /* by candidate */
    calc_tune_candidate *candidate;
    size_t count;
    calc_tune_measurement *measurement;
    size_t measurements;
    size_t refused; /* number of configurations that calc cannot lay out */
} ranker;

/* What was measured of a configuration. @return whether anything was */
static bool find_result(const ranker *r, const calc_mindspeed_config *config,
                        calc_mindspeed_result *out)
{
    const calc_mindspeed_study *s = r->study;
    const calc_mindspeed_result *result =
        r->results ? calc_mindspeed_results_find(r->results, config) : NULL;
    if (result) {
        *out = *result;
        return true;
    }
    calc_mindspeed_profile profile;
    calc_errors errors = {0};
    if (!s->profiles || s->generation != CALC_MINDSPEED_GEN1) {
        return false;
    }
    calc_status status = calc_mindspeed_modules_read(&profile, s->profiles, &s->arguments->job,
                                                     s->generation, config, &errors);
    *out = (calc_mindspeed_result){.peak_bytes = NAN, .step_s = profile.step_s};
    if (status != CALC_OK && status != CALC_ERR_NOT_FOUND) {
        calc_notes_take(&r->out->notes, &errors);
        out->end = CALC_TUNE_END_FAILED; /* treated as a failed run */
        return true;
    }
    return status == CALC_OK && isfinite(profile.step_s);
}

/* The step time of a configuration [s]: of profiled modules (second generation), else calc's with
 * the collectives that were measured; NaN: its profile is damaged.
 * @param modules  set to whether it is of modules */
static double evidence_s(calc_mindspeed_evidence *e, const calc_mindspeed_study *s,
                         const calc_mindspeed_config *config, const calc_mindspeed_layout *layout,
                         bool *modules)
{
    calc_mindspeed_profile p;
    calc_errors errors = {0};
    calc_status status = CALC_ERR_NOT_FOUND;
    if (s->generation == CALC_MINDSPEED_GEN2) {
        status = calc_mindspeed_modules_read(&p, s->profiles, &s->arguments->job, s->generation,
                                             config, &errors);
        calc_notes_take(&e->notes, &errors);
    }
    *modules = status == CALC_OK;
    e->profiled += *modules;
    if (!*modules) {
        return status == CALC_ERR_NOT_FOUND ? calc_mindspeed_compose_s(layout, &e->folder.comm)
                                            : NAN;
    }
    return calc_mindspeed_compose_modules_s(layout, &p);
}

/* Profiled modules are measured kernels already: only the rest of the step has their errors. */
static bool take_time(ranker *r, calc_tune_candidate *c, const calc_mindspeed_config *config,
                      const calc_exec *exec)
{
    bool modules = false;
    const calc_mindspeed_layout layout = {&r->app, r->study->system, exec};
    if (r->evidence) {
        c->step_s = evidence_s(r->evidence, r->study, config, &layout, &modules);
    }
    for (int term = CALC_TUNE_TERM_MATRIX; modules && term <= CALC_TUNE_TERM_HOST; term++) {
        bool network = term == CALC_TUNE_TERM_NETWORK0 || term == CALC_TUNE_TERM_NETWORK1;
        c->term[term] = network ? c->term[term] : 0;
    }
    return isfinite(c->step_s);
}

static void take_result(ranker *r, calc_mindspeed_candidate *c, bool known,
                        const calc_mindspeed_result *result)
{
    r->out->trials++;
    bool fine = result->end == CALC_TUNE_END_FINE;
    c->source = fine ? CALC_MINDSPEED_MEASURED : CALC_MINDSPEED_UNTIMED;
    c->step_s = c->p5_s = c->p95_s = fine ? result->step_s : INFINITY;
    if (known) {
        bool possible = result->peak_bytes <= r->study->system->chip.mem1.capacity_bytes;
        r->measurement[r->measurements++] = (calc_tune_measurement){
            r->count - 1, result->end, result->step_s, fine && possible ? result->peak_bytes : NAN};
    }
}

/* Adds a configuration that is within the memory limit of trials.
 * @param most_bytes  the memory of an answer */
static void add_candidate(ranker *r, size_t i, double most_bytes)
{
    calc_mindspeed_candidate *c = &r->out->item[i];
    calc_tune_candidate *t = &r->candidate[r->count];
    calc_exec *exec = &r->tried[r->count].exec;
    calc_mindspeed_result result;
    calc_errors ignored = {0};
    const calc_mindspeed_study *s = r->study;
    bool known = calc_mindspeed_exec_of(&s->arguments->plan, &c->config, &r->app, exec, &ignored) ==
                     CALC_OK &&
                 calc_check(&r->app, s->system, exec, &ignored) == CALC_OK &&
                 calc_tune_candidate_of(t, &r->app, s->system, exec) &&
                 take_time(r, t, &c->config, exec);
    if (known) {
        t->memory_bytes = c->peak_bytes;
        t->capacity_bytes = most_bytes;
        r->tried[r->count++].item = i;
        c->source = CALC_MINDSPEED_MODELLED;
    }
    if (find_result(r, &c->config, &result)) {
        take_result(r, c, known, &result);
    }
}

static void judge(ranker *r, size_t i)
{
    calc_mindspeed_ranking *out = r->out;
    calc_mindspeed_candidate *c = &out->item[i];
    const calc_mindspeed_study *s = r->study;
    double capacity = s->system->chip.mem1.capacity_bytes;
    double most_bytes = calc_mindspeed_peak_final(s) * capacity;
    calc_mindspeed_modelled m =
        calc_mindspeed_modelled_of(&s->arguments->plan, s->system, &c->config);
    c->calc_bytes = m.peak_bytes;
    c->peak_bytes = calc_mindspeed_peak_bytes(&out->peak, &c->config);
    c->step_s = c->p5_s = c->p95_s = INFINITY;
    if (*m.why && r->refused++ == 0) {
        char name[CALC_MINDSPEED_NAME];
        calc_notes_add(&out->notes, "calc cannot lay out %s: %s",
                       calc_mindspeed_config_name(&c->config, s->generation, name), m.why);
    }
    if (c->peak_bytes <= calc_mindspeed_peak_prune(s) * capacity) {
        add_candidate(r, i, most_bytes);
    }
    out->timed += c->source != CALC_MINDSPEED_UNTIMED;
    out->measured += c->source == CALC_MINDSPEED_MEASURED;
    c->fits = c->source != CALC_MINDSPEED_UNTIMED && c->peak_bytes < most_bytes;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static calc_exec exec_of(const void *context, size_t candidate)
{
    return ((const tried *)context)[candidate].exec;
}

/* One that was not measured is no answer if measurements say that it probably does not fit. */
static void take_decision(ranker *r, const calc_tune_decision *d, size_t most)
{
    calc_mindspeed_ranking *out = r->out;
    for (size_t k = 0; k < r->count; k++) {
        calc_mindspeed_candidate *c = &out->item[r->tried[k].item];
        const calc_tune_outlook *o = &d->outlook[k];
        c->best = o->best;
        if (c->source == CALC_MINDSPEED_MODELLED) {
            c->step_s = o->p50_s;
            c->p5_s = o->p5_s;
            c->p95_s = o->p95_s;
            c->fits = c->fits && o->fits >= 0.5;
        }
    }
    out->chance = d->chance;
    out->stop = d->picks == 0                     ? CALC_MINDSPEED_EXHAUSTED
                : most > 0 && out->trials >= most ? CALC_MINDSPEED_TRIALS
                : d->stop                         ? CALC_MINDSPEED_CONCENTRATED
                                                  : CALC_MINDSPEED_GOES_ON;
    if (d->picks > 0) {
        out->next = out->item[r->tried[d->pick[0]].item].config;
    }
}

static calc_status decide(ranker *r, const calc_tune_options *options, size_t most,
                          calc_errors *errors)
{
    calc_tune_options of = *options;
    calc_tune_kernel_cells cells = {0};
    calc_tune_kernels_learnt learnt = {0};
    calc_tune_decision decision = {0};
    calc_status status = CALC_OK;
    if (r->evidence && r->evidence->kernels.table.count > 0) {
        calc_tune_kernel_cells_make(&cells, &r->app, r->study->system, r->candidate, r->count,
                                    exec_of, r->tried);
        status = calc_tune_kernels_learn(&learnt, of.prior, &r->evidence->kernels.table, cells.cell,
                                         cells.count, errors);
        of.kernels = &learnt.kernels;
    }
    status = status ? status
                    : calc_tune_decide(&decision, r->candidate, r->count, r->measurement,
                                       r->measurements, &of, errors);
    if (status == CALC_OK) {
        take_decision(r, &decision, most);
    }
    calc_tune_decision_free(&decision);
    calc_tune_kernels_free(&learnt);
    calc_tune_kernel_cells_free(&cells);
    return status;
}

static int rank_compare(const void *left, const void *right)
{
    const calc_mindspeed_candidate *x = left, *y = right;
    const calc_mindspeed_config *a = &x->config, *b = &y->config;
    const int one[] = {a->pp, a->tp, a->cp * a->up, a->up, a->mbs, a->vpp, a->ep};
    const int two[] = {b->pp, b->tp, b->cp * b->up, b->up, b->mbs, b->vpp, b->ep};
    int differ = y->fits - x->fits;
    differ = differ || !x->fits ? differ : CALC_ORDER(x->step_s, y->step_s);
    for (size_t i = 0; i < sizeof one / sizeof *one && !differ; i++) {
        differ = one[i] - two[i];
    }
    return differ;
}

static calc_status rank_space(ranker *r, const calc_mindspeed_space *space,
                              const calc_tune_options *options, size_t most, calc_errors *errors)
{
    calc_mindspeed_ranking *out = r->out;
    calc_mindspeed_peak_start(&out->peak, r->study, space, &out->notes);
    out->item = calc_make(space->count, sizeof *out->item);
    r->tried = calc_make(space->count, sizeof *r->tried);
    r->candidate = calc_make(space->count, sizeof *r->candidate);
    r->measurement = calc_make(space->count, sizeof *r->measurement);
    out->count = space->count;
    for (size_t i = 0; i < space->count; i++) {
        out->item[i].config = space->config[i];
        judge(r, i);
    }
    calc_status status = decide(r, options, most, errors);
    for (size_t i = 0; i < out->count; i++) {
        out->fit += out->item[i].fits;
    }
    CALC_SORT(out->item, out->count, rank_compare);
    if (r->refused > 1) {
        calc_notes_add(&out->notes, "and %zu more configurations likewise", r->refused - 1);
    }
    if (out->peak.negative > 0) {
        calc_notes_add(&out->notes,
                       "the fit of activations is bad: it is below 0 for %d of %zu "
                       "configurations, counted as none there",
                       out->peak.negative, out->count);
    }
    return status;
}

calc_status calc_mindspeed_rank(const calc_mindspeed_study *study,
                                calc_mindspeed_evidence *evidence,
                                const calc_mindspeed_results *results,
                                const calc_tune_options *options, size_t most,
                                calc_mindspeed_ranking *out, calc_errors *errors)
{
    const calc_mindspeed_job *job = &study->arguments->job;
    calc_mindspeed_space space;
    ranker r = {.study = study, .evidence = evidence, .results = results, .out = out};
    *out = (calc_mindspeed_ranking){0};
    calc_mindspeed_space_list(job, study->generation, &space);
    calc_status status =
        space.count > 0
            ? rank_space(&r, &space, options, most, errors)
            : calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                              "no configuration divides %d devices, %d layers, %d heads and "
                              "%d sequences",
                              calc_mindspeed_devices(job), job->layers, job->heads, job->batch);
    free(r.tried);
    free(r.candidate);
    free(r.measurement);
    calc_mindspeed_space_free(&space);
    return status;
}

void calc_mindspeed_rank_free(calc_mindspeed_ranking *ranking)
{
    free(ranking->item);
    ranking->item = NULL;
}

/* ---- Evidence -------------------------------------------------------------------------------- */

calc_status calc_mindspeed_evidence_start(calc_mindspeed_evidence *out,
                                          const calc_mindspeed_study *study, calc_errors *errors)
{
    const calc_mindspeed_arguments *a = study->arguments;
    *out = (calc_mindspeed_evidence){0};
    calc_status status = calc_mindspeed_folder_read(&out->folder, study->profiles, errors);
    if (status != CALC_OK) {
        return status;
    }
    if (out->folder.kernels.count == 0) {
        calc_notes_add(&out->notes, "%s has no kernels: operators are calc's", study->profiles);
    }
    if (out->folder.comm.count == 0) {
        calc_notes_add(&out->notes, "%s has no comm_prof.csv: collectives are calc's",
                       study->profiles);
    }
    calc_mindspeed_points(&out->kernels, &out->folder.kernels, &out->folder.cache, &a->job, &a->app,
                          study->system);
    return CALC_OK;
}

void calc_mindspeed_evidence_free(calc_mindspeed_evidence *evidence)
{
    calc_point_table_free(&evidence->kernels);
    calc_mindspeed_folder_free(&evidence->folder);
}

enum { PATH_SIZE = 4096, DEPTH = 5 };

static bool is_kind(const char *path, mode_t kind)
{
    struct stat info;
    return stat(path, &info) == 0 && (info.st_mode & S_IFMT) == kind;
}

/* Lists every kernel_details.csv in a folder or below it, in the order of their paths. Nothing in
 * the folder's name stands for other names. */
static void search(const char *root, glob_t *found)
{
    char pattern[2 * PATH_SIZE + 64];
    size_t length = 0;
    for (; *root && length < 2 * PATH_SIZE; root++) {
        if (strchr("*?[\\", *root)) {
            pattern[length++] = '\\';
        }
        pattern[length++] = *root;
    }
    for (int depth = 0; depth <= DEPTH; depth++, length += 2) {
        snprintf(pattern + length, sizeof pattern - length, "/kernel_details.csv");
        if (glob(pattern, depth ? GLOB_APPEND : 0, NULL, found) == GLOB_NOSPACE) {
            calc_end_without_memory();
        }
        memcpy(pattern + length, "/*", 2);
    }
    if (found->gl_pathc > 1) {
        CALC_SORT(found->gl_pathv, found->gl_pathc, calc_order_texts);
    }
}

calc_status calc_mindspeed_folder_read(calc_mindspeed_folder *out, const char *path,
                                       calc_errors *errors)
{
    char file[PATH_SIZE];
    glob_t found = {0};
    *out = (calc_mindspeed_folder){0};
    if (!is_kind(path, S_IFDIR)) {
        return calc_errors_at(errors, CALC_ERR_NOT_FOUND, path, 0, 0, NULL, "no such folder");
    }
    calc_status status = CALC_OK;
    snprintf(file, sizeof file, "%s/comm_prof.csv", path);
    if (is_kind(file, S_IFREG)) {
        status = calc_mindspeed_comm_read(&out->comm, file, errors);
    }
    snprintf(file, sizeof file, "%s/operator_cache.csv", path);
    if (status == CALC_OK && is_kind(file, S_IFREG)) {
        status = calc_mindspeed_cache_read(&out->cache, file, errors);
    }
    if (status == CALC_OK) {
        search(path, &found);
    }
    for (size_t i = 0; i < found.gl_pathc && status == CALC_OK; i++) {
        status = calc_mindspeed_kernels_read(&out->kernels, found.gl_pathv[i], errors);
    }
    globfree(&found);
    return status;
}

void calc_mindspeed_folder_free(calc_mindspeed_folder *folder)
{
    calc_mindspeed_times_free(&folder->kernels);
    calc_mindspeed_times_free(&folder->cache);
    calc_mindspeed_comm_free(&folder->comm);
}

/* A row, and what of it is read in another way. */
typedef struct row {
    calc_mindspeed_result result;
    double vpp, ep, peak_gb;
    const char *ms;
} result_row;

#define SIZE(name, member)                                                                         \
    {                                                                                              \
        name, NULL, CALC_CSV_MEMBER(result_row, result.config.member), .lo = 1, .hi = 1e9          \
    }
#define MAYBE CALC_CSV_OPTIONAL | CALC_CSV_BLANK
#define COUNT MAYBE | CALC_CSV_INTEGER

static const calc_csv_column columns[] = {
    SIZE("pp", pp),
    SIZE("tp", tp),
    SIZE("dp", dp),
    SIZE("ring_attention", cp),
    SIZE("ulysses", up),
    SIZE("mbs", mbs),
    {"vpp", NULL, CALC_CSV_MEMBER(result_row, vpp), COUNT, 1, 1e9},
    {"ep", NULL, CALC_CSV_MEMBER(result_row, ep), COUNT, 0, 1e9},
    {"peak_memory", NULL, CALC_CSV_MEMBER(result_row, peak_gb), MAYBE, 0, 1e9},
    {"e2e_time", NULL, CALC_CSV_MEMBER(result_row, ms)},
    {NULL, NULL, CALC_CSV_MEMBER(result_row, result.line)},
};

static calc_status finish(void *context, void *row, const calc_csv_row *from, calc_errors *errors)
{
    const result_row *r = row;
    calc_mindspeed_result *out = &((result_row *)row)->result;
    char *end;
    (void)context;
    out->config.vpp = isnan(r->vpp) ? 1 : (int)r->vpp;
    out->config.ep = isnan(r->ep) ? 0 : (int)r->ep;
    out->peak_bytes = r->peak_gb * 1e9;
    out->end = strcmp(r->ms, "oom") == 0      ? CALC_TUNE_END_OOM
               : strcmp(r->ms, "failed") == 0 ? CALC_TUNE_END_FAILED
                                              : CALC_TUNE_END_FINE;
    if (out->end != CALC_TUNE_END_FINE) {
        return CALC_OK;
    }
    out->step_s = strtod(r->ms, &end) * 1e-3;
    bool number = end != r->ms && *end == '\0';
    return number && isfinite(out->step_s) && out->step_s > 0
               ? CALC_OK
               : calc_errors_at(errors, CALC_ERR_TYPE, from->reader->name, from->line,
                                calc_csv_read_column(from->reader, r->ms), NULL,
                                "e2e_time: expected milliseconds above 0, oom or failed, found "
                                "\"%s\"",
                                calc_utf8_shown(r->ms, strlen(r->ms)));
}

static calc_status take(calc_mindspeed_results *out, const result_row *row, size_t count,
                        const char *path, calc_errors *errors)
{
    calc_status status = CALC_OK;
    out->item = calc_make(count, sizeof *out->item);
    for (size_t i = 0; i < count; i++) {
        const calc_mindspeed_result *result = &row[i].result;
        const calc_mindspeed_result *first = calc_mindspeed_results_find(out, &result->config);
        if (first) {
            status = calc_errors_at(
                errors, CALC_ERR_RULE, path, result->line, 0, "keep one row of each, or their mean",
                "the configuration was measured in line %d already", first->line);
        } else {
            out->item[out->count++] = *result;
        }
    }
    return status;
}

calc_status calc_mindspeed_results_read(calc_mindspeed_results *out, const char *path,
                                        calc_errors *errors)
{
    calc_csv_table table =
        CALC_CSV_TABLE(columns, result_row,
                       "model_results.csv has pp,tp,dp,ring_attention,ulysses,mbs,vpp,ep,"
                       "peak_memory,e2e_time");
    calc_csv_rows rows;
    table.finish = finish;
    *out = (calc_mindspeed_results){0};
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    status = status ? status : take(out, rows.item, rows.count, path, errors);
    calc_csv_rows_free(&rows);
    return status;
}

CALC_FREES(calc_mindspeed_results_free, calc_mindspeed_results, of->item)

const calc_mindspeed_result *calc_mindspeed_results_find(const calc_mindspeed_results *results,
                                                         const calc_mindspeed_config *c)
{
    for (size_t i = 0; i < results->count; i++) {
        if (memcmp(&results->item[i].config, c, sizeof *c) == 0) {
            return &results->item[i];
        }
    }
    return NULL;
}
