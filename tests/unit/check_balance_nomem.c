/* Out of memory, from the n-th allocation on, for every n: a status, and no crash. */
#include "balance/solve.h"

#include "failing.h"
#include "frame.h"

static calc_balance_problem problem;
static calc_balance_solution solution;

static void pose(calc_pipeline_schedule kind, int chunks)
{
    calc_balance_layer layer = {1, 1.5, 0.5, {0, 0.33, 1}, 3, {8, 5, 1}, 0, 0};
    problem = (calc_balance_problem){
        .shape = {kind, 4, chunks, 9},
        .layers = {3, 12},
        .chips = 1,
        .layer = {{layer, layer}},
        .may_full = true,
        .least_layers = 1,
    };
    for (int s = 0; s < 4; s++) {
        problem.stage[s].limit_bytes = 70;
    }
}

/* The number of allocations after which it works. */
static int allocations(void)
{
    calc_balance_options options = {.evaluations = 50, .within = 1e-3};
    calc_status status = CALC_ERR_NOMEM;
    int n = -1;
    while (status == CALC_ERR_NOMEM) {
        left = ++n;
        status = calc_balance_solve(&problem, &options, &solution);
        left = UNLIMITED;
    }
    ck_assert_int_eq(status, CALC_OK);
    ck_assert(solution.feasible);
    return n;
}

CALC_TEST(every_allocation_may_fail)
{
    pose(CALC_PIPELINE_SCHEDULE_1F1B, 1);
    ck_assert_int_ge(allocations(), 5);
    problem.alike_on_chip = true;
    ck_assert_int_ge(allocations(), 10);
    pose(CALC_PIPELINE_SCHEDULE_GPIPE, 1);
    ck_assert_int_ge(allocations(), 20);
    pose(CALC_PIPELINE_SCHEDULE_1F1B, 2);
    ck_assert_int_ge(allocations(), 4);
    problem.layers[0] = 0; /* the bound of paths, too */
    ck_assert_int_ge(allocations(), 8);
}
