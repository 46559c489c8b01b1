#include "tune/picks.h"

static bool is_picked(const size_t *pick, size_t picks, size_t candidate)
{
    for (size_t i = 0; i < picks; i++) {
        if (pick[i] == candidate) {
            return true;
        }
    }
    return false;
}

/* When no contender is left: the one expected to be fastest among those that probably fit. */
static size_t fastest_left(const calc_tune_scene *s, const size_t *pick, size_t picks)
{
    size_t chosen = SIZE_MAX;
    for (size_t i = 0; i < s->count; i++) {
        const calc_tune_view *v = &s->view[i];
        if (calc_tune_scene_free_to_try(s, i) && v->fits >= 0.5 && !is_picked(pick, picks, i) &&
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
                                   : calc_tune_picks_plain(scene, pick, picks, errors);
    while (status == CALC_OK && *picks < scene->options->picks) {
        size_t chosen = fastest_left(scene, pick, *picks);
        if (chosen == SIZE_MAX) {
            break;
        }
        pick[(*picks)++] = chosen;
    }
    return status;
}
