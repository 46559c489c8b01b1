#include "tune/decision.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/make.h"
#include "gauss/effects.h"
#include "gauss/process.h"
#include "tune/picks.h"

/* Streams of the seed. */
enum { STREAM_DRAWS = 1 };

/* A probability that does not matter: one draw in ten thousand would show it. */
static const double negligible = 1e-5;

typedef struct ranked {
    size_t candidate;
    double ahead;
    bool kept; /* in any case: measured, or the incumbent */
} ranked;

static int by_chance(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    return a->kept != b->kept     ? CALC_ORDER(b->kept, a->kept)
           : a->ahead != b->ahead ? CALC_ORDER(b->ahead, a->ahead)
                                  : CALC_ORDER(a->candidate, b->candidate);
}

static void select_contenders(calc_tune_contest *c, const calc_tune_scene *s)
{
    ranked *list = calc_make(s->count, sizeof *list);
    c->contender = calc_make(s->count, sizeof *c->contender);
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        bool keep = i == s->incumbent || s->view[i].state == CALC_TUNE_MEASURED;
        bool may = s->view[i].state == CALC_TUNE_UNTRIED;
        if (keep || may) {
            list[count++] = (ranked){.candidate = i, .ahead = s->view[i].ahead, .kept = keep};
            kept += keep;
        }
    }
    CALC_SORT(list, count, by_chance);
    for (size_t i = 0; i < count; i++) {
        bool in = i < kept || (list[i].ahead > negligible && c->count < CALC_TUNE_CONTENDERS);
        if (!in) {
            c->left_out = list[i].ahead;
            break;
        }
        if (list[i].candidate == s->incumbent) {
            c->incumbent = c->count;
        }
        c->contender[c->count++] = list[i].candidate;
    }
    free(list);
}

/* Whether a contender contest_fits in a draw. Certain outcomes need no draw. */
static bool contest_fits(const calc_tune_scene *s, const calc_effects_draws *memory,
                         size_t candidate, calc_rng *rng)
{
    double chance = s->view[candidate].fits;
    if (chance > 1 - negligible || chance < negligible) {
        return chance > 0.5;
    }
    double own;
    calc_normal_draw(rng, &own, 1);
    double need =
        calc_effects_drawn(memory, &s->model.memory_item[candidate]) + s->model.memory.own_sd * own;
    return need < s->view[candidate].memory_limit;
}

static void draw(const calc_tune_contest *c, const calc_tune_scene *s, const calc_tune_world *w,
                 const calc_effects_draws *time, const calc_effects_draws *memory, double *own,
                 calc_rng *rng, float *out)
{
    calc_normal_draw(rng, own, c->count);
    for (size_t i = 0; i < c->count; i++) {
        size_t candidate = c->contender[i];
        const calc_tune_view *v = &s->view[candidate];
        double error = v->state == CALC_TUNE_MEASURED ? calc_effects_drawn_own(time, v->seen)
                                                      : w->errors.own_sd * own[i];
        double value = calc_effects_drawn(time, &s->model.time_item[candidate]) + error;
        out[i] = contest_fits(s, memory, candidate, rng) ? (float)value : INFINITY;
    }
}

static calc_status draw_all(calc_tune_contest *c, const calc_tune_scene *s, calc_errors *errors)
{
    calc_effects_draws memory = {0};
    calc_rng rng;
    calc_rng_init(&rng, s->options->seed, STREAM_DRAWS);
    double *own = calc_make(c->count, sizeof *own);
    calc_effects_draws *time = calc_make(s->worlds, sizeof *time);
    c->drawn = calc_make(c->draws * c->count, sizeof *c->drawn);
    calc_status status = calc_effects_draws_make(&memory, &s->memory, errors);
    for (size_t i = 0; i < s->worlds && status == CALC_OK; i++) {
        status = calc_effects_draws_make(&time[i], &s->world[i].time, errors);
    }
    size_t w = 0;
    double upto = s->world[0].weight; /* each world has its share of the draws */
    for (size_t i = 0; status == CALC_OK && i < c->draws; i++) {
        while (w + 1 < s->worlds && (double)i + 0.5 > upto * (double)c->draws) {
            upto += s->world[++w].weight;
        }
        calc_effects_draw(&time[w], &rng);
        calc_effects_draw(&memory, &rng);
        draw(c, s, &s->world[w], &time[w], &memory, own, &rng, c->drawn + i * c->count);
    }
    for (size_t i = 0; i < s->worlds; i++) {
        calc_effects_draws_free(&time[i]);
    }
    calc_effects_draws_free(&memory);
    free(time);
    free(own);
    return status;
}

calc_status calc_tune_contest_make(calc_tune_contest *out, const calc_tune_scene *scene,
                                   calc_errors *errors)
{
    *out = (calc_tune_contest){.incumbent = SIZE_MAX, .draws = scene->options->draws};
    select_contenders(out, scene);
    return draw_all(out, scene, errors);
}

CALC_FREES(calc_tune_contest_free, calc_tune_contest, of->contender, of->drawn)

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
        s->seen_time[s->times++] = (calc_effects_observation){
            .item = m->candidate,
            .side = CALC_EFFECTS_AT,
            .value = log(m->step_s),
            .noise_sd = fmax(s->options->noise, least_noise),
        };
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

/* Before one ran: a first run out of memory teaches nothing of times, so it is the fastest of those
 * that are as sure to fit as what a sweep recommends, or the surest. */
static size_t find_incumbent(const calc_tune_scene *s)
{
    static const double sure = 0.9;
    size_t incumbent = s->best;
    double most = -1;
    for (size_t i = 0; s->best == SIZE_MAX && i < s->count; i++) {
        const calc_tune_view *v = &s->view[i];
        double fits = v->state == CALC_TUNE_UNTRIED ? fmin(v->fits, sure) : -1;
        if (fits > most || (fits == most && fits >= 0 && v->mean < s->view[incumbent].mean)) {
            incumbent = i;
            most = fits;
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
    const calc_tune_world *a = left, *b = right;
    return CALC_ORDER(b->weight, a->weight);
}

/* How large errors are is learnt from the measurements, too: Bayes' rule over the sizes. Before
 * there are any, errors are as large as in the published runs. */
static calc_status learn_sizes(calc_tune_scene *s, const calc_tune_prior *prior,
                               calc_errors *errors)
{
    static const calc_tune_sizes as_published = {.weight = 1, .terms = 1, .own = 1};
    bool learns = s->times > 0 && prior->sizes > 0;
    size_t sizes = learns ? prior->sizes : 1;
    s->world = calc_make(sizes, sizeof *s->world);
    calc_status status = CALC_OK;
    for (size_t i = 0; status == CALC_OK && i < sizes; i++) {
        status = imagine(s, learns ? &prior->size[i] : &as_published, errors);
    }
    if (status != CALC_OK) {
        return status;
    }
    CALC_SORT(s->world, s->worlds, by_weight);
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
    calc_tune_model_make(&out->model, &prior, options->kernels, candidate, count);
    out->view = calc_make(count, sizeof *out->view);
    out->seen_time = calc_make(measurements, sizeof *out->seen_time);
    out->seen_memory = calc_make(measurements, sizeof *out->seen_memory);
    double *white = calc_make(2 * measurements, sizeof *white);
    for (size_t i = 0; i < measurements; i++) {
        note(out, &measurement[i]);
    }
    average(out);
    calc_status status = learn_sizes(out, &prior, errors);
    if (status == CALC_OK) {
        status = calc_effects_condition(&out->memory, &out->model.memory, out->model.memory_item,
                                        out->seen_memory, out->memories, errors);
    }
    if (status == CALC_OK) {
        see_all(out, white);
        out->incumbent = find_incumbent(out);
        compare_all(out, white, white + measurements);
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

const char *const calc_tune_chooser_words[] = {CALC_TUNE_CHOOSER_LIST(CALC_WORD_OF) NULL};

/* ---- Probes ---------------------------------------------------------------------------------- */

enum { POOL = 512 /* layouts considered, evenly spread over the candidates */ };

/* Probes must fit, whatever the model's error. */
static const double most_of_capacity = 0.8;

/* Condition number of the normal matrix of rows of shares. */
static double condition_of(const calc_tune_candidate *candidate, const size_t *probe, size_t probes)
{
    double normal[CALC_TUNE_SPACES * CALC_TUNE_SPACES] = {0};
    double value[CALC_TUNE_SPACES];
    for (size_t p = 0; p < probes; p++) {
        const double *row = candidate[probe[p]].space;
        for (size_t i = 0; i < CALC_TUNE_SPACES * CALC_TUNE_SPACES; i++) {
            normal[i] += row[i / CALC_TUNE_SPACES] * row[i % CALC_TUNE_SPACES];
        }
    }
    bool fine = calc_gauss_eigenvalues(normal, CALC_TUNE_SPACES, value);
    double least = value[0], largest = value[CALC_TUNE_SPACES - 1];
    return fine && least > 1e-14 * largest ? largest / least : (double)INFINITY;
}

static size_t gather(const calc_tune_candidate *candidate, size_t count, size_t pool[POOL])
{
    size_t all = 0, seen = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        all += candidate[i].memory_bytes <= most_of_capacity * candidate[i].capacity_bytes;
    }
    for (size_t i = 0; i < count && kept < POOL; i++) {
        if (candidate[i].memory_bytes <= most_of_capacity * candidate[i].capacity_bytes) {
            if (seen++ * POOL >= kept * all) {
                pool[kept++] = i;
            }
        }
    }
    return kept;
}

static bool is_probe(const size_t *probe, size_t candidate)
{
    for (size_t i = 0; i < CALC_TUNE_PROBES; i++) {
        if (probe[i] == candidate) {
            return true;
        }
    }
    return false;
}

/* The exchange of one probe for another layout that helps most. @return whether one does */
static bool exchange(const calc_tune_candidate *candidate, const size_t *pool, size_t count,
                     size_t *probe, double *condition)
{
    size_t best_place = 0, best = SIZE_MAX;
    for (size_t place = 0; place < CALC_TUNE_PROBES; place++) {
        size_t before = probe[place];
        for (size_t i = 0; i < count; i++) {
            if (is_probe(probe, pool[i])) {
                continue;
            }
            probe[place] = pool[i];
            double here = condition_of(candidate, probe, CALC_TUNE_PROBES);
            if (here < *condition * (1 - 1e-9)) {
                *condition = here;
                best_place = place;
                best = pool[i];
            }
            probe[place] = before;
        }
    }
    if (best != SIZE_MAX) {
        probe[best_place] = best;
    }
    return best != SIZE_MAX;
}

/* The layouts with the largest share of each part, then any: a start for the exchanges. */
static void start(const calc_tune_candidate *candidate, const size_t *pool, size_t count,
                  size_t *probe)
{
    for (size_t p = 0; p < CALC_TUNE_PROBES; p++) {
        probe[p] = SIZE_MAX;
    }
    for (size_t p = 0; p < CALC_TUNE_PROBES; p++) {
        size_t chosen = SIZE_MAX;
        for (size_t i = 0; i < count; i++) {
            size_t part = p % CALC_TUNE_SPACES;
            bool more = chosen == SIZE_MAX ||
                        candidate[pool[i]].space[part] > candidate[chosen].space[part];
            chosen = more && !is_probe(probe, pool[i]) ? pool[i] : chosen;
        }
        probe[p] = chosen;
    }
}

size_t calc_tune_probes(const calc_tune_candidate *candidate, size_t count,
                        size_t probe[CALC_TUNE_PROBES], double *condition)
{
    size_t pool[POOL];
    size_t kept = gather(candidate, count, pool);
    *condition = (double)INFINITY;
    if (kept <= CALC_TUNE_PROBES) {
        for (size_t i = 0; i < kept; i++) {
            probe[i] = pool[i];
        }
        *condition = kept > 0 ? condition_of(candidate, probe, kept) : *condition;
        return kept;
    }
    start(candidate, pool, kept, probe);
    *condition = condition_of(candidate, probe, CALC_TUNE_PROBES);
    while (exchange(candidate, pool, kept, probe, condition)) {
    }
    return CALC_TUNE_PROBES;
}

static const char *const end_words[] = {CALC_TUNE_END_LIST(CALC_WORD_OF)};

const char *calc_tune_end_word(calc_tune_end end)
{
    return end_words[end];
}

calc_tune_options calc_tune_options_default(const calc_tune_prior *prior)
{
    return (calc_tune_options){.prior = prior,
                               .seed = 1,
                               .draws = 1000,
                               .picks = 1,
                               .worth = 0.01,
                               .stop = 0.05,
                               .noise = 0.005};
}

/* ---- Draws ----------------------------------------------------------------------------------- */

/* The fastest contender of a draw; SIZE_MAX: none fits. */
static size_t fastest(const calc_tune_contest *c, size_t draw)
{
    size_t best = SIZE_MAX;
    double best_value = (double)INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        double value = calc_tune_contest_drawn(c, draw, i);
        if (value < best_value) {
            best_value = value;
            best = i;
        }
    }
    return best;
}

/* Add a draw to the counts: who is best, who would be a gain, and whether any gain matters. */
static void add_draw(calc_tune_decision *d, const calc_tune_scene *s, const calc_tune_contest *c,
                     size_t draw)
{
    double known = calc_tune_contest_drawn(c, draw, c->incumbent);
    size_t best = fastest(c, draw);
    if (best != SIZE_MAX) {
        d->outlook[c->contender[best]].best++;
    }
    double shortest = (double)INFINITY;
    for (size_t i = 0; i < c->count; i++) {
        size_t candidate = c->contender[i];
        double value = calc_tune_contest_drawn(c, draw, i);
        if (calc_tune_scene_free_to_try(s, candidate)) {
            shortest = fmin(shortest, value);
            d->outlook[candidate].gain += value < known ? 1 - exp(value - known) : 0;
        }
    }
    d->chance += shortest < known + log1p(-s->options->worth);
}

static void describe(calc_tune_decision *d, const calc_tune_scene *s)
{
    double reach = calc_normal_quantile(0.95);
    for (size_t i = 0; i < s->count; i++) {
        const calc_tune_view *v = &s->view[i];
        d->outlook[i] = (calc_tune_outlook){
            .p5_s = exp(v->mean - reach * v->sd),
            .p50_s = exp(v->mean),
            .p95_s = exp(v->mean + reach * v->sd),
            .memory_p50_bytes = exp(v->memory_mean),
            .fits = v->fits,
            .measured = v->state != CALC_TUNE_UNTRIED,
        };
    }
}

static void note_surprises(calc_tune_decision *d, const calc_tune_scene *s)
{
    double *of_times = calc_make(s->times, sizeof *of_times);
    size_t next = 0;
    calc_effects_surprise(&s->world[0].time, of_times);
    for (size_t i = 0; i < s->measurements; i++) {
        bool fine = s->measurement[i].end == CALC_TUNE_END_FINE;
        d->surprise[i] = fine ? of_times[next++] * s->world[0].spread : 0;
    }
    free(of_times);
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static void conclude(calc_tune_decision *d, const calc_tune_scene *s, const calc_tune_contest *c)
{
    d->contenders = c->count;
    d->left_out = c->left_out;
    d->best = s->best;
    d->best_s = s->best == SIZE_MAX ? (double)NAN : s->view[s->best].measured_s;
    for (size_t i = 0; c->incumbent != SIZE_MAX && i < c->draws; i++) {
        add_draw(d, s, c, i);
    }
    for (size_t i = 0; i < c->count; i++) {
        d->outlook[c->contender[i]].best /= (double)c->draws;
        d->outlook[c->contender[i]].gain /= (double)c->draws;
    }
    d->chance /= (double)c->draws;
    for (size_t i = 0; s->best == SIZE_MAX && i < s->count; i++) {
        d->outlook[i].gain = (double)NAN;
    }
    calc_tune_pick(s, c, d->pick, &d->picks);
    d->chance = s->best == SIZE_MAX ? 1 : d->chance;
    d->stop = d->picks == 0 || d->chance < s->options->stop;
}

calc_status calc_tune_decide(calc_tune_decision *out, const calc_tune_candidate *candidate,
                             size_t count, const calc_tune_measurement *measurement,
                             size_t measurements, const calc_tune_options *options,
                             calc_errors *errors)
{
    calc_tune_scene scene = {0};
    calc_tune_contest contest = {0};
    *out = (calc_tune_decision){.outlook = calc_make(count, sizeof *out->outlook),
                                .surprise = calc_make(measurements, sizeof *out->surprise)};
    calc_status status =
        calc_tune_scene_make(&scene, candidate, count, measurement, measurements, options, errors);
    if (status == CALC_OK) {
        describe(out, &scene);
        status = calc_tune_contest_make(&contest, &scene, errors);
    }
    if (status == CALC_OK) {
        conclude(out, &scene, &contest);
        note_surprises(out, &scene);
    }
    calc_tune_contest_free(&contest);
    calc_tune_scene_free(&scene);
    return status;
}

CALC_FREES(calc_tune_decision_free, calc_tune_decision, of->outlook, of->surprise)

enum { STREAM_TRUTH = 4 };

static calc_status draw_one(const calc_effects *effects, const calc_effects_item *item,
                            size_t count, calc_rng *rng, double *out, calc_errors *errors)
{
    calc_effects_posterior before;
    calc_effects_draws draws = {0};
    calc_status status = calc_effects_condition(&before, effects, item, NULL, 0, errors);
    status = status == CALC_OK ? calc_effects_draws_make(&draws, &before, errors) : status;
    if (status == CALC_OK) {
        calc_effects_draw(&draws, rng);
        for (size_t i = 0; i < count; i++) {
            double own;
            calc_normal_draw(rng, &own, 1);
            out[i] = exp(calc_effects_drawn(&draws, &item[i]) + effects->own_sd * own);
        }
    }
    calc_effects_draws_free(&draws);
    calc_effects_free(&before);
    return status;
}

calc_status calc_tune_truth(const calc_tune_prior *prior, const calc_tune_candidate *candidate,
                            size_t count, uint64_t seed, double *step_s, double *memory_bytes,
                            calc_errors *errors)
{
    calc_tune_model model;
    calc_rng rng;
    calc_rng_init(&rng, seed, STREAM_TRUTH);
    calc_tune_model_make(&model, prior, NULL, candidate, count);
    calc_status status = draw_one(&model.time, model.time_item, count, &rng, step_s, errors);
    if (status == CALC_OK) {
        status = draw_one(&model.memory, model.memory_item, count, &rng, memory_bytes, errors);
    }
    calc_tune_model_free(&model);
    return status;
}

calc_tune_measurement calc_tune_truth_measure(const calc_tune_candidate *candidate, size_t index,
                                              double step_s, double memory_bytes, double noise,
                                              calc_rng *rng)
{
    double error;
    calc_normal_draw(rng, &error, 1);
    bool fits = memory_bytes <= candidate[index].capacity_bytes;
    return (calc_tune_measurement){.candidate = index,
                                   .end = fits ? CALC_TUNE_END_FINE : CALC_TUNE_END_OOM,
                                   .step_s = fits ? step_s * exp(noise * error) : (double)NAN,
                                   .memory_bytes = fits ? memory_bytes : (double)NAN};
}
