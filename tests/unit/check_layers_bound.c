/* Bounds of candidates against the lists that are found of them, and against the steps of layouts
 * whose layers are all alike. */
#include "plan/layers_list.h"

#include "frame.h"
#include "layers_plan_case.h"
#include "plan/layers_join.h"

static int found, infeasible, alike;

static void check_case(const layers_plan *l, const calc_layers_case *c)
{
    double any_s = calc_layers_bound_s(c, -1);
    size_t stages = (size_t)c->common.stages;
    double *spare = calloc(stages, sizeof *spare);
    double least_s = INFINITY;
    (void)l;
    for (int ends = 0; ends < c->options; ends++) {
        if (!c->option[ends].ends) {
            continue;
        }
        const calc_layers_want want = {ends, -1, spare, INFINITY};
        calc_layers_answer a;
        double bound_s = calc_layers_bound_s(c, ends);
        calc_status status = calc_layers_join(c, &want, &a);
        least_s = fmin(least_s, bound_s);
        ck_assert_double_ge(bound_s, any_s * (1 - 1e-9));
        if (status == CALC_OK) {
            found++;
            ck_assert_double_le(bound_s, a.planned_s * (1 + 1e-9));
            ck_assert_double_le(bound_s, a.bound_s * (1 + 1e-6));
        } else if (!isfinite(bound_s)) {
            infeasible++;
        }
        calc_layers_answer_free(&a);
    }
    ck_assert(any_s <= least_s * (1 + 1e-9));
    if (isfinite(c->candidate->uniform_s) &&
        c->candidate->uniform.pipeline_balance == CALC_PIPELINE_BALANCE_BLOCKS) {
        alike++;
        ck_assert_double_le(any_s, c->candidate->uniform_s * (1 + 2e-3));
    }
    free(spare);
}

CALC_TEST(no_list_is_below_its_bound)
{
    layers_plan_samples(check_case);
    ck_assert_int_gt(found, 100);
    ck_assert_int_gt(infeasible, 10);
    ck_assert_int_gt(alike, 20);
}

static int allowed;

/* What a stage may take grows with the step. */
static void check_allowed(const layers_plan *l, const calc_layers_case *c)
{
    const calc_layers_floor f = calc_layers_floor_of(c, -1);
    (void)l;
    ck_assert_double_gt(f.through_s, 0);
    ck_assert_double_le(f.stage_s, f.through_s);
    for (int stage = 0; stage < (int)c->common.stages; stage++) {
        for (double s = f.through_s; s < 100 * f.through_s; s *= 3) {
            allowed++;
            ck_assert_double_lt(calc_layers_allowed_s(c, &f, stage, s),
                                calc_layers_allowed_s(c, &f, stage, 1.01 * s));
            ck_assert_double_le(c->micro_weight * calc_layers_allowed_s(c, &f, stage, s), s);
        }
    }
}

CALC_TEST(stages_are_allowed_more_in_a_longer_step)
{
    layers_plan_samples(check_allowed);
    ck_assert_int_gt(allowed, 100);
}
