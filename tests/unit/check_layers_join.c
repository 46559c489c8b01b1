/* Layers spread over stages against all divisions, and the least step of each. */
#include "plan/layers_join.h"

#include "frame.h"
#include "layers_plan_case.h"

static int compared, several;

/* All divisions are counted through. */
typedef struct brute {
    calc_layers_table table;
    calc_layers_answer answer;
    double best_s, least_s;
} brute;

static void try_rest(brute *b, int stage, int from)
{
    calc_layers_answer *a = &b->answer;
    int later = a->stages - 1 - stage;
    int left = b->table.layers - from;
    if (stage == a->stages) {
        b->best_s = fmin(b->best_s, calc_layers_planned_s(b->table.c, a));
        return;
    }
    for (int n = later > 0 ? 1 : left; n <= left - later; n++) {
        const calc_layers_stage *s = calc_layers_cell(&b->table, stage, from, n);
        ck_assert_ptr_nonnull(s);
        if (s->fits) {
            a->stage[stage] = *s;
            try_rest(b, stage + 1, from + n);
        }
    }
}

static void check_case(const layers_plan *l, const calc_layers_case *c)
{
    size_t stages = (size_t)c->common.stages;
    double *spare = calloc(stages, sizeof *spare);
    const calc_layers_want want = {layers_plan_ends(c), -1, spare, INFINITY};
    brute b = {.best_s = INFINITY};
    calc_layers_answer a;
    (void)l;
    if (c->common.chunks == 1 && calc_layers_table_make(c, &want, &b.table) == CALC_OK) {
        b.answer = (calc_layers_answer){
            want.ends, (int)stages, calloc(stages, sizeof *b.answer.stage), NULL, 0, 0};
        try_rest(&b, 0, 0);
        calc_status status = calc_layers_join(c, &want, &a);
        ck_assert_int_eq(status, isfinite(b.best_s) ? CALC_OK : CALC_ERR_RULE);
        if (status == CALC_OK) {
            int layers = 0;
            compared++;
            several += stages > 1;
            ck_assert_double_ge(a.planned_s, b.best_s * (1 - 1e-9));
            ck_assert_double_le(a.planned_s, b.best_s * (1 + 5e-3));
            ck_assert_double_le(a.bound_s, b.best_s * (1 + 1e-9));
            for (int i = 0; i < a.stages; i++) {
                layers += a.layers[i][0] + a.layers[i][1];
                ck_assert_double_le(a.stage[i].bytes, c->common.capacity_bytes * (1 + 1e-12));
            }
            ck_assert_int_eq(layers, b.table.layers);
        }
        calc_layers_answer_free(&a);
        free(b.answer.stage);
        calc_layers_table_free(&b.table);
    }
    free(spare);
}

CALC_TEST(the_best_division_is_found)
{
    layers_plan_samples(check_case);
    ck_assert_int_gt(compared, 20);
    ck_assert_int_gt(several, 10);
}

static int quick;

/* With a limit below it nothing is found; the bound is then no less than the limit, or that of what
 * there is. */
static void check_limit(const layers_plan *l, const calc_layers_case *c)
{
    double *spare = calloc((size_t)c->common.stages, sizeof *spare);
    calc_layers_want want = {layers_plan_ends(c), -1, spare, INFINITY};
    calc_layers_answer a;
    (void)l;
    calc_status status = calc_layers_join(c, &want, &a);
    want.limit_s = a.bound_s * 0.99;
    calc_layers_answer_free(&a);
    if (status == CALC_OK) {
        ck_assert_int_eq(calc_layers_join(c, &want, &a), CALC_ERR_RULE);
        quick++;
        calc_layers_answer_free(&a);
    }
    free(spare);
}

CALC_TEST(nothing_below_the_bound_is_found)
{
    layers_plan_samples(check_limit);
    ck_assert_int_gt(quick, 20);
}
