#include "mindspeed/loop.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/error.h"
#include "io/csv_table.h"
#include "io/utf8.h"
#include "mindspeed/memory.h"

typedef struct ranker {
    const calc_mindspeed_study *study;
    const calc_mindspeed_rank_times *times;
    calc_mindspeed_ranking *out;
    double *ratio; /* measured over predicted times */
    size_t ratios;
    size_t refused; /* number of configurations that calc cannot lay out */
} ranker;

/* The measured time of a configuration: infinite if it failed; NaN: not measured. */
static double measured_s(const ranker *r, const calc_mindspeed_config *config)
{
    const calc_mindspeed_result *result =
        r->times->results ? calc_mindspeed_results_find(r->times->results, config) : NULL;
    if (result) {
        return result->end == CALC_MINDSPEED_RAN ? result->step_s : INFINITY;
    }
    const calc_mindspeed_study *s = r->study;
    calc_mindspeed_profile profile;
    calc_errors errors = {0};
    if (!s->profiles || s->generation != CALC_MINDSPEED_GEN1) {
        return NAN;
    }
    calc_status status = calc_mindspeed_modules_read(&profile, s->profiles, &s->arguments->job,
                                                     s->generation, config, &errors);
    if (status != CALC_OK && status != CALC_ERR_NOT_FOUND) {
        calc_notes_take(&r->out->notes, &errors);
        return INFINITY; /* treated as a failed run */
    }
    return profile.step_s;
}

static void summarize(calc_mindspeed_candidate *c, size_t count)
{
    const double *sample = c->samples_s;
    double beyond = 0, square = 0; /* relative to the first, so that the mean of equal samples is
                                    * exact */
    for (size_t i = 0; i < count; i++) {
        beyond += (sample[i] - sample[0]) / (double)count;
    }
    c->step_s = sample[0] + beyond;
    for (size_t i = 0; i < count; i++) {
        square += (sample[i] - c->step_s) * (sample[i] - c->step_s) / (double)count;
    }
    c->sd_s = sqrt(square);
}

static void fill(double *sample, size_t count, double step_s)
{
    for (size_t i = 0; i < count; i++) {
        sample[i] = step_s;
    }
}

static void take_time(ranker *r, calc_mindspeed_candidate *c, double modelled_s)
{
    size_t count = r->times->samples;
    double known_s = measured_s(r, &c->config);
    bool timed = isfinite(modelled_s);
    c->source = isfinite(known_s) ? CALC_MINDSPEED_MEASURED : CALC_MINDSPEED_MODELLED;
    if (r->times->timer) {
        timed = r->times->timer(r->times->judge, &c->config, c->samples_s, count);
    } else {
        fill(c->samples_s, count, modelled_s);
    }
    if (timed) {
        summarize(c, count);
    }
    if (isfinite(known_s)) {
        if (timed) {
            r->ratio[r->ratios++] = known_s / c->step_s;
        }
        fill(c->samples_s, count, known_s);
        summarize(c, count);
    }
    if (isnan(known_s) ? !timed : isinf(known_s)) {
        c->source = CALC_MINDSPEED_UNTIMED;
        c->step_s = INFINITY;
        c->sd_s = 0;
        fill(c->samples_s, count, INFINITY);
    }
}

static void judge(ranker *r, calc_mindspeed_candidate *c)
{
    calc_mindspeed_ranking *out = r->out;
    const calc_mindspeed_study *s = r->study;
    double capacity = s->system->chip.mem1.capacity_bytes;
    calc_mindspeed_modelled m =
        calc_mindspeed_modelled_of(&s->arguments->plan, s->system, &c->config);
    c->calc_bytes = m.peak_bytes;
    c->peak_bytes = calc_mindspeed_peak_bytes(&out->peak, &c->config);
    c->step_s = INFINITY;
    fill(c->samples_s, r->times->samples, INFINITY);
    if (*m.why && r->refused++ == 0) {
        char name[CALC_MINDSPEED_NAME];
        calc_notes_add(&out->notes, "calc cannot lay out %s: %s",
                       calc_mindspeed_config_name(&c->config, s->generation, name), m.why);
    }
    if (c->peak_bytes <= calc_mindspeed_peak_prune(s) * capacity) {
        take_time(r, c, m.step_s);
    }
    out->timed += c->source != CALC_MINDSPEED_UNTIMED;
    out->measured += c->source == CALC_MINDSPEED_MEASURED;
    out->spread = out->spread || c->sd_s > 0;
    c->fits = c->source != CALC_MINDSPEED_UNTIMED &&
              c->peak_bytes < calc_mindspeed_peak_final(s) * capacity;
    out->fit += c->fits;
}

/* A model errs alike in similar configurations: what was measured says by how much, and predictions
 * are compared with measurements on one scale. */
static void set_scale(ranker *r)
{
    calc_mindspeed_ranking *out = r->out;
    size_t n = r->ratios;
    qsort(r->ratio, n, sizeof *r->ratio, calc_order_numbers);
    out->scale = n > 0 ? (r->ratio[n / 2] + r->ratio[(n - 1) / 2]) / 2 : 1;
    for (size_t i = 0; i < out->count; i++) {
        if (out->item[i].source == CALC_MINDSPEED_MODELLED) {
            out->item[i].step_s *= out->scale;
            out->item[i].sd_s *= out->scale;
            for (size_t j = 0; j < r->times->samples; j++) {
                out->item[i].samples_s[j] *= out->scale;
            }
        }
    }
}

/* Number of samples in which each is the fastest; ties go to the first. */
static void count_best(const ranker *r)
{
    calc_mindspeed_ranking *out = r->out;
    for (size_t j = 0; j < r->times->samples && out->fit > 0; j++) {
        calc_mindspeed_candidate *best = NULL;
        for (size_t i = 0; i < out->count; i++) {
            calc_mindspeed_candidate *c = &out->item[i];
            best = c->fits && (!best || c->samples_s[j] < best->samples_s[j]) ? c : best;
        }
        if (best) {
            best->best++;
        }
    }
    for (size_t i = 0; i < out->count; i++) {
        out->item[i].best /= (double)r->times->samples;
    }
}

/* A run out of memory also rules out all configurations that need at least as much, unless they
 * ran. */
static void drop_larger(ranker *r)
{
    calc_mindspeed_ranking *out = r->out;
    double least = INFINITY;
    for (size_t i = 0; i < out->count && r->times->results; i++) {
        const calc_mindspeed_result *result =
            calc_mindspeed_results_find(r->times->results, &out->item[i].config);
        if (result && result->end == CALC_MINDSPEED_OUT_OF_MEMORY) {
            least = fmin(least, out->item[i].peak_bytes);
        }
    }
    for (size_t i = 0; i < out->count; i++) {
        calc_mindspeed_candidate *c = &out->item[i];
        if (c->fits && c->peak_bytes >= least && c->source != CALC_MINDSPEED_MEASURED) {
            c->fits = false;
            out->fit--;
        }
    }
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

static calc_status rank_space(ranker *r, const calc_mindspeed_space *space)
{
    calc_mindspeed_ranking *out = r->out;
    size_t samples = r->times->samples;
    calc_status status = calc_mindspeed_peak_start(&out->peak, r->study, space, &out->notes);
    out->item = calloc(space->count, sizeof *out->item);
    out->samples_s = calloc(space->count * samples, sizeof *out->samples_s);
    r->ratio = calloc(space->count, sizeof *r->ratio);
    if (status != CALC_OK || !out->item || !out->samples_s || !r->ratio) {
        return CALC_ERR_NOMEM;
    }
    out->count = space->count;
    for (size_t i = 0; i < space->count; i++) {
        out->item[i].config = space->config[i];
        out->item[i].samples_s = out->samples_s + i * samples;
        judge(r, &out->item[i]);
    }
    set_scale(r);
    drop_larger(r);
    count_best(r);
    qsort(out->item, out->count, sizeof *out->item, rank_compare);
    if (r->refused > 1) {
        calc_notes_add(&out->notes, "and %zu more configurations likewise", r->refused - 1);
    }
    if (out->peak.negative > 0) {
        calc_notes_add(&out->notes,
                       "the fit of activations is bad: it is below 0 for %d of %zu "
                       "configurations, counted as none there",
                       out->peak.negative, out->count);
    }
    return CALC_OK;
}

calc_status calc_mindspeed_rank(const calc_mindspeed_study *study,
                                const calc_mindspeed_rank_times *times, calc_mindspeed_ranking *out,
                                calc_errors *errors)
{
    const calc_mindspeed_job *job = &study->arguments->job;
    calc_mindspeed_space space;
    ranker r = {.study = study, .times = times, .out = out};
    *out = (calc_mindspeed_ranking){0};
    calc_status status = calc_mindspeed_space_list(job, study->generation, &space);
    if (status == CALC_OK && space.count == 0) {
        status = calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, NULL,
                                 "no configuration divides %d devices, %d layers, %d heads and "
                                 "%d sequences",
                                 calc_mindspeed_devices(job), job->layers, job->heads, job->batch);
    } else if (status == CALC_OK) {
        status = rank_space(&r, &space);
    }
    free(r.ratio);
    calc_mindspeed_space_free(&space);
    return status == CALC_ERR_NOMEM ? calc_errors_no_memory(errors) : status;
}

void calc_mindspeed_rank_free(calc_mindspeed_ranking *ranking)
{
    free(ranking->item);
    free(ranking->samples_s);
    ranking->item = NULL;
    ranking->samples_s = NULL;
}

calc_mindspeed_next calc_mindspeed_next_find(calc_mindspeed_ranking *ranking,
                                             const calc_mindspeed_results *results,
                                             const calc_mindspeed_loop_rules *rules)
{
    calc_mindspeed_loop loop = {.rules = *rules, .item = ranking->item, .count = ranking->count};
    for (size_t i = 0; results && i < ranking->count; i++) {
        const calc_mindspeed_result *r =
            calc_mindspeed_results_find(results, &ranking->item[i].config);
        if (r) {
            calc_mindspeed_loop_record(&loop, i, r->end);
        }
    }
    calc_mindspeed_loop_judge(&loop);
    calc_mindspeed_next out = {.stop = calc_mindspeed_loop_choose(&loop), .trials = loop.trials};
    out.unmeasured = loop.pool > 0 ? (double)loop.rest / (double)loop.pool : 0;
    if (out.stop == CALC_MINDSPEED_GOES_ON) {
        out.config = ranking->item[loop.next].config;
        out.chance = calc_mindspeed_loop_chance(&loop, loop.next);
    }
    return out;
}

calc_status calc_mindspeed_evidence_start(calc_mindspeed_evidence *out,
                                          const calc_mindspeed_study *study,
                                          const calc_mindspeed_sampling *sampling,
                                          calc_errors *errors)
{
    const calc_mindspeed_arguments *a = study->arguments;
    *out = (calc_mindspeed_evidence){.study = study};
    calc_status status = calc_mindspeed_folder_read(&out->folder, study->profiles, errors);
    if (status != CALC_OK) {
        return status;
    }
    const calc_mindspeed_times *cache = out->folder.cache.count > 0 ? &out->folder.cache : NULL;
    calc_mindspeed_operators_start(&out->operators, &a->job, &a->app, study->system, cache,
                                   sampling);
    out->started = true;
    if (out->folder.kernels.count == 0) {
        calc_notes_add(&out->notes, "%s has no kernels: operators are calc's", study->profiles);
    }
    if (out->folder.comm.count == 0) {
        calc_notes_add(&out->notes, "%s has no comm_prof.csv: collectives are calc's",
                       study->profiles);
    }
    status = calc_mindspeed_operators_learn(&out->operators, out->folder.kernels.item,
                                            out->folder.kernels.count, errors);
    return status ? status : calc_mindspeed_operators_fit(&out->operators, errors);
}

bool calc_mindspeed_evidence_time(void *evidence, const calc_mindspeed_config *config,
                                  double *samples_s, size_t count)
{
    calc_mindspeed_evidence *e = evidence;
    const calc_mindspeed_study *s = e->study;
    calc_mindspeed_profile p;
    calc_app app;
    calc_exec exec;
    calc_errors errors = {0}, ignored = {0};
    calc_status status = CALC_ERR_NOT_FOUND;
    if (s->generation == CALC_MINDSPEED_GEN2) {
        status = calc_mindspeed_modules_read(&p, s->profiles, &s->arguments->job, s->generation,
                                             config, &errors);
        calc_notes_take(&e->notes, &errors);
        e->profiled += status == CALC_OK;
    }
    if ((status != CALC_OK && status != CALC_ERR_NOT_FOUND) ||
        calc_mindspeed_exec_of(&s->arguments->plan, config, &app, &exec, &ignored) != CALC_OK ||
        calc_check(&app, s->system, &exec, &ignored) != CALC_OK) {
        return false;
    }
    const calc_mindspeed_layout layout = {config, &app, s->system, &exec};
    if (status == CALC_OK) {
        const calc_mindspeed_module_times modules = {
            .embedding_s = p.time_s[CALC_MINDSPEED_EMBEDDING],
            .layer_s = p.time_s[CALC_MINDSPEED_LAYER],
            .norm_s = p.time_s[CALC_MINDSPEED_FINAL_NORM],
            .head_s = p.time_s[CALC_MINDSPEED_OUTPUT],
            .loss_s = p.time_s[CALC_MINDSPEED_LOSS],
            .backward = p.forward_s > 0 ? p.backward_s / p.forward_s : 2};
        fill(samples_s, count, calc_mindspeed_compose_modules_s(&layout, &modules));
    } else if (calc_mindspeed_compose(&layout, &e->operators, &e->folder.comm, samples_s, count) !=
               CALC_OK) {
        return false;
    }
    bool finite = true;
    for (size_t i = 0; i < count; i++) {
        finite = finite && isfinite(samples_s[i]);
    }
    return finite;
}

void calc_mindspeed_evidence_free(calc_mindspeed_evidence *evidence)
{
    if (evidence->started) {
        calc_mindspeed_operators_free(&evidence->operators);
    }
    calc_mindspeed_folder_free(&evidence->folder);
}

enum { PATH_SIZE = 4096, DEPTH = 5 };

static bool is_kind(const char *path, mode_t kind)
{
    struct stat info;
    return stat(path, &info) == 0 && (info.st_mode & S_IFMT) == kind;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists every kernel_details.csv in a folder or below it, in the order of their paths. Nothing in
 * the folder's name stands for other names.
 * @return false if out of memory */
static bool search(const char *root, glob_t *found)
{
    char pattern[2 * PATH_SIZE + 64];
    size_t length = 0;
    int status = 0;
    for (; *root && length < 2 * PATH_SIZE; root++) {
        if (strchr("*?[\\", *root)) {
            pattern[length++] = '\\';
        }
        pattern[length++] = *root;
    }
    for (int depth = 0; depth <= DEPTH && status != GLOB_NOSPACE; depth++, length += 2) {
        snprintf(pattern + length, sizeof pattern - length, "/kernel_details.csv");
        status = glob(pattern, depth ? GLOB_APPEND : 0, NULL, found);
        memcpy(pattern + length, "/*", 2);
    }
    if (found->gl_pathc > 1) {
        qsort(found->gl_pathv, found->gl_pathc, sizeof *found->gl_pathv, compare_texts);
    }
    return status != GLOB_NOSPACE;
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
    if (status == CALC_OK && !search(path, &found)) {
        status = calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < found.gl_pathc && status == CALC_OK; i++, out->details++) {
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

void calc_mindspeed_loop_record(calc_mindspeed_loop *loop, size_t candidate, calc_mindspeed_end end)
{
    calc_mindspeed_candidate *c = &loop->item[candidate];
    if (c->mark == CALC_MINDSPEED_EXPLORED) {
        return;
    }
    c->mark = end == CALC_MINDSPEED_RAN ? CALC_MINDSPEED_EXPLORED : CALC_MINDSPEED_REMOVED;
    loop->trials++;
    for (size_t i = 0; i < loop->count && end == CALC_MINDSPEED_OUT_OF_MEMORY; i++) {
        if (loop->item[i].mark == CALC_MINDSPEED_UNEXPLORED &&
            loop->item[i].peak_bytes >= c->peak_bytes) {
            loop->item[i].mark = CALC_MINDSPEED_REMOVED;
        }
    }
}

/* Adds the fastest candidates of a sample to the pool, the first of equally fast ones first. */
static void add_fastest(calc_mindspeed_loop *loop, size_t sample)
{
    double after_s = -INFINITY;
    size_t last = 0;
    for (size_t k = 0; k < loop->rules.top_k; k++) {
        size_t best = loop->count;
        double best_s = INFINITY;
        for (size_t c = 0; c < loop->count; c++) {
            double s = loop->item[c].samples_s[sample];
            bool comes = s > after_s || (s == after_s && c > last);
            if (comes && s < best_s && loop->item[c].mark != CALC_MINDSPEED_REMOVED) {
                best = c;
                best_s = s;
            }
        }
        if (best == loop->count) {
            return;
        }
        last = best;
        after_s = best_s;
        loop->item[last].tally++;
        loop->pool++;
        loop->rest += loop->item[last].mark == CALC_MINDSPEED_UNEXPLORED;
    }
}

void calc_mindspeed_loop_judge(calc_mindspeed_loop *loop)
{
    loop->pool = loop->rest = 0;
    for (size_t c = 0; c < loop->count; c++) {
        loop->item[c].tally = 0;
    }
    for (size_t i = 0; i < loop->rules.samples; i++) {
        add_fastest(loop, i);
    }
}

double calc_mindspeed_loop_chance(const calc_mindspeed_loop *loop, size_t candidate)
{
    return loop->pool ? (double)loop->item[candidate].tally / (double)loop->pool : 0;
}

calc_mindspeed_stop calc_mindspeed_loop_choose(calc_mindspeed_loop *loop)
{
    const calc_mindspeed_loop_rules *r = &loop->rules;
    double share = loop->pool ? (double)loop->rest / (double)loop->pool : 0;
    size_t first = 0;
    while (first < loop->count && loop->item[first].mark != CALC_MINDSPEED_UNEXPLORED) {
        first++;
    }
    loop->stop = CALC_MINDSPEED_GOES_ON;
    if (first == loop->count) {
        loop->stop = CALC_MINDSPEED_EXHAUSTED;
    } else if (r->max_trials && loop->trials >= r->max_trials) {
        loop->stop = CALC_MINDSPEED_TRIALS;
    } else if (r->every) {
        loop->next = first;
    } else if (loop->rest == 0 || share <= r->stop_threshold) {
        loop->stop = CALC_MINDSPEED_CONCENTRATED;
    } else { /* one of the pool's unmeasured entries, with equal probability */
        calc_rng rng;
        calc_rng_init(&rng, r->seed, loop->trials);
        size_t left = calc_rng_below(&rng, (uint32_t)loop->rest);
        for (loop->next = first;; loop->next++) {
            const calc_mindspeed_candidate *c = &loop->item[loop->next];
            size_t here = c->mark == CALC_MINDSPEED_UNEXPLORED ? c->tally : 0;
            if (left < here) {
                break;
            }
            left -= here;
        }
    }
    return loop->stop;
}

typedef struct row {
    int pp, tp, dp, cp, up, mbs;
    double vpp, ep, peak_gb;
    const char *ms;
    int line;
    calc_mindspeed_end end;
    double step_s;
} result_row;

#define SIZE(name, member)                                                                         \
    {                                                                                              \
        name, NULL, CALC_CSV_MEMBER(result_row, member), .lo = 1, .hi = 1e9                        \
    }
#define MAYBE CALC_CSV_OPTIONAL | CALC_CSV_BLANK

static const calc_csv_column columns[] = {
    SIZE("pp", pp),
    SIZE("tp", tp),
    SIZE("dp", dp),
    SIZE("ring_attention", cp),
    SIZE("ulysses", up),
    SIZE("mbs", mbs),
    {"vpp", NULL, CALC_CSV_MEMBER(result_row, vpp), MAYBE, 1, 1e9},
    {"ep", NULL, CALC_CSV_MEMBER(result_row, ep), MAYBE, 0, 1e9},
    {"peak_memory", NULL, CALC_CSV_MEMBER(result_row, peak_gb), MAYBE, 0, 1e9},
    {"e2e_time", NULL, CALC_CSV_MEMBER(result_row, ms)},
    {NULL, NULL, CALC_CSV_MEMBER(result_row, line)},
};

static bool is_whole(double x)
{
    return isnan(x) || x == floor(x);
}

static calc_status finish(void *context, void *row, const calc_csv_row *from, calc_errors *errors)
{
    result_row *r = row;
    char *end;
    (void)context;
    if (!is_whole(r->vpp) || !is_whole(r->ep)) {
        return calc_errors_at(errors, CALC_ERR_TYPE, from->reader->name, from->line, 0, NULL,
                              "%s: expected a whole number, found %g",
                              is_whole(r->vpp) ? "ep" : "vpp", is_whole(r->vpp) ? r->ep : r->vpp);
    }
    r->end = strcmp(r->ms, "oom") == 0      ? CALC_MINDSPEED_OUT_OF_MEMORY
             : strcmp(r->ms, "failed") == 0 ? CALC_MINDSPEED_FAILED
                                            : CALC_MINDSPEED_RAN;
    if (r->end != CALC_MINDSPEED_RAN) {
        return CALC_OK;
    }
    r->step_s = strtod(r->ms, &end) * 1e-3;
    bool number = end != r->ms && *end == '\0';
    return number && isfinite(r->step_s) && r->step_s > 0
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
    out->item = calloc(count + 1, sizeof *out->item);
    if (!out->item) {
        return calc_errors_no_memory(errors);
    }
    for (size_t i = 0; i < count; i++) {
        const result_row *r = &row[i];
        const calc_mindspeed_result result = {.config = {r->pp, r->tp, r->dp, r->cp, r->up, r->mbs,
                                                         isnan(r->vpp) ? 1 : (int)r->vpp,
                                                         isnan(r->ep) ? 0 : (int)r->ep},
                                              .end = r->end,
                                              .step_s = r->step_s,
                                              .peak_bytes = r->peak_gb * 1e9,
                                              .line = r->line};
        const calc_mindspeed_result *first = calc_mindspeed_results_find(out, &result.config);
        if (first) {
            status = calc_errors_at(
                errors, CALC_ERR_RULE, path, row[i].line, 0, "keep one row of each, or their mean",
                "the configuration was measured in line %d already", first->line);
        } else {
            out->item[out->count++] = result;
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
