/* How layers are spread: kinds, chunks, and the shortest step in which all stages have time. */
#include "plan/layers_join.h"

#include "frame.h"
#include "layers_plan_case.h"

CALC_TEST(the_first_layers_of_the_model_are_of_kind_0)
{
    calc_layers_case c = {.common = {.layers = {3, 7}}};
    int layers[2];
    calc_layers_split(&c, 0, 10, layers);
    ck_assert_int_eq(layers[0], 3);
    ck_assert_int_eq(layers[1], 7);
    calc_layers_split(&c, 2, 4, layers);
    ck_assert_int_eq(layers[0], 1);
    ck_assert_int_eq(layers[1], 3);
    calc_layers_split(&c, 5, 4, layers);
    ck_assert_int_eq(layers[0], 0);
    ck_assert_int_eq(layers[1], 4);
    calc_layers_split(&c, 1, 2, layers);
    ck_assert_int_eq(layers[0], 2);
    ck_assert_int_eq(layers[1], 0);
}

/* Two stages of two chunks each, three layers of kind 0: two of them in the first chunk of stage 0,
 * one in that of stage 1. */
CALC_TEST(chunks_of_a_stage_are_apart)
{
    const calc_layers_case c = {.common = {.layers = {3, 5}}};
    const calc_layers_table t = {.c = &c, .stages = 2, .chunks = 2, .layers = 8, .dense = 3};
    int layers[2];
    calc_layers_table_split(&t, 0, 0, 4, layers);
    ck_assert_int_eq(layers[0], 2);
    ck_assert_int_eq(layers[1], 2);
    calc_layers_table_split(&t, 1, 4, 4, layers);
    ck_assert_int_eq(layers[0], 1);
    ck_assert_int_eq(layers[1], 3);
}

static int spread;

/* All layers are there, every stage has time for its own in that step, and none in a shorter one.
 */
static void check_case(const layers_plan *l, const calc_layers_case *c)
{
    size_t stages = (size_t)c->common.stages;
    double *spare = calloc(stages, sizeof *spare);
    int *count = calloc(stages, sizeof *count);
    const calc_layers_want want = {layers_plan_ends(c), -1, spare, INFINITY};
    calc_layers_table t;
    (void)l;
    calc_status status = calc_layers_table_make(c, &want, &t);
    double least_s = status == CALC_OK ? calc_layers_shortest(&t, true, count) : INFINITY;
    double s = status == CALC_OK ? calc_layers_shortest(&t, false, count) : INFINITY;
    ck_assert(least_s <= s * (1 + 1e-9));
    if (isfinite(s)) {
        int from = 0;
        double tightest = INFINITY;
        for (int i = 0; i < (int)stages; i++) {
            double has_s = calc_layers_allowed_s(c, &t.floor, i, s);
            double takes_s = calc_layers_cell(&t, i, from, count[i])->weighted_s;
            ck_assert_double_le(takes_s, has_s * (1 + 1e-9));
            tightest = fmin(tightest, has_s / takes_s);
            from += count[i];
        }
        ck_assert_int_eq(from, t.layers);
        ck_assert_double_le(tightest, stages > 1 ? INFINITY : 1 + 1e-6);
        spread++;
    }
    calc_layers_table_free(&t);
    free(spare);
    free(count);
}

CALC_TEST(every_stage_has_time_for_its_layers)
{
    layers_plan_samples(check_case);
    ck_assert_int_gt(spread, 30);
}
