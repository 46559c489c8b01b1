#include "tune/scene.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "gauss/normal.h"

/* Blur of the bound from a run that ends out of memory: allocators fragment. */
static const double capacity_sharpness = 0.002;

/* How well a printed peak is known. */
static const double memory_noise = 0.002;

/* A measured time has at least this noise: two measurements of one layout must not contradict each
 * other. */
static const double least_noise = 1e-5;

/* A probability to fit that counts as none with so few runs. */
static const double least_chance = 1e-6;

/* Confidence in the prior scale of errors, as a number of observations. */
static const double sizes_seen = 4;

/* ---- Measurements ---------------------------------------------------------------------------- */

static void see_time(calc_tune_scene *s, const calc_tune_measurement *m)
{
    s->seen_time[s->times++] = (calc_effects_observation){
        .item = m->candidate,
        .side = CALC_EFFECTS_AT,
        .value = log(m->step_s),
        .noise_sd = fmax(s->options->noise, least_noise),
    };
}

static void see_memory(calc_tune_scene *s, const calc_tune_measurement *m)
{
    double capacity = log(s->candidate[m->candidate].capacity_bytes);
    bool known = m->end == CALC_TUNE_END_FINE && m->memory_bytes > 0;
    if (!known && isinf(capacity)) {
        return; /* nothing is too large for it */
    }
    s->seen_memory[s->memories++] = (calc_effects_observation){
        .item = m->candidate,
        .side = known                         ? CALC_EFFECTS_AT
                : m->end == CALC_TUNE_END_OOM ? CALC_EFFECTS_ABOVE
                                              : CALC_EFFECTS_BELOW,
        .value = known ? log(m->memory_bytes) : capacity,
        .noise_sd = known ? memory_noise : capacity_sharpness,
    };
}

/* A layout that ran once and failed another time counts as one that runs. */
static void note(calc_tune_scene *s, const calc_tune_measurement *m)
{
    calc_tune_view *view = &s->view[m->candidate];
    if (m->end == CALC_TUNE_END_FINE) {
        if (view->state != CALC_TUNE_MEASURED) {
            view->seen = s->times;
        }
        view->state = CALC_TUNE_MEASURED;
        see_time(s, m);
        see_memory(s, m);
    } else if (m->end == CALC_TUNE_END_OOM) {
        view->state = view->state == CALC_TUNE_MEASURED ? view->state : CALC_TUNE_TOO_LARGE;
        see_memory(s, m);
    } else if (view->state == CALC_TUNE_UNTRIED) {
        view->state = CALC_TUNE_BROKEN;
    }
}

static void average(calc_tune_scene *s)
{
    for (size_t i = 0; i < s->count; i++) {
        s->view[i].measured_s = (double)NAN;
    }
    for (size_t i = 0; i < s->times; i++) {
        size_t item = s->seen_time[i].item;
        double sum = 0, count = 0;
        for (size_t j = 0; j < s->times; j++) {
            bool same = s->seen_time[j].item == item;
            sum += same ? exp(s->seen_time[j].value) : 0;
            count += same;
        }
        s->view[item].measured_s = sum / count;
        if (s->best == SIZE_MAX || s->view[item].measured_s < s->view[s->best].measured_s) {
            s->best = item;
        }
    }
}

/* ---- The posterior of all candidates --------------------------------------------------------- */

/* Errors of published runs have longer tails than a normal distribution. The correction for that in
 * the prior probability to fit, in standard deviations, shrinks with the remaining share of the
 * variance. */
static double memory_limit(const calc_tune_scene *s, size_t i)
{
    const calc_tune_candidate *c = &s->candidate[i];
    const calc_tune_view *v = &s->view[i];
    const calc_effects_item *item = &s->model.memory_item[i];
    double capacity = log(c->capacity_bytes);
    if (isnan(c->fits) || isinf(capacity)) {
        return capacity;
    }
    double own = s->model.memory.own_sd;
    double sd = sqrt(calc_effects_covariance(&s->model.memory, item, item) + own * own);
    double chance = fmin(fmax(c->fits, least_chance), 1 - least_chance);
    double missed = calc_normal_quantile(chance) - (capacity - item->expected) / fmax(sd, 1e-9);
    double left = pow(v->memory_sd / fmax(sd, 1e-9), 2);
    return capacity + left * missed * v->memory_sd;
}

static double fits(const calc_tune_scene *s, size_t i)
{
    const calc_tune_view *v = &s->view[i];
    if (v->state == CALC_TUNE_MEASURED) {
        return 1;
    }
    if (v->state != CALC_TUNE_UNTRIED) {
        return 0;
    }
    double fits = s->candidate[i].fits;
    double room = v->memory_limit - v->memory_mean;
    return s->memories == 0 && !isnan(fits) ? fits
                                            : calc_normal_below(room / fmax(v->memory_sd, 1e-9));
}

static void see_all(calc_tune_scene *s, double *white)
{
    for (size_t i = 0; i < s->count; i++) {
        calc_tune_view *v = &s->view[i];
        double variance;
        calc_effects_moments(&s->time, i, white, &v->mean, &variance);
        v->sd = s->spread * sqrt(variance);
        calc_effects_moments(&s->memory, i, white, &v->memory_mean, &variance);
        v->memory_sd = sqrt(variance);
        v->memory_limit = memory_limit(s, i);
        v->fits = fits(s, i);
    }
}

static size_t find_incumbent(const calc_tune_scene *s)
{
    if (s->best != SIZE_MAX) {
        return s->best;
    }
    size_t incumbent = SIZE_MAX;
    bool probable = false;
    for (size_t i = 0; i < s->count; i++) {
        const calc_tune_view *v = &s->view[i];
        if (v->state != CALC_TUNE_UNTRIED) {
            continue;
        }
        bool here = v->fits >= 0.5;
        if (incumbent == SIZE_MAX || (here && !probable) ||
            (here == probable && v->mean < s->view[incumbent].mean)) {
            incumbent = i;
            probable = here;
        }
    }
    return incumbent;
}

/* Layouts with nearly the same errors differ by little, but reliably: the spread of the difference
 * counts. */
static void compare_all(calc_tune_scene *s, double *white, double *other)
{
    double mean, variance, here_mean, here_variance;
    if (s->incumbent == SIZE_MAX) {
        return;
    }
    calc_effects_moments(&s->time, s->incumbent, white, &mean, &variance);
    for (size_t i = 0; i < s->count; i++) {
        calc_tune_view *v = &s->view[i];
        calc_effects_moments(&s->time, i, other, &here_mean, &here_variance);
        double shared = calc_effects_covariance(&s->model.time, &s->model.time_item[s->incumbent],
                                                &s->model.time_item[i]);
        for (size_t k = 0; k < s->times; k++) {
            shared -= white[k] * other[k];
        }
        double spread = sqrt(fmax(variance + here_variance - 2 * shared, 1e-12));
        double ahead = calc_normal_below((mean - here_mean) / (s->spread * spread));
        v->ahead = i == s->incumbent ? 0 : v->fits * ahead;
    }
}

/* ---- Making it ------------------------------------------------------------------------------- */

static calc_status condition(calc_tune_scene *s, calc_errors *errors)
{
    calc_status status = calc_effects_condition(&s->time, &s->model.time, s->model.time_item,
                                                s->seen_time, s->times, errors);
    if (status == CALC_OK) {
        s->spread = sqrt(calc_effects_scale(&s->time, sizes_seen));
        status = calc_effects_condition(&s->memory, &s->model.memory, s->model.memory_item,
                                        s->seen_memory, s->memories, errors);
    }
    return status;
}

calc_status calc_tune_scene_make(calc_tune_scene *out, const calc_tune_candidate *candidate,
                                 size_t count, const calc_tune_measurement *measurement,
                                 size_t measurements, const calc_tune_options *options,
                                 calc_errors *errors)
{
    *out = (calc_tune_scene){.candidate = candidate,
                             .count = count,
                             .measurement = measurement,
                             .measurements = measurements,
                             .options = options,
                             .best = SIZE_MAX,
                             .incumbent = SIZE_MAX};
    calc_tune_prior prior = calc_tune_prior_for(options->prior, options->probes);
    calc_status status =
        calc_tune_model_make(&out->model, &prior, options->kernels, candidate, count, errors);
    size_t room = measurements + 1;
    out->view = calloc(count + 1, sizeof *out->view);
    out->seen_time = calloc(room, sizeof *out->seen_time);
    out->seen_memory = calloc(room, sizeof *out->seen_memory);
    double *white = malloc(2 * room * sizeof *white);
    if (!out->view || !out->seen_time || !out->seen_memory || !white) {
        free(white);
        return status == CALC_OK ? calc_errors_no_memory(errors) : status;
    }
    if (status == CALC_OK) {
        for (size_t i = 0; i < measurements; i++) {
            note(out, &measurement[i]);
        }
        average(out);
        status = condition(out, errors);
    }
    if (status == CALC_OK) {
        see_all(out, white);
        out->incumbent = find_incumbent(out);
        compare_all(out, white, white + room);
    }
    free(white);
    return status;
}

void calc_tune_scene_free(calc_tune_scene *scene)
{
    calc_effects_free(&scene->time);
    calc_effects_free(&scene->memory);
    calc_tune_model_free(&scene->model);
    free(scene->view);
    free(scene->seen_time);
    free(scene->seen_memory);
    *scene = (calc_tune_scene){0};
}
