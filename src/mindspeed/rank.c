#include "mindspeed/rank.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "mindspeed/memory.h"

typedef struct ranker {
    const calc_mindspeed_study *study;
    const calc_mindspeed_rank_times *times;
    calc_mindspeed_ranking *out;
    double *samples; /* one row per configuration */
    double *ratio;   /* measured over predicted times */
    size_t ratios;
    size_t refused; /* number of configurations that calc cannot lay out */
} ranker;

static double *row_of(const ranker *r, size_t i)
{
    return r->samples + i * r->times->samples;
}

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

static void summarize(calc_mindspeed_candidate *c, const double *sample, size_t count)
{
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

static void take_time(ranker *r, size_t i, double modelled_s)
{
    calc_mindspeed_candidate *c = &r->out->item[i];
    double *sample = row_of(r, i);
    size_t count = r->times->samples;
    double known_s = measured_s(r, &c->config);
    bool timed = isfinite(modelled_s);
    c->source = isfinite(known_s) ? CALC_MINDSPEED_MEASURED : CALC_MINDSPEED_MODELLED;
    if (r->times->timer) {
        timed = r->times->timer(r->times->judge, &c->config, sample, count);
    } else {
        fill(sample, count, modelled_s);
    }
    if (timed) {
        summarize(c, sample, count);
    }
    if (isfinite(known_s)) {
        if (timed) {
            r->ratio[r->ratios++] = known_s / c->step_s;
        }
        fill(sample, count, known_s);
        summarize(c, sample, count);
    }
    timed = isnan(known_s) ? timed : isfinite(known_s);
    if (!timed) {
        c->source = CALC_MINDSPEED_UNTIMED;
        c->step_s = INFINITY;
        c->sd_s = 0;
    }
}

static void judge(ranker *r, size_t i)
{
    calc_mindspeed_ranking *out = r->out;
    calc_mindspeed_candidate *c = &out->item[i];
    const calc_mindspeed_study *s = r->study;
    double capacity = s->system->chip.mem1.capacity_bytes;
    calc_mindspeed_modelled m =
        calc_mindspeed_modelled_of(&s->arguments->plan, s->system, &c->config);
    c->calc_bytes = m.peak_bytes;
    c->peak_bytes = calc_mindspeed_peak_bytes(&out->peak, &c->config);
    c->step_s = INFINITY;
    if (*m.why && r->refused++ == 0) {
        char name[CALC_MINDSPEED_NAME];
        calc_notes_add(&out->notes, "calc cannot lay out %s: %s",
                       calc_mindspeed_config_name(&c->config, s->generation, name), m.why);
    }
    if (c->peak_bytes <= calc_mindspeed_peak_prune(s) * capacity) {
        take_time(r, i, m.step_s);
    }
    out->timed += c->source != CALC_MINDSPEED_UNTIMED;
    out->measured += c->source == CALC_MINDSPEED_MEASURED;
    out->spread = out->spread || c->sd_s > 0;
    c->fits = c->source != CALC_MINDSPEED_UNTIMED &&
              c->peak_bytes < calc_mindspeed_peak_final(s) * capacity;
    out->fit += c->fits;
}

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* A model errs alike in similar configurations: what was measured says by how much, and predictions
 * are compared with measurements on one scale. */
static void set_scale(ranker *r)
{
    calc_mindspeed_ranking *out = r->out;
    size_t n = r->ratios;
    qsort(r->ratio, n, sizeof *r->ratio, by_size);
    out->scale = n > 0 ? (r->ratio[n / 2] + r->ratio[(n - 1) / 2]) / 2 : 1;
    for (size_t i = 0; i < out->count; i++) {
        if (out->item[i].source == CALC_MINDSPEED_MODELLED) {
            out->item[i].step_s *= out->scale;
            out->item[i].sd_s *= out->scale;
            for (size_t j = 0; j < r->times->samples; j++) {
                row_of(r, i)[j] *= out->scale;
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
        double least = INFINITY;
        for (size_t i = 0; i < out->count; i++) {
            if (out->item[i].fits && (!best || row_of(r, i)[j] < least)) {
                best = &out->item[i];
                least = row_of(r, i)[j];
            }
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

static int compare_vectors(const calc_mindspeed_config *a, const calc_mindspeed_config *b)
{
    const int one[] = {a->pp, a->tp, a->cp * a->up, a->up, a->mbs, a->vpp, a->ep};
    const int two[] = {b->pp, b->tp, b->cp * b->up, b->up, b->mbs, b->vpp, b->ep};
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        if (one[i] != two[i]) {
            return one[i] < two[i] ? -1 : 1;
        }
    }
    return 0;
}

static int compare(const void *left, const void *right)
{
    const calc_mindspeed_candidate *a = left;
    const calc_mindspeed_candidate *b = right;
    if (a->fits != b->fits) {
        return a->fits ? -1 : 1;
    }
    if (a->fits && a->step_s != b->step_s) {
        return a->step_s < b->step_s ? -1 : 1;
    }
    return compare_vectors(&a->config, &b->config);
}

static void tell(const ranker *r)
{
    calc_mindspeed_ranking *out = r->out;
    if (r->refused > 1) {
        calc_notes_add(&out->notes, "and %zu more configurations likewise", r->refused - 1);
    }
    if (out->peak.negative > 0) {
        calc_notes_add(&out->notes,
                       "the fit of activations is bad: it is below 0 for %d of %zu "
                       "configurations, counted as none there",
                       out->peak.negative, out->count);
    }
}

static calc_status rank_space(ranker *r, const calc_mindspeed_space *space)
{
    calc_mindspeed_ranking *out = r->out;
    calc_status status = calc_mindspeed_peak_start(&out->peak, r->study, space, &out->notes);
    out->item = calloc(space->count, sizeof *out->item);
    r->samples = calloc(space->count * r->times->samples, sizeof *r->samples);
    r->ratio = calloc(space->count, sizeof *r->ratio);
    if (status != CALC_OK || !out->item || !r->samples || !r->ratio) {
        return CALC_ERR_NOMEM;
    }
    out->count = space->count;
    for (size_t i = 0; i < space->count; i++) {
        out->item[i].config = space->config[i];
        judge(r, i);
    }
    set_scale(r);
    drop_larger(r);
    count_best(r);
    qsort(out->item, out->count, sizeof *out->item, compare);
    tell(r);
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
    free(r.samples);
    free(r.ratio);
    calc_mindspeed_space_free(&space);
    return status == CALC_ERR_NOMEM ? calc_errors_no_memory(errors) : status;
}

void calc_mindspeed_rank_free(calc_mindspeed_ranking *ranking)
{
    free(ranking->item);
    ranking->item = NULL;
}

/* Candidates of the loop are those of the ranking. */
typedef struct standing {
    const calc_mindspeed_ranking *ranking;
    const calc_mindspeed_rank_times *times;
} standing;

/* A measured candidate has its measured time and stays in the pool. */
static bool time_of(void *context, size_t candidate, double *samples_s, size_t count)
{
    const standing *s = context;
    const calc_mindspeed_candidate *c = &s->ranking->item[candidate];
    if (c->source == CALC_MINDSPEED_UNTIMED) {
        return false;
    }
    if (c->source == CALC_MINDSPEED_MODELLED && s->times->timer) {
        bool timed = s->times->timer(s->times->judge, &c->config, samples_s, count);
        for (size_t i = 0; i < count && timed; i++) {
            samples_s[i] *= s->ranking->scale;
        }
        return timed;
    }
    fill(samples_s, count, c->step_s);
    return true;
}

static void record(calc_mindspeed_loop *loop, const standing *s)
{
    const calc_mindspeed_results *results = s->times->results;
    for (size_t i = 0; results && i < s->ranking->count; i++) {
        const calc_mindspeed_result *r =
            calc_mindspeed_results_find(results, &s->ranking->item[i].config);
        if (r) {
            calc_mindspeed_loop_record(loop, i, r->end);
        }
    }
}

calc_status calc_mindspeed_next_find(const calc_mindspeed_ranking *ranking,
                                     const calc_mindspeed_rank_times *times,
                                     const calc_mindspeed_loop_rules *rules,
                                     calc_mindspeed_next *out)
{
    standing s = {ranking, times};
    calc_mindspeed_loop loop;
    double *memory = malloc((ranking->count + 1) * sizeof *memory);
    *out = (calc_mindspeed_next){.unmeasured = NAN};
    if (!memory) {
        return CALC_ERR_NOMEM;
    }
    for (size_t i = 0; i < ranking->count; i++) {
        memory[i] = ranking->item[i].peak_bytes;
    }
    calc_status status = calc_mindspeed_loop_start(&loop, rules, ranking->count, memory);
    if (status == CALC_OK) {
        record(&loop, &s);
        calc_mindspeed_loop_judge(&loop, time_of, &s);
        out->stop = calc_mindspeed_loop_choose(&loop);
        out->trials = loop.trials;
        out->unmeasured = loop.pool > 0 ? (double)loop.rest / (double)loop.pool : 0;
        if (out->stop == CALC_MINDSPEED_GOES_ON) {
            out->config = ranking->item[loop.next].config;
            out->chance = calc_mindspeed_loop_chance(&loop, loop.next);
        }
    }
    calc_mindspeed_loop_free(&loop);
    free(memory);
    return status;
}
