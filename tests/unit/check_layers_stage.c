/* The best options of a stage's layers against all counts of them; its curve against its bests. */
#include "plan/layers_stage.h"

#include "frame.h"
#include "layers_plan_case.h"

enum { FEW = 3 };

/* Counts of options of a kind, all of which are tried. */
typedef struct brute {
    const calc_layers_case *c;
    const calc_layers_ask *ask;
    int kind;
    calc_layers_part sum;
    double best_s;
} brute;

/* One group only: there are no switches then. */
static void try_counts(brute *b, int option, int left)
{
    const calc_layers_case *c = b->c;
    if (left == 0) {
        double bytes = c->common.capacity_bytes -
                       calc_layers_room_bytes(c, b->ask->ends, b->ask->stage, b->ask->layers);
        for (int i = 0; i < 1; i++) {
            calc_layers_part ends = calc_layers_ends_of(c, b->ask->ends, b->ask->stage);
            double flight = calc_layers_in_flight(&c->common, b->ask->stage);
            bytes += calc_layers_bytes(&b->sum, flight) - calc_layers_bytes(&ends, flight) +
                     b->sum.working_bytes + b->sum.passing_bytes;
        }
        if (bytes <= c->common.capacity_bytes - b->ask->spare_bytes) {
            b->best_s = fmin(b->best_s, calc_layers_weighted_s(c, &b->sum));
        }
        return;
    }
    if (option == c->options) {
        return;
    }
    const calc_layers_option *o = &c->option[option];
    bool may = o->layers[b->kind] && o->group == b->ask->group;
    for (int n = 0; n <= (may ? left : 0); n++) {
        const calc_layers_part before = b->sum;
        calc_layers_part_add(&b->sum, &o->part[b->kind], n);
        try_counts(b, option + 1, left - n);
        b->sum = before;
    }
}

static int compared, limited;

static void compare(const calc_layers_case *c, const calc_layers_ask *ask)
{
    brute b = {c, ask, ask->layers[1] > 0, calc_layers_ends_of(c, ask->ends, ask->stage), INFINITY};
    calc_layers_stage s;
    calc_layers_stage_best(c, ask, &s);
    try_counts(&b, 0, ask->layers[0] + ask->layers[1]);
    ck_assert_int_eq(s.fits, isfinite(b.best_s));
    if (!s.fits) {
        return;
    }
    compared++;
    ck_assert_double_le(s.bytes, c->common.capacity_bytes - ask->spare_bytes + 1);
    ck_assert_double_ge(s.weighted_s, b.best_s * (1 - 1e-12));
    ck_assert_double_le(s.least_s, b.best_s * (1 + 1e-9));
    ck_assert_double_le(s.weighted_s, s.least_s + 0.01 * b.best_s);
    double limit_s = s.weighted_s * 0.5;
    calc_layers_ask less = *ask;
    less.limit_s = limit_s;
    calc_layers_stage none;
    calc_layers_stage_best(c, &less, &none);
    limited += !none.fits;
    ck_assert_double_ge(none.least_s, limit_s);
}

static void compare_case(const layers_plan *l, const calc_layers_case *c)
{
    (void)l;
    int ends = layers_plan_ends(c);
    int stages = (int)c->common.stages;
    for (int stage = 0; stage<stages; stage += stages> 1 ? stages - 1 : 1) {
        for (double spare = 0; spare < 0.8; spare += 0.2) {
            int kind = c->common.layers[1] > 0;
            calc_layers_ask ask = {.stage = stage,
                                   .ends = ends,
                                   .group = c->option[ends].group,
                                   .spare_bytes = spare * c->common.capacity_bytes,
                                   .limit_s = INFINITY};
            ask.layers[kind] = FEW;
            compare(c, &ask);
        }
    }
}

CALC_TEST(the_best_of_all_counts_is_found)
{
    layers_plan_samples(compare_case);
    ck_assert_int_gt(compared, 50);
    ck_assert_int_gt(limited, 30);
}

static int points;

/* Every point is the best within what it holds, where all communication hides. */
static void check_curve(const layers_plan *l, const calc_layers_case *c)
{
    (void)l;
    if (c->common.stages > 1) {
        return;
    }
    calc_layers_stage *list;
    size_t count;
    calc_layers_ask ask = {.layers = {c->common.layers[0], c->common.layers[1]},
                           .ends = layers_plan_ends(c),
                           .group = -1,
                           .limit_s = INFINITY};
    ck_assert(calc_layers_stage_curve(c, &ask, 50, &list, &count));
    for (size_t i = 0; i < count; i++) {
        calc_layers_stage s;
        ask.spare_bytes = c->common.capacity_bytes - list[i].bytes * (1 + 1e-12);
        calc_layers_stage_best(c, &ask, &s);
        ck_assert(s.fits);
        ck_assert_double_le(s.weighted_s, list[i].weighted_s * (1 + 1e-9));
        ck_assert(i == 0 || list[i].bytes > list[i - 1].bytes);
        ck_assert(i == 0 || list[i].weighted_s < list[i - 1].weighted_s);
        points++;
    }
    free(list);
}

CALC_TEST(a_curve_falls_and_no_point_of_it_beats_the_best)
{
    layers_plan_samples(check_curve);
    ck_assert_int_gt(points, 100);
}
