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
static calc_layerwise_option the_many[64];
static const double three[] = {0, 1e-3, 2e-3, 1e-3, 0, 1e-3, 2e-3, 1e-3, 0};

static calc_layerwise_stage large(calc_rng *rng, int options, const double *switch_s)
{
    for (int i = 0; i < options; i++) {
        double ease = calc_rng_real(rng);
        the_many[i] = (calc_layerwise_option){.micro_s = 0.02 + 0.01 * ease * ease +
                                                         0.002 * calc_rng_real(rng),
                                              .sync_s = 0.003 * calc_rng_real(rng),
                                              .bytes = 1000 - 800 * ease + 100 * calc_rng_real(rng),
                                              .group = (int)calc_rng_below(rng, 3)};
    }
    return (calc_layerwise_stage){.kinds = 1,
                                  .kind = {{.layers = 80, .options = options, .option = the_many}},
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

CALC_TEST(values_are_least)
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
        calc_layerwise_aim aim = {
            .value = value_of, .data = &hidden_s, .limit = INFINITY, .most_nodes = 100000};
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

/* Fronts and curves of a stage, beside all ways. */

/* Of pairs, those that none beats, by their first. */
typedef struct pair {
    double x, y;
} pair;

static int by_x(const void *a, const void *b)
{
    const pair *l = a;
    const pair *r = b;
    if (l->x != r->x) {
        return l->x < r->x ? -1 : 1;
    }
    return l->y < r->y ? -1 : l->y > r->y;
}

static int front_of(pair *list, int count)
{
    qsort(list, (size_t)count, sizeof *list, by_x);
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (!kept || list[i].y < list[kept - 1].y) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

static pair list[LAYERWISE_MOST];

CALC_TEST(fronts_are_those_of_all_ways)
{
    calc_rng rng;
    calc_rng_init(&rng, 20264, 1);
    size_t points = 0;
    for (int round = 0; round < 1500; round++) {
        layerwise_draw(&c, &rng);
        int count = 0;
        for (int i = 0; i < c.sequences; i++) {
            if (c.sequence[i].bytes <= c.stage.budget_bytes) {
                list[count++] = (pair){c.sequence[i].micro_s, c.sequence[i].sync_s};
            }
        }
        count = front_of(list, count);
        calc_layerwise_front front;
        calc_layerwise_front_of(&c.stage, 1000, &front);
        ck_assert(front.proven);
        ck_assert_msg(front.count == (size_t)count, "round %d: %zu of %d", round, front.count,
                      count);
        for (int i = 0; i < count; i++) {
            ck_assert_double_eq(front.point[i].micro_s, list[i].x);
            ck_assert_double_eq(front.point[i].sync_s, list[i].y);
            ck_assert_double_le(front.point[i].bytes, c.stage.budget_bytes);
        }
        points += front.count;
        free(front.point);
    }
    ck_assert_uint_gt(points, 3000);
}

CALC_TEST(curves_are_those_of_all_ways)
{
    calc_rng rng;
    calc_rng_init(&rng, 20265, 1);
    size_t points = 0;
    for (int round = 0; round < 1500; round++) {
        layerwise_draw(&c, &rng);
        double micro_weight = 1 + calc_rng_below(&rng, 8);
        int count = 0;
        for (int i = 0; i < c.sequences; i++) {
            const calc_layerwise_point *p = &c.sequence[i];
            if (p->bytes <= c.stage.budget_bytes) {
                list[count++] = (pair){micro_weight * p->micro_s + 2 * p->sync_s, p->bytes};
            }
        }
        count = front_of(list, count);
        calc_layerwise_front curve;
        calc_layerwise_curve_of(&c.stage, micro_weight, 2, 4000, &curve);
        ck_assert(curve.proven);
        ck_assert_msg(curve.count == (size_t)count, "round %d: %zu of %d", round, curve.count,
                      count);
        for (int i = 0; i < count; i++) {
            const calc_layerwise_point *p = &curve.point[i];
            ck_assert_double_eq(micro_weight * p->micro_s + 2 * p->sync_s, list[i].x);
            ck_assert_double_eq(p->bytes, list[i].y);
        }
        points += curve.count;
        free(curve.point);
    }
    ck_assert_uint_gt(points, 6000);
}

CALC_TEST(thinned_fronts_keep_their_ends_and_say_so)
{
    calc_layerwise_option option[] = {{1, 1, 0, 0}, {2, 0, 0, 0}};
    calc_layerwise_stage stage = {.kinds = 1,
                                  .kind = {{.layers = 9, .options = 2, .option = option}}};
    calc_layerwise_front front;
    calc_layerwise_front_of(&stage, 10, &front);
    ck_assert(front.proven);
    ck_assert_uint_eq(front.count, 10);
    free(front.point);
    calc_layerwise_front_of(&stage, 9, &front);
    ck_assert(!front.proven);
    ck_assert_uint_eq(front.count, 9);
    ck_assert_double_eq(front.point[0].micro_s, 9);
    ck_assert_double_eq(front.point[8].micro_s, 18);
    free(front.point);
    stage.budget_bytes = -1;
    calc_layerwise_front_of(&stage, 9, &front);
    ck_assert(front.proven);
    ck_assert_uint_eq(front.count, 0);
    free(front.point);
}

CALC_TEST(large_fronts_fit_and_reach_from_the_best_to_the_best)
{
    static calc_layerwise_option option[50];
    calc_rng rng;
    calc_rng_init(&rng, 20269, 1);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 50; i++) {
            double ease = calc_rng_real(&rng);
            option[i] =
                (calc_layerwise_option){.micro_s = 2 + ease * ease + calc_rng_real(&rng) / 5,
                                        .sync_s = calc_rng_real(&rng),
                                        .bytes = 10 - 8 * ease + calc_rng_real(&rng)};
        }
        calc_layerwise_stage stage = {.kinds = 1,
                                      .kind = {{.layers = 80, .options = 50, .option = option}},
                                      .budget_bytes = 80 * (4 + 4 * calc_rng_real(&rng))};
        calc_layerwise_front front;
        calc_layerwise_point best;
        calc_layerwise_front_of(&stage, 200, &front);
        ck_assert_uint_gt(front.count, 20);
        ck_assert(calc_layerwise_best(&stage, 1, 0, &best));
        ck_assert_double_eq_tol(front.point[0].micro_s, best.micro_s, 1e-9);
        ck_assert(calc_layerwise_best(&stage, 0, 1, &best));
        ck_assert_double_eq_tol(front.point[front.count - 1].sync_s, best.sync_s, 1e-9);
        for (size_t i = 0; i < front.count; i++) {
            ck_assert_double_le(front.point[i].bytes, stage.budget_bytes * (1 + 1e-12));
            if (i > 0) {
                ck_assert_double_gt(front.point[i].micro_s, front.point[i - 1].micro_s);
                ck_assert_double_lt(front.point[i].sync_s, front.point[i - 1].sync_s);
            }
        }
        free(front.point);
    }
}

/* All answers of a stage that are nearly as short as the best, beside all ways. */

/* A way without the order of its layers: how many of each option. */
typedef struct counts {
    int of[2][4];
} counts;

static counts all[LAYERWISE_MOST];

static int by_counts(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(counts));
}

/* Options of way number i, the last layer's first: as they were listed. */
static counts counts_of(int way)
{
    counts n = {{{0}}};
    int first = c.stage.kind[0].layers;
    int layers = first + (c.stage.kinds > 1 ? c.stage.kind[1].layers : 0);
    for (int l = layers - 1; l >= 0; l--) {
        int kind = l >= first;
        n.of[kind][way % c.stage.kind[kind].options]++;
        way /= c.stage.kind[kind].options;
    }
    return n;
}

CALC_TEST(every_one_is_told_once)
{
    calc_rng rng;
    calc_rng_init(&rng, 20268, 1);
    int many = 0;
    for (int round = 0; round < 1500; round++) {
        layerwise_draw(&c, &rng);
        double slack_s = calc_rng_below(&rng, 24) / 2.0;
        double least_s = INFINITY;
        for (int i = 0; i < c.sequences; i++) {
            if (c.sequence[i].bytes <= c.stage.budget_bytes) {
                least_s = fmin(least_s, 2 * c.sequence[i].micro_s + c.sequence[i].sync_s);
            }
        }
        int count = 0;
        for (int i = 0; i < c.sequences; i++) {
            const calc_layerwise_point *p = &c.sequence[i];
            if (p->bytes <= c.stage.budget_bytes &&
                2 * p->micro_s + p->sync_s <= least_s + slack_s) {
                all[count++] = counts_of(i);
            }
        }
        qsort(all, (size_t)count, sizeof *all, by_counts);
        size_t kept = 0;
        for (int i = 0; i < count; i++) {
            if (!kept || by_counts(&all[i], &all[kept - 1]) != 0) {
                all[kept++] = all[i];
            }
        }
        calc_layerwise_front front;
        calc_layerwise_near(&c.stage, 2, 1, slack_s, 5000, &front);
        ck_assert(front.proven);
        ck_assert_msg(front.count == kept, "round %d: %zu of %zu", round, front.count, kept);
        for (size_t i = 0; i < front.count; i++) {
            counts n = {{{0}}};
            for (int k = 0; k < c.stage.kinds; k++) {
                for (int j = 0; j < front.point[i].picks[k]; j++) {
                    n.of[k][front.point[i].pick[k][j].option] = front.point[i].pick[k][j].layers;
                }
            }
            ck_assert(bsearch(&n, all, kept, sizeof *all, by_counts) != NULL);
        }
        many += front.count > 3;
        free(front.point);
    }
    ck_assert_int_gt(many, 300);
}

CALC_TEST(more_than_asked_for_are_cut_off)
{
    calc_layerwise_option option[] = {{1, 0, 1, 0}, {1, 0, 1, 0}};
    calc_layerwise_stage stage = {
        .kinds = 1, .kind = {{.layers = 9, .options = 2, .option = option}}, .budget_bytes = 9};
    calc_layerwise_front front;
    calc_layerwise_near(&stage, 1, 1, 0, 10, &front);
    ck_assert(front.proven);
    ck_assert_uint_eq(front.count, 10);
    free(front.point);
    calc_layerwise_near(&stage, 1, 1, 0, 9, &front);
    ck_assert(!front.proven);
    ck_assert_uint_eq(front.count, 9);
    free(front.point);
    stage.budget_bytes = 8;
    calc_layerwise_near(&stage, 1, 1, 0, 9, &front);
    ck_assert(front.proven);
    ck_assert_uint_eq(front.count, 0);
}
