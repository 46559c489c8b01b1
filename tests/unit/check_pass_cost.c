#include "model/serve/pass_cost.h"

#include "model/serve/inference_pass.h"
#include "serving_case.h"

/* One of three stages, of 10 elements a block, 7 of the embedding and 5 of the head. */
static calc_pass_cost small_cost(void)
{
    return (calc_pass_cost){
        .block = {{.weights = {10, 0}, .whole_bytes = 100}, {.weights = {2, 4}}},
        .embedding = {7, 0},
        .head = {5, 1},
        .logit_bytes = 130,
        .held_bytes = 2,
        .dense_shards = 1,
        .expert_shards = 1,
    };
}

START_TEST(a_stage_holds_its_weights_and_one_block_at_work)
{
    calc_pass_cost cost = small_cost();
    calc_stage_class middle = {.dense = 3, .moe = 1};
    calc_stage_memory m = calc_pass_cost_memory(&cost, &middle);
    ck_assert_double_eq(m.state, 2 * (3 * 10 + 2 + 4));
    ck_assert_double_eq(m.working, 100);
    ck_assert_double_eq(m.ends, 0);
    ck_assert_double_eq(m.total, 72 + 100);
}
END_TEST

/* Logits need what they take beyond the block that was at work. */
START_TEST(the_ends_are_on_their_stages)
{
    calc_pass_cost cost = small_cost();
    calc_stage_class first = {.dense = 1, .first = 1};
    calc_stage_class last = {.dense = 1, .last = 1};
    ck_assert_double_eq(calc_pass_cost_memory(&cost, &first).state, 2 * (10 + 7));
    ck_assert_double_eq(calc_pass_cost_memory(&cost, &last).state, 2 * (10 + 5 + 1));
    ck_assert_double_eq(calc_pass_cost_memory(&cost, &last).ends, 30);
}
END_TEST

START_TEST(sharded_weights_are_held_by_all_and_gathered_ahead)
{
    calc_pass_cost cost = small_cost();
    calc_stage_class middle = {.dense = 4};
    cost.held_bytes = 0;
    cost.owned_bytes = 2;
    cost.gathered_ahead = 4;
    cost.dense_shards = 8;
    ck_assert_double_eq(calc_pass_cost_memory(&cost, &middle).state, 2 * 40 / 8.0 + 4 * 10);
}
END_TEST

/* A token's 8,192 numbers of two bytes. */
START_TEST(a_message_has_a_time_on_every_network)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = memory_bound_system();
    calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 4, 1, 8);
    calc_inference_pass_model model;
    calc_inference_pass_work work = {.sequences = 3, .queries = 1, .context = 100};
    calc_pass_cost cost;
    system.networks[0].latency_s = 1e-3;
    system.networks[1].latency_s = 1e-4;
    system.networks[1].bytes_per_s = 16384;
    calc_inference_pass_model_init(&model, &app, &system, &exec);
    calc_pass_cost_of(&model, &work, &cost);
    ck_assert_double_eq(cost.message_bytes, 3 * 16384);
    assert_near(cost.message_s[0], 1e-3);
    assert_near(cost.message_s[1], 3 + 1e-4);
}
END_TEST

/* A table of words for both ends is held once where they are on one stage. */
START_TEST(a_tied_table_is_held_once_on_one_stage)
{
    calc_app app = shipped_app("llama3-70B");
    calc_system system = memory_bound_system();
    calc_inference_pass_work work = {.sequences = 1, .queries = 1, .context = 100};
    double table = 128256.0 * 8192;
    for (int tied = 0; tied < 2; tied++) {
        for (int64_t stages = 1; stages <= 4; stages *= 4) {
            calc_exec exec = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, stages, 1, 8);
            calc_inference_pass_model model;
            calc_pass_cost cost;
            app.tied_embeddings = tied ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
            calc_inference_pass_model_init(&model, &app, &system, &exec);
            calc_pass_cost_of(&model, &work, &cost);
            double norm = cost.head.dense - (tied && stages == 1 ? 0 : table);
            ck_assert_double_eq(cost.embedding.dense, table);
            ck_assert_double_eq(norm, 8192);
        }
    }
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("pass_cost");
    tcase_add_test(cases, a_stage_holds_its_weights_and_one_block_at_work);
    tcase_add_test(cases, the_ends_are_on_their_stages);
    tcase_add_test(cases, sharded_weights_are_held_by_all_and_gathered_ahead);
    tcase_add_test(cases, a_message_has_a_time_on_every_network);
    tcase_add_test(cases, a_tied_table_is_held_once_on_one_stage);
    return run_cases(cases);
}
