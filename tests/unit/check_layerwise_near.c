/* All answers of a stage that are nearly as short as the best, beside all ways. */
#include "layerwise_case.h"

#include <string.h>

#include "frame.h"

static layerwise_case c;

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
        ck_assert(calc_layerwise_near(&c.stage, 2, 1, slack_s, 5000, &front));
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
    ck_assert(calc_layerwise_near(&stage, 1, 1, 0, 10, &front));
    ck_assert(front.proven);
    ck_assert_uint_eq(front.count, 10);
    free(front.point);
    ck_assert(calc_layerwise_near(&stage, 1, 1, 0, 9, &front));
    ck_assert(!front.proven);
    ck_assert_uint_eq(front.count, 9);
    free(front.point);
    stage.budget_bytes = 8;
    ck_assert(calc_layerwise_near(&stage, 1, 1, 0, 9, &front));
    ck_assert(front.proven);
    ck_assert_uint_eq(front.count, 0);
}
