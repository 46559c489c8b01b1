#include <math.h>

#include "balance/relaxed.h"
#include "spec/schedule.h"

enum { HALVINGS = 26, ROUNDS = 8 };

/* Relative difference that rounding may cause to numbers of layers, and to sums. */
#define SAME 1e-9
#define SUMMED 1e-12

/* A stage. Its work is counted in mean layers of the first chip, of whatever kind takes or needs
 * least: one kind of layers may take longer than the other and hold no more. */
typedef struct limits {
    double unit_s, beside_s;         /* of a micro-batch: a unit of work, and what is no layer */
    double stays_s, stays_beside_s;  /* by how much they prolong the step beyond all stages' sum */
    double begun_s;                  /* the stages before have one micro-batch alone */
    double again_s;                  /* more for a unit that recomputes */
    double each_bytes, spared_bytes; /* of a unit, and less of it if it recomputes */
    double room_bytes, room_again_bytes; /* for all units; if one of them recomputes */
    double least, most;                  /* work */
} limits;

typedef struct outline {
    int stages;
    bool line, waits; /* 1F1B with a chunk per stage; weight gradients may be left for later */
    bool whole;       /* a unit is a layer */
    double microbatches;
    double work, least_s; /* beside what every stage has at least, and the sum of that */
    double fastest_s;     /* the sum if the quickest stages do as much of the work as fits */
    limits of[CALC_BALANCE_STAGES]; /* the quickest first */
} outline;

static double layer_s(const calc_balance_layer *l)
{
    return l->fw_s + l->agrad_s + l->wgrad_s;
}

double calc_balance_least_flight(const calc_balance_problem *p, int stage)
{
    if (p->shape.chunks == 1) {
        return calc_schedule_in_flight(&p->shape, stage);
    }
    calc_balance_parts parts = calc_balance_parts_of(&p->shape, p->less_memory);
    int64_t last = calc_balance_warm_up(&parts, stage) + 1 - (parts.chunks - 1) * parts.first;
    return (double)(last < parts.first ? last : parts.first);
}

/* @param p       with one chunk per stage; @param of  the problem as it is
 * @param mean_s  a unit of work on the first chip */
static limits limits_of(const calc_balance_problem *p, const calc_balance_problem *of,
                        double mean_s, int stage)
{
    const calc_balance_place *ends = &p->place[stage];
    double flight = calc_balance_least_flight(of, stage);
    double later = (double)p->shape.microbatches - 1;
    double ahead = fmin((double)(p->shape.stages - stage - 1), later);
    double ends_s = ends->fw_s + ends->agrad_s + ends->wgrad_s;
    double room =
        p->stage[stage].limit_bytes - p->stage[stage].fixed_bytes - flight * ends->flight_bytes;
    limits l = {.unit_s = INFINITY,
                .beside_s = ends_s,
                .stays_s = INFINITY,
                .stays_beside_s = later * ends_s - ahead * ends->fw_s,
                .again_s = INFINITY,
                .each_bytes = INFINITY,
                .room_bytes = room,
                .room_again_bytes = room - (p->may_select ? 0 : p->stage[stage].working_bytes),
                .least = INFINITY};
    double all = p->layers[0] + p->layers[1];
    double most = p->most_layers > 0 ? (double)(p->most_layers * of->shape.chunks) : all;
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        const calc_balance_layer *x = &p->layer[p->stage[stage].chip][kind];
        if (p->layers[kind] == 0) {
            continue;
        }
        double per = mean_s / layer_s(&p->layer[0][kind]); /* layers of this kind per unit */
        double forward_s = x->fw_s + fmax(0, x->again_fw_s);
        l.unit_s = fmin(l.unit_s, per * layer_s(x));
        l.stays_s = fmin(l.stays_s, per * (later * layer_s(x) - ahead * forward_s));
        l.each_bytes =
            fmin(l.each_bytes, per * (x->held_bytes + flight * x->flight_bytes[CALC_BALANCE_NONE]));
        for (int how = CALC_BALANCE_SELECTIVE; how < CALC_BALANCE_RECOMPUTES; how++) {
            if (how == CALC_BALANCE_FULL ? p->may_full : p->may_select) {
                double spared = x->flight_bytes[CALC_BALANCE_NONE] - x->flight_bytes[how];
                l.spared_bytes = fmax(l.spared_bytes, per * flight * spared);
                l.again_s = fmin(l.again_s, per * x->again_s[how]);
            }
        }
        l.least = fmin(l.least, calc_balance_least_on(of, stage) / per);
        l.most = fmax(l.most, fmin(most, all) / per);
    }
    return l;
}

/* The most work that takes no longer than that and fits, with as little of it recomputed as that
 * needs; -INFINITY if there is no room or no time for what is no layer. */
static double work_within(const outline *o, const limits *l, double unit_s, double again_s,
                          double rest_s)
{
    double n = unit_s > 0 ? fmin(rest_s / unit_s, l->most) : l->most;
    double plain = l->room_bytes / l->each_bytes;
    if (rest_s < 0 || l->room_bytes < 0) {
        return -INFINITY;
    }
    if (n * l->each_bytes > l->room_bytes && l->spared_bytes > 0) {
        /* r of n units recompute: n each - r spared = room, n unit + r again = rest, r <= n. */
        double both = unit_s * l->spared_bytes + l->each_bytes * again_s;
        double some = (rest_s * l->spared_bytes + l->room_again_bytes * again_s) / both;
        double each = l->each_bytes - l->spared_bytes;
        n = fmin(n, fmax(plain, fmin(both > 0 ? some : INFINITY,
                                     each > 0 ? l->room_again_bytes / each : INFINITY)));
    } else if (n * l->each_bytes > l->room_bytes) {
        n = plain;
    }
    if (!o->whole) {
        return n;
    }
    n = floor(n * (1 + SAME));
    while (n > plain * (1 + SAME)) {
        double again = (n * l->each_bytes - l->room_again_bytes) / l->spared_bytes;
        if (n * unit_s + ceil(again * (1 - SAME)) * again_s <= rest_s * (1 + SAME)) {
            break;
        }
        n--;
    }
    return n;
}

/* At least the time of a micro-batch through all stages, if a step takes no longer than that, of
 * which it is sum_s or more; INFINITY if not all work is done. */
static double through_s(const outline *o, double step_s, double sum_s)
{
    double m = o->microbatches;
    double left = o->work;
    double all_s = o->least_s;
    for (int i = 0; i < o->stages; i++) {
        const limits *l = &o->of[i];
        double n =
            work_within(o, l, m * l->unit_s, m * l->again_s, step_s - l->begun_s - m * l->beside_s);
        if (o->line) {
            n = fmin(n, work_within(o, l, l->stays_s, (m - 1) * l->again_s,
                                    step_s - sum_s - l->stays_beside_s));
        }
        if (n < l->least * (1 - SAME)) {
            return INFINITY;
        }
        double more = fmin(fmax(0, n - l->least), left);
        all_s += more * l->unit_s;
        left -= more;
    }
    return left <= SAME * (1 + o->work) ? all_s : INFINITY;
}

/* Whether the work can be done in a step. What slow stages have to do prolongs the sum, which
 * leaves less time for a stage to stay. */
static bool suffices(const outline *o, double step_s)
{
    double sum_s = o->fastest_s;
    for (int i = 0; i < ROUNDS && (o->waits || sum_s <= step_s); i++) {
        double next_s = through_s(o, step_s, sum_s);
        if (next_s == INFINITY || next_s <= sum_s * (1 + SAME)) {
            return next_s < INFINITY;
        }
        sum_s = next_s;
    }
    return o->waits || sum_s <= step_s;
}

/* The stages of a problem with one chunk each. */
static outline outline_of(const calc_balance_problem *p, const calc_balance_problem *of)
{
    bool one_f_one_b = p->shape.kind == CALC_PIPELINE_SCHEDULE_1F1B;
    outline o = {.stages = (int)p->shape.stages,
                 .line = one_f_one_b && of->shape.chunks == 1,
                 .waits = calc_schedule_traits_of(p->shape.kind).wgrad_apart,
                 .whole = p->layers[0] == 0 || p->layers[1] == 0,
                 .microbatches = (double)p->shape.microbatches,
                 .work = p->layers[0] + p->layers[1]};
    double mean_s = 0;
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        mean_s += p->layers[kind] * layer_s(&p->layer[0][kind]) / o.work;
    }
    double begun_s = 0;
    for (int stage = 0; stage < o.stages; stage++) {
        limits l = limits_of(p, of, mean_s, stage);
        const calc_balance_place *first = &of->place[stage];
        double layers_s = INFINITY;
        int at = stage;
        l.begun_s = begun_s;
        o.work -= l.least;
        o.least_s += l.beside_s + l.least * l.unit_s;
        for (; at > 0 && o.of[at - 1].unit_s > l.unit_s; at--) {
            o.of[at] = o.of[at - 1];
        }
        o.of[at] = l;
        for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
            const calc_balance_layer *x = &p->layer[p->stage[stage].chip][kind];
            double s = calc_balance_least_of(of, stage) * (o.waits ? x->fw_s : layer_s(x));
            layers_s = p->layers[kind] > 0 ? fmin(layers_s, s) : layers_s;
        }
        begun_s += layers_s + first->fw_s;
        begun_s += o.waits ? 0 : first->agrad_s + fmin(0, first->again_s) + first->wgrad_s;
    }
    o.fastest_s = through_s(&o, INFINITY, 0);
    return o;
}

double calc_balance_quick_s(const calc_balance_problem *problem)
{
    calc_balance_problem least;
    calc_balance_problem one;
    calc_balance_least(problem, &least);
    calc_balance_joined(&least, &one);
    const outline o = outline_of(&one, problem);
    if (o.work < -SAME || o.fastest_s == INFINITY) {
        return INFINITY;
    }
    double low_s = o.waits ? 0 : o.fastest_s;
    double high_s = fmax(low_s, o.microbatches * o.fastest_s / o.stages);
    while (!suffices(&o, high_s)) {
        low_s = high_s;
        high_s = 2 * high_s;
    }
    for (int i = 0; i < HALVINGS; i++) {
        double middle_s = (low_s + high_s) / 2;
        *(suffices(&o, middle_s) ? &high_s : &low_s) = middle_s;
    }
    return low_s * (1 - SUMMED);
}
