#include "bench/tune_learn.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "tune/model.h"

/* An unknown of the search: one number of the prior, or the own error of a publisher's runs. */
typedef struct parameter {
    double *at;
    double guess; /* its prior: median, */
    double wide;  /* and standard deviation of its logarithm */
    double low, high;
} parameter;

enum { PARAMETERS = 24 + CALC_TUNE_PUBLISHERS, ROUNDS = 14 };

/* A search, for time or for memory. */
typedef struct search {
    const calc_tune_known *run;
    size_t count, without;
    bool memory;
    calc_tune_prior prior;
    double own[CALC_TUNE_PUBLISHERS];
    double weight[CALC_TUNE_PUBLISHERS]; /* 0: no runs */
    parameter parameter[PARAMETERS];
    size_t parameters;
    calc_errors *errors;
    calc_status status;
} search;

/* Every measurement has at least a little noise. */
static const double least_noise = 0.001;

static double error_of(const search *s, const calc_tune_known *run)
{
    return s->memory ? run->memory_error : run->time_error;
}

static bool counts(const search *s, const calc_tune_known *run)
{
    return run->publisher != s->without && !isnan(error_of(s, run));
}

/* ---- How likely a campaign's errors are ------------------------------------------------------ */

/* Runs of a campaign that count, evenly spread if there are many. @return how many */
static size_t collect(const search *s, size_t from, size_t to,
                      const calc_tune_known *out[CALC_TUNE_CAMPAIGN])
{
    size_t all = 0, kept = 0;
    for (size_t i = from; i < to; i++) {
        all += counts(s, &s->run[i]);
    }
    size_t seen = 0;
    for (size_t i = from; i < to && kept < CALC_TUNE_CAMPAIGN; i++) {
        if (counts(s, &s->run[i])) {
            bool due = all <= CALC_TUNE_CAMPAIGN || seen * CALC_TUNE_CAMPAIGN >= kept * all;
            if (due) {
                out[kept++] = &s->run[i];
            }
            seen++;
        }
    }
    return kept;
}

/* Log density of the errors of a campaign. */
static double density(search *s, size_t from, size_t to)
{
    const calc_tune_known *run[CALC_TUNE_CAMPAIGN];
    calc_tune_candidate candidate[CALC_TUNE_CAMPAIGN];
    calc_effects_observation seen[CALC_TUNE_CAMPAIGN];
    calc_tune_model model;
    calc_effects_posterior posterior = {0};
    size_t n = collect(s, from, to, run);
    if (n < 2) {
        return 0;
    }
    s->prior.own = s->prior.memory_own = s->own[run[0]->publisher];
    for (size_t i = 0; i < n; i++) {
        candidate[i] = run[i]->candidate;
        double expected = s->memory ? candidate[i].memory_bytes : candidate[i].step_s;
        seen[i] = (calc_effects_observation){.item = i,
                                             .side = CALC_EFFECTS_AT,
                                             .value = error_of(s, run[i]) + log(expected),
                                             .noise_sd = least_noise};
    }
    double found = 0;
    calc_tune_model_make(&model, &s->prior, NULL, candidate, n);
    calc_status status =
        calc_effects_condition(&posterior, s->memory ? &model.memory : &model.time,
                               s->memory ? model.memory_item : model.time_item, seen, n, s->errors);
    if (status == CALC_OK) {
        found =
            calc_effects_log_density(&posterior, (double)INFINITY) * s->weight[run[0]->publisher];
    }
    s->status = s->status == CALC_OK ? status : s->status;
    calc_effects_free(&posterior);
    calc_tune_model_free(&model);
    return found;
}

static double likelihood(search *s)
{
    double sum = 0;
    for (size_t from = 0; from < s->count;) {
        size_t to = from;
        while (to < s->count && s->run[to].campaign == s->run[from].campaign) {
            to++;
        }
        sum += density(s, from, to);
        from = to;
    }
    for (size_t i = 0; i < s->parameters; i++) {
        double far = log(*s->parameter[i].at / s->parameter[i].guess) / s->parameter[i].wide;
        sum -= far * far / 2;
    }
    return sum;
}

/* ---- The search ------------------------------------------------------------------------------ */

static void add(search *s, double *at, double guess, double wide, double low, double high)
{
    *at = guess;
    s->parameter[s->parameters++] =
        (parameter){.at = at, .guess = guess, .wide = wide, .low = low, .high = high};
}

static void add_time(search *s)
{
    calc_tune_prior *p = &s->prior;
    add(s, &p->common, 0.03, 2, 0.002, 0.3);
    for (int i = 0; i < CALC_TUNE_TERMS; i++) {
        add(s, &p->term[i], 0.1, 2, 0.005, 1);
    }
    add(s, &p->kernels.sd, 0.08, 2, 0.001, 0.3);
    add(s, &p->kernels.length[CALC_TUNE_COORDINATE_TOKENS], 0.75, 2, 0.2, 30);
    add(s, &p->kernels.length[CALC_TUNE_COORDINATE_TENSOR], 0.35, 2, 0.2, 30);
    add(s, &p->kernels.length[CALC_TUNE_COORDINATE_CONTEXT], 0.35, 2, 0.2, 30);
    add(s, &p->schedule.sd, 0.02, 2, 0.001, 0.2);
    add(s, &p->schedule.length[CALC_TUNE_COORDINATE_PIPELINE], 1, 2, 0.2, 30);
    add(s, &p->schedule.length[CALC_TUNE_COORDINATE_CHUNKS], 1, 2, 0.2, 30);
}

static void add_memory(search *s)
{
    calc_tune_prior *p = &s->prior;
    add(s, &p->memory_common, 0.02, 2, 0.001, 0.3);
    for (int i = 0; i < CALC_TUNE_SPACES; i++) {
        add(s, &p->memory_space[i], 0.05, 2, 0.002, 1);
    }
}

static void add_own(search *s)
{
    double runs[CALC_TUNE_PUBLISHERS] = {0};
    for (size_t i = 0; i < s->count; i++) {
        runs[s->run[i].publisher] += counts(s, &s->run[i]);
    }
    for (int i = 0; i < CALC_TUNE_PUBLISHERS; i++) {
        s->weight[i] = runs[i] > 0 ? pow(runs[i], -0.4) : 0;
        if (runs[i] > 0) {
            add(s, &s->own[i], 0.01, 1, 0.001, 0.1);
        }
    }
}

/* Move one parameter by a factor, either way, if that is better. */
static double improve(search *s, parameter *p, double factor, double best)
{
    double before = *p->at;
    for (int way = -1; way <= 1; way += 2) {
        *p->at = fmin(fmax(before * (way < 0 ? 1 / factor : factor), p->low), p->high);
        double here = *p->at == before ? best : likelihood(s);
        if (here > best) {
            return here;
        }
    }
    *p->at = before;
    return best;
}

/* One after the other, by smaller and smaller factors: deterministic, and no derivative needed. */
static void climb(search *s)
{
    double best = likelihood(s);
    double factor = 2;
    for (int round = 0; round < ROUNDS && s->status == CALC_OK; round++) {
        double before = best;
        for (size_t i = 0; i < s->parameters; i++) {
            best = improve(s, &s->parameter[i], factor, best);
        }
        factor = best - before < 0.5 ? sqrt(factor) : factor;
    }
}

/* The geometric mean of publishers. */
static double middle(const search *s)
{
    double sum = 0, count = 0;
    for (int i = 0; i < CALC_TUNE_PUBLISHERS; i++) {
        if (s->weight[i] > 0) {
            sum += log(s->own[i]);
            count++;
        }
    }
    return count > 0 ? exp(sum / count) : 0.01;
}

calc_status calc_tune_learn(calc_tune_prior *out, const calc_tune_known *run, size_t count,
                            size_t without, calc_errors *errors)
{
    *out = (calc_tune_prior){0};
    for (int memory = 0; memory < 2; memory++) {
        search *s = calloc(1, sizeof *s);
        if (!s) {
            return calc_errors_no_memory(errors);
        }
        *s = (search){.run = run,
                      .count = count,
                      .without = without,
                      .memory = memory == 1,
                      .prior = *out,
                      .errors = errors};
        (memory ? add_memory : add_time)(s);
        add_own(s);
        climb(s);
        calc_status status = s->status;
        double time_own = out->own;
        *out = s->prior;
        out->size = calc_tune_prior_default().size;
        out->sizes = calc_tune_prior_default().sizes;
        out->own = memory ? time_own : middle(s);
        out->memory_own = memory ? middle(s) : 0;
        free(s);
        if (status != CALC_OK) {
            return status;
        }
    }
    return CALC_OK;
}
