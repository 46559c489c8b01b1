#include "tune/contest.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "gauss/effects.h"
#include "gauss/normal.h"

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
    const ranked *a = left;
    const ranked *b = right;
    if (a->kept != b->kept) {
        return a->kept ? -1 : 1;
    }
    if (a->ahead != b->ahead) {
        return a->ahead > b->ahead ? -1 : 1;
    }
    return a->candidate < b->candidate ? -1 : a->candidate > b->candidate;
}

static calc_status select_contenders(calc_tune_contest *c, const calc_tune_scene *s,
                                     calc_errors *errors)
{
    ranked *list = malloc((s->count + 1) * sizeof *list);
    c->contender = calloc(s->count + 1, sizeof *c->contender);
    if (!list || !c->contender) {
        free(list);
        return calc_errors_no_memory(errors);
    }
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        bool keep = i == s->incumbent || s->view[i].state == CALC_TUNE_MEASURED;
        bool may = s->view[i].state == CALC_TUNE_UNTRIED;
        if (keep || may) {
            list[count++] = (ranked){.candidate = i, .ahead = s->view[i].ahead, .kept = keep};
            kept += keep;
        }
    }
    qsort(list, count, sizeof *list, by_chance);
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
    return CALC_OK;
}

/* Whether a contender fits in a draw. Certain outcomes need no draw. */
static bool fits(const calc_tune_scene *s, const calc_effects_draws *memory, size_t candidate,
                 calc_rng *rng)
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
        out[i] = fits(s, memory, candidate, rng) ? (float)value : INFINITY;
    }
}

static calc_status draw_all(calc_tune_contest *c, const calc_tune_scene *s, calc_errors *errors)
{
    calc_effects_draws memory = {0};
    calc_rng rng;
    calc_rng_init(&rng, s->options->seed, STREAM_DRAWS);
    double *own = calloc(c->count + 1, sizeof *own);
    calc_effects_draws *time = calloc(s->worlds + 1, sizeof *time);
    c->drawn = calloc(c->draws * c->count + 1, sizeof *c->drawn);
    if (!own || !time || !c->drawn) {
        free(own);
        free(time);
        return calc_errors_no_memory(errors);
    }
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
    calc_status status = select_contenders(out, scene, errors);
    return status == CALC_OK ? draw_all(out, scene, errors) : status;
}

void calc_tune_contest_free(calc_tune_contest *contest)
{
    free(contest->contender);
    free(contest->drawn);
    *contest = (calc_tune_contest){0};
}
