/* Curves of step over memory: points as calc_run() has them, each quicker than those before it. */
#include "plan/layers_join.h"

#include "frame.h"
#include "layers_plan_case.h"

static int curves, points, beyond;

static void check_case(const layers_plan *l, const calc_layers_case *c)
{
    calc_planner_found f;
    calc_planner_layers_point *point;
    size_t count;
    if (calc_layers_solve(&l->planner, c, INFINITY, &f) != CALC_OK) {
        return;
    }
    ck_assert_int_eq(calc_layers_curve_of(&l->planner, c, &f.exec, &point, &count), CALC_OK);
    for (size_t i = 0; i < count; i++) {
        const calc_planner_layers_point *p = &point[i];
        calc_stats stats;
        calc_exec e = p->exec;
        calc_resolve(&l->app, &l->chip.system, &e);
        calc_run(&l->app, &l->chip.system, &e, CALC_COMPAT_NONE, &stats);
        ck_assert_double_eq(stats.total_time, p->step_s);
        ck_assert_double_eq(stats.proc_mem_tier1_cap_req, p->needs_bytes);
        ck_assert(i == 0 || p->needs_bytes > point[i - 1].needs_bytes);
        ck_assert(i == 0 || p->step_s < point[i - 1].step_s);
        beyond += p->needs_bytes > c->common.capacity_bytes;
        points++;
    }
    curves += count > 1;
    free(point);
}

CALC_TEST(a_curve_is_of_lists_that_are_quicker_the_more_memory_they_need)
{
    layers_plan_samples(check_case);
    ck_assert_int_gt(curves, 20);
    ck_assert_int_gt(points, 200);
    ck_assert_int_gt(beyond, 20);
}
