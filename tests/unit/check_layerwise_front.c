/* Fronts and curves of a stage, beside all ways. */
#include "layerwise_case.h"

#include <string.h>

#include "frame.h"

static layerwise_case c;

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
        ck_assert(calc_layerwise_front_of(&c.stage, 1000, &front));
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
        ck_assert(calc_layerwise_curve_of(&c.stage, micro_weight, 2, 4000, &curve));
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
    ck_assert(calc_layerwise_front_of(&stage, 10, &front));
    ck_assert(front.proven);
    ck_assert_uint_eq(front.count, 10);
    free(front.point);
    ck_assert(calc_layerwise_front_of(&stage, 9, &front));
    ck_assert(!front.proven);
    ck_assert_uint_eq(front.count, 9);
    ck_assert_double_eq(front.point[0].micro_s, 9);
    ck_assert_double_eq(front.point[8].micro_s, 18);
    free(front.point);
    stage.budget_bytes = -1;
    ck_assert(calc_layerwise_front_of(&stage, 9, &front));
    ck_assert(front.proven);
    ck_assert_uint_eq(front.count, 0);
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
        ck_assert(calc_layerwise_front_of(&stage, 200, &front));
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
