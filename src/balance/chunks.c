#include "balance/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "balance/from_layout.h"
#include "balance/relaxed.h"
#include "base/make.h"
#include "base/rng.h"
#include "model/operators/processor.h"

enum { KICKS = 400, MOST_MOVED = 2, MOST_CHOICES = 4096 };

/* Steps that differ by less are equal. */
#define SAME 1e-12

typedef struct division {
    int layers[CALC_BALANCE_PLACES];
    calc_balance_share share[CALC_BALANCE_PLACES];
    int full[CALC_BALANCE_CHIPS];      /**< where they are alike on a chip */
    double bytes[CALC_BALANCE_STAGES]; /**< that a stage needs */
    double over_bytes;                 /**< of all stages that do not fit */
    double most_bytes;                 /**< of a stage */
    double step_s;
} division;

typedef struct search {
    const calc_balance_problem *p;
    calc_balance_effort *effort;
    calc_balance_flights flights;
    calc_balance_room room;
    int places, most;
    double least_s;             /**< no division takes less */
    bool any;                   /**< best is one */
    calc_balance_problem least; /**< calc_balance_least() */
    double open_s;              /**< the divisions tried take no less, whatever recomputes */
    division now, tried, altered, best;
} search;

/* ---- One division -----------------------------------------------------------------------------*/

static void copy(const search *s, division *to, const division *from)
{
    memcpy(to->layers, from->layers, (size_t)s->places * sizeof *to->layers);
    memcpy(to->share, from->share, (size_t)s->places * sizeof *to->share);
    memcpy(to->full, from->full, sizeof to->full);
    memcpy(to->bytes, from->bytes, (size_t)s->p->shape.stages * sizeof *to->bytes);
    to->over_bytes = from->over_bytes;
    to->most_bytes = from->most_bytes;
    to->step_s = from->step_s;
}

static void sum_bytes(const search *s, division *d)
{
    d->over_bytes = 0;
    d->most_bytes = 0;
    for (int stage = 0; stage < s->p->shape.stages; stage++) {
        d->over_bytes += calc_max(0, d->bytes[stage] - s->p->stage[stage].limit_bytes);
        d->most_bytes = calc_max(d->most_bytes, d->bytes[stage]);
    }
}

/* The kinds of layers follow from the number on each place. Recomputation is chosen anew where they
 * changed, or everywhere. */
static void lay(search *s, division *d, bool everywhere)
{
    bool changed[CALC_BALANCE_PLACES];
    int dense_left = s->p->layers[0];
    for (int place = 0; place < s->places; place++) {
        calc_balance_share *x = &d->share[place];
        int dense = d->layers[place] < dense_left ? d->layers[place] : dense_left;
        int moe = d->layers[place] - dense;
        changed[place] = everywhere || dense != x->layers[0] || moe != x->layers[1];
        if (changed[place]) {
            *x = (calc_balance_share){.layers = {dense, moe}};
        }
        dense_left -= dense;
    }
    for (int stage = 0; stage < s->p->shape.stages; stage++) {
        bool anew = false;
        for (int place = stage; place < s->places; place += (int)s->p->shape.stages) {
            anew = anew || changed[place];
        }
        if (anew) {
            d->bytes[stage] = calc_balance_fit(s->p, &s->flights, stage, d->share,
                                               s->p->alike_on_chip ? d->full : NULL);
        }
    }
    sum_bytes(s, d);
}

/* The busiest stage: no step of this division takes less. */
static double busiest_s(const search *s, const division *d)
{
    const calc_schedule_shape *shape = &s->p->shape;
    double most_s = 0;
    for (int stage = 0; stage < shape->stages; stage++) {
        double busy_s = 0;
        for (int part = 0; part < s->flights.parts; part++) {
            int place = calc_balance_place_of(shape, stage, part);
            calc_schedule_pass pass = calc_balance_pass_of(s->p, place, &d->share[place]);
            busy_s += pass.fw_s + pass.bw_s + pass.wgrad_s;
        }
        most_s = calc_max(most_s, busy_s);
    }
    return (double)shape->microbatches * most_s;
}

/* Simulate; false if the search ends. */
static bool measure(search *s, division *d)
{
    d->step_s = INFINITY;
    if (!calc_balance_effort_evaluation(s->effort)) {
        return false;
    }
    d->step_s = calc_balance_score_s(s->p, d->share, calc_balance_step_s(s->p, d->share, &s->room));
    return true;
}

static bool better(const search *s, const division *a, const division *b)
{
    if (a->over_bytes != b->over_bytes) {
        return a->over_bytes < b->over_bytes;
    }
    if (a->step_s > b->step_s * (1 + SAME) || a->step_s < b->step_s * (1 - SAME)) {
        return a->step_s < b->step_s;
    }
    if (a->most_bytes != b->most_bytes) {
        return a->most_bytes < b->most_bytes;
    }
    int i = 0; /* fewer layers first */
    while (i < s->places - 1 && a->layers[i] == b->layers[i]) {
        i++;
    }
    return a->layers[i] < b->layers[i];
}

/* Accept the trial if it is better than the current division; simulate it if bounds do not
 * decide. */
static bool accept(search *s)
{
    division *x = &s->tried;
    if (x->over_bytes > s->now.over_bytes ||
        (x->over_bytes == s->now.over_bytes && busiest_s(s, x) > s->now.step_s * (1 + SAME)) ||
        !measure(s, x) || !better(s, x, &s->now)) {
        return false;
    }
    copy(s, &s->now, x);
    return true;
}

/* ---- Moves ------------------------------------------------------------------------------------*/

/* In the division tried: one recomputing layer less on one place, and one more on another of the
 * same stage. @return whether there is one */
static bool swap(search *s, int from, int to, int which)
{
    calc_balance_recompute what = which & 1 ? CALC_BALANCE_FULL : CALC_BALANCE_SELECTIVE;
    calc_balance_recompute other = which & 2 ? CALC_BALANCE_FULL : CALC_BALANCE_SELECTIVE;
    int kind = which >> 2 & 1;
    int other_kind = which >> 3 & 1;
    bool in_full = what == CALC_BALANCE_FULL || other == CALC_BALANCE_FULL;
    bool keeps = from == to && what == other; /* the number of a place */
    if ((keeps && kind == other_kind) || (s->p->alike_on_chip && in_full && !keeps)) {
        return false;
    }
    calc_balance_share less = s->tried.share[from];
    calc_balance_share more = s->tried.share[to];
    if (!calc_balance_change(s->p, &less, kind, what, -1) ||
        !calc_balance_change(s->p, from == to ? &less : &more, other_kind, other, 1)) {
        return false;
    }
    s->tried.share[to] = more;
    s->tried.share[from] = less;
    int stage = calc_balance_stage_of(&s->p->shape, from);
    s->tried.bytes[stage] = calc_balance_flights_bytes(&s->flights, s->p, stage, s->tried.share);
    return true;
}

/* The same on one stage or, of the first, on all where it fits: a stage alone may wait for others
 * whose chunks are as they were. */
static bool trade(search *s, int from, int to, int which, bool everywhere)
{
    bool any = false;
    copy(s, &s->tried, &s->now);
    for (int i = 0; i < (everywhere ? s->p->shape.stages : 1); i++) {
        calc_balance_share less = s->tried.share[from + i];
        calc_balance_share more = s->tried.share[to + i];
        int stage = calc_balance_stage_of(&s->p->shape, from + i);
        double bytes = s->tried.bytes[stage];
        bool made = swap(s, from + i, to + i, which);
        if (made && everywhere && s->tried.bytes[stage] > s->p->stage[stage].limit_bytes) {
            s->tried.share[to + i] = more;
            s->tried.share[from + i] = less;
            s->tried.bytes[stage] = bytes;
            made = false;
        }
        any = any || made;
    }
    sum_bytes(s, &s->tried);
    return any && accept(s);
}

static bool trade_any(search *s, int from)
{
    int stages = (int)s->p->shape.stages;
    for (int to = from % stages; to < s->places; to += stages) {
        for (int which = 0; which < 16; which++) {
            if (trade(s, from, to, which, false) ||
                (from % stages == 0 && from != to && trade(s, from, to, which, true))) {
                return true;
            }
        }
    }
    return false;
}

/* More or fewer layers in full on a chip. No place has more layers than the fullest. */
static bool alter(search *s, division *d, int chip, int by)
{
    int fullest = 0;
    for (int place = 0; place < s->places; place++) {
        bool here = s->p->stage[calc_balance_stage_of(&s->p->shape, place)].chip == chip;
        fullest = here && d->layers[place] > fullest ? d->layers[place] : fullest;
    }
    int full = (d->full[chip] < fullest ? d->full[chip] : fullest) + by;
    if (full < 0 || full > fullest) {
        return false;
    }
    d->full[chip] = full;
    lay(s, d, true);
    return true;
}

static int alike_chips(const search *s)
{
    return s->p->alike_on_chip && s->p->may_full ? s->p->chips : 0;
}

/* A division with more or fewer in full. */
static bool alter_any(search *s, const division *d)
{
    int all = 2 * alike_chips(s);
    if (all > 0) {
        copy(s, &s->altered, d);
    }
    for (int i = 0; i < all; i++) {
        copy(s, &s->tried, &s->altered);
        if (alter(s, &s->tried, i / 2, i % 2 == 0 ? -1 : 1) && accept(s)) {
            return true;
        }
    }
    return false;
}

/* Whether a stage is busy for longer than the step with n layers more, though none recomputes. Not
 * asked where the kinds of other layers may change. */
static bool is_too_busy(const search *s, int from, int to, int n)
{
    const calc_balance_problem *p = s->p;
    int stages = (int)p->shape.stages;
    bool one_kind = p->layers[0] == 0 || p->layers[1] == 0;
    if (from % stages == to % stages || s->now.over_bytes > 0 ||
        !(one_kind || (s->now.share[to].layers[1] > 0 && s->now.share[to].layers[0] == 0 &&
                       s->now.share[from].layers[0] == 0))) {
        return false;
    }
    const calc_balance_layer *layer = p->layer[p->stage[to % stages].chip];
    double busy_s = 0;
    for (int place = to % stages; place < s->places; place += stages) {
        const calc_balance_place *at = &p->place[place];
        busy_s += at->fw_s + at->agrad_s + calc_min(0, at->again_s) + at->wgrad_s;
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            bool more = place == to && (p->layers[1] == 0 ? 0 : 1) == kind;
            int layers = s->now.share[place].layers[kind] + (more ? n : 0);
            busy_s += layers * (layer[kind].fw_s + layer[kind].agrad_s + layer[kind].wgrad_s);
        }
    }
    return (double)p->shape.microbatches * busy_s > s->now.step_s * (1 + SAME);
}

static bool shift(search *s, int from, int to, int n)
{
    if (from == to || s->now.layers[from] - n < calc_balance_least_of(s->p, from) ||
        s->now.layers[to] + n > s->most || is_too_busy(s, from, to, n)) {
        return false;
    }
    copy(s, &s->tried, &s->now);
    s->tried.layers[from] -= n;
    s->tried.layers[to] += n;
    lay(s, &s->tried, false);
    return accept(s) || alter_any(s, &s->tried);
}

/* Moves until none is better. */
static void descend(search *s)
{
    int idle = 0; /* places since the last move that was better */
    for (int i = 0; idle < s->places && !s->effort->spent; i = (i + 1) % s->places) {
        bool moved = false;
        for (int to = 0; to < s->places; to++) {
            for (int n = 1; n <= MOST_MOVED; n++) {
                moved = shift(s, i, to, n) || moved;
            }
        }
        moved = trade_any(s, i) || moved;
        moved = alter_any(s, &s->now) || moved;
        idle = moved ? 0 : idle + 1;
    }
}

/* ---- Starts -----------------------------------------------------------------------------------*/

static int clamp(int x, int least, int most)
{
    int up = x > least ? x : least;
    return up < most ? up : most;
}

/* Divide the layers of stages among their chunks, then correct the total. */
static void start(search *s, const int *of_stage)
{
    const calc_schedule_shape *shape = &s->p->shape;
    int chunks = (int)shape->chunks;
    int left = s->p->layers[0] + s->p->layers[1];
    int all = left;
    for (int place = 0; place < s->places; place++) {
        int stage = calc_balance_stage_of(shape, place);
        int chunk = place / (int)shape->stages;
        int n = of_stage != NULL ? (of_stage[stage] + chunk) / chunks : all / s->places;
        s->now.layers[place] = clamp(n, calc_balance_least_of(s->p, place), s->most);
        left -= s->now.layers[place];
    }
    for (int i = s->places - 1; left != 0; i = (i + s->places - 1) % s->places) {
        int n = s->now.layers[i] + (left > 0 ? 1 : -1);
        if (n == clamp(n, calc_balance_least_of(s->p, i), s->most)) {
            left += s->now.layers[i] - n;
            s->now.layers[i] = n;
        }
    }
    int full = s->p->alike_on_chip && s->p->may_full ? s->most : 0;
    for (int chip = 0; chip < CALC_BALANCE_CHIPS; chip++) {
        s->now.full[chip] = full;
    }
    lay(s, &s->now, true);
    measure(s, &s->now);
}

static void kick(search *s, calc_rng *rng)
{
    uint32_t places = (uint32_t)s->places;
    int times = 2 + (int)calc_rng_below(rng, 3);
    for (int i = 0; i < times; i++) {
        int from = (int)calc_rng_below(rng, places);
        int to = (int)calc_rng_below(rng, places);
        if (s->now.layers[from] > calc_balance_least_of(s->p, from) &&
            s->now.layers[to] < s->most) {
            s->now.layers[from]--;
            s->now.layers[to]++;
        }
    }
    lay(s, &s->now, true);
    if (alike_chips(s) > 0) {
        int more = (int)calc_rng_below(rng, 3) - 1;
        alter(s, &s->now, (int)calc_rng_below(rng, (uint32_t)s->p->chips), more);
    }
    measure(s, &s->now);
}

static bool proven(const search *s)
{
    return s->best.over_bytes <= 0 &&
           s->least_s >= calc_balance_effort_goal_s(s->effort, s->best.step_s);
}

static void take(search *s)
{
    if (!s->any || better(s, &s->now, &s->best)) {
        copy(s, &s->best, &s->now);
        s->any = true;
    }
}

/* Improve the current division until no move helps. */
static void improve(search *s)
{
    descend(s);
    take(s);
}

static void hunt(search *s, const int *of_stage)
{
    start(s, of_stage);
    improve(s);
    start(s, NULL);
    improve(s);
    calc_rng rng;
    calc_rng_init(&rng, 1, 1);
    for (int i = 0; i < KICKS && !proven(s) && !s->effort->spent; i++) {
        copy(s, &s->now, &s->best);
        kick(s, &rng);
        improve(s);
    }
}

/* ---- Few divisions ----------------------------------------------------------------------------*/

/* Whether recomputation has but one choice for given layers, and a number where it is alike. */
static bool is_settled(const calc_balance_problem *p)
{
    bool one_kind = p->spread || p->layers[0] == 0 || p->layers[1] == 0;
    return !p->may_select && (!p->may_full || (p->alike_on_chip && one_kind));
}

/* What the layers of a division take at least, whatever recomputes [s]. */
static double least_of(search *s, const division *d)
{
    calc_balance_share plain[CALC_BALANCE_PLACES];
    for (int place = 0; place < s->places; place++) {
        plain[place] = d->share[place];
        memset(plain[place].selective, 0, sizeof plain[place].selective);
        memset(plain[place].full, 0, sizeof plain[place].full);
    }
    return calc_balance_effort_evaluation(s->effort)
               ? calc_balance_step_s(&s->least, plain, &s->room)
               : 0;
}

/* In how many ways other layers of the current division may recompute, so that it fits or takes
 * less: more than there are; INFINITY: in none. */
static double choices(const search *s)
{
    double count = 1;
    int again = 0;
    for (int place = 0; place < s->places; place++) {
        const calc_balance_share *x = &s->now.share[place];
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            int n = x->layers[kind] + 1;
            again += x->full[kind] + x->selective[kind];
            count *= (s->p->may_full ? n : 1) * (s->p->may_select ? n : 1);
        }
    }
    return is_settled(s->p) || again == 0 ? INFINITY : count;
}

/* Every choice of recomputation for the places from one on, stage by stage. */
static void choose(search *s, int index)
{
    const calc_balance_problem *p = s->p;
    int chunks = (int)p->shape.chunks;
    int stage = index / chunks;
    if (index > 0 && index % chunks == 0) { /* the stage before is chosen */
        double bytes = calc_balance_flights_bytes(&s->flights, p, stage - 1, s->now.share);
        s->now.bytes[stage - 1] = bytes;
        if (bytes > p->stage[stage - 1].limit_bytes || !calc_balance_effort_evaluation(s->effort)) {
            return;
        }
    }
    if (index == s->places) {
        sum_bytes(s, &s->now);
        measure(s, &s->now);
        take(s);
        return;
    }
    calc_balance_share *x = &s->now.share[calc_balance_place_of(&p->shape, stage, index % chunks)];
    const int *n = x->layers;
    const int all = (n[0] + 1) * (n[1] + 1);
    int number = s->now.full[p->stage[stage].chip];
    int alike = alike_chips(s) == 0 ? -1 : number < n[0] + n[1] ? number : n[0] + n[1];
    for (int i = 0; i < all * all && !s->effort->spent; i++) { /* four numbers, as one */
        int full = i % all;
        int some = i / all;
        calc_balance_share y = {{n[0], n[1]},
                                {some % (n[0] + 1), some / (n[0] + 1)},
                                {full % (n[0] + 1), full / (n[0] + 1)}};
        bool is_legal = y.full[0] + y.selective[0] <= n[0] && y.full[1] + y.selective[1] <= n[1] &&
                        (p->may_full || full == 0) &&
                        (alike < 0 || y.full[0] + y.full[1] == alike) &&
                        (p->may_select || some == 0) && (p->may_mix || full == 0 || some == 0) &&
                        (!p->spread || y.full[1] == 0 || y.full[0] == n[0]);
        if (is_legal) {
            *x = y;
            choose(s, index + 1);
        }
    }
}

/* Lay the current layers, with every number that recomputes where stages are alike. */
static void try_layers(search *s)
{
    int fullest = 0;
    for (int place = 0; place < s->places && alike_chips(s) > 0; place++) {
        fullest = s->now.layers[place] > fullest ? s->now.layers[place] : fullest;
    }
    int numbers = 1;
    for (int chip = 0; chip < alike_chips(s); chip++) {
        numbers *= fullest + 1;
    }
    for (int i = 0; i < numbers && !s->effort->spent; i++) {
        for (int chip = 0, left = i; chip < CALC_BALANCE_CHIPS; chip++, left /= fullest + 1) {
            s->now.full[chip] = left % (fullest + 1);
        }
        lay(s, &s->now, true);
        double least_s = is_settled(s->p) ? busiest_s(s, &s->now) : least_of(s, &s->now);
        if (!s->any || s->best.over_bytes > 0 || least_s <= s->best.step_s) {
            measure(s, &s->now);
            take(s);
            if (choices(s) <= MOST_CHOICES) {
                choose(s, 0);
            } else if (!is_settled(s->p)) {
                s->open_s = calc_min(s->open_s, least_s);
            }
        }
    }
}

/* @param spare  layers beside those that the places from this one on have at least */
static void try_rest(search *s, int place, int spare)
{
    int least = calc_balance_least_of(s->p, place);
    bool is_last = place == s->places - 1;
    for (int more = is_last ? spare : 0; more <= spare && least + more <= s->most; more++) {
        s->now.layers[place] = least + more;
        if (is_last) {
            try_layers(s);
        } else if (!s->effort->spent) {
            try_rest(s, place + 1, spare - more);
        }
    }
}

/* Try all divisions, if they are few with all of their numbers that recompute. */
static void try_all(search *s)
{
    int spare = s->p->layers[0] + s->p->layers[1];
    for (int place = 0; place < s->places; place++) {
        spare -= calc_balance_least_of(s->p, place);
    }
    double count = pow(spare + 2, alike_chips(s)) * (is_settled(s->p) ? 1 : 2);
    for (int i = 1; i < s->places; i++) {
        count *= (double)(spare + i) / i;
    }
    if (count >= (double)s->effort->most_evaluations) {
        return;
    }
    calc_balance_least(s->p, &s->least);
    s->open_s = INFINITY;
    try_rest(s, 0, spare);
    if (!s->effort->spent && s->any && s->best.over_bytes <= 0) {
        s->least_s = calc_max(s->least_s, calc_min(s->open_s, s->best.step_s));
    }
}

/* ---- All --------------------------------------------------------------------------------------*/

static void report(search *s, calc_balance_solution *out)
{
    memcpy(out->share, s->best.share, sizeof out->share);
    out->feasible = s->best.over_bytes <= 0;
    out->bound_s = s->least_s;
    double worst_bytes = -INFINITY;
    for (int stage = 0; stage < s->p->shape.stages && !out->feasible; stage++) {
        double bytes = calc_balance_flights_bytes(&s->flights, s->p, stage, s->best.share);
        if (bytes - s->p->stage[stage].limit_bytes > worst_bytes) {
            worst_bytes = bytes - s->p->stage[stage].limit_bytes;
            out->stage = stage;
            out->needs_bytes = bytes;
        }
    }
}

static void run(search *s, double below_s, calc_balance_solution *out)
{
    int of_stage[CALC_BALANCE_STAGES] = {0};
    s->least_s = calc_balance_relaxed(s->p, below_s, of_stage);
    int all = s->p->layers[0] + s->p->layers[1];
    int least = 0;
    for (int place = 0; place < s->places; place++) {
        least += calc_balance_least_of(s->p, place);
    }
    bool divides = least <= all && s->places * s->most >= all;
    out->beyond = divides && below_s < INFINITY && s->least_s >= below_s;
    if (!divides || out->beyond) {
        out->bound_s = divides ? s->least_s : INFINITY;
        return;
    }
    calc_balance_flights_begin(&s->flights, s->p);
    try_all(s);
    if (!s->any || !proven(s)) {
        hunt(s, s->least_s < INFINITY ? of_stage : NULL);
    }
    const calc_balance_effort *e = s->effort;
    double goal_s = s->best.step_s * (1 - e->within);
    bool open = e->within > 0 && s->best.over_bytes <= 0 && s->least_s < goal_s;
    if (open && !(e->stop && e->stop(e->context))) {
        s->least_s = calc_balance_paths(s->p, &s->flights, goal_s, s->least_s);
    }
    report(s, out);
}

void calc_balance_chunks(const calc_balance_problem *p, calc_balance_effort *e, double below_s,
                         calc_balance_solution *out)
{
    search *s = calc_make(1, sizeof *s);
    s->p = p;
    s->effort = e;
    s->places = (int)(p->shape.stages * p->shape.chunks);
    s->most = p->most_layers > 0 ? p->most_layers : p->layers[0] + p->layers[1];
    run(s, below_s, out);
    calc_balance_flights_end(&s->flights);
    calc_balance_room_end(&s->room);
    free(s);
}
