#include "balance/relaxed.h"

#include <math.h>

#include "balance/solve.h"
#include "frame.h"

static calc_balance_problem problem;
static calc_balance_solution solution;
static double least_s;
static int layers[CALC_BALANCE_STAGES];

/* Layers of 1 forward and 2 backward, of which 0.75 for weights, 3000 bytes and 800 in flight; full
   recomputation takes 1 more and keeps 50, selective 0.33 and keeps 500. A head of 1.5 and 3. */
static void pose(int stages, int chunks, int64_t microbatches, int dense, int moe,
                 double limit_bytes)
{
    calc_balance_layer layer = {1, 1.25, 0.75, {0, 0.33, 1}, 3000, {800, 500, 50}, 0, 0};
    problem = (calc_balance_problem){
        .shape = {CALC_PIPELINE_SCHEDULE_1F1B, stages, chunks, microbatches},
        .layers = {dense, moe},
        .chips = 1,
        .layer = {{layer, layer}},
        .may_full = true,
        .least_layers = 1,
    };
    for (int s = 0; s < stages; s++) {
        problem.stage[s].limit_bytes = limit_bytes;
    }
    problem.place[stages * chunks - 1] =
        (calc_balance_place){.fw_s = 1.5, .agrad_s = 2, .wgrad_s = 1};
}

static void relax(void)
{
    calc_balance_flights flights;
    ck_assert_int_eq(calc_balance_flights_begin(&flights, &problem), CALC_OK);
    ck_assert_int_eq(calc_balance_relaxed(&problem, &flights, INFINITY, &least_s, layers), CALC_OK);
    calc_balance_flights_end(&flights);
}

/* The bound is the step that the search finds. */
static void expect(double step_s)
{
    relax();
    ck_assert_double_eq_tol(least_s, step_s, 1e-9);
    calc_balance_options options = {0};
    ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_OK);
    ck_assert(solution.feasible);
    ck_assert(solution.proven);
    ck_assert_double_eq_tol(solution.answer.step_s, step_s, 1e-9);
}

CALC_TEST(one_micro_batch_goes_through_all_layers)
{
    pose(2, 2, 1, 0, 8, INFINITY);
    expect(8 * 3 + 1.5 * 3);
}

/* 9 layers and a head of 1.5: 5 and 4, or 16.5; the second stage waits for a layer of the first
   before and after. */
CALC_TEST(the_busiest_stage_and_those_before_it_are_a_bound)
{
    pose(2, 2, 10, 0, 9, INFINITY);
    relax();
    ck_assert_double_eq_tol(least_s, 3 + 10 * (4 + 1.5) * 3, 1e-9);
    ck_assert_int_eq(layers[0] + layers[1], 9);
    problem.place[0] = (calc_balance_place){
        .fw_s = 0.5, .agrad_s = 0.75, .wgrad_s = 0.25}; /* both stages are as long, then */
    relax();
    ck_assert_double_eq_tol(least_s, 3 + 1.5 + 10 * (4 + 1.5) * 3, 1e-9);
    problem.place[0] = (calc_balance_place){0};
    problem.layers[1] = 10;
    relax();
    ck_assert_double_eq_tol(least_s, 10 * 6 * 3, 1e-9);
}

/* One stage is never idle. What fits is a chunk in full and one selective, each of one kind only.
 */
CALC_TEST(chunks_of_a_stage_choose_for_themselves)
{
    pose(1, 2, 4, 0, 2, 6000 + 500 + 50);
    problem.may_select = true;
    expect(4 * (2 * 3 + 1.5 * 3 + 1.33));
}

/* The dense layer saves more for its time, but not enough; the other one is enough alone. */
CALC_TEST(too_much_recomputation_is_taken_back)
{
    pose(1, 2, 1, 1, 1, 6000 + 300 + 300 - 100);
    for (int kind = 0; kind < 2; kind++) {
        problem.layer[0][kind].again_s[CALC_BALANCE_FULL] = 1 + kind;
        problem.layer[0][kind].flight_bytes[CALC_BALANCE_NONE] = 300;
        problem.layer[0][kind].flight_bytes[CALC_BALANCE_FULL] = kind == 0 ? 240 : 200;
    }
    expect(2 * 3 + 1.5 * 3 + 2);
    ck_assert_int_eq(solution.share[0].full[0], 0);
    ck_assert_int_eq(solution.share[1].full[1], 1);
}

CALC_TEST(what_fits_nowhere_has_no_bound)
{
    pose(2, 2, 4, 0, 8, 4 * 3000);
    relax();
    ck_assert_double_eq(least_s, INFINITY);
    calc_balance_options options = {0};
    ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_OK);
    ck_assert(!solution.feasible);
    ck_assert(solution.proven);
    ck_assert_int_ge(solution.stage, 0);
    ck_assert_double_gt(solution.needs_bytes, 4 * 3000);
}
