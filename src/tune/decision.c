#include "tune/decision.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "gauss/normal.h"
#include "tune/picks.h"

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
            if (all <= POOL || seen * POOL >= kept * all) {
                pool[kept++] = i;
            }
            seen++;
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

static const char *const end_words[] = {
#define CALC_X(name, word) word,
    CALC_TUNE_END_LIST(CALC_X)
#undef CALC_X
};

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
                               .top = 3,
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

static calc_status note_surprises(calc_tune_decision *d, const calc_tune_scene *s,
                                  calc_errors *errors)
{
    double *of_times = malloc((s->times + 1) * sizeof *of_times);
    if (!of_times) {
        return calc_errors_no_memory(errors);
    }
    calc_status status = calc_effects_surprise(&s->world[0].time, of_times, errors);
    size_t next = 0;
    for (size_t i = 0; status == CALC_OK && i < s->measurements; i++) {
        bool fine = s->measurement[i].end == CALC_TUNE_END_FINE;
        d->surprise[i] = fine ? of_times[next++] * s->world[0].spread : 0;
    }
    free(of_times);
    return status;
}

/* ---- Deciding -------------------------------------------------------------------------------- */

static calc_status conclude(calc_tune_decision *d, const calc_tune_scene *s,
                            const calc_tune_contest *c, calc_errors *errors)
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
    calc_status status = calc_tune_pick(s, c, d->pick, &d->picks, errors);
    d->chance = s->best == SIZE_MAX ? 1 : d->chance;
    d->stop = d->picks == 0 || d->chance < s->options->stop;
    return status;
}

calc_status calc_tune_decide(calc_tune_decision *out, const calc_tune_candidate *candidate,
                             size_t count, const calc_tune_measurement *measurement,
                             size_t measurements, const calc_tune_options *options,
                             calc_errors *errors)
{
    calc_tune_scene scene = {0};
    calc_tune_contest contest = {0};
    *out = (calc_tune_decision){.outlook = calloc(count + 1, sizeof *out->outlook),
                                .surprise = calloc(measurements + 1, sizeof *out->surprise)};
    calc_status status = out->outlook && out->surprise ? CALC_OK : calc_errors_no_memory(errors);
    if (status == CALC_OK) {
        status = calc_tune_scene_make(&scene, candidate, count, measurement, measurements, options,
                                      errors);
    }
    if (status == CALC_OK) {
        describe(out, &scene);
        status = calc_tune_contest_make(&contest, &scene, errors);
    }
    if (status == CALC_OK) {
        status = conclude(out, &scene, &contest, errors);
    }
    if (status == CALC_OK) {
        status = note_surprises(out, &scene, errors);
    }
    calc_tune_contest_free(&contest);
    calc_tune_scene_free(&scene);
    return status;
}

void calc_tune_decision_free(calc_tune_decision *decision)
{
    free(decision->outlook);
    free(decision->surprise);
    *decision = (calc_tune_decision){0};
}
