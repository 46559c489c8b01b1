#include "balance/fit.h"

#include <string.h>

#include "model/operators/processor.h"

int calc_balance_groups(const calc_schedule_shape *s)
{
    int stages = (int)s->stages;
    return s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE ? stages / 2 : stages;
}

calc_balance_group calc_balance_group_of(const calc_schedule_shape *s, int index)
{
    calc_balance_group g = {.stage = {index}, .stages = 1};
    if (s->kind == CALC_PIPELINE_SCHEDULE_DUALPIPE) {
        g.stage[g.stages++] = (int)s->stages - 1 - index;
    }
    g.places = calc_balance_held_parts(s);
    for (int part = 0; part < g.places; part++) {
        g.place[part] = calc_balance_part_place(s, index, part);
    }
    return g;
}

static double over_bytes(const calc_balance_problem *p, const calc_balance_flights *f,
                         const calc_balance_group *g, const calc_balance_share *share)
{
    double over = -INFINITY;
    for (int i = 0; i < g->stages; i++) {
        double bytes = calc_balance_flights_bytes(f, p, g->stage[i], share);
        over = calc_max(over, bytes - p->stage[g->stage[i]].limit_bytes);
    }
    return over;
}

double calc_balance_over_bytes(const calc_balance_problem *p, const calc_balance_flights *f,
                               const calc_balance_group *g, const calc_balance_share *share)
{
    return calc_max(0, over_bytes(p, f, g, share));
}

static int all(const int *by_kind)
{
    return by_kind[0] + by_kind[1];
}

bool calc_balance_change(const calc_balance_problem *p, calc_balance_share *x, int kind,
                         calc_balance_recompute what, int by)
{
    bool in_full = what == CALC_BALANCE_FULL;
    int *count = in_full ? &x->full[kind] : &x->selective[kind];
    const int *other = in_full ? x->selective : x->full;
    if (*count + by < 0) {
        return false;
    }
    if (by > 0 && (x->full[kind] + x->selective[kind] + by > x->layers[kind] ||
                   !(in_full ? p->may_full : p->may_select) || (!p->may_mix && all(other) > 0))) {
        return false;
    }
    *count += by;
    return true;
}

typedef struct fitting {
    const calc_balance_problem *p;
    const calc_balance_flights *flights;
    const calc_balance_group *group;
    calc_balance_share *share;
    bool alike; /**< the number recomputing in full is fixed */
} fitting;

static double over(const fitting *f)
{
    return over_bytes(f->p, f->flights, f->group, f->share);
}

static void reset(const fitting *f, const int *full)
{
    for (int i = 0; i < f->group->places; i++) {
        int place = f->group->place[i];
        calc_balance_share *x = &f->share[place];
        memset(x->selective, 0, sizeof x->selective);
        memset(x->full, 0, sizeof x->full);
        if (full != NULL) {
            int left = full[f->p->stage[calc_balance_stage_of(&f->p->shape, place)].chip];
            x->full[0] = left < x->layers[0] ? left : x->layers[0];
            left -= x->full[0];
            x->full[1] = left < x->layers[1] ? left : x->layers[1];
        }
    }
}

/* A change to try: a place of the group, a kind, and the new treatment of one of its layers. */
typedef struct change {
    int place, kind;
    calc_balance_recompute what;
} change;

static int changes(const fitting *f)
{
    return f->group->places * CALC_BALANCE_KINDS * 2;
}

static change change_of(const fitting *f, int i)
{
    return (change){
        .place = f->group->place[i / (2 * CALC_BALANCE_KINDS)],
        .kind = i / 2 % CALC_BALANCE_KINDS,
        .what = i % 2 == 0 ? CALC_BALANCE_FULL : CALC_BALANCE_SELECTIVE,
    };
}

static bool make(const fitting *f, change c, int by)
{
    return !(f->alike && c.what == CALC_BALANCE_FULL) &&
           calc_balance_change(f->p, &f->share[c.place], c.kind, c.what, by);
}

static double takes_s(const fitting *f, change c)
{
    int stage = calc_balance_stage_of(&f->p->shape, c.place);
    return f->p->layer[f->p->stage[stage].chip][c.kind].again_s[c.what];
}

/* Find the change that saves most memory for its time; return whether one saves anything. */
static bool add(const fitting *f)
{
    double before = over(f);
    double most = 0;
    int best = -1;
    for (int i = 0; i < changes(f); i++) {
        change c = change_of(f, i);
        if (!make(f, c, 1)) {
            continue;
        }
        double saved = before - over(f);
        double worth = saved / calc_max(takes_s(f, c), 1e-300);
        make(f, c, -1);
        if (saved > 0 && worth > most) {
            most = worth;
            best = i;
        }
    }
    return best >= 0 && make(f, change_of(f, best), 1);
}

/* As many as there are, in full or else some parts. */
static void add_all(const fitting *f)
{
    for (int i = 0; i < changes(f); i++) {
        while (make(f, change_of(f, i), 1)) {
        }
    }
}

/* Find the change whose undoing saves most time while all fits; return whether there is one. */
static bool undo(const fitting *f)
{
    double most_s = 0;
    int best = -1;
    for (int i = 0; i < changes(f); i++) {
        change c = change_of(f, i);
        if (takes_s(f, c) > most_s && make(f, c, -1)) {
            if (over(f) <= 0) {
                most_s = takes_s(f, c);
                best = i;
            }
            make(f, c, 1);
        }
    }
    return best >= 0 && make(f, change_of(f, best), -1);
}

double calc_balance_fit(const calc_balance_problem *p, const calc_balance_flights *flights,
                        const calc_balance_group *group, calc_balance_share *share, const int *full)
{
    fitting f = {p, flights, group, share, full != NULL};
    reset(&f, full);
    while (over(&f) > 0 && add(&f)) {
    }
    if (over(&f) > 0) {
        reset(&f, full);
        add_all(&f);
    }
    if (over(&f) <= 0) {
        while (undo(&f)) {
        }
    }
    return calc_max(0, over(&f));
}
