/* Layouts that serve take the number formats of the model's checkpoint. */
#include <stdlib.h>

#include "frame.h"
#include "shipped_case.h"
#include "spec/absent.h"
#include "spec/format.h"

static shipped_case c;
static calc_system prefill;

/* DeepSeek-V3.1-NVFP4 on B200. */
static void setup(void)
{
    const calc_checkpoint_formats nvfp4 = {.weight_datatype = CALC_FORMAT_FLOAT4,
                                           .matrix_datatype = CALC_FORMAT_FLOAT4,
                                           .scaling = CALC_SCALING_BLOCK,
                                           .kv_datatype = CALC_FORMAT_FLOAT8,
                                           .wide_attention = CALC_WIDE_ATTENTION_INPUTS};
    load_shipped(CALC_KIND_APP, &c.app, "models", "deepseek-v3-671B");
    load_shipped(CALC_KIND_SYSTEM, &c.system, "systems", "b200");
    load_shipped(CALC_KIND_SYSTEM, &prefill, "systems", "h200");
    calc_absent_fill(calc_table_of(CALC_KIND_EXEC), &c.exec);
    c.app.checkpoint = nvfp4;
    c.exec.training = false;
    c.exec.strategy.datatype = CALC_DATATYPE_BFLOAT16;
    c.exec.inference.phase = CALC_INFERENCE_PHASE_SERVE;
}

const calc_test_frame calc_tests = {.setup = setup};

static void is(calc_format weight, calc_format matrix, calc_scaling scaling, calc_format cache,
               calc_wide_attention wide)
{
    calc_exec e = c.exec;
    for (int twice = 0; twice < 2; twice++) { /* once more changes nothing */
        calc_checkpoint_formats_take(&c.app, &c.system, &e);
        ck_assert_int_eq(e.strategy.weight_datatype, weight);
        ck_assert_int_eq(e.strategy.matrix_datatype, matrix);
        ck_assert_int_eq(e.strategy.scaling, scaling);
        ck_assert_int_eq(e.inference.kv_datatype, cache);
        ck_assert_int_eq(e.inference.wide_attention, wide);
    }
}

CALC_TEST(what_a_layout_leaves_out_is_the_checkpoints)
{
    is(CALC_FORMAT_FLOAT4, CALC_FORMAT_FLOAT4, CALC_SCALING_BLOCK, CALC_FORMAT_FLOAT8,
       CALC_WIDE_ATTENTION_INPUTS);
    c.app.checkpoint = (calc_checkpoint_formats){.weight_datatype = CALC_FORMAT_AUTO};
    is(CALC_FORMAT_AUTO, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR, CALC_FORMAT_AUTO,
       CALC_WIDE_ATTENTION_NONE);
}

CALC_TEST(what_a_layout_says_stays)
{
    c.exec.inference.kv_datatype = CALC_FORMAT_BFLOAT16;
    c.exec.inference.wide_attention = CALC_WIDE_ATTENTION_ALL;
    c.exec.strategy.matrix_datatype = CALC_FORMAT_BFLOAT16;
    is(CALC_FORMAT_FLOAT4, CALC_FORMAT_BFLOAT16, CALC_SCALING_TENSOR, CALC_FORMAT_BFLOAT16,
       CALC_WIDE_ATTENTION_ALL);
    c.exec.strategy.matrix_datatype = CALC_FORMAT_AUTO;
    c.exec.inference.wide_attention = CALC_WIDE_ATTENTION_NONE;
    /* Other weights are multiplied and scaled as the layout says. */
    c.exec.strategy.weight_datatype = CALC_FORMAT_BFLOAT16;
    is(CALC_FORMAT_BFLOAT16, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR, CALC_FORMAT_BFLOAT16,
       CALC_WIDE_ATTENTION_NONE);
}

CALC_TEST(a_machine_multiplies_in_what_it_has)
{
    c.system = prefill; /* H200 has no 4-bit arithmetic */
    is(CALC_FORMAT_FLOAT4, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR, CALC_FORMAT_FLOAT8,
       CALC_WIDE_ATTENTION_INPUTS);
    setup();
    c.exec.inference.phase = CALC_INFERENCE_PHASE_DISAGGREGATED;
    c.exec.inference.prefill_system = (calc_other_system){"h200", &prefill};
    is(CALC_FORMAT_FLOAT4, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR, CALC_FORMAT_FLOAT8,
       CALC_WIDE_ATTENTION_INPUTS);
}

CALC_TEST(nobody_trains_in_them)
{
    c.exec.training = true;
    c.exec.inference.phase = CALC_INFERENCE_PHASE_NONE;
    is(CALC_FORMAT_AUTO, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR, CALC_FORMAT_AUTO,
       CALC_WIDE_ATTENTION_NONE);
    c.exec.training = false; /* one forward pass, of nothing that is served */
    is(CALC_FORMAT_AUTO, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR, CALC_FORMAT_AUTO,
       CALC_WIDE_ATTENTION_NONE);
}

/* The layout that says them and the one that leaves them out are one, to the bit. */
CALC_TEST(said_or_left_out_they_give_the_same_numbers)
{
    shipped_case said = load_case("deepseek-v3-671B", "h800", "deepseek-v3_serving_128");
    calc_exec open = said.exec;
    calc_stats first, second;
    ck_assert_int_eq(said.exec.strategy.weight_datatype, CALC_FORMAT_FLOAT8);
    open.strategy.weight_datatype = open.strategy.matrix_datatype = CALC_FORMAT_AUTO;
    open.strategy.scaling = CALC_SCALING_TENSOR;
    calc_resolve(&said.app, &said.system, &open);
    calc_resolve(&said.app, &said.system, &said.exec);
    calc_run(&said.app, &said.system, &said.exec, CALC_COMPAT_NONE, &first);
    calc_run(&said.app, &said.system, &open, CALC_COMPAT_NONE, &second);
    ck_assert_int_eq(first.verdict, CALC_VERDICT_OK);
    ck_assert_double_eq(first.total_time, second.total_time);
    ck_assert_double_eq(first.proc_mem_tier1_cap_req, second.proc_mem_tier1_cap_req);
    open.strategy.weight_datatype = CALC_FORMAT_BFLOAT16;
    open.strategy.matrix_datatype = CALC_FORMAT_BFLOAT16;
    calc_run(&said.app, &said.system, &open, CALC_COMPAT_NONE, &first);
    /* All but norms and routers. */
    ck_assert_double_gt(second.block_weight_space, 0.5 * first.block_weight_space);
    ck_assert_double_lt(second.block_weight_space, 0.505 * first.block_weight_space);
}

/* Bytes of all tensors of the published files (model.safetensors.index.json). */
CALC_TEST(weights_with_their_scales_take_what_the_published_files_take)
{
    static const struct {
        const char *model;
        double bytes;
    } published[] = {{"gpt-oss-120B", 65248815744}, {"gpt-oss-20B", 13761264768}};
    calc_stats stats;
    load_shipped(CALC_KIND_EXEC, &c.exec, "executions", "llama3-70B_serving_8");
    c.exec.num_procs = 1;
    c.exec.strategy.tensor_par = 1;
    for (size_t i = 0; i < 2; i++) {
        load_shipped(CALC_KIND_APP, &c.app, "models", published[i].model);
        calc_exec e = c.exec;
        calc_resolve(&c.app, &prefill, &e);
        calc_run(&c.app, &prefill, &e, CALC_COMPAT_NONE, &stats);
        ck_assert_double_eq_tol(stats.weight_space / published[i].bytes, 1, 0.002);
        ck_assert_double_eq(e.strategy.weight_scale_bits, 0.25);
        e.strategy.weight_datatype = CALC_FORMAT_BFLOAT16; /* those have none */
        e.strategy.weight_scale_bits = 0;
        calc_resolve(&c.app, &prefill, &e);
        ck_assert_double_eq(e.strategy.weight_scale_bits, 0);
    }
}

/* 4 bits; with a scale of 16 bits and a zero point of 4 for 128; 8 bits with one of 8 for 32. */
CALC_TEST(scales_count_beside_the_bits_of_a_weight)
{
    calc_strategy s = {.weight_datatype = CALC_FORMAT_FLOAT4};
    ck_assert_double_eq(calc_format_weight_bytes(&s, 2), 0.5625);
    s.weight_scale_bits = 20.0 / 128;
    ck_assert_double_eq(calc_format_weight_bytes(&s, 2), (4 + 20.0 / 128) / 8);
    s = (calc_strategy){.weight_datatype = CALC_FORMAT_FLOAT8, .weight_scale_bits = 0.25};
    ck_assert_double_eq(calc_format_weight_bytes(&s, 2), 8.25 / 8);
    s.weight_datatype = CALC_FORMAT_AUTO;
    ck_assert_double_eq(calc_format_weight_bytes(&s, 2), 2);
}
