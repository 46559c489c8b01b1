#include "plan/layers_stage.h"

#include <math.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/make.h"

enum {
    ROUNDS = 10, /* of exposed communication */
    FRONT = 64   /* answers examined */
};

/* Relative gap below which a bound counts as reached, and which rounding makes. */
#define CLOSE 1e-5
#define ALIKE 1e-12

/* Weight of the bound for communication longer than the passes that hide it
 * (calc_layers_exposed_line_s): for gradients, and for weights. */
typedef struct shares {
    double reduce, gather;
} shares;

/* The problem in terms of src/layerwise. */
typedef struct problem {
    const calc_layers_case *c;
    const calc_layers_ask *ask;
    double in_flight, room_bytes;
    calc_layers_peak ends;  /* needed by these alone */
    calc_layers_part fixed; /* ends and messages */
    int numbers[2];         /* options of a kind */
    int number[2][CALC_LAYERWISE_OPTIONS];
    int levels;
    calc_layers_peak level[CALC_LAYERS_LEVELS];
    /* At a level. */
    int kinds, of_kind[2];
    int original[2][CALC_LAYERWISE_OPTIONS];
    calc_layerwise_option option[2][CALC_LAYERWISE_OPTIONS];
    calc_layerwise_stage stage;
} problem;

/* ---- The problem ----------------------------------------------------------------------------- */

static void begin(const calc_layers_case *c, const calc_layers_ask *ask, problem *p)
{
    p->c = c;
    p->ask = ask;
    p->in_flight = calc_layers_in_flight(&c->common, ask->stage);
    p->room_bytes =
        calc_layers_room_bytes(c, ask->ends, ask->stage, ask->layers) - ask->spare_bytes;
    p->fixed = calc_layers_ends_of(c, ask->ends, ask->stage);
    p->ends = (calc_layers_peak){p->fixed.working_bytes, p->fixed.passing_bytes};
    calc_layers_peak peak[2 * CALC_LAYERWISE_OPTIONS];
    int peaks = 0;
    for (int kind = 0; kind < 2; kind++) {
        p->numbers[kind] = 0;
        for (int i = 0; i < c->options && ask->layers[kind] > 0; i++) {
            const calc_layers_option *o = &c->option[i];
            if (o->layers[kind] && (ask->group < 0 || o->group == ask->group)) {
                p->number[kind][p->numbers[kind]++] = i;
                peak[peaks++] = calc_layers_peak_of(p->ends, &o->part[kind]);
            }
        }
    }
    p->levels = calc_layers_levels(peak, peaks, p->level);
}

/* Weighted time that a layer adds to its stage. */
static double cost_s(const calc_layers_case *c, const calc_layers_part *x, shares of)
{
    return calc_layers_least_s(c, x, of.reduce, of.gather);
}

static void set_problem(problem *p, int number, shares of)
{
    const calc_layers_peak at = p->level[number];
    const calc_layers_case *c = p->c;
    bool embedding = calc_layers_is_first(p->ask->stage);
    bool head = calc_layers_is_last(c, p->ask->stage);
    int group = c->option[p->ask->ends].group;
    p->stage =
        (calc_layerwise_stage){.groups = c->groups,
                               .switch_s = c->groups > 1 ? c->detour_s : NULL,
                               .budget_bytes = p->room_bytes - at.working_bytes - at.passing_bytes,
                               .before = embedding ? 1 + group : 0,
                               .behind = head ? 1 + group : 0};
    for (int kind = 0; kind < 2; kind++) {
        int count = 0;
        for (int i = 0; i < p->numbers[kind]; i++) {
            const calc_layers_option *o = &c->option[p->number[kind][i]];
            const calc_layers_part *x = &o->part[kind];
            if (calc_layers_is_below(calc_layers_peak_of(p->ends, x), at)) {
                p->option[kind][count] = (calc_layerwise_option){
                    cost_s(c, x, of), 0, calc_layers_bytes(x, p->in_flight), o->group};
                p->original[kind][count++] = p->number[kind][i];
            }
        }
        if (p->ask->layers[kind] > 0) {
            p->of_kind[p->stage.kinds] = kind;
            p->stage.kind[p->stage.kinds++] =
                (calc_layerwise_kind){p->ask->layers[kind], count, p->option[kind]};
        }
    }
}

static bool has_options(const problem *p)
{
    for (int i = 0; i < p->stage.kinds; i++) {
        if (p->stage.kind[i].options == 0) {
            return false;
        }
    }
    return true;
}

/* All layers with one option per kind. */
typedef struct mix {
    double time_s, bytes;
} mix;

/* The cheapest mix at prices of time and of memory. */
static mix cheapest(const problem *p, mix price)
{
    mix sum = {0, 0};
    for (int k = 0; k < p->stage.kinds; k++) {
        const calc_layerwise_kind *kind = &p->stage.kind[k];
        const calc_layerwise_option *best = kind->option;
        for (const calc_layerwise_option *o = best + 1; o < kind->option + kind->options; o++) {
            double less = price.time_s * (best->micro_s - o->micro_s) +
                          price.bytes * (best->bytes - o->bytes);
            best = less > 0 || (less == 0 && o->bytes < best->bytes) ? o : best;
        }
        sum.time_s += kind->layers * best->micro_s;
        sum.bytes += kind->layers * best->bytes;
    }
    return sum;
}

/* Lower bound of the time of layers at a level, where options may be mixed in any shares: at a
 * price of memory each layer has its cheapest option, and the best price gives the best bound: no
 * mix costs less than the two between which the budget lies. INFINITY: they do not fit. */
static double relaxed_s(const problem *p)
{
    double budget = p->stage.budget_bytes;
    mix fast = cheapest(p, (mix){1, 0});
    mix small = cheapest(p, (mix){0, 1});
    if (fast.bytes <= budget || small.bytes > budget) {
        return fast.bytes <= budget ? fast.time_s : INFINITY;
    }
    for (;;) {
        double price = (small.time_s - fast.time_s) / (fast.bytes - small.bytes);
        mix at = cheapest(p, (mix){1, price});
        double cost = at.time_s + price * at.bytes;
        if (!(cost < (fast.time_s + price * fast.bytes) * (1 - ALIKE))) {
            return cost - price * budget;
        }
        *(at.bytes > budget ? &fast : &small) = at;
    }
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* Switches along the layers of an answer, with those to and from the ends. */
static double switches_s(const problem *p, const calc_layers_stage *s)
{
    const calc_layers_case *c = p->c;
    int at = p->stage.before - 1;
    double sum = 0;
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < s->picks[kind]; i++) {
            int group = c->option[s->pick[kind][i].option].group;
            sum += at >= 0 ? c->switch_s[at * c->groups + group] : 0;
            at = group;
        }
    }
    return sum +
           (p->stage.behind > 0 && at >= 0 ? c->switch_s[at * c->groups + p->stage.behind - 1] : 0);
}

/* Among layers with the same split those that recompute come first, an order that frameworks can
 * express. */
static void put_recomputing_first(const calc_layers_case *c, calc_layerwise_pick *pick, int picks)
{
    for (int i = 1; i < picks; i++) {
        const calc_layerwise_pick x = pick[i];
        const calc_layers_option *o = &c->option[x.option];
        int at = i;
        while (at > 0 && c->option[pick[at - 1].option].group == o->group &&
               c->option[pick[at - 1].option].strategy.recompute < o->strategy.recompute) {
            pick[at] = pick[at - 1];
            at--;
        }
        pick[at] = x;
    }
}

static calc_layers_stage answer_of(const problem *p, const calc_layerwise_point *point)
{
    calc_layers_stage s = {.fits = true, .sum = p->fixed};
    for (int k = 0; k < p->stage.kinds; k++) {
        int kind = p->of_kind[k];
        s.picks[kind] = point->picks[k];
        for (int i = 0; i < point->picks[k]; i++) {
            int option = p->original[kind][point->pick[k][i].option];
            const calc_layers_part *x = &p->c->option[option].part[kind];
            s.pick[kind][i] = (calc_layerwise_pick){(int16_t)option, point->pick[k][i].layers};
            calc_layers_part_add(&s.sum, x, point->pick[k][i].layers);
        }
    }
    for (int kind = 0; kind < 2; kind++) {
        put_recomputing_first(p->c, s.pick[kind], s.picks[kind]);
    }
    double between_s = switches_s(p, &s);
    s.sum.micro_s += between_s;
    s.sum.fw_s += between_s / 2;
    s.bytes = p->c->common.capacity_bytes - p->ask->spare_bytes - p->room_bytes + point->bytes +
              s.sum.working_bytes + s.sum.passing_bytes;
    s.weighted_s = calc_layers_weighted_s(p->c, &s.sum);
    return s;
}

/* The next weight to try: first the extreme that an answer contradicts, then between the two. None
 * where the answer agrees with its weight.
 * @param low, high weights known to enclose the right one; -1, 2: not known */
static bool narrow(bool longer, double *low, double *high, double *share)
{
    bool right = longer ? *share >= 1 : *share <= 0;
    *low = longer ? fmax(*low, *share) : *low;
    *high = longer ? *high : fmin(*high, *share);
    *share = *high > 1 ? 1 : *low < 0 ? 0 : (*low + *high) / 2;
    return !right;
}

static void take(const problem *p, const calc_layerwise_point *point, calc_layers_stage *best)
{
    calc_layers_stage s = answer_of(p, point);
    if (s.weighted_s < best->weighted_s) {
        s.least_s = best->least_s;
        *best = s;
    }
}

/* The Pareto front in the two bounds of gradients, with fixed weights of the bounds of weights: one
 * of its answers is the best.
 * @return a lower bound of the time; -INFINITY: not known */
static double try_front(problem *p, int level, double gather, calc_layers_stage *best)
{
    const shares hidden = {0, gather};
    const shares longer = {1, gather};
    double fixed_s[2] = {cost_s(p->c, &p->fixed, hidden), cost_s(p->c, &p->fixed, longer)};
    double least_s = INFINITY;
    calc_layerwise_front front;
    set_problem(p, level, hidden);
    for (int k = 0; k < p->stage.kinds; k++) {
        for (int i = 0; i < p->stage.kind[k].options; i++) {
            int kind = p->of_kind[k];
            const calc_layers_part *x = &p->c->option[p->original[kind][i]].part[kind];
            p->option[kind][i].sync_s = fmax(0, cost_s(p->c, x, longer));
        }
    }
    calc_layerwise_front_of(&p->stage, FRONT, &front);
    for (size_t i = 0; i < front.count; i++) {
        const calc_layerwise_point *x = &front.point[i];
        least_s = fmin(least_s, fmax(x->micro_s + fixed_s[0], x->sync_s + fixed_s[1]));
        take(p, x, best);
    }
    free(front.point);
    return front.proven ? least_s : -INFINITY;
}

/* The best at a level. Every mean of the linear bounds of exposed communication bounds the time,
 * and the best answer for a mean that is tight for it is the optimum. */
static void solve(problem *p, int level, calc_layers_stage *best)
{
    double low[2] = {-1, -1};
    double high[2] = {2, 2};
    double least_s = -INFINITY;
    calc_layerwise_point point;
    shares of = {0, 0};
    bool open = true;
    for (int round = 0; round < ROUNDS && open; round++) {
        set_problem(p, level, of);
        if (!has_options(p) || !(p->stage.budget_bytes >= 0) ||
            !calc_layerwise_best(&p->stage, 1, 0, &point)) {
            return;
        }
        calc_layers_stage s = answer_of(p, &point);
        least_s = fmax(least_s, point.micro_s + cost_s(p->c, &p->fixed, of));
        take(p, &point, best);
        bool reduces = calc_layers_is_longer(&p->c->common, s.sum.reduce_s, s.sum.reduce_room_s);
        bool gathers = calc_layers_is_longer(&p->c->common, s.sum.gather_s, s.sum.gather_room_s);
        open = narrow(reduces, &low[0], &high[0], &of.reduce);
        open = narrow(gathers, &low[1], &high[1], &of.gather) || open;
    }
    if (open && least_s < best->weighted_s * (1 - CLOSE)) {
        least_s = fmax(least_s, try_front(p, level, of.gather > 0.5, best));
    }
    best->least_s = fmin(best->least_s, least_s);
}

static const calc_layers_stage none = {.weighted_s = INFINITY, .least_s = INFINITY};

/* A level and its lower bound. */
typedef struct order {
    int level;
    double least_s;
} order;

static CALC_ORDER_BY(compare_order, order, least_s, level)

void calc_layers_stage_best(const calc_layers_case *c, const calc_layers_ask *ask,
                            calc_layers_stage *out)
{
    problem p;
    order by_bound[CALC_LAYERS_LEVELS];
    *out = none;
    begin(c, ask, &p);
    double fixed_s = cost_s(c, &p.fixed, (shares){0, 0});
    for (int level = 0; level < p.levels; level++) {
        set_problem(&p, level, (shares){0, 0});
        bool may = has_options(&p) && p.stage.budget_bytes >= 0;
        by_bound[level] = (order){level, may ? relaxed_s(&p) + fixed_s : INFINITY};
    }
    CALC_SORT(by_bound, (size_t)p.levels, compare_order);
    for (int i = 0; i < p.levels && by_bound[i].least_s < INFINITY; i++) {
        double limit_s = fmin(out->weighted_s, ask->limit_s);
        if (by_bound[i].least_s >= limit_s) {
            out->least_s = fmin(out->least_s, by_bound[i].least_s);
            break;
        }
        solve(&p, by_bound[i].level, out);
    }
}

/* ---- Over memory ----------------------------------------------------------------------------- */

static CALC_ORDER_BY(compare_bytes, calc_layers_stage, bytes, weighted_s)

/* Keep only answers that are quicker than all that hold less. */
static size_t best_of(calc_layers_stage *list, size_t count)
{
    size_t kept = 0;
    CALC_SORT(list, count, compare_bytes);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || list[i].weighted_s < list[kept - 1].weighted_s) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

void calc_layers_stage_curve(const calc_layers_case *c, const calc_layers_ask *ask, size_t most,
                             calc_layers_stage **out, size_t *count)
{
    problem p;
    begin(c, ask, &p);
    *count = 0;
    *out = calc_make((size_t)p.levels * most, sizeof **out);
    for (int level = 0; level < p.levels; level++) {
        calc_layerwise_front front = {0};
        set_problem(&p, level, (shares){0, 0});
        if (!has_options(&p) || p.stage.budget_bytes < 0) {
            continue;
        }
        calc_layerwise_curve_of(&p.stage, 1, 0, most, &front);
        for (size_t i = 0; i < front.count; i++) {
            (*out)[(*count)++] = answer_of(&p, &front.point[i]);
        }
        free(front.point);
    }
    *count = best_of(*out, *count);
}

/* ---- Levels of memory ------------------------------------------------------------------------ */

enum { BINS = CALC_LAYERS_BINS };

/* Distinct values, ascending; if there are too many, the largest of each bin. @return how many */
static int distinct(double *value, int count, int most)
{
    int kept = 0;
    CALC_SORT(value, (size_t)count, calc_order_numbers);
    for (int i = 0; i < count; i++) {
        kept += kept == 0 || value[i] > value[kept - 1] * (1 + 1e-9);
        value[kept - 1] = value[i];
    }
    int bins = kept < most ? kept : most;
    for (int i = 0; i < bins; i++) {
        value[i] = value[(i + 1) * kept / bins - 1];
    }
    return bins;
}

calc_layers_peak calc_layers_peak_of(calc_layers_peak ends, const calc_layers_part *x)
{
    return (calc_layers_peak){fmax(ends.working_bytes, x->working_bytes),
                              fmax(ends.passing_bytes, x->passing_bytes)};
}

bool calc_layers_is_below(calc_layers_peak a, calc_layers_peak b)
{
    return a.working_bytes <= b.working_bytes && a.passing_bytes <= b.passing_bytes;
}

/* Whether options at a level need both of its amounts: else a lower level has the same options. */
static bool is_reached(const calc_layers_peak *peak, int count, calc_layers_peak at)
{
    calc_layers_peak most = {0, 0};
    for (int i = 0; i < count; i++) {
        if (calc_layers_is_below(peak[i], at)) {
            most.working_bytes = fmax(most.working_bytes, peak[i].working_bytes);
            most.passing_bytes = fmax(most.passing_bytes, peak[i].passing_bytes);
        }
    }
    return most.working_bytes == at.working_bytes && most.passing_bytes == at.passing_bytes;
}

int calc_layers_levels(const calc_layers_peak *peak, int count,
                       calc_layers_peak level[CALC_LAYERS_LEVELS])
{
    double working[2 * CALC_LAYERWISE_OPTIONS];
    double passing[2 * CALC_LAYERWISE_OPTIONS];
    int levels = 0;
    for (int i = 0; i < count; i++) {
        working[i] = peak[i].working_bytes;
        passing[i] = peak[i].passing_bytes;
    }
    int rows = distinct(working, count, BINS);
    int columns = distinct(passing, count, BINS);
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < columns; k++) {
            const calc_layers_peak x = {working[i], passing[k]};
            bool last = i == rows - 1 && k == columns - 1;
            if (last || rows == BINS || columns == BINS || is_reached(peak, count, x)) {
                level[levels++] = x;
            }
        }
    }
    return levels;
}
