/* The best way to split and keep the layers of a stage, beside all ways. */
#include "layerwise_case.h"

#include <string.h>

#include "frame.h"

static layerwise_case c;

/* What an answer says of itself, from its picks. */
static void check_sums(const calc_layerwise_stage *stage, const calc_layerwise_point *p)
{
    double micro_s = 0;
    double sync_s = 0;
    double bytes = 0;
    int at = stage->before;
    for (int k = 0; k < stage->kinds; k++) {
        int layers = 0;
        for (int i = 0; i < p->picks[k]; i++) {
            const calc_layerwise_option *o = &stage->kind[k].option[p->pick[k][i].option];
            ck_assert_int_gt(p->pick[k][i].layers, 0);
            layers += p->pick[k][i].layers;
            micro_s += p->pick[k][i].layers * o->micro_s;
            sync_s += p->pick[k][i].layers * o->sync_s;
            bytes += p->pick[k][i].layers * o->bytes;
            micro_s +=
                at && stage->switch_s ? stage->switch_s[(at - 1) * stage->groups + o->group] : 0;
            at = o->group + 1;
        }
        ck_assert_int_eq(layers, stage->kind[k].layers);
    }
    micro_s += at && stage->behind && stage->switch_s
                   ? stage->switch_s[(at - 1) * stage->groups + stage->behind - 1]
                   : 0;
    ck_assert_double_eq_tol(p->micro_s, micro_s, 1e-12 * micro_s);
    ck_assert_double_eq_tol(p->sync_s, sync_s, 1e-12 * micro_s);
    ck_assert_double_eq_tol(p->bytes, bytes, 1e-12 * bytes);
    ck_assert_double_le(p->bytes, stage->budget_bytes);
}

CALC_TEST(none_of_all_ways_is_better)
{
    calc_rng rng;
    calc_rng_init(&rng, 20261, 1);
    int fit = 0;
    int mixed = 0;
    for (int round = 0; round < 2000; round++) {
        layerwise_draw(&c, &rng);
        double micro_weight = 1 + calc_rng_below(&rng, 16);
        double sync_weight = calc_rng_below(&rng, 3);
        double least_s = INFINITY;
        double bytes = INFINITY;
        for (int i = 0; i < c.sequences; i++) {
            const calc_layerwise_point *p = &c.sequence[i];
            double s = micro_weight * p->micro_s + sync_weight * p->sync_s;
            if (p->bytes <= c.stage.budget_bytes &&
                (s < least_s || (s == least_s && p->bytes < bytes))) {
                least_s = s;
                bytes = p->bytes;
            }
        }
        calc_layerwise_point best;
        bool fits = calc_layerwise_best(&c.stage, micro_weight, sync_weight, &best);
        ck_assert_msg(fits == (least_s < INFINITY), "round %d", round);
        if (fits) {
            double s = micro_weight * best.micro_s + sync_weight * best.sync_s;
            ck_assert_msg(s == least_s && best.bytes == bytes,
                          "round %d: %.17g with %.17g bytes, but %.17g with %.17g", round, s,
                          best.bytes, least_s, bytes);
            check_sums(&c.stage, &best);
            fit++;
            mixed += best.picks[0] > 1 || best.picks[1] > 1;
        }
    }
    ck_assert_int_gt(fit, 1500);
    ck_assert_int_gt(mixed, 500); /* memory binds */
}

/* Eighty layers, fourteen options in three groups, drawn so that many are worth it. */
static calc_layerwise_option many[64];
static const double three[] = {0, 1e-3, 2e-3, 1e-3, 0, 1e-3, 2e-3, 1e-3, 0};

static calc_layerwise_stage large(calc_rng *rng, int options, const double *switch_s)
{
    for (int i = 0; i < options; i++) {
        double ease = calc_rng_real(rng);
        many[i] = (calc_layerwise_option){.micro_s = 0.02 + 0.01 * ease * ease +
                                                     0.002 * calc_rng_real(rng),
                                          .sync_s = 0.003 * calc_rng_real(rng),
                                          .bytes = 1000 - 800 * ease + 100 * calc_rng_real(rng),
                                          .group = (int)calc_rng_below(rng, 3)};
    }
    return (calc_layerwise_stage){.kinds = 1,
                                  .kind = {{.layers = 80, .options = options, .option = many}},
                                  .groups = 3,
                                  .switch_s = switch_s};
}

CALC_TEST(more_memory_is_never_worse)
{
    calc_rng rng;
    calc_rng_init(&rng, 20262, 1);
    for (int problem = 0; problem < 10; problem++) {
        calc_layerwise_stage stage = large(&rng, 14, problem % 2 ? three : NULL);
        double before_s = INFINITY;
        for (int i = 0; i < 100; i++) {
            stage.budget_bytes = 80 * (200 + 9.0 * i + 8 * calc_rng_real(&rng));
            calc_layerwise_point best;
            if (!calc_layerwise_best(&stage, 7, 1, &best)) {
                ck_assert(before_s == INFINITY);
                continue;
            }
            double s = 7 * best.micro_s + best.sync_s;
            ck_assert_double_le(s, before_s * (1 + 1e-12));
            before_s = s;
            check_sums(&stage, &best);
        }
        ck_assert(before_s < INFINITY);
    }
}

/* The least that layers as divisible as water take: no mixture of two options takes less. */
static double water_s(const calc_layerwise_stage *stage)
{
    const calc_layerwise_kind *kind = &stage->kind[0];
    double bytes = stage->budget_bytes / kind->layers;
    double least_s = INFINITY;
    for (int i = 0; i < kind->options; i++) {
        for (int j = 0; j < kind->options; j++) {
            const calc_layerwise_option *a = &kind->option[i];
            const calc_layerwise_option *b = &kind->option[j];
            if (a->bytes > bytes) {
                continue;
            }
            double share = b->bytes > bytes ? (bytes - a->bytes) / (b->bytes - a->bytes) : 1;
            least_s = fmin(least_s, a->micro_s + share * (b->micro_s - a->micro_s));
        }
    }
    return least_s * kind->layers;
}

CALC_TEST(it_is_near_to_layers_as_divisible_as_water)
{
    calc_rng rng;
    calc_rng_init(&rng, 20263, 1);
    for (int problem = 0; problem < 200; problem++) {
        calc_layerwise_stage stage = large(&rng, 50, NULL);
        stage.budget_bytes = 80 * (350 + 500 * calc_rng_real(&rng));
        calc_layerwise_point best;
        if (calc_layerwise_best(&stage, 1, 0, &best)) {
            ck_assert_double_ge(best.micro_s, water_s(&stage) * (1 - 1e-12));
            ck_assert_double_le(best.micro_s, water_s(&stage) * (1 + 1.0 / 80));
        }
    }
}

CALC_TEST(a_switch_that_costs_more_than_it_gains_is_left_out)
{
    calc_layerwise_option option[] = {{1, 0, 10, 0}, {2, 0, 4, 1}, {2.5, 0, 5, 0}};
    double switch_s[] = {0, 1, 1, 0};
    calc_layerwise_stage stage = {.kinds = 1,
                                  .kind = {{.layers = 4, .options = 3, .option = option}},
                                  .groups = 2,
                                  .switch_s = switch_s,
                                  .budget_bytes = 28};
    calc_layerwise_point best;
    /* Two of each: 2 + 4 + 1; in group 0 one of the first: 1 + 7.5. */
    ck_assert(calc_layerwise_best(&stage, 1, 0, &best));
    ck_assert_double_eq(best.micro_s, 7);
    switch_s[1] = switch_s[2] = 1.75;
    ck_assert(calc_layerwise_best(&stage, 1, 0, &best)); /* 7.75, four of the second 8 */
    ck_assert_double_eq(best.micro_s, 7.75);
    switch_s[1] = switch_s[2] = 2.25;
    ck_assert(calc_layerwise_best(&stage, 1, 0, &best));
    ck_assert_double_eq(best.micro_s, 8);
    ck_assert_int_eq(best.picks[0], 1);
    stage.before = 1; /* from group 0: 10.25, and 8.5 without leaving it */
    ck_assert(calc_layerwise_best(&stage, 1, 0, &best));
    ck_assert_double_eq(best.micro_s, 8.25);
    ck_assert_int_eq(best.pick[0][0].option, 0);
}

/* What a step takes with a stage: reduction counts beyond what hides it. */
static double value_of(const void *data, double micro_s, double sync_s)
{
    const double *hidden_s = data;
    return fmax(3 * micro_s, micro_s + 60) + fmax(0, sync_s - *hidden_s);
}

CALC_TEST(values_are_least_whatever_bound_is_given)
{
    calc_rng rng;
    calc_rng_init(&rng, 20267, 1);
    for (int round = 0; round < 1500; round++) {
        layerwise_draw(&c, &rng);
        double hidden_s = layerwise_number(&rng, 6);
        double least = INFINITY;
        double bound = INFINITY;
        for (int i = 0; i < c.sequences; i++) {
            const calc_layerwise_point *p = &c.sequence[i];
            if (p->bytes <= c.stage.budget_bytes) {
                least = fmin(least, value_of(&hidden_s, p->micro_s, p->sync_s));
                bound = fmin(bound, 3 * p->micro_s + p->sync_s);
            }
        }
        ck_assert_double_le(calc_layerwise_bound(&c.stage, 3, 1) * (1 - 1e-14), bound);
        bool other = calc_rng_below(&rng, 2);
        calc_layerwise_aim aim = {.value = value_of,
                                  .data = &hidden_s,
                                  .micro_weight = other ? 1 : 3,
                                  .sync_weight = other ? 0 : 0.5,
                                  .offset = other ? 60 : -0.5 * hidden_s,
                                  .limit = INFINITY};
        calc_layerwise_point point;
        bool proven;
        bool found = calc_layerwise_best_of(&c.stage, &aim, &point, &proven);
        ck_assert_int_eq(found, least < INFINITY);
        ck_assert(proven);
        if (found) {
            ck_assert_double_eq(aim.limit, least);
            ck_assert_double_eq(value_of(&hidden_s, point.micro_s, point.sync_s), least);
            check_sums(&c.stage, &point);
            /* None is below it. */
            ck_assert(!calc_layerwise_best_of(&c.stage, &aim, &point, &proven));
            ck_assert(proven);
        }
    }
}

CALC_TEST(no_layers_take_nothing)
{
    calc_layerwise_option option = {1, 1, 1, 0};
    calc_layerwise_stage stage = {.kinds = 1, .kind = {{.options = 1, .option = &option}}};
    calc_layerwise_point best;
    ck_assert(calc_layerwise_best(&stage, 1, 1, &best));
    ck_assert_double_eq(best.micro_s, 0);
    ck_assert_int_eq(best.picks[0], 0);
    stage.kind[0].layers = 1;
    stage.budget_bytes = 0.5;
    ck_assert(!calc_layerwise_best(&stage, 1, 1, &best));
    stage.budget_bytes = 1;
    ck_assert(calc_layerwise_best(&stage, 1, 1, &best));
    stage.kind[0].options = 0;
    ck_assert(!calc_layerwise_best(&stage, 1, 1, &best));
}
