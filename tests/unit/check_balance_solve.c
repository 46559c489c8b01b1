#include "balance/solve.h"

#include <math.h>

#include "balance/relaxed.h"
#include "frame.h"

static calc_balance_problem problem;
static calc_balance_solution solution;

static void solve(void)
{
    calc_balance_options options = {0};
    ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_OK);
}

static int layers_of(int place)
{
    const calc_balance_share *x = &solution.share[place];
    return x->layers[0] + x->layers[1];
}

static int full_of(int place)
{
    return solution.share[place].full[0] + solution.share[place].full[1];
}

/* Proven, and no other step is as good as this one. */
static void expect(double step_s)
{
    solve();
    ck_assert(solution.feasible);
    ck_assert(solution.proven);
    ck_assert(solution.answer.fits);
    ck_assert_double_eq_tol(solution.answer.step_s, step_s, 1e-9);
    ck_assert_double_le(solution.bound_s, step_s + 1e-9);
    ck_assert_double_ge(solution.bound_s, step_s - 1e-9);
}

static void expect_layers(const int *layers)
{
    for (int place = 0; place < problem.shape.stages * problem.shape.chunks; place++) {
        ck_assert_int_eq(layers_of(place), layers[place]);
    }
}

static void expect_full(const int *full)
{
    for (int place = 0; place < problem.shape.stages * problem.shape.chunks; place++) {
        ck_assert_int_eq(full_of(place), full[place]);
    }
}

/* ---- Small examples ---------------------------------------------------------------------------*/

/* Costs in units of a forward of one layer of kind 1. The optima were found as mixed-integer
   programs, by HiGHS and GLPK. */
typedef struct example {
    int stages, chunks, microbatches, dense, moe;
    double first, middle, last; /* limits */
} example;

static const double back = 2;
static const double head = 1.5;

static void pose_with(const example *e, double dense_ratio, double back_ratio, double head_fw,
                      double again)
{
    problem = (calc_balance_problem){
        .shape = {CALC_PIPELINE_SCHEDULE_1F1B, e->stages, e->chunks, e->microbatches},
        .layers = {e->dense, e->moe},
        .chips = 1,
        .may_full = true,
        .least_layers = 1,
    };
    for (int kind = 0; kind < CALC_BALANCE_KINDS; kind++) {
        double fw_s = kind == 0 ? dense_ratio : 1;
        problem.layer[0][kind] = (calc_balance_layer){
            .fw_s = fw_s,
            .agrad_s = back_ratio * fw_s,
            .again_s = {0, 0.33 * fw_s, (kind == 0 ? 1 : again) * fw_s},
            .held_bytes = 3000,
            .flight_bytes = {800, 500, 50},
        };
    }
    for (int s = 0; s < e->stages; s++) {
        bool last = s == e->stages - 1;
        problem.stage[s].limit_bytes = s == 0 ? e->first : last ? e->last : e->middle;
    }
    calc_balance_place *end = &problem.place[e->stages * e->chunks - 1];
    end->fw_s = head_fw;
    end->agrad_s = back_ratio * head_fw;
}

static void pose(const example *e)
{
    pose_with(e, 1, back, head, 1);
}

CALC_TEST(layers_go_where_the_head_is_not)
{
    pose(&(example){2, 1, 4, 0, 6, 40000, 40000, 40000});
    expect(57);
    expect_layers((int[]){4, 2});
    expect_full((int[]){0, 0});
}

CALC_TEST(layers_go_where_there_is_memory)
{
    pose(&(example){2, 1, 4, 0, 6, 14000, 14000, 14000});
    expect(63);
    expect_layers((int[]){3, 3});
    expect_full((int[]){0, 0});
}

CALC_TEST(as_few_layers_as_must_recompute)
{
    pose(&(example){2, 1, 4, 0, 6, 12000, 14000, 14000});
    expect(65);
    expect_full((int[]){2, 0});
    ck_assert_double_eq(solution.answer.peak_bytes[0], 10800);
    pose(&(example){2, 1, 4, 0, 6, 11000, 11000, 11000});
    expect(69);
    expect_layers((int[]){3, 3});
    expect_full((int[]){2, 1});
    ck_assert_double_eq(solution.answer.peak_bytes[1], 10650);
}

CALC_TEST(selective_recomputation_is_taken_where_it_is_enough)
{
    pose(&(example){2, 1, 4, 0, 6, 12000, 14000, 14000});
    problem.may_select = true;
    expect(63.99);
    expect_layers((int[]){3, 3});
    expect_full((int[]){0, 0});
    ck_assert_int_eq(solution.share[0].selective[1], 3);
    ck_assert_int_eq(solution.share[1].selective[1], 0);
}

CALC_TEST(what_does_not_fit_names_the_stage_and_what_it_needs)
{
    pose(&(example){2, 1, 4, 0, 6, 8000, 8000, 8000});
    solve();
    ck_assert(!solution.feasible);
    ck_assert(solution.proven);
    /* Three layers each are least: 9000 and their inputs, 2 and 1 times. */
    ck_assert_int_eq(solution.stage, 0);
    ck_assert_double_eq_tol(solution.needs_bytes, 9300, 1e-3);
}

CALC_TEST(more_micro_batches_take_as_long_as_all_of_them_simulated)
{
    pose(&(example){2, 1, 20, 0, 6, 40000, 40000, 40000});
    expect(249);
    expect_layers((int[]){4, 2});
    pose(&(example){4, 1, 26, 0, 10, 40000, 40000, 40000});
    expect(258);
}

CALC_TEST(dense_layers_come_first)
{
    pose_with(&(example){4, 1, 8, 1, 11, 22000, 24000, 20000}, 0.4, 2, 1.5, 1);
    problem.layer[0][0].held_bytes = 1000;
    problem.layer[0][0].flight_bytes[CALC_BALANCE_NONE] = 500;
    expect(112.2);
    expect_layers((int[]){4, 3, 3, 2});
    ck_assert_int_eq(solution.share[0].layers[0], 1);
}

CALC_TEST(dense_layers_are_recomputed_too)
{
    pose_with(&(example){4, 1, 8, 3, 9, 13000, 12500, 11500}, 0.4, 1.8, 1.2, 0.9);
    problem.layer[0][0].held_bytes = 1000;
    problem.layer[0][0].flight_bytes[CALC_BALANCE_NONE] = 500;
    expect(103.02);
    expect_layers((int[]){5, 2, 3, 2});
    ck_assert_int_eq(solution.share[0].layers[0], 3);
    expect_full((int[]){4, 0, 1, 0});
}

CALC_TEST(two_chunks_in_the_order_of_less_memory)
{
    pose(&(example){2, 2, 4, 0, 8, 40000, 40000, 40000});
    problem.less_memory = true;
    solve();
    ck_assert(solution.feasible);
    ck_assert_double_eq_tol(solution.answer.step_s, 66.5, 1e-9);
    ck_assert_double_le(solution.bound_s, 66.5);
}

CALC_TEST(one_micro_batch_with_chunks_is_proven)
{
    pose(&(example){2, 2, 1, 0, 8, 40000, 40000, 40000});
    expect(8 * 3 + 1.5 * 3);
}

/* ---- A large one ------------------------------------------------------------------------------*/

/* 62 layers of a model with experts on 16 stages: HiGHS proves this optimum in minutes. */
CALC_TEST(a_large_model_is_divided_as_well_as_can_be)
{
    pose_with(&(example){16, 1, 64, 3, 59, 51913, 52914, 46621}, 0.397, 1.839, 1.5, 1);
    problem.layer[0][0].held_bytes = 866;
    problem.layer[0][1].held_bytes = 10691;
    problem.layer[0][0].flight_bytes[CALC_BALANCE_NONE] = 479;
    problem.layer[0][1].flight_bytes[CALC_BALANCE_NONE] = 765;
    problem.layer[0][0].flight_bytes[CALC_BALANCE_FULL] = 30;
    problem.layer[0][1].flight_bytes[CALC_BALANCE_FULL] = 30;
    solve();
    ck_assert(solution.feasible);
    ck_assert(solution.proven);
    ck_assert_double_eq_tol(solution.answer.step_s, 1132.662249, 1e-6);
    ck_assert_double_eq_tol(solution.bound_s, 1132.662249, 1e-6);
}

/* ---- Mixed chips ------------------------------------------------------------------------------*/

/* 16 layers on 4 stages, 8 micro-batches; the first `slow` stages take three times as long. */
static void pose_chips(int slow, double fast_limit)
{
    problem = (calc_balance_problem){
        .shape = {CALC_PIPELINE_SCHEDULE_1F1B, 4, 1, 8},
        .layers = {0, 16},
        .chips = 2,
        .may_full = true,
        .alike_on_chip = true,
        .least_layers = 1,
    };
    for (int chip = 0; chip < 2; chip++) {
        double fw_s = chip == 0 ? 3 : 1;
        problem.layer[chip][1] = (calc_balance_layer){
            .fw_s = fw_s,
            .agrad_s = 2 * fw_s,
            .again_s = {0, 0, fw_s},
            .held_bytes = 3,
            .flight_bytes = {1, 1, 0.1},
        };
    }
    for (int s = 0; s < 4; s++) {
        problem.stage[s].chip = s < slow ? 0 : 1;
        problem.stage[s].limit_bytes = s < slow ? 80 : fast_limit;
    }
}

CALC_TEST(slow_chips_get_fewer_layers)
{
    pose_chips(0, 80);
    expect(132);
    expect_layers((int[]){4, 4, 4, 4});
    pose_chips(1, 80);
    expect(159);
    expect_layers((int[]){1, 5, 5, 5});
    pose_chips(2, 80);
    expect(198);
    expect_layers((int[]){2, 2, 6, 6});
}

CALC_TEST(stages_on_a_chip_recompute_the_same_number)
{
    pose_chips(1, 28);
    expect(169);
    expect_layers((int[]){1, 5, 5, 5});
    expect_full((int[]){0, 1, 1, 1});
    ck_assert_double_eq_tol(solution.answer.peak_bytes[1], 27.3, 1e-12);
    /* Alone, only the stages before the last have to. */
    problem.alike_on_chip = false;
    solve();
    ck_assert(solution.proven);
    ck_assert_int_eq(full_of(3), 0);
}

/* ---- Options ----------------------------------------------------------------------------------*/

static bool at_once(void *context)
{
    ++*(int *)context;
    return true;
}

CALC_TEST(a_search_ends_early_with_a_bound)
{
    /* Chunks leave a gap, so that the search goes on for as long as it may. */
    pose(&(example){4, 2, 8, 0, 24, 60000, 60000, 60000});
    calc_balance_solution all;
    solve();
    all = solution;
    ck_assert(all.feasible);
    calc_balance_options few = {.evaluations = 10};
    ck_assert_int_eq(calc_balance_solve(&problem, &few, &solution), CALC_OK);
    ck_assert_int_eq(solution.evaluations, 10);
    ck_assert(solution.feasible);
    ck_assert_double_ge(solution.answer.step_s, all.answer.step_s);
    ck_assert_double_eq(solution.bound_s, all.bound_s);
    int asked = 0;
    calc_balance_options stops = {.stop = at_once, .context = &asked};
    ck_assert_int_eq(calc_balance_solve(&problem, &stops, &solution), CALC_OK);
    ck_assert_int_eq(asked, 1);
    ck_assert(solution.feasible);
    ck_assert_int_lt(solution.evaluations, all.evaluations);
}

CALC_TEST(a_gap_that_is_allowed_counts_as_proven)
{
    pose(&(example){4, 2, 8, 0, 24, 60000, 60000, 60000});
    calc_balance_options options = {.gap = 0.5};
    ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_OK);
    ck_assert(solution.feasible);
    ck_assert(solution.proven);
    ck_assert_double_ge(solution.bound_s, 0.5 * solution.answer.step_s);
}

/* What is asked for is below the bound: nothing is searched. */
CALC_TEST(chunks_are_not_divided_where_no_division_is_quick_enough)
{
    pose(&(example){4, 2, 8, 0, 24, 60000, 60000, 60000});
    solve();
    double bound_s = solution.bound_s;
    for (int below = 0; below < 2; below++) {
        calc_balance_options options = {.below_s = bound_s * (below ? .999 : 1.001)};
        ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_OK);
        ck_assert(solution.beyond == below);
        ck_assert(solution.feasible == !below);
        ck_assert_double_le(solution.bound_s, bound_s);
        ck_assert_int_eq(solution.evaluations > 0, !below);
    }
    pose(&(example){4, 2, 8, 0, 24, 100, 100, 100}); /* nothing fits: that is no matter of time */
    calc_balance_options options = {.below_s = 1};
    ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_OK);
    ck_assert(!solution.feasible);
    ck_assert_double_eq(solution.bound_s, INFINITY);
}

/* Ten layers on six chunks: 126 divisions. */
CALC_TEST(few_divisions_of_chunks_are_all_tried)
{
    pose(&(example){2, 3, 2, 0, 10, 1e6, 1e6, 1e6});
    problem.may_full = false;
    solve();
    ck_assert(solution.proven);
    ck_assert_int_le(solution.evaluations, 126);
    double best_s = solution.answer.step_s;
    calc_balance_share share[6] = {{{0}, {0}, {0}}};
    int tried = 0;
    for (int code = 0; code < 46656; code++) { /* 1 to 6 layers each */
        int left = 10;
        for (int i = 0, rest = code; i < 6; i++, rest /= 6) {
            share[i].layers[1] = 1 + rest % 6;
            left -= share[i].layers[1];
        }
        if (left == 0) {
            calc_balance_answer answer;
            ck_assert_int_eq(calc_balance_evaluate(&problem, share, &answer), CALC_OK);
            ck_assert_double_ge(answer.step_s, best_s * (1 - 1e-12));
            tried++;
        }
    }
    ck_assert_int_eq(tried, 126);
}

CALC_TEST(layers_that_cannot_be_divided_have_no_stage_to_blame)
{
    pose(&(example){4, 1, 8, 0, 3, 40000, 40000, 40000});
    solve();
    ck_assert(!solution.feasible);
    ck_assert(solution.proven);
    ck_assert_int_eq(solution.stage, -1);
    pose(&(example){4, 1, 8, 0, 30, 1e6, 1e6, 1e6});
    problem.most_layers = 7;
    solve();
    ck_assert(!solution.feasible);
    ck_assert_int_eq(solution.stage, -1);
    pose(&(example){4, 2, 8, 0, 7, 1e6, 1e6, 1e6});
    solve();
    ck_assert(!solution.feasible);
    ck_assert(solution.proven);
    ck_assert_int_eq(solution.stage, -1);
}

CALC_TEST(a_schedule_that_cannot_run_is_refused)
{
    pose(&(example){4, 2, 8, 0, 24, 60000, 60000, 60000});
    problem.shape.kind = CALC_PIPELINE_SCHEDULE_GPIPE;
    calc_balance_options options = {0};
    ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_ERR_RULE);
    ck_assert(!solution.feasible);
}

static double least_s;
static int layers[CALC_BALANCE_STAGES];

/* Layers of 1 forward and 2 backward, of which 0.75 for weights, 3000 bytes and 800 in flight; full
   recomputation takes 1 more and keeps 50, selective 0.33 and keeps 500. A head of 1.5 and 3. */
static void relaxed_pose(int stages, int chunks, int64_t microbatches, int dense, int moe,
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
    least_s = calc_balance_relaxed(&problem, INFINITY, layers);
}

/* The bound is the step that the search finds. */
static void relaxed_expect(double step_s)
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
    relaxed_pose(2, 2, 1, 0, 8, INFINITY);
    relaxed_expect(8 * 3 + 1.5 * 3);
}

/* 9 layers and a head of 1.5: 5 and 4, or 16.5; the second stage waits for a layer of the first
   before and after. */
CALC_TEST(the_busiest_stage_and_those_before_it_are_a_bound)
{
    relaxed_pose(2, 2, 10, 0, 9, INFINITY);
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
    relaxed_pose(1, 2, 4, 0, 2, 6000 + 500 + 50);
    problem.may_select = true;
    relaxed_expect(4 * (2 * 3 + 1.5 * 3 + 1.33));
}

/* The dense layer saves more for its time, but not enough; the other one is enough alone. */
CALC_TEST(too_much_recomputation_is_taken_back)
{
    relaxed_pose(1, 2, 1, 1, 1, 6000 + 300 + 300 - 100);
    for (int kind = 0; kind < 2; kind++) {
        problem.layer[0][kind].again_s[CALC_BALANCE_FULL] = 1 + kind;
        problem.layer[0][kind].flight_bytes[CALC_BALANCE_NONE] = 300;
        problem.layer[0][kind].flight_bytes[CALC_BALANCE_FULL] = kind == 0 ? 240 : 200;
    }
    relaxed_expect(2 * 3 + 1.5 * 3 + 2);
    ck_assert_int_eq(solution.share[0].full[0], 0);
    ck_assert_int_eq(solution.share[1].full[1], 1);
}

CALC_TEST(what_fits_nowhere_has_no_bound)
{
    relaxed_pose(2, 2, 4, 0, 8, 4 * 3000);
    relax();
    ck_assert_double_eq(least_s, INFINITY);
    calc_balance_options options = {0};
    ck_assert_int_eq(calc_balance_solve(&problem, &options, &solution), CALC_OK);
    ck_assert(!solution.feasible);
    ck_assert(solution.proven);
    ck_assert_int_ge(solution.stage, 0);
    ck_assert_double_gt(solution.needs_bytes, 4 * 3000);
}
