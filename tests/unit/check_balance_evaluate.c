#include "balance/evaluate.h"

#include <math.h>
#include <stdlib.h>

#include "frame.h"

static calc_balance_problem problem;
static calc_balance_share share[CALC_BALANCE_PLACES];
static calc_balance_answer answer;

/* Layers of kind 1 that take 1 forward and 2 backward, of 3000 bytes and 800 in flight; a head of
   1.5 and 3. */
static void pose(calc_pipeline_schedule kind, int stages, int chunks, int64_t microbatches)
{
    problem = (calc_balance_problem){
        .shape = {kind, stages, chunks, microbatches},
        .chips = 1,
        .layer = {{{0},
                   {.fw_s = 1,
                    .agrad_s = 2,
                    .again_s = {0, 0.33, 1},
                    .held_bytes = 3000,
                    .flight_bytes = {800, 500, 50}}}},
        .may_full = true,
    };
    for (int s = 0; s < stages; s++) {
        problem.stage[s].limit_bytes = INFINITY;
    }
    problem.place[stages * chunks - 1] = (calc_balance_place){.fw_s = 1.5, .agrad_s = 3};
}

static void divide(const int *layers)
{
    for (int place = 0; place < problem.shape.stages * problem.shape.chunks; place++) {
        share[place] = (calc_balance_share){.layers = {0, layers[place]}};
    }
}

static void evaluate(void)
{
    ck_assert_int_eq(calc_balance_evaluate(&problem, share, &answer), CALC_OK);
}

/* By hand, stage 0 with 4 and 8, stage 1 with 3.5 and 7:
     0: F0 0-4  F1 4-8            B0 14.5-22.5  F2 -26.5  B1 26.5-34.5  F3 -38.5  B2 38.5-46.5  ...
     1:         F0 4-7.5  B0 -14.5  F1 -18  B1 -25  F2 26.5-30  B2 -37  F3 38.5-42  B3 -49 */
CALC_TEST(a_step_of_two_stages_is_as_drawn_by_hand)
{
    pose(CALC_PIPELINE_SCHEDULE_1F1B, 2, 1, 4);
    divide((int[]){4, 2});
    evaluate();
    ck_assert_double_eq(answer.step_s, 57);
    ck_assert_double_eq(answer.peak_bytes[0], 4 * 3000 + 2 * 4 * 800);
    ck_assert_double_eq(answer.peak_bytes[1], 2 * 3000 + 2 * 800);
    ck_assert_double_eq(answer.most_bytes, answer.peak_bytes[0]);
    ck_assert(answer.fits);
    ck_assert_double_eq(answer.lacks_bytes, 0);
}

CALC_TEST(recomputation_takes_time_and_spares_memory)
{
    pose(CALC_PIPELINE_SCHEDULE_1F1B, 2, 1, 4);
    divide((int[]){3, 3});
    share[0].full[1] = 2;
    problem.stage[0].fixed_bytes = 100;
    problem.stage[0].working_bytes = 7;
    problem.stage[1].working_bytes = 7;
    evaluate();
    ck_assert_double_eq(answer.step_s, 65);
    ck_assert_double_eq(answer.peak_bytes[0], 100 + 7 + 3 * 3000 + 2 * (800 + 2 * 50));
    ck_assert_double_eq(answer.peak_bytes[1], 3 * 3000 + 3 * 800);
    share[0].full[1] = 0;
    share[0].selective[1] = 3;
    evaluate();
    ck_assert_double_eq_tol(answer.step_s, 63.99, 1e-12);
    ck_assert_double_eq(answer.peak_bytes[0], 100 + 3 * 3000 + 2 * 3 * 500);
}

CALC_TEST(the_stage_that_lacks_most_is_named)
{
    pose(CALC_PIPELINE_SCHEDULE_1F1B, 3, 1, 4);
    divide((int[]){1, 2, 1});
    problem.stage[0].limit_bytes = 3000 + 3 * 800;
    problem.stage[1].limit_bytes = 2 * 3000 + 2 * 2 * 800;
    problem.stage[2].limit_bytes = 4000;
    evaluate();
    ck_assert(answer.fits);
    ck_assert_int_eq(answer.worst_stage, 0);
    problem.stage[0].limit_bytes -= 1;
    problem.stage[1].limit_bytes -= 2;
    evaluate();
    ck_assert(!answer.fits);
    ck_assert_int_eq(answer.worst_stage, 1);
    ck_assert_double_eq(answer.lacks_bytes, 2);
}

/* Fewer micro-batches than stages are all in flight on the first ones. */
CALC_TEST(no_more_micro_batches_are_in_flight_than_there_are)
{
    pose(CALC_PIPELINE_SCHEDULE_1F1B, 4, 1, 2);
    divide((int[]){1, 1, 1, 1});
    evaluate();
    ck_assert_double_eq(answer.peak_bytes[0], 3000 + 2 * 800);
    ck_assert_double_eq(answer.peak_bytes[2], 3000 + 2 * 800);
    ck_assert_double_eq(answer.peak_bytes[3], 3000 + 800);
    /* Equal stages but for the head: (p-1) 3 + 3 + 4.5, and the second waits for the head alone. */
    ck_assert_double_eq(answer.step_s, 4 * 3 + 4.5 + 3 + 4.5);
}

/* ---- Rounds -----------------------------------------------------------------------------------*/

static const double fw_s[] = {1, 1.25, 0.875, 1.0625};
static const double bw_s[] = {2, 1.75, 2.0625, 1.9375};

static double simulated_s(int64_t microbatches)
{
    calc_schedule_pass pass[4];
    for (int s = 0; s < 4; s++) {
        pass[s] = (calc_schedule_pass){fw_s[s], bw_s[s], 0};
    }
    calc_schedule_sim sim = {{CALC_PIPELINE_SCHEDULE_1F1B, 4, 1, microbatches}, pass, 0, 0, 0, 0};
    void *workspace = malloc(calc_schedule_sim_bytes(&sim.shape));
    ck_assert_ptr_nonnull(workspace);
    double step_s = calc_schedule_sim_s(&sim, workspace, NULL, NULL);
    free(workspace);
    return step_s;
}

CALC_TEST(rounds_are_the_operations_one_by_one)
{
    for (int64_t m = 1; m <= 200; m++) {
        ck_assert_double_eq(calc_balance_rounds_s(4, m, fw_s, bw_s), simulated_s(m));
    }
    ck_assert_double_eq(calc_balance_rounds_s(1, 7, fw_s, bw_s), 21);
}

/* The busiest stage takes 3; two are as busy. */
CALC_TEST(many_micro_batches_go_on_as_few_do)
{
    double few_s = simulated_s(1000);
    ck_assert_double_eq(calc_balance_rounds_s(4, 1000000, fw_s, bw_s), few_s + 999000 * 3.0);
}

/* One stage is a little busier than another: it takes many rounds until only that one counts. */
CALC_TEST(a_step_that_settles_late_is_not_cut_short)
{
    double slow_fw_s[] = {1.0, 1.0, 1.001};
    double slow_bw_s[] = {2.1, 2.0, 2.1};
    calc_schedule_pass pass[3];
    for (int s = 0; s < 3; s++) {
        pass[s] = (calc_schedule_pass){slow_fw_s[s], slow_bw_s[s], 0};
    }
    for (int64_t m = 100; m <= 12000; m *= 3) {
        calc_schedule_sim sim = {{CALC_PIPELINE_SCHEDULE_1F1B, 3, 1, m}, pass, 0, 0, 0, 0};
        void *workspace = malloc(calc_schedule_sim_bytes(&sim.shape));
        ck_assert_ptr_nonnull(workspace);
        double step_s = calc_schedule_sim_s(&sim, workspace, NULL, NULL);
        free(workspace);
        ck_assert_double_eq_tol(calc_balance_rounds_s(3, m, slow_fw_s, slow_bw_s), step_s,
                                1e-11 * step_s);
    }
}

/* ---- Chunks -----------------------------------------------------------------------------------*/

CALC_TEST(two_chunks_with_less_memory_take_as_long_as_the_program_says)
{
    pose(CALC_PIPELINE_SCHEDULE_1F1B, 2, 2, 4);
    problem.less_memory = true;
    divide((int[]){2, 2, 3, 1});
    evaluate();
    ck_assert_double_eq(answer.step_s, 66.5);
}

/* Three forwards of chunk 0 and two of chunk 1 with less memory, and one more with more. */
CALC_TEST(less_memory_has_fewer_in_flight)
{
    pose(CALC_PIPELINE_SCHEDULE_1F1B, 2, 2, 4);
    divide((int[]){1, 1, 1, 1});
    problem.less_memory = true;
    evaluate();
    ck_assert_double_eq(answer.peak_bytes[0], 2 * 3000 + 4 * 800);
    ck_assert_double_eq(answer.peak_bytes[1], 2 * 3000 + 3 * 800);
    problem.less_memory = false;
    evaluate();
    ck_assert_double_eq(answer.peak_bytes[0], 2 * 3000 + 5 * 800);
    ck_assert_double_eq(answer.peak_bytes[1], 2 * 3000 + 3 * 800);
}

CALC_TEST(the_first_part_has_what_is_left_over)
{
    calc_schedule_shape shape = {CALC_PIPELINE_SCHEDULE_1F1B, 2, 2, 5};
    calc_balance_parts parts = calc_balance_parts_of(&shape, false);
    ck_assert_int_eq(parts.first, 3);
    static const calc_balance_turn forward[] = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1},
                                                {1, 2}, {0, 3}, {0, 4}, {1, 3}, {1, 4}};
    for (int k = 0; k < 10; k++) {
        calc_balance_turn fw = calc_balance_forward(&parts, k);
        calc_balance_turn bw = calc_balance_backward(&parts, k);
        ck_assert_int_eq(fw.chunk, forward[k].chunk);
        ck_assert_int_eq(fw.microbatch, forward[k].microbatch);
        ck_assert_int_eq(bw.chunk, 1 - forward[k].chunk);
        ck_assert_int_eq(bw.microbatch, forward[k].microbatch);
    }
    ck_assert_int_eq(calc_balance_warm_up(&parts, 0), 3 + 2);
    ck_assert_int_eq(calc_balance_warm_up(&parts, 1), 3);
    shape.microbatches = 1;
    parts = calc_balance_parts_of(&shape, false);
    ck_assert_int_eq(parts.first, 1);
    ck_assert_int_eq(calc_balance_warm_up(&parts, 0), 2);
}

/* Where every part is whole, that is the order of schedule_order.h. */
CALC_TEST(whole_parts_are_interleaved_as_ever)
{
    pose(CALC_PIPELINE_SCHEDULE_1F1B, 4, 3, 24);
    divide((int[]){2, 1, 3, 2, 1, 1, 4, 2, 1, 3, 2, 1});
    share[5].full[1] = 1;
    evaluate();
    calc_schedule_pass pass[12];
    for (int place = 0; place < 12; place++) {
        pass[place] = calc_balance_pass_of(&problem, place, &share[place]);
    }
    calc_schedule_sim sim = {problem.shape, pass, 0, 0, 0, 0};
    void *workspace = malloc(calc_schedule_sim_bytes(&sim.shape));
    ck_assert_ptr_nonnull(workspace);
    double step_s = calc_schedule_sim_s(&sim, workspace, NULL, NULL);
    free(workspace);
    ck_assert_double_eq_tol(answer.step_s, step_s, 1e-12 * step_s);
}

CALC_TEST(many_parts_go_on_as_few_do)
{
    pose(CALC_PIPELINE_SCHEDULE_1F1B, 3, 2, 3001);
    divide((int[]){2, 1, 3, 2, 1, 1});
    evaluate();
    calc_balance_parts parts = calc_balance_parts_of(&problem.shape, false);
    double take_s[2 * 6];
    for (int place = 0; place < 6; place++) {
        calc_schedule_pass pass = calc_balance_pass_of(&problem, place, &share[place]);
        take_s[2 * place] = pass.fw_s;
        take_s[2 * place + 1] = pass.bw_s + pass.wgrad_s;
    }
    size_t passes = calc_balance_passes(&parts);
    int *room = malloc(passes * sizeof *room);
    double *end_s = malloc(passes * sizeof *end_s);
    calc_balance_pass *all = malloc(passes * sizeof *all);
    ck_assert(room && end_s && all);
    calc_balance_passes_of(&parts, all, room);
    double step_s = calc_balance_passes_s(all, passes, take_s, end_s);
    free(room);
    free(end_s);
    free(all);
    ck_assert_double_eq_tol(answer.step_s, step_s, 1e-12 * step_s);
}

/* With less memory the stages of this order wait for each other in every part, however many there
   are; and all that it takes to know is in the first few thousand micro-batches. */
CALC_TEST(a_batch_of_any_size_takes_a_moment)
{
    static const int64_t many[] = {100001, 200001, INT64_C(2147483649)};
    double step_s[3];
    double peak_bytes[2];
    for (int i = 0; i < 3; i++) {
        pose(CALC_PIPELINE_SCHEDULE_1F1B, 2, 2, many[i]);
        problem.less_memory = true;
        divide((int[]){4, 1, 1, 2});
        evaluate();
        step_s[i] = answer.step_s;
        peak_bytes[i > 0] = answer.peak_bytes[0];
        ck_assert_double_eq(peak_bytes[i > 0], peak_bytes[0]);
    }
    double slope_s = (step_s[1] - step_s[0]) / (double)(many[1] - many[0]);
    ck_assert_double_ge(slope_s, 3.0 * (4 + 1)); /* a stage of 5 layers is the busiest */
    ck_assert_double_eq_tol(step_s[2] / (step_s[1] + slope_s * (double)(many[2] - many[1])), 1,
                            1e-9);
    double slow_fw_s[] = {1.0, 1.0, 1.0 + 1e-9};
    double slow_bw_s[] = {2.1, 2.0, 2.1};
    ck_assert_double_eq_tol(
        calc_balance_rounds_s(3, many[2], slow_fw_s, slow_bw_s) / (3.1 * (double)many[2]), 1, 1e-8);
}

/* ---- Other schedules --------------------------------------------------------------------------*/

CALC_TEST(every_schedule_takes_as_long_as_simulated_and_holds_what_is_in_flight)
{
    static const calc_pipeline_schedule of[] = {
        CALC_PIPELINE_SCHEDULE_GPIPE, CALC_PIPELINE_SCHEDULE_ZB_H1, CALC_PIPELINE_SCHEDULE_ZB_H2};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        for (int64_t m = 8; m <= 200; m *= 5) {
            pose(of[i], 4, 1, m);
            problem.layer[0][1].agrad_s = 1.25;
            problem.layer[0][1].wgrad_s = 0.75;
            divide((int[]){1, 1, 1, 1, 1, 1, 1, 1});
            calc_schedule_pass pass[8];
            for (int place = 0; place < 4; place++) {
                pass[place] = calc_balance_pass_of(&problem, place, &share[place]);
            }
            calc_schedule_sim sim = {problem.shape, pass, 0, 0, 0, 0};
            void *workspace = malloc(calc_schedule_sim_bytes(&sim.shape));
            ck_assert_ptr_nonnull(workspace);
            calc_schedule_stage stage[4];
            double step_s = calc_schedule_sim_s(&sim, workspace, stage, NULL);
            free(workspace);
            evaluate();
            ck_assert_double_eq_tol(answer.step_s, step_s, 1e-12 * step_s);
            for (int s = 0; s < 4; s++) {
                ck_assert_double_eq(answer.peak_bytes[s], 3000 + 800 * stage[s].in_flight);
            }
        }
    }
}

CALC_TEST(a_schedule_that_cannot_run_is_refused)
{
    pose(CALC_PIPELINE_SCHEDULE_ZB_H1, 4, 2, 8);
    ck_assert_int_eq(calc_balance_evaluate(&problem, share, &answer), CALC_ERR_RULE);
}
