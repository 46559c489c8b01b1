#include "tune/picks.h"

#include <math.h>
#include <stdlib.h>

#include "base/make.h"

/* Whether a candidate was tried, or is among the picks. */
static bool is_taken(const calc_tune_scene *scene, size_t candidate, const size_t *pick,
                     size_t picks)
{
    bool taken = !calc_tune_scene_free_to_try(scene, candidate);
    for (size_t i = 0; i < picks; i++) {
        taken = taken || pick[i] == candidate;
    }
    return taken;
}

/* ---- Gain beside all that were picked before ------------------------------------------------- */

/* By how much a contender shortens the best so far, on average over draws. While one time at most
 * is known, how large errors are is not: an expected gain would prefer what is least known, so it
 * is the chance of a gain that matters. */
static double improvement(const calc_tune_scene *s, const calc_tune_contest *c, const double *best,
                          size_t i)
{
    double sum = 0, matters = log1p(-s->options->worth);
    for (size_t draw = 0; draw < c->draws; draw++) {
        double value = calc_tune_contest_drawn(c, draw, i);
        sum += s->times < 2         ? value < best[draw] + matters
               : value < best[draw] ? exp(best[draw]) - exp(value)
                                    : 0;
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
        if (is_taken(s, candidate, pick, picks)) {
            continue;
        }
        bool better = chosen == SIZE_MAX || score[i] > score[chosen] ||
                      (score[i] == score[chosen] &&
                       s->view[candidate].mean < s->view[c->contender[chosen]].mean);
        chosen = better ? i : chosen;
    }
    return chosen;
}

static void tune_picks_posterior(const calc_tune_scene *scene, const calc_tune_contest *contest,
                                 size_t *pick, size_t *picks)
{
    double *score = calc_make(contest->count, sizeof *score); /* by contender */
    double *best = calc_make(contest->draws, sizeof *best);   /* by draw */
    if (contest->incumbent != SIZE_MAX) {
        for (size_t draw = 0; draw < contest->draws; draw++) {
            best[draw] = calc_tune_contest_drawn(contest, draw, contest->incumbent);
        }
        /* Begin with calc's own choice, as all later ones are compared with it. */
        if (scene->times == 0) {
            pick[(*picks)++] = scene->incumbent;
        }
        while (*picks < scene->options->picks) {
            for (size_t i = 0; i < contest->count; i++) {
                score[i] = improvement(scene, contest, best, i);
            }
            size_t chosen = highest(scene, contest, score, pick, *picks);
            if (chosen == SIZE_MAX) {
                break;
            }
            include(contest, chosen, best);
            pick[(*picks)++] = contest->contender[chosen];
        }
    }
    free(score);
    free(best);
}

/* ---- Other choices --------------------------------------------------------------------------- */

/* The best predicted ones that are predicted to fit, without any posterior. */
static void pick_in_order(const calc_tune_scene *s, size_t *pick, size_t *picks)
{
    while (*picks < s->options->picks) {
        size_t chosen = SIZE_MAX;
        for (size_t i = 0; i < s->count; i++) {
            const calc_tune_candidate *c = &s->candidate[i];
            if (c->memory_bytes <= c->capacity_bytes && !is_taken(s, i, pick, *picks) &&
                (chosen == SIZE_MAX || c->step_s < s->candidate[chosen].step_s)) {
                chosen = i;
            }
        }
        if (chosen == SIZE_MAX) {
            break;
        }
        pick[(*picks)++] = chosen;
    }
}

/* When no contender is left: the one expected to be fastest among those that probably fit. */
static size_t fastest_left(const calc_tune_scene *s, const size_t *pick, size_t picks)
{
    size_t chosen = SIZE_MAX;
    for (size_t i = 0; i < s->count; i++) {
        const calc_tune_view *v = &s->view[i];
        if (v->fits >= 0.5 && !is_taken(s, i, pick, picks) &&
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

void calc_tune_pick(const calc_tune_scene *scene, const calc_tune_contest *contest, size_t *pick,
                    size_t *picks)
{
    *picks = 0;
    if (scene->options->probes) {
        pick_probes(scene, pick, picks);
    }
    if (*picks > 0) {
        return;
    }
    if (scene->options->chooser == CALC_TUNE_CHOOSER_ORDER) {
        pick_in_order(scene, pick, picks);
    } else {
        tune_picks_posterior(scene, contest, pick, picks);
    }
    while (*picks < scene->options->picks) {
        size_t chosen = fastest_left(scene, pick, *picks);
        if (chosen == SIZE_MAX) {
            break;
        }
        pick[(*picks)++] = chosen;
    }
}
