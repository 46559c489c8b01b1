#include "tune/picks.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "gauss/effects.h"

enum {
    STREAM_MATCHING = 2,
    /* Measurements up to which several of the best of a draw count for Thompson: the first
     * measurements reveal whether the prior of errors is wrong, and layouts that are among the best
     * in most draws are safer. Later, the largest expected improvement finds the optimum sooner. */
    EARLY = 2
};

/* ---- Thompson: how often a contender is among the best of a draw ----------------------------- */

/* Count the `top` best of a draw. */
static void count_best(const calc_tune_contest *c, size_t draw, size_t top, double *wins)
{
    size_t best[CALC_TUNE_PICKS] = {0};
    size_t held = 0;
    for (size_t i = 0; i < c->count; i++) {
        double value = calc_tune_contest_drawn(c, draw, i);
        if (isinf(value) ||
            (held == top && value >= calc_tune_contest_drawn(c, draw, best[held - 1]))) {
            continue;
        }
        size_t at = held < top ? held++ : top - 1;
        for (; at > 0 && calc_tune_contest_drawn(c, draw, best[at - 1]) > value; at--) {
            best[at] = best[at - 1];
        }
        best[at] = i;
    }
    for (size_t i = 0; i < held; i++) {
        wins[best[i]]++;
    }
}

/* ---- Expected improvement: of all that were picked before, too ------------------------------- */

/* By how much a contender shortens the best so far, on average over draws. */
static double improvement(const calc_tune_contest *c, const double *best, size_t i)
{
    double sum = 0;
    for (size_t draw = 0; draw < c->draws; draw++) {
        double value = calc_tune_contest_drawn(c, draw, i);
        sum += value < best[draw] ? exp(best[draw]) - exp(value) : 0;
    }
    return sum / (double)c->draws;
}

static void include(const calc_tune_contest *c, size_t picked, double *best)
{
    for (size_t draw = 0; draw < c->draws; draw++) {
        best[draw] = fmin(best[draw], calc_tune_contest_drawn(c, draw, picked));
    }
}

/* ---- Choosing -------------------------------------------------------------------------------- */

/* The contender with the largest score that was not tried or picked; ties go to the one expected to
 * be fastest. SIZE_MAX: none */
static size_t highest(const calc_tune_scene *s, const calc_tune_contest *c, const double *score,
                      const size_t *pick, size_t picks)
{
    size_t chosen = SIZE_MAX;
    for (size_t i = 0; i < c->count; i++) {
        size_t candidate = c->contender[i];
        if (calc_tune_is_taken(s, candidate, pick, picks)) {
            continue;
        }
        bool better = chosen == SIZE_MAX || score[i] > score[chosen] ||
                      (score[i] == score[chosen] &&
                       s->view[candidate].mean < s->view[c->contender[chosen]].mean);
        chosen = better ? i : chosen;
    }
    return chosen;
}

/* A contender, likelier the more often it won. */
static size_t match(const calc_tune_scene *s, const calc_tune_contest *c, double *wins,
                    calc_rng *rng)
{
    double sum = 0;
    for (size_t i = 0; i < c->count; i++) {
        wins[i] = calc_tune_scene_free_to_try(s, c->contender[i]) ? wins[i] : 0;
        sum += wins[i];
    }
    double at = calc_rng_real(rng) * sum;
    for (size_t i = 0; i < c->count; i++) {
        at -= wins[i];
        if (at < 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

typedef struct chooser {
    const calc_tune_scene *scene;
    const calc_tune_contest *contest;
    double *score; /* by contender */
    double *best;  /* by draw */
    calc_rng rng;
} chooser;

/* Whether scores are expected improvements, or counts. */
static bool improves(const calc_tune_scene *s)
{
    return s->options->chooser == CALC_TUNE_CHOOSER_IMPROVEMENT ||
           (s->options->chooser == CALC_TUNE_CHOOSER_THOMPSON && s->times >= EARLY);
}

static size_t posterior_choose(chooser *o, const size_t *pick, size_t picks)
{
    const calc_tune_contest *c = o->contest;
    for (size_t i = 0; improves(o->scene) && i < c->count; i++) {
        o->score[i] = improvement(c, o->best, i);
    }
    if (o->scene->options->chooser == CALC_TUNE_CHOOSER_MATCHING) {
        size_t chosen = match(o->scene, c, o->score, &o->rng);
        if (chosen != SIZE_MAX) {
            o->score[chosen] = 0;
            return chosen;
        }
    }
    return highest(o->scene, c, o->score, pick, picks);
}

calc_status calc_tune_picks_posterior(const calc_tune_scene *scene,
                                      const calc_tune_contest *contest, size_t *pick, size_t *picks,
                                      calc_errors *errors)
{
    chooser o = {.scene = scene, .contest = contest};
    *picks = 0;
    o.score = calloc(contest->count + 1, sizeof *o.score);
    o.best = malloc((contest->draws + 1) * sizeof *o.best);
    calc_status status = o.score && o.best ? CALC_OK : calc_errors_no_memory(errors);
    if (status == CALC_OK && contest->incumbent != SIZE_MAX) {
        calc_rng_init(&o.rng, scene->options->seed,
                      STREAM_MATCHING + ((uint64_t)scene->measurements << 8));
        for (size_t draw = 0; draw < contest->draws; draw++) {
            o.best[draw] = calc_tune_contest_drawn(contest, draw, contest->incumbent);
            if (!improves(scene)) {
                count_best(contest, draw, scene->options->top, o.score);
            }
        }
        /* Begin with calc's own choice, as all later ones are compared with it. */
        if (scene->times == 0 && scene->options->chooser != CALC_TUNE_CHOOSER_MATCHING) {
            pick[(*picks)++] = scene->incumbent;
        }
        while (*picks < scene->options->picks) {
            size_t chosen = posterior_choose(&o, pick, *picks);
            if (chosen == SIZE_MAX) {
                break;
            }
            include(contest, chosen, o.best);
            pick[(*picks)++] = contest->contender[chosen];
        }
    }
    free(o.score);
    free(o.best);
    return status;
}

/* ---- Plain choices --------------------------------------------------------------------------- */

enum { STREAM_PLAIN = 3, STARTS = 4, NEIGHBOURS = 8, PROPOSALS = 64, RUNG = 4 };

/* A chooser that sees candidates, predictions and measurements, and no posterior. */
typedef struct plain {
    const calc_tune_scene *scene;
    size_t count;
    size_t *left; /* candidates that may be proposed: not tried, and predicted to fit */
    double lowest[CALC_TUNE_COORDINATES], range[CALC_TUNE_COORDINATES]; /* range 0: all alike */
    calc_rng rng;
} plain;

static double coordinate(const plain *p, size_t candidate, int i)
{
    double x = p->scene->candidate[candidate].coordinate[i];
    return p->range[i] > 0 ? (x - p->lowest[i]) / p->range[i] : 0;
}

static double distance(const plain *p, size_t a, size_t b)
{
    double sum = 0;
    for (int i = 0; i < CALC_TUNE_COORDINATES; i++) {
        double apart = coordinate(p, a, i) - coordinate(p, b, i);
        sum += apart * apart;
    }
    return sum;
}

static size_t any(plain *p, size_t count)
{
    return p->left[calc_rng_below(&p->rng, (uint32_t)count)];
}

/* ---- Best predicted first -------------------------------------------------------------------- */

static size_t in_order(plain *p)
{
    size_t chosen = p->left[0];
    for (size_t i = 1; i < p->count; i++) {
        if (p->scene->candidate[p->left[i]].step_s < p->scene->candidate[chosen].step_s) {
            chosen = p->left[i];
        }
    }
    return chosen;
}

/* ---- Sobol ----------------------------------------------------------------------------------- */

static size_t in_sobol(plain *p, size_t index)
{
    double point[CALC_TUNE_COORDINATES];
    _Static_assert((int)CALC_TUNE_COORDINATES <= (int)CALC_SOBOL_DIMENSIONS, "of the sequence");
    calc_sobol_point(index, CALC_TUNE_COORDINATES, point);
    size_t chosen = p->left[0];
    double nearest = (double)INFINITY;
    for (size_t i = 0; i < p->count; i++) {
        double sum = 0;
        for (int k = 0; k < CALC_TUNE_COORDINATES; k++) {
            double apart = p->range[k] > 0 ? coordinate(p, p->left[i], k) - point[k] : 0;
            sum += apart * apart;
        }
        if (sum < nearest) {
            nearest = sum;
            chosen = p->left[i];
        }
    }
    return chosen;
}

/* ---- Annealing ------------------------------------------------------------------------------- */

/* Any of the nearest. */
static size_t neighbour(plain *p, size_t of)
{
    size_t near[NEIGHBOURS];
    size_t held = 0;
    for (size_t i = 0; i < p->count; i++) {
        double here = distance(p, of, p->left[i]);
        if (held == NEIGHBOURS && here >= distance(p, of, near[held - 1])) {
            continue;
        }
        size_t at = held < NEIGHBOURS ? held++ : NEIGHBOURS - 1;
        for (; at > 0 && distance(p, of, near[at - 1]) > here; at--) {
            near[at] = near[at - 1];
        }
        near[at] = p->left[i];
    }
    return near[calc_rng_below(&p->rng, (uint32_t)held)];
}

/* The current position of the walk: measurements are its steps, replayed with the same random
 * numbers. */
static size_t walked_to(const plain *p)
{
    const calc_tune_scene *s = p->scene;
    calc_rng steps;
    calc_rng_init(&steps, s->options->seed, STREAM_PLAIN);
    size_t at = SIZE_MAX;
    double at_s = 0, warm = 0.1;
    for (size_t i = 0; i < s->measurements; i++) {
        const calc_tune_measurement *m = &s->measurement[i];
        double chance = calc_rng_real(&steps);
        if (m->end != CALC_TUNE_END_FINE) {
            continue;
        }
        double worse = at == SIZE_MAX ? -1 : log(m->step_s / at_s);
        if (worse <= 0 || chance < exp(-worse / warm)) {
            at = m->candidate;
            at_s = m->step_s;
        }
        warm *= 0.9;
    }
    return at;
}

/* ---- Tree-structured Parzen estimator -------------------------------------------------------- */

/* How many measured layouts are faster. */
static size_t place_of(const calc_tune_scene *s, size_t observation)
{
    size_t faster = 0;
    for (size_t i = 0; i < s->times; i++) {
        faster += s->seen_time[i].value < s->seen_time[observation].value;
    }
    return faster;
}

/* Log of the ratio of the densities of the better quarter and of the rest: per coordinate, kernels
 * as wide as a quarter of its range, and a uniform part. */
static double promise(const plain *p, size_t candidate)
{
    const calc_tune_scene *s = p->scene;
    size_t better = (s->times + 3) / 4;
    double sum = 0;
    for (int k = 0; k < CALC_TUNE_COORDINATES; k++) {
        double density[2] = {1, 1}, count[2] = {1, 1};
        for (size_t i = 0; i < s->times; i++) {
            int worse = place_of(s, i) >= better;
            double apart =
                (coordinate(p, candidate, k) - coordinate(p, s->seen_time[i].item, k)) / 0.25;
            density[worse] += 4 * exp(-apart * apart / 2);
            count[worse]++;
        }
        sum += log(density[0] / count[0]) - log(density[1] / count[1]);
    }
    return sum;
}

static size_t promising(plain *p)
{
    if (p->scene->times < STARTS) {
        return any(p, p->count);
    }
    size_t chosen = any(p, p->count);
    double most = promise(p, chosen);
    for (int i = 1; i < PROPOSALS; i++) {
        size_t other = any(p, p->count);
        double here = promise(p, other);
        if (here > most) {
            most = here;
            chosen = other;
        }
    }
    return chosen;
}

/* ---- Halving --------------------------------------------------------------------------------- */

/* Keep the half of the remaining candidates that is nearer to the better than to the worse half of
 * the measured ones, at least one. @return how many */
static size_t keep_nearer(plain *p, const calc_effects_observation *seen, size_t from, size_t to)
{
    size_t kept = 0;
    double middle = 0;
    for (size_t i = from; i < to; i++) {
        middle += seen[i].value / (double)(to - from);
    }
    for (size_t i = 0; i < p->count; i++) {
        double nearest[2] = {(double)INFINITY, (double)INFINITY};
        for (size_t k = from; k < to; k++) {
            int worse = seen[k].value > middle;
            nearest[worse] = fmin(nearest[worse], distance(p, p->left[i], seen[k].item));
        }
        if (nearest[0] <= nearest[1]) {
            size_t other = p->left[kept];
            p->left[kept++] = p->left[i];
            p->left[i] = other;
        }
    }
    return kept > 0 ? kept : p->count;
}

static size_t halved(plain *p)
{
    size_t all = p->count;
    for (size_t from = 0; from + RUNG <= p->scene->times; from += RUNG) {
        p->count = keep_nearer(p, p->scene->seen_time, from, from + RUNG);
    }
    size_t chosen = any(p, p->count);
    p->count = all;
    return chosen;
}

/* ---- Choosing -------------------------------------------------------------------------------- */

static size_t choose(plain *p, size_t index)
{
    size_t at;
    switch (p->scene->options->chooser) {
    case CALC_TUNE_CHOOSER_ORDER:
        return in_order(p);
    case CALC_TUNE_CHOOSER_SOBOL:
        return in_sobol(p, index);
    case CALC_TUNE_CHOOSER_ANNEALING:
        at = walked_to(p);
        return at == SIZE_MAX ? any(p, p->count) : neighbour(p, at);
    case CALC_TUNE_CHOOSER_TPE:
        return promising(p);
    case CALC_TUNE_CHOOSER_HALVING:
        return halved(p);
    default:
        return any(p, p->count);
    }
}

static void gather(plain *p)
{
    const calc_tune_scene *s = p->scene;
    for (size_t i = 0; i < s->count; i++) {
        const calc_tune_candidate *c = &s->candidate[i];
        for (int k = 0; k < CALC_TUNE_COORDINATES; k++) {
            double low = i > 0 ? fmin(p->lowest[k], c->coordinate[k]) : c->coordinate[k];
            double high = i > 0 ? fmax(p->lowest[k] + p->range[k], c->coordinate[k]) : low;
            p->lowest[k] = low;
            p->range[k] = high - low;
        }
        if (calc_tune_scene_free_to_try(s, i) && c->memory_bytes <= c->capacity_bytes) {
            p->left[p->count++] = i;
        }
    }
}

static calc_status tune_picks_plain(const calc_tune_scene *scene, size_t *pick, size_t *picks,
                                    calc_errors *errors)
{
    plain p = {.scene = scene, .left = malloc((scene->count + 1) * sizeof *p.left)};
    *picks = 0;
    if (!p.left) {
        return calc_errors_no_memory(errors);
    }
    gather(&p);
    calc_rng_init(&p.rng, scene->options->seed,
                  STREAM_PLAIN + (((uint64_t)scene->measurements + 1) << 8));
    while (*picks < scene->options->picks && p.count > 0) {
        pick[*picks] = choose(&p, scene->measurements + *picks);
        size_t kept = 0;
        for (size_t i = 0; i < p.count; i++) {
            if (p.left[i] != pick[*picks]) {
                p.left[kept++] = p.left[i];
            }
        }
        p.count = kept;
        ++*picks;
    }
    free(p.left);
    return CALC_OK;
}

/* When no contender is left: the one expected to be fastest among those that probably fit. */
static size_t fastest_left(const calc_tune_scene *s, const size_t *pick, size_t picks)
{
    size_t chosen = SIZE_MAX;
    for (size_t i = 0; i < s->count; i++) {
        const calc_tune_view *v = &s->view[i];
        if (v->fits >= 0.5 && !calc_tune_is_taken(s, i, pick, picks) &&
            (chosen == SIZE_MAX || v->mean < s->view[chosen].mean)) {
            chosen = i;
        }
    }
    return chosen;
}

/* Probes of memory that were not tried yet, before anything else. */
static void pick_probes(const calc_tune_scene *s, size_t *pick, size_t *picks)
{
    size_t probe[CALC_TUNE_PROBES];
    double condition;
    size_t probes = calc_tune_probes(s->candidate, s->count, probe, &condition);
    for (size_t i = 0; i < probes && *picks < s->options->picks; i++) {
        if (calc_tune_scene_free_to_try(s, probe[i])) {
            pick[(*picks)++] = probe[i];
        }
    }
}

calc_status calc_tune_pick(const calc_tune_scene *scene, const calc_tune_contest *contest,
                           size_t *pick, size_t *picks, calc_errors *errors)
{
    *picks = 0;
    if (scene->options->probes) {
        pick_probes(scene, pick, picks);
    }
    if (*picks > 0) {
        return CALC_OK;
    }
    bool posterior = scene->options->chooser <= CALC_TUNE_CHOOSER_MATCHING;
    calc_status status = posterior ? calc_tune_picks_posterior(scene, contest, pick, picks, errors)
                                   : tune_picks_plain(scene, pick, picks, errors);
    while (status == CALC_OK && *picks < scene->options->picks) {
        size_t chosen = fastest_left(scene, pick, *picks);
        if (chosen == SIZE_MAX) {
            break;
        }
        pick[(*picks)++] = chosen;
    }
    return status;
}
