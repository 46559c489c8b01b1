#include "model/serve/pass_cost.h"

#include "frame.h"
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

CALC_TEST(a_stage_holds_its_weights_and_one_block_at_work)
{
    calc_pass_cost cost = small_cost();
    calc_stage_class middle = {.dense = 3, .moe = 1};
    calc_stage_memory m = calc_pass_cost_memory(&cost, &middle);
    ck_assert_double_eq(m.state, 2 * (3 * 10 + 2 + 4));
    ck_assert_double_eq(m.working, 100);
    ck_assert_double_eq(m.ends, 0);
    ck_assert_double_eq(m.total, 72 + 100);
}

/* Logits need what they take beyond the block that was at work. */
CALC_TEST(the_ends_are_on_their_stages)
{
    calc_pass_cost cost = small_cost();
    calc_stage_class first = {.dense = 1, .first = 1};
    calc_stage_class last = {.dense = 1, .last = 1};
    ck_assert_double_eq(calc_pass_cost_memory(&cost, &first).state, 2 * (10 + 7));
    ck_assert_double_eq(calc_pass_cost_memory(&cost, &last).state, 2 * (10 + 5 + 1));
    ck_assert_double_eq(calc_pass_cost_memory(&cost, &last).ends, 30);
}

CALC_TEST(sharded_weights_are_held_by_all_and_gathered_ahead)
{
    calc_pass_cost cost = small_cost();
    calc_stage_class middle = {.dense = 4};
    cost.held_bytes = 0;
    cost.owned_bytes = 2;
    cost.gathered_ahead = 4;
    cost.dense_shards = 8;
    ck_assert_double_eq(calc_pass_cost_memory(&cost, &middle).state, 2 * 40 / 8.0 + 4 * 10);
}

/* A token's 8,192 numbers of two bytes. */
CALC_TEST(a_message_has_a_time_on_every_network)
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

/* A table of words for both ends is held once where they are on one stage. */
CALC_TEST(a_tied_table_is_held_once_on_one_stage)
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

/* A model with experts on a machine that has rates of serving, spread over `ranks` of them, each
 * over `split`. */
typedef struct spread {
    calc_app app;
    calc_system system;
    calc_exec exec;
    calc_inference_pass_model model;
} spread;

static void spread_experts(spread *s, int64_t tensor_par, int64_t ranks, int64_t split)
{
    char path[512];
    s->app = shipped_app("deepseek-v3-671B");
    snprintf(path, sizeof path, "%s/systems/h200.json", CALC_DATA_DIR_SOURCE);
    ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &s->system, path, NULL), CALC_OK);
    s->exec = serving_exec(CALC_INFERENCE_PHASE_SERVE, tensor_par, 1, 64 / tensor_par, 64);
    s->exec.rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP;
    s->exec.strategy.attention_type = CALC_ATTENTION_TYPE_MULTI_LATENT;
    s->exec.strategy.weight_datatype = CALC_FORMAT_FLOAT8;
    s->exec.strategy.expert_par = ranks;
    s->exec.strategy.expert_tensor_par = split;
    calc_inference_pass_model_init(&s->model, &s->app, &s->system, &s->exec);
}

CALC_TEST(experts_that_are_spread_another_way_are_all_that_is_left_to_compute)
{
    static const int64_t ranks[] = {1, 2, 16, 64};
    static const calc_inference_pass_work works[] = {
        {.sequences = 3.7, .queries = 1, .context = 4346},
        {.prompts = 1, .chunk = 512, .cached = 2048, .finished = 0.25},
        {.sequences = 40,
         .queries = 1,
         .context = 4346,
         .prompts = 1.5,
         .chunk = 512,
         .cached = 99},
    };
    static spread one;
    static spread other;
    for (size_t w = 0; w < sizeof works / sizeof *works; w++) {
        for (size_t i = 0; i < 16; i++) {
            calc_pass_common common;
            calc_pass_cost got;
            calc_pass_cost want;
            spread_experts(&one, 4, ranks[i / 4], 1);
            spread_experts(&other, 4, ranks[i % 4], i % 3 == 0 ? 2 : 1);
            calc_pass_common_of(&one.model, &works[w], &common);
            calc_pass_cost_of(&one.model, &works[w], &want);
            ck_assert_mem_eq(&common.cost, &want, sizeof want);
            calc_pass_cost_of(&other.model, &works[w], &want);
            ck_assert(calc_pass_cost_like(&other.model, &works[w], &common, &got));
            ck_assert_mem_eq(&got, &want, sizeof want);
        }
    }
}

CALC_TEST(other_groups_of_ranks_or_ways_to_them_have_less_in_common)
{
    static const calc_inference_pass_work work = {.sequences = 4, .queries = 1, .context = 100};
    static spread one;
    static spread other;
    calc_pass_common common;
    calc_pass_cost cost;
    spread_experts(&one, 4, 8, 1);
    calc_pass_common_of(&one.model, &work, &common);
    spread_experts(&other, 8, 8, 1);
    ck_assert(!calc_pass_cost_like(&other.model, &work, &common, &cost));
    spread_experts(&other, 4, 4, 1);
    ck_assert(calc_pass_cost_like(&other.model, &work, &common, &cost));
    other.exec.strategy.dispatch_type = CALC_DISPATCH_TYPE_REPLICATED;
    ck_assert(!calc_pass_cost_like(&other.model, &work, &common, &cost));
}
