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

/* Sizes of errors that are less likely than this share of the likeliest do not matter. */
static const double least_weight = 0.03;

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
        double mean, variance, square = 0;
        v->mean = 0;
        for (size_t k = 0; k < s->worlds; k++) {
            calc_effects_moments(&s->world[k].time, i, white, &mean, &variance);
            v->mean += s->world[k].weight * mean;
            square += s->world[k].weight * (variance + mean * mean);
        }
        v->sd = sqrt(fmax(square - v->mean * v->mean, 0));
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
    for (size_t w = 0; w < s->worlds && s->incumbent != SIZE_MAX; w++) {
        const calc_tune_world *world = &s->world[w];
        calc_effects_moments(&world->time, s->incumbent, white, &mean, &variance);
        for (size_t i = 0; i < s->count; i++) {
            calc_tune_view *v = &s->view[i];
            calc_effects_moments(&world->time, i, other, &here_mean, &here_variance);
            double shared = calc_effects_covariance(
                &world->errors, &s->model.time_item[s->incumbent], &s->model.time_item[i]);
            for (size_t k = 0; k < s->times; k++) {
                shared -= white[k] * other[k];
            }
            double spread = sqrt(fmax(variance + here_variance - 2 * shared, 1e-12));
            double ahead = calc_normal_below((mean - here_mean) / spread);
            v->ahead += i == s->incumbent ? 0 : world->weight * v->fits * ahead;
        }
    }
}

/* ---- Making it ------------------------------------------------------------------------------- */

/* The posterior with errors of some sizes. */
static calc_status imagine(calc_tune_scene *s, const calc_tune_sizes *sizes, calc_errors *errors)
{
    calc_tune_world *w = &s->world[s->worlds++];
    w->errors = s->model.time;
    calc_tune_model_resize(&w->errors, sizes);
    calc_status status = calc_effects_condition(&w->time, &w->errors, s->model.time_item,
                                                s->seen_time, s->times, errors);
    if (status == CALC_OK) {
        w->weight = log(sizes->weight) + calc_effects_log_density(&w->time, sizes_seen);
        /* Layouts that agree well with their neighbours say nothing of those with other values of
         * coordinates: errors get larger, never smaller. */
        w->spread = sqrt(fmax(1, calc_effects_scale(&w->time, sizes_seen)));
        calc_effects_widen(&w->time, &w->errors, w->spread);
    }
    return status;
}

static int by_weight(const void *left, const void *right)
{
    const calc_tune_world *a = left;
    const calc_tune_world *b = right;
    return (a->weight < b->weight) - (a->weight > b->weight);
}

/* How large errors are is learnt from the measurements, too: Bayes' rule over the sizes. Before
 * there are any, errors are as large as in the published runs. */
static calc_status learn_sizes(calc_tune_scene *s, const calc_tune_prior *prior,
                               calc_errors *errors)
{
    static const calc_tune_sizes as_published = {.weight = 1, .terms = 1, .own = 1};
    bool learns = s->times > 0 && prior->sizes > 0;
    size_t sizes = learns ? prior->sizes : 1;
    s->world = calloc(sizes, sizeof *s->world);
    if (!s->world) {
        return calc_errors_no_memory(errors);
    }
    calc_status status = CALC_OK;
    for (size_t i = 0; status == CALC_OK && i < sizes; i++) {
        status = imagine(s, learns ? &prior->size[i] : &as_published, errors);
    }
    if (status != CALC_OK) {
        return status;
    }
    qsort(s->world, s->worlds, sizeof *s->world, by_weight);
    double most = s->world[0].weight, sum = 0;
    for (size_t i = 0; i < sizes; i++) {
        calc_tune_world *w = &s->world[i];
        w->weight = exp(w->weight - most);
        w->time.effects = &w->errors; /* they have moved */
        if (w->weight < least_weight) {
            s->worlds = i < s->worlds ? i : s->worlds;
            calc_effects_free(&w->time);
        } else {
            sum += w->weight;
        }
    }
    for (size_t i = 0; i < s->worlds; i++) {
        s->world[i].weight /= sum;
    }
    return CALC_OK;
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
        status = learn_sizes(out, &prior, errors);
    }
    if (status == CALC_OK) {
        status = calc_effects_condition(&out->memory, &out->model.memory, out->model.memory_item,
                                        out->seen_memory, out->memories, errors);
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
    for (size_t i = 0; i < scene->worlds; i++) {
        calc_effects_free(&scene->world[i].time);
    }
    free(scene->world);
    calc_effects_free(&scene->memory);
    calc_tune_model_free(&scene->model);
    free(scene->view);
    free(scene->seen_time);
    free(scene->seen_memory);
    *scene = (calc_tune_scene){0};
}
