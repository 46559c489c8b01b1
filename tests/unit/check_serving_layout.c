/* Sizes of layouts that serve, as publishers print them. */
#include "serving_run_case.h"
#include "validate/serving_map.h"

#include "frame.h"

static calc_serving_row row;
static calc_serving_map map;

static void enter(void)
{
    row = serving_row();
}

const calc_test_frame calc_tests = {.setup = enter};

static const char *fill(void)
{
    map = (calc_serving_map){.row = &row};
    return calc_serving_layout_fill(&map);
}

/* Sizes of what decodes. */
static void is(int64_t gpus, int64_t tensor, int64_t data, int64_t expert, int64_t split)
{
    ck_assert_ptr_null(fill());
    const calc_strategy *s = &map.exec.strategy;
    ck_assert_int_eq(map.exec.num_procs, gpus);
    ck_assert_int_eq(s->tensor_par, tensor);
    ck_assert_int_eq(s->data_par, data);
    ck_assert_int_eq(s->expert_par, expert);
    ck_assert_int_eq(s->expert_tensor_par, split);
}

CALC_TEST(one_group_of_tensor_parallelism)
{
    is(4, 4, 1, 1, 4);
    ck_assert(map.gpus == 4);
    ck_assert_int_eq(map.exec.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_AR);
    row.num_gpus = 8;
    row.dp = 2;
    is(8, 4, 2, 1, 4);
    row.dp = 1;
    row.pp = 2;
    is(8, 4, 1, 1, 4);
    ck_assert_int_eq(map.exec.pipeline_par, 2);
}

CALC_TEST(experts_are_spread_and_split)
{
    row.ep = 2;
    is(4, 4, 1, 2, 2);
    ck_assert_int_eq(map.exec.strategy.dispatch_type, CALC_DISPATCH_TYPE_REPLICATED);
    row.tp = 1;
    row.dp = 4;
    row.ep = 4;
    row.dp_attention = "True";
    is(4, 1, 4, 4, 1);
    ck_assert_int_eq(map.exec.strategy.dispatch_type, CALC_DISPATCH_TYPE_NODE_LIMITED);
    row.tp = 2;
    row.dp = 2;
    is(4, 2, 2, 4, 1);
}

CALC_TEST(sizes_that_are_missing_or_wrong_are_the_reason)
{
    row.num_gpus = 8;
    ck_assert_str_eq(fill(), "the parallel sizes do not give the number of GPUs");
    row.num_gpus = (double)NAN;
    ck_assert_str_eq(fill(), "number of GPUs, or how they split the model, not published");
    row.num_gpus = 4;
    row.tp = (double)NAN;
    ck_assert_str_eq(fill(), "number of GPUs, or how they split the model, not published");
    row.tp = 4;
    row.ep = 3;
    ck_assert_str_eq(fill(), "the parallel sizes do not give the number of GPUs");
}

static void two_pools(double prefill, const char *prompts, double decode, const char *tokens)
{
    row.disagg_prefill_gpus = prefill;
    row.prefill_layout = prompts;
    row.disagg_decode_gpus = decode;
    row.decode_layout = tokens;
}

CALC_TEST(two_pools_of_several_copies)
{
    two_pools(4, "workers=1 tp=4 ep=4 dp_attention=False", 24,
              "workers=3 tp=8 ep=8 dp_attention=False");
    is(24, 8, 3, 8, 1);
    ck_assert_int_eq(map.exec.inference.prefill_procs, 4);
    ck_assert_int_eq(map.exec.inference.prefill_tensor_par, 4);
    ck_assert_int_eq(map.exec.inference.prefill_expert_par, 4);
    ck_assert(map.gpus == 28);
    ck_assert_int_eq(map.exec.strategy.tensor_par_comm_type, CALC_TENSOR_PAR_COMM_TYPE_AR);
    ck_assert_int_eq(map.exec.strategy.dispatch_type, CALC_DISPATCH_TYPE_REPLICATED);
    two_pools(8, "workers=1 tp=8 ep=8 dp_attention=True", 32,
              "workers=1 tp=32 ep=32 dp_attention=True");
    is(32, 1, 32, 32, 1);
    ck_assert_int_eq(map.exec.inference.prefill_tensor_par, 1);
    ck_assert_int_eq(map.exec.strategy.dispatch_type, CALC_DISPATCH_TYPE_NODE_LIMITED);
}

CALC_TEST(ranks_of_attention_may_be_counted)
{
    two_pools(16, "workers=4 tp=1 pp=1 attention_dp=4 moe_tp=1 moe_ep=4 batch=1", 16,
              "workers=2 tp=1 pp=1 attention_dp=8 moe_tp=1 moe_ep=8 batch=128");
    is(16, 1, 16, 8, 1);
    ck_assert_int_eq(map.exec.inference.prefill_expert_par, 4);
}

/* What an execution cannot say of the prefill pool: split experts beside whole ones. */
CALC_TEST(the_prefill_pool_may_have_to_spread_its_experts)
{
    const struct {
        const char *prompts, *tokens;
        int64_t expert; /* of the prefill pool */
    } cases[] = {{"tp=8 ep=8 dp_attention=True", "tp=8 ep=1 dp_attention=False", 8},
                 {"tp=8 ep=1 dp_attention=False", "tp=8 ep=1 dp_attention=False", 1},
                 {"tp=8 ep=1 dp_attention=False", "tp=8 ep=8 dp_attention=True", 8}, /* spread */
                 {"tp=8 ep=1 dp_attention=True", "tp=8 ep=1 dp_attention=False", 8}, /* spread */
                 {"tp=8 ep=8 dp_attention=True", "tp=8 ep=1 dp_attention=True", 1},  /* split */
                 {"tp=8 ep=8 dp_attention=False", "tp=8 ep=8 dp_attention=True", 8}};
    static const bool assumed[] = {false, false, true, true, true, false};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        two_pools(8, cases[i].prompts, 8, cases[i].tokens);
        ck_assert_ptr_null(fill());
        ck_assert_int_eq(map.exec.inference.prefill_expert_par, cases[i].expert);
        ck_assert_int_eq(map.assumed.count, assumed[i]);
    }
}

/* Nor split them over more ranks than it has. */
CALC_TEST(a_small_prefill_pool_splits_experts_as_far_as_it_can)
{
    two_pools(4, "workers=1 tp=4 ep=1 dp_attention=True", 16,
              "workers=2 tp=8 ep=1 dp_attention=True");
    is(16, 1, 16, 2, 4);
    ck_assert_int_eq(map.exec.inference.prefill_expert_par, 1);
    ck_assert_int_eq(map.assumed.count, 1);
}

CALC_TEST(pools_that_are_incomplete_are_the_reason)
{
    const struct {
        double gpus;
        const char *words;
    } cases[] = {{24, "workers=1 tp=1 ep=1 dp_attention=True"},
                 {16, "workers=1 tp=8 ep=8 dp_attention=False"},
                 {16, "workers=3 tp=4 ep=4 dp_attention=False"},
                 {16, ""},
                 {8, "workers=1 tp=8 ep=3 dp_attention=False"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        two_pools(8, "workers=1 tp=8 ep=8 dp_attention=False", cases[i].gpus, cases[i].words);
        ck_assert_str_eq(fill(), "the sizes of a pool are not those of its GPUs");
    }
    two_pools((double)NAN, "tp=8 pp=1 attention_dp=1 moe_tp=1 moe_ep=8", (double)NAN, "");
    ck_assert_str_eq(fill(), "how many GPUs each of two pools has is not published");
}
