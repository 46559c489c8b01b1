/* Lists of layers as executions: what the planner has of each is what calc_run() and
 * calc_each_stage() say of it. */
#include "plan/layers_join.h"

#include "frame.h"
#include "layers_plan_case.h"
#include "spec/layer_list.h"
#include "spec/stage_list.h"

static int judged, mixed, chunked;

static void compare(const layers_plan *l, const calc_layers_case *c, const calc_layers_answer *a)
{
    calc_exec e = calc_layers_exec_of(c, a);
    calc_errors errors = {0};
    calc_stats stats;
    calc_stage_stats stage[64];
    ck_assert_int_gt(e.layers.count, 0);
    ck_assert_int_eq(calc_layer_list_blocks(&e.layers), l->app.num_blocks);
    if (e.layers.count < CALC_MAX_LAYER_RUNS) { /* what is behind the list is left alone */
        ck_assert_int_eq(e.layers.run[e.layers.count].strategy.tensor_par, 0);
    }
    mixed += e.layers.count > 1;
    chunked += c->common.chunks > 1;
    calc_resolve(&l->app, &l->chip.system, &e);
    ck_assert_msg(calc_check(&l->app, &l->chip.system, &e, &errors) == CALC_OK, "%s",
                  errors.item[0].text);
    calc_run(&l->app, &l->chip.system, &e, CALC_COMPAT_NONE, &stats);
    /* What it takes to get from stage to stage, and latencies, are not planned. */
    double near = c->common.stages > 1 ? 0.1 : 0.03;
    ck_assert_double_eq_tol(a->planned_s, stats.total_time, near * stats.total_time);
    size_t count = calc_each_stage(&l->app, &l->chip.system, &e, CALC_COMPAT_NONE, stage, 64);
    ck_assert_uint_eq(count, (size_t)a->stages);
    for (size_t i = 0; i < count; i++) {
        ck_assert_double_eq_tol(stage[i].blocks, a->layers[i][0] + a->layers[i][1], 1e-12);
        ck_assert_double_le(stage[i].mem_tier1, 1.2 * a->stage[i].bytes);
    }
    judged++;
}

static void check_case(const layers_plan *l, const calc_layers_case *c)
{
    double *spare = calloc((size_t)c->common.stages, sizeof *spare);
    const calc_layers_want want = {layers_plan_ends(c), -1, spare, INFINITY};
    calc_layers_answer a;
    if (calc_layers_join(c, &want, &a) == CALC_OK) {
        compare(l, c, &a);
    }
    calc_layers_answer_free(&a);
    free(spare);
}

CALC_TEST(what_is_planned_is_nearly_what_is_run)
{
    layers_plan_samples(check_case);
    ck_assert_int_gt(judged, 25);
    ck_assert_int_gt(mixed, 10);
    ck_assert_int_gt(chunked, 5);
}

static int solved, limited;

static void check_solved(const layers_plan *l, const calc_layers_case *c)
{
    calc_planner_found f, less;
    calc_status status = calc_layers_solve(&l->planner, c, INFINITY, &f);
    ck_assert_int_ne(status, CALC_ERR_NOMEM);
    if (status != CALC_OK) {
        return;
    }
    solved++;
    ck_assert_int_eq(f.stats.verdict, CALC_VERDICT_OK);
    ck_assert_double_le(f.stats.proc_mem_tier1_cap_req, c->common.capacity_bytes);
    ck_assert_int_le(f.rounds, CALC_LAYERS_ROUNDS);
    ck_assert_double_le(f.bound_s, f.planned_s * (1 + 1e-9));
    status = calc_layers_solve(&l->planner, c, f.stats.total_time, &less);
    limited += status == CALC_ERR_RULE;
    ck_assert(status == CALC_ERR_RULE || less.stats.total_time < f.stats.total_time);
}

CALC_TEST(what_is_solved_fits_and_is_below_its_limit)
{
    layers_plan_samples(check_solved);
    ck_assert_int_gt(solved, 30);
    ck_assert_int_gt(limited, solved / 2);
}
