#include "mindspeed/probes.h"

#include <math.h>
#include <stdlib.h>

#include "gauss/normal.h"
#include "mindspeed/regression.h"

enum {
    T = CALC_MINDSPEED_TERMS,
    MBS_END = 8,
    TRIES = 200000 /* some tenths of a second */
};

static const double good_condition = 100;
/* An eigenvalue below this share of the largest counts as zero. */
static const double rank_share = 1e-12;

/* The configurations of a group, all with different terms. */
typedef struct group {
    const calc_mindspeed_config **item;
    size_t count;
} group;

typedef struct choice {
    group group[CALC_MINDSPEED_PROBES];
    size_t at[CALC_MINDSPEED_PROBES];
    int tries;
    bool no_memory;
    calc_mindspeed_probes best;
} choice;

/* Extreme degrees of the space. */
typedef struct extremes {
    int tp, cp, up;
} extremes;

static extremes extremes_of(const calc_mindspeed_space *space)
{
    extremes e = {1, space->count > 0 ? space->config[0].cp : 1,
                  space->count > 0 ? space->config[0].up : 1};
    for (size_t i = 0; i < space->count; i++) {
        const calc_mindspeed_config *c = &space->config[i];
        e.tp = c->cp == 1 && c->up == 1 && c->tp > e.tp ? c->tp : e.tp;
        e.cp = c->cp < e.cp ? c->cp : e.cp;
        e.up = c->up < e.up ? c->up : e.up;
    }
    return e;
}

static bool belongs(const calc_mindspeed_config *c, int number, const extremes *e)
{
    switch (number) {
    case 0:
        return c->cp == 1 && c->up == 1 && c->tp == e->tp;
    case 1:
        return c->tp == 1 && c->up == 1 && c->pp > 1 && c->cp > e->cp;
    case 2:
        return c->tp == 1 && c->cp == 1 && c->pp > 1 && c->up > e->up;
    case 3:
        return c->tp == 1 && c->cp > 1 && c->up > 1;
    default:
        return c->tp > 1 && c->cp > 1 && c->up > 1;
    }
}

static bool alike(const calc_mindspeed_config *a, const calc_mindspeed_config *b)
{
    return a->tp == b->tp && a->cp == b->cp && a->up == b->up && a->mbs == b->mbs;
}

static bool is_new(const group *g, const calc_mindspeed_config *c)
{
    for (size_t i = 0; i < g->count; i++) {
        if (alike(g->item[i], c)) {
            return false;
        }
    }
    return true;
}

static void fill(choice *all, const calc_mindspeed_space *space)
{
    const extremes e = extremes_of(space);
    for (int number = 0; number < CALC_MINDSPEED_PROBES; number++) {
        group *g = &all->group[number];
        g->item = calloc(space->count + 1, sizeof(g->item[0]));
        all->no_memory = all->no_memory || !g->item;
        for (size_t i = 0; g->item && i < space->count; i++) {
            const calc_mindspeed_config *c = &space->config[i];
            if (c->mbs < MBS_END && belongs(c, number, &e) && is_new(g, c)) {
                g->item[g->count++] = c;
            }
        }
        if (g->count == 0 && all->best.empty == 0) {
            all->best.empty = number + 1;
        }
    }
}

/* Advances to the next choice, the last group first. @return false after the last one */
static bool next(choice *all)
{
    for (int i = CALC_MINDSPEED_PROBES - 1; i >= 0; i--) {
        if (++all->at[i] < all->group[i].count) {
            return true;
        }
        all->at[i] = 0;
    }
    return false;
}

static const calc_mindspeed_config *of(const choice *all, int i)
{
    return all->group[i].item[all->at[i]];
}

/* Condition number of the normal matrix of a choice; infinite if it does not have full rank. */
static double condition(choice *all)
{
    double normal[T * T] = {0}, term[T], value[T];
    for (int i = 0; i < CALC_MINDSPEED_PROBES; i++) {
        calc_mindspeed_regression_terms(of(all, i), term);
        for (int j = 0; j < T * T; j++) {
            normal[j] += term[j / T] * term[j % T];
        }
    }
    if (!calc_gauss_eigenvalues(normal, T, value)) {
        all->no_memory = true;
        return INFINITY;
    }
    return value[0] > rank_share * value[T - 1] ? value[T - 1] / value[0] : INFINITY;
}

static bool sizes_differ(const choice *all)
{
    for (int i = 1; i < CALC_MINDSPEED_PROBES; i++) {
        if (of(all, i)->mbs != of(all, 0)->mbs) {
            return true;
        }
    }
    return false;
}

static void consider(choice *all)
{
    double number = sizes_differ(all) ? condition(all) : INFINITY;
    all->tries++;
    if (number < all->best.condition) {
        all->best.condition = number;
        all->best.count = CALC_MINDSPEED_PROBES;
        for (int i = 0; i < CALC_MINDSPEED_PROBES; i++) {
            all->best.config[i] = *of(all, i);
        }
    }
}

calc_status calc_mindspeed_probes_choose(const calc_mindspeed_space *space,
                                         calc_mindspeed_probes *out)
{
    choice all = {.best = {.condition = INFINITY}};
    fill(&all, space);
    bool more = !all.no_memory && all.best.empty == 0;
    while (more) {
        consider(&all);
        more = all.best.condition >= good_condition && all.tries < TRIES && !all.no_memory &&
               next(&all);
    }
    for (int i = 0; i < CALC_MINDSPEED_PROBES; i++) {
        free(all.group[i].item);
    }
    *out = all.best;
    return all.no_memory ? CALC_ERR_NOMEM : CALC_OK;
}
