#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tune/knowledge.h"
#include "tune/picks.h"

enum {
    STREAM_MATCHING = 2,
    /* Measurements up to which several of the best of a draw count for Thompson: the first
     * measurements reveal whether the prior of errors is wrong, and layouts that are among the best
     * in most draws are safer. Later, counting only the best, by its gain, finds the optimum sooner
     * (docs/tune.md). */
    EARLY = 5,
    AHEAD = 256 /* contenders for which the knowledge gradient is computed, and over which it is
                   computed */
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

static void count_all(const calc_tune_contest *c, size_t top, double *wins)
{
    for (size_t draw = 0; draw < c->draws; draw++) {
        count_best(c, draw, top, wins);
    }
}

/* The best of each draw counts by its gain over the best known. */
static void count_gains(const calc_tune_contest *c, double *wins)
{
    for (size_t draw = 0; draw < c->draws; draw++) {
        size_t best = 0;
        for (size_t i = 1; i < c->count; i++) {
            best = calc_tune_contest_drawn(c, draw, i) < calc_tune_contest_drawn(c, draw, best)
                       ? i
                       : best;
        }
        double gain = 1 - exp(calc_tune_contest_drawn(c, draw, best) -
                              calc_tune_contest_drawn(c, draw, c->incumbent));
        wins[best] += gain > 0 ? gain : 0;
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

static void start_improving(const calc_tune_contest *c, double *best)
{
    for (size_t draw = 0; draw < c->draws; draw++) {
        best[draw] = calc_tune_contest_drawn(c, draw, c->incumbent);
    }
}

static void include(const calc_tune_contest *c, size_t picked, double *best)
{
    for (size_t draw = 0; draw < c->draws; draw++) {
        best[draw] = fmin(best[draw], calc_tune_contest_drawn(c, draw, picked));
    }
}

/* ---- Knowledge gradient ---------------------------------------------------------------------- */

typedef struct gradient {
    size_t count;
    size_t order[AHEAD], hull[AHEAD];
    double mean[AHEAD], slope[AHEAD];
    double *white; /* AHEAD rows */
} gradient;

/* Score of each of the first contenders. */
static calc_status weigh_knowledge(const calc_tune_scene *s, const calc_tune_contest *c,
                                   double *score, calc_errors *errors)
{
    gradient *g = malloc(sizeof *g);
    double *white = malloc((AHEAD * s->times + 1) * sizeof *white);
    if (!g || !white) {
        free(g);
        free(white);
        return calc_errors_no_memory(errors);
    }
    g->count = c->count < AHEAD ? c->count : AHEAD;
    for (size_t i = 0; i < g->count; i++) {
        double variance;
        calc_effects_moments(&s->time, c->contender[i], white + i * s->times, &g->mean[i],
                             &variance);
    }
    for (size_t i = 0; i < g->count; i++) {
        const calc_tune_view *v = &s->view[c->contender[i]];
        double noise = s->options->noise;
        double scale = sqrt(v->sd * v->sd + noise * noise);
        for (size_t j = 0; j < g->count; j++) {
            double shared =
                calc_effects_covariance(&s->model.time, &s->model.time_item[c->contender[i]],
                                        &s->model.time_item[c->contender[j]]) +
                (i == j ? s->model.time.own_sd * s->model.time.own_sd : 0);
            for (size_t k = 0; k < s->times; k++) {
                shared -= white[i * s->times + k] * white[j * s->times + k];
            }
            g->slope[j] = shared / scale;
        }
        score[i] = v->fits * calc_tune_knowledge(g->mean, g->slope, g->count, g->order, g->hull);
    }
    free(white);
    free(g);
    return CALC_OK;
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
        bool taken = !calc_tune_scene_free_to_try(s, candidate);
        for (size_t k = 0; k < picks; k++) {
            taken = taken || pick[k] == candidate;
        }
        if (taken) {
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

static calc_status prepare(chooser *o, calc_errors *errors)
{
    const calc_tune_contest *c = o->contest;
    const calc_tune_options *options = o->scene->options;
    calc_rng_init(&o->rng, options->seed,
                  STREAM_MATCHING + ((uint64_t)o->scene->measurements << 8));
    start_improving(c, o->best);
    switch (options->chooser) {
    case CALC_TUNE_CHOOSER_KNOWLEDGE:
        return weigh_knowledge(o->scene, c, o->score, errors);
    case CALC_TUNE_CHOOSER_IMPROVEMENT:
        return CALC_OK;
    default:
        if (o->scene->times < EARLY) {
            count_all(c, options->top, o->score);
        } else {
            count_gains(c, o->score);
        }
        return CALC_OK;
    }
}

static size_t choose(chooser *o, const size_t *pick, size_t picks)
{
    const calc_tune_contest *c = o->contest;
    if (o->scene->options->chooser == CALC_TUNE_CHOOSER_IMPROVEMENT) {
        for (size_t i = 0; i < c->count; i++) {
            o->score[i] = improvement(c, o->best, i);
        }
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

/* Nothing is known of any layout yet: begin with calc's own choice, as all later ones are compared
 * with it. */
static bool starts_with_incumbent(const calc_tune_scene *s)
{
    return s->times == 0 && s->options->chooser != CALC_TUNE_CHOOSER_MATCHING &&
           s->incumbent != SIZE_MAX;
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
        status = prepare(&o, errors);
        if (starts_with_incumbent(scene)) {
            pick[(*picks)++] = scene->incumbent;
        }
        while (status == CALC_OK && *picks < scene->options->picks) {
            size_t chosen = choose(&o, pick, *picks);
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
