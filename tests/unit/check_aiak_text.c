/* Strategies as AIAK's planner prints them. */
#include "cli/as/aiak_text.h"

#include "frame.h"
#include "small_case.h"

static calc_app app;
static calc_aiak_task task;
static calc_aiak_strategy strategy;

static void guide_strategy(void)
{
    static const int layers[] = {3, 11, 11, 11, 11, 11, 11, 11};
    task = (calc_aiak_task){.app = &app, .chips = 2, .batch = 1024, .sequence = 4096};
    memset(&strategy, 0, sizeof strategy);
    strategy.sizes = (calc_aiak_sizes){8, 2, 1, 16};
    strategy.chain = (calc_aiak_chain){.kinds = 2, .chip = {0, 1}, .stages = {1, 7}};
    memcpy(strategy.layers, layers, sizeof layers);
    strategy.again[1] = 3;
    strategy.most_bytes[0] = 25.00778579711914 * 0x1p30;
    strategy.most_bytes[1] = 72.89899063110352 * 0x1p30;
    strategy.step.total_s = 17.62220148337528;
}

static const calc_aiak_text mixed = {
    .model = "llama2-70b", .chip = {"a800", "h800"}, .rms = true, .rope = true, .task = &task};

static void assert_text(const calc_aiak_text *text, bool json, const char *want)
{
    calc_output *out;
    calc_text got = {0};
    calc_errors errors = {0};
    ck_assert_int_eq(calc_output_open_memory(&out, &got, &errors), CALC_OK);
    calc_aiak_text_put(out, text, &strategy, json);
    ck_assert_int_eq(calc_output_close(out, &errors), CALC_OK);
    ck_assert_str_eq(got.data, want);
    calc_text_free(&got);
}

/* 1024 * 4096 / 17.62... = 238012.487. */
CALC_TEST(throughput_is_tokens_per_second_rounded_up)
{
    ck_assert_int_eq(calc_aiak_throughput(1024, 4096, 17.62220148337528), 238013);
    ck_assert_int_eq(calc_aiak_throughput(512, 4096, 2), 1048576);
}

/* The values of AIAK's documentation. */
CALC_TEST(chips_that_differ_have_lists_of_stages)
{
    guide_strategy();
    assert_text(&mixed, false,
                "{'sim_throughput': 238013, 'sim_total_time_s': 17.62220148337528, "
                "'chip-order': ['a800', 'h800'], "
                "'max-use-mem-size': [25.00778579711914, 72.89899063110352], 'strategy': "
                "{'pipeline-model-parallel-size': 8, 'tensor-model-parallel-size': 2, "
                "'micro-batch-size': 1, 'use-flash-attn': '', 'sequence-parallel': '', "
                "'use-distributed-optimizer': '', 'fused-rmsnorm': '', "
                "'apply-rotary-positional-embedding-kernel': '', 'pipeline-stage-chips': "
                "['a800', 'h800', 'h800', 'h800', 'h800', 'h800', 'h800', 'h800'], "
                "'pipeline-stage-layers': [3, 11, 11, 11, 11, 11, 11, 11], "
                "'recompute-granularity': [None, 'full'], 'recompute-method': [None, 'block'], "
                "'recompute-num-layers': [None, 3]}}");
}

CALC_TEST(one_kind_of_chips_has_one_entry_and_no_layers)
{
    guide_strategy();
    strategy.chain = (calc_aiak_chain){.kinds = 1, .chip = {1}, .stages = {8}};
    strategy.all_again[0] = true;
    strategy.again[0] = 10;
    strategy.step.total_s = 16;
    strategy.most_bytes[0] = 0x1p34;
    assert_text(&mixed, false,
                "{'sim_throughput': 262144, 'sim_total_time_s': 16.0, 'chip-order': ['h800'], "
                "'max-use-mem-size': [16.0], "
                "'strategy': {'pipeline-model-parallel-size': 8, 'tensor-model-parallel-size': 2, "
                "'micro-batch-size': 1, 'use-flash-attn': '', 'sequence-parallel': '', "
                "'use-distributed-optimizer': '', 'fused-rmsnorm': '', "
                "'apply-rotary-positional-embedding-kernel': '', 'pipeline-stage-chips': "
                "['h800'], 'recompute-granularity': ['full'], 'recompute-method': ['uniform'], "
                "'recompute-num-layers': [1]}}");
}

CALC_TEST(switches_that_are_off_are_left_out_and_json_has_null)
{
    calc_aiak_text plain = mixed;
    plain.rms = plain.rope = false;
    guide_strategy();
    strategy.sizes = (calc_aiak_sizes){2, 1, 4, 1};
    strategy.chain =
        (calc_aiak_chain){.kinds = 2, .chip = {1, 0}, .stages = {1, 1}, .selective = {false, true}};
    strategy.again[1] = 0;
    strategy.step.total_s = 16;
    strategy.most_bytes[0] = strategy.most_bytes[1] = 0x1.8p30;
    assert_text(&plain, true,
                "{\"sim_throughput\": 262144, \"sim_total_time_s\": 16.0, "
                "\"chip-order\": [\"h800\", \"a800\"], \"max-use-mem-size\": "
                "[1.5, 1.5], \"strategy\": {\"pipeline-model-parallel-size\": 2, "
                "\"tensor-model-parallel-size\": 1, \"micro-batch-size\": 4, \"use-flash-attn\": "
                "\"\", \"pipeline-stage-chips\": [\"h800\", \"a800\"], \"pipeline-stage-layers\": "
                "[3, 11], \"recompute-granularity\": [null, \"selective\"], \"recompute-method\": "
                "[null, null], \"recompute-num-layers\": [null, null]}}");
}
