/* What a run of serving means: how requests come, lengths, number formats, what was measured. */
#include "serving_run_case.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"

static calc_serving_row row;
static calc_serving_map map;
static const calc_inference *asked;

static void enter(void)
{
    row = serving_row();
    asked = &map.exec.inference;
}

const calc_test_frame calc_tests = {.setup = enter};

static void maps(void)
{
    calc_serving_map_row(&map, &row);
    ck_assert_msg(!map.reason, "%s", map.reason ? map.reason : "");
}

static void has_reason(const char *reason)
{
    calc_serving_map_row(&map, &row);
    ck_assert_str_eq(map.reason ? map.reason : "", reason);
}

static bool assumes(const char *words)
{
    for (int i = 0; i < map.assumed.count; i++) {
        if (strstr(map.assumed.text[i], words)) {
            return true;
        }
    }
    return false;
}

CALC_TEST(a_closed_loop_is_served)
{
    maps();
    ck_assert_str_eq(map.model.name, "llama3-70B");
    ck_assert_str_eq(map.system, "h200");
    ck_assert_int_eq(map.kind, CALC_SERVING_KIND_CLOSED_LOOP);
    ck_assert_int_eq(asked->phase, CALC_INFERENCE_PHASE_SERVE);
    ck_assert_int_eq(asked->engine, CALC_SERVING_ENGINE_VLLM_0_11);
    ck_assert_int_eq(asked->prompt_size, 1000);
    ck_assert_int_eq(asked->generate_size, 500);
    ck_assert_int_eq(asked->batch, 16);
    ck_assert_int_eq(asked->chunk_size, 8192);
    ck_assert_int_eq(asked->requests, 160);
    ck_assert(asked->prompt_spread == 0 && asked->generate_spread == 0);
    ck_assert_int_eq(asked->kv_datatype, CALC_FORMAT_AUTO);
    ck_assert(map.tpot_s == 0.012 && map.ttft_s == 0.1 && map.gpus == 4 && map.requests == 16);
    ck_assert(isnan(map.e2e_s) && isnan(map.output_tokens_per_s));
    ck_assert_int_eq(map.year, 2025);
}

CALC_TEST(a_static_batch_is_prefilled_then_decoded)
{
    row.metric_kind = "static batch, whole generation latency";
    row.concurrency_or_batch = 64;
    row.isl = 1024;
    row.e2e_latency_ms = 9000;
    row.output_tokens_per_s_total = 3000;
    maps();
    ck_assert_int_eq(map.kind, CALC_SERVING_KIND_STATIC_BATCH);
    ck_assert_int_eq(asked->phase, CALC_INFERENCE_PHASE_PREFILL);
    ck_assert_int_eq(asked->prefill_batch, 16); /* of 1,024 tokens in 16,384 */
    ck_assert_int_eq(asked->chunk_size, 0);
    ck_assert(map.e2e_s == 9 && isnan(map.output_tokens_per_s)); /* the rate is the same again */
    row.concurrency_or_batch = 2;
    row.e2e_latency_ms = (double)NAN;
    maps();
    ck_assert_int_eq(asked->prefill_batch, 2);
    ck_assert(isnan(map.e2e_s) && map.output_tokens_per_s == 3000);
    row.isl = 100000;
    maps();
    ck_assert_int_eq(asked->prefill_batch, 1);
}

CALC_TEST(means_count_before_medians)
{
    row.tpot_mean_ms = 20;
    row.ttft_mean_ms = 200;
    maps();
    ck_assert(map.tpot_s == 0.02 && map.ttft_s == 0.2 && !map.median);
}

/* The mean holds the first requests of a server that still makes its kernels ready. */
CALC_TEST(a_median_of_the_first_token_counts_where_it_is_one)
{
    row.ttft_stat = "median of 160";
    maps();
    ck_assert(map.ttft_s == 0.1 && map.median);
    row.ttft_mean_ms = 200;
    maps();
    ck_assert(map.ttft_s == 0.1 && map.median);
    row.ttft_ms = (double)NAN;
    maps();
    ck_assert(map.ttft_s == 0.2 && !map.median);
    row.ttft_ms = 100;
    row.ttft_mean_ms = (double)NAN;
    row.ttft_stat = "mean";
    maps();
    ck_assert(map.ttft_s == 0.1 && !map.median);
}

CALC_TEST(lengths_are_means)
{
    row.length_note = "InferenceX: uniform 0.8..1.0 of the stated lengths (mean 0.9)";
    row.isl = 1024;
    row.osl = 8192;
    maps();
    ck_assert_int_eq(asked->prompt_size, 922);
    ck_assert_int_eq(asked->generate_size, 7373);
    ck_assert_double_eq_tol(asked->prompt_spread, 1.0 / 9, 1e-12); /* 0.9 (1 + 1/9) is 1 */
    ck_assert_double_eq_tol(asked->generate_spread, 1.0 / 9, 1e-12);
}

CALC_TEST(all_at_once_is_one_round)
{
    row.metric_kind = "all requests at once";
    row.concurrency_or_batch = (double)NAN;
    has_reason("how many requests come is in no column");
    row.num_prompts = 1000;
    maps();
    ck_assert_int_eq(map.kind, CALC_SERVING_KIND_ALL_AT_ONCE);
    ck_assert_str_eq(calc_serving_kind_word(map.kind), "all at once");
    ck_assert_int_eq(asked->phase, CALC_INFERENCE_PHASE_SERVE);
    ck_assert(asked->batch == 1000 && asked->requests == 1000 && map.requests == 1000);
    ck_assert(asked->max_sequences == 1024 && asked->chunk_size == 8192);
    ck_assert(assumes("the engine's own limit"));
    row.max_sequences = 64;
    row.prefill_tokens = 4096;
    row.tp = 1;
    row.dp = 4;
    maps();
    ck_assert(asked->max_sequences == 64 && asked->chunk_size == 4096);
    ck_assert(asked->batch == 1000 && !assumes("the engine's own limit"));
}

CALC_TEST(an_open_loop_has_a_rate)
{
    row.concurrency_or_batch = (double)NAN;
    row.metric_kind = "";
    row.request_rate = 2.5;
    row.software = "sglang 0.5.3";
    maps();
    ck_assert_int_eq(map.kind, CALC_SERVING_KIND_OPEN_LOOP);
    ck_assert_int_eq(asked->phase, CALC_INFERENCE_PHASE_SERVE);
    ck_assert(asked->arrival_rate == 2.5 && asked->batch == 0 && asked->requests == 0);
    ck_assert(asked->max_sequences == 0 && asked->chunk_size == 0 && asked->prefill_batch == 8);
    ck_assert_int_eq(map.exec.batch_size, 1);
    row.disagg_prefill_gpus = row.disagg_decode_gpus = 8;
    row.prefill_layout = row.decode_layout = "workers=2 tp=4 ep=1 dp_attention=False";
    maps();
    ck_assert_int_eq(map.kind, CALC_SERVING_KIND_OPEN_LOOP);
    ck_assert_int_eq(asked->phase, CALC_INFERENCE_PHASE_DISAGGREGATED);
    ck_assert(asked->arrival_rate == 2.5 && asked->batch == 0);
}

CALC_TEST(other_ways_to_come_are_the_reason)
{
    row.metric_kind = "server (latency bound)";
    has_reason("how requests come is not understood");
    row.isl = (double)NAN;
    has_reason("as many requests as can be served: lengths of prompts and layouts are not in the "
               "log");
}

CALC_TEST(every_replica_has_as_many_requests)
{
    row.tp = 1;
    row.dp = 4;
    row.concurrency_or_batch = 18;
    maps();
    ck_assert_int_eq(asked->batch, 20);
    ck_assert(map.requests == 18 && assumes("on every replica"));
    row.concurrency_or_batch = 1;
    maps();
    ck_assert_int_eq(asked->batch, 4);
}

CALC_TEST(a_prefill_pool_takes_prompts_together)
{
    row.disagg_prefill_gpus = row.disagg_decode_gpus = 8;
    row.prefill_layout = "workers=2 tp=4 ep=1 dp_attention=False";
    row.decode_layout = "workers=1 tp=8 ep=1 dp_attention=False";
    maps();
    ck_assert_int_eq(map.kind, CALC_SERVING_KIND_DISAGGREGATED);
    ck_assert_int_eq(asked->phase, CALC_INFERENCE_PHASE_DISAGGREGATED);
    ck_assert_int_eq(asked->prefill_batch, 8); /* of 1,000 tokens in 8,192; there are 8 */
    row.concurrency_or_batch = 4;
    maps();
    ck_assert_int_eq(asked->prefill_batch, 2);
    row.isl = 9000;
    maps();
    ck_assert_int_eq(asked->prefill_batch, 1);
    ck_assert_int_eq(asked->chunk_size, 0);
    row.isl = 1000;
    row.prefill_tokens = 1500;
    maps();
    ck_assert_int_eq(asked->prefill_batch, 1);
    ck_assert(!assumes("8,192"));
}

CALC_TEST(a_decoding_pool_has_slots)
{
    row.disagg_prefill_gpus = row.disagg_decode_gpus = 8;
    row.prefill_layout = row.decode_layout = "workers=2 tp=4 ep=1 dp_attention=False";
    row.concurrency_or_batch = 9;
    maps();
    ck_assert_int_eq(asked->batch, 9); /* a router spreads them */
    ck_assert_int_eq(asked->max_sequences, 0);
    row.max_sequences = 4;
    maps();
    ck_assert_int_eq(asked->max_sequences, 4);
}

CALC_TEST(regimes_are_those_of_a_replica)
{
    const struct {
        double isl, osl, requests;
        calc_serving_regime regime;
    } cases[] = {
        {1000, 500, 4, CALC_SERVING_REGIME_LOW},      {1000, 1000, 5, CALC_SERVING_REGIME_MIDDLE},
        {1000, 1000, 64, CALC_SERVING_REGIME_MIDDLE}, {1000, 1000, 65, CALC_SERVING_REGIME_LARGE},
        {1000, 100, 25, CALC_SERVING_REGIME_MIDDLE},  {1000, 100, 26, CALC_SERVING_REGIME_PREFILL},
        {1000, 1, 1, CALC_SERVING_REGIME_PREFILL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        row.isl = cases[i].isl;
        row.osl = cases[i].osl;
        row.concurrency_or_batch = cases[i].requests;
        maps();
        ck_assert_int_eq(map.regime, cases[i].regime);
    }
}

CALC_TEST(number_formats_in_words)
{
    const struct {
        const char *model, *words;
        calc_format matrix, weight;
        calc_scaling scaling;
        calc_datatype datatype;
    } cases[] = {{"Llama 3.1 70B", "fp8", CALC_FORMAT_FLOAT8, CALC_FORMAT_FLOAT8,
                  CALC_SCALING_TENSOR, CALC_DATATYPE_BFLOAT16},
                 {"Llama 3.1 70B", "fp8 (block)", CALC_FORMAT_FLOAT8, CALC_FORMAT_FLOAT8,
                  CALC_SCALING_BLOCK, CALC_DATATYPE_BFLOAT16},
                 {"DeepSeek-R1-0528", "fp8", CALC_FORMAT_FLOAT8, CALC_FORMAT_FLOAT8,
                  CALC_SCALING_BLOCK, CALC_DATATYPE_BFLOAT16},
                 {"Llama 3.1 70B", "fp4 (gemm nvfp4, moe nvfp4)", CALC_FORMAT_FLOAT4,
                  CALC_FORMAT_FLOAT4, CALC_SCALING_BLOCK, CALC_DATATYPE_BFLOAT16},
                 {"openai/gpt-oss-120b", "fp8", CALC_FORMAT_AUTO, CALC_FORMAT_FLOAT4,
                  CALC_SCALING_TENSOR, CALC_DATATYPE_BFLOAT16},
                 {"Qwen/Qwen3-32B-FP8", "checkpoint default", CALC_FORMAT_FLOAT8,
                  CALC_FORMAT_FLOAT8, CALC_SCALING_BLOCK, CALC_DATATYPE_BFLOAT16},
                 {"Qwen/Qwen3-32B", "", CALC_FORMAT_AUTO, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR,
                  CALC_DATATYPE_BFLOAT16},
                 {"Llama 3.1 70B", "float16", CALC_FORMAT_AUTO, CALC_FORMAT_AUTO,
                  CALC_SCALING_TENSOR, CALC_DATATYPE_FLOAT16},
                 {"Llama 3.1 70B", "bf16", CALC_FORMAT_AUTO, CALC_FORMAT_AUTO, CALC_SCALING_TENSOR,
                  CALC_DATATYPE_BFLOAT16},
                 {"Llama 3.1 70B", "int8", CALC_FORMAT_AUTO, CALC_FORMAT_FLOAT8,
                  CALC_SCALING_TENSOR, CALC_DATATYPE_BFLOAT16},
                 {"Llama 3.1 70B", "awq/gptq int4", CALC_FORMAT_AUTO, CALC_FORMAT_FLOAT4,
                  CALC_SCALING_TENSOR, CALC_DATATYPE_BFLOAT16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        row.model = cases[i].model;
        row.weight_dtype = cases[i].words;
        maps();
        const calc_strategy *s = &map.exec.strategy;
        ck_assert_int_eq(s->matrix_datatype, cases[i].matrix);
        ck_assert_int_eq(s->weight_datatype, cases[i].weight);
        ck_assert_int_eq(s->scaling, cases[i].scaling);
        ck_assert_int_eq(s->datatype, cases[i].datatype);
    }
}

CALC_TEST(the_cache_is_as_the_row_says_or_its_recipe)
{
    row.kv_dtype = "fp8";
    maps();
    ck_assert_int_eq(asked->kv_datatype, CALC_FORMAT_FLOAT8);
    row.source = "aiconfigurator silicon_sample: InferenceX export";
    row.kv_dtype = "";
    maps();
    ck_assert_int_eq(asked->kv_datatype, CALC_FORMAT_FLOAT8);
    ck_assert(assumes("recipes of InferenceX"));
    row.kv_dtype = "float16";
    maps();
    ck_assert_int_eq(asked->kv_datatype, CALC_FORMAT_AUTO);
}

/* Those of one node, and what a row says; what pools draft is not known else. */
CALC_TEST(drafts_are_those_of_the_recipes)
{
    row.source = "InferenceX (x)";
    row.software = "sglang 0.5.3";
    row.spec_decode = "mtp";
    maps();
    ck_assert_int_eq(asked->speculative_tokens, 2);
    ck_assert_double_eq(asked->speculative_accept, 0.7);
    row.spec_decode = "";
    maps();
    ck_assert_int_eq(asked->speculative_tokens, 0);
    ck_assert_double_eq(asked->speculative_accept, 0);
    row.spec_decode = "mtp";
    row.disagg_prefill_gpus = row.disagg_decode_gpus = 4;
    row.prefill_layout = row.decode_layout = "workers=1 tp=4 ep=1 dp_attention=False";
    has_reason("speculative decoding: how many drafts there are is not published");
    row.drafts = 1;
    maps();
    ck_assert_int_eq(asked->speculative_tokens, 1);
}

CALC_TEST(what_cannot_be_predicted_says_why)
{
    row.kv_dtype = "int3";
    has_reason("number format of the cache not understood");
    row.kv_dtype = "";
    row.weight_dtype = "fp6";
    has_reason("number format of the weights not understood");
    row.weight_dtype = "fp8";
    row.spec_decode = "mtp";
    has_reason("speculative decoding: how many drafts there are is not published");
    row.osl = (double)NAN;
    has_reason("lengths not published");
    row.concurrency_or_batch = (double)NAN;
    has_reason("batch or concurrency not published");
    row.metric_kind = "offline max throughput";
    has_reason("how requests come is not understood");
    row.tpot_or_itl_ms = row.ttft_ms = (double)NAN;
    has_reason("no measured time or rate");
}

CALC_TEST(model_and_machine_complete_it)
{
    calc_app app = {.attn_heads = 64, .kv_heads = 8};
    static calc_system hopper, ampere;
    hopper.chip.matrix[CALC_DATATYPE_FLOAT8].flop_per_s = 1;
    hopper.networks_count = ampere.networks_count = 2;
    maps();
    calc_serving_map_complete(&map, &app, &hopper);
    const calc_strategy *s = &map.exec.strategy;
    ck_assert_int_eq(s->attention_type, CALC_ATTENTION_TYPE_GROUPED_QUERY);
    ck_assert_int_eq(s->matrix_datatype, CALC_FORMAT_FLOAT8);
    ck_assert(s->expert_par == 0 && s->data_par_net == 1 && map.exec.pipeline_par_net == 1);
    calc_serving_map_complete(&map, &app, &ampere);
    ck_assert_int_eq(s->matrix_datatype, CALC_FORMAT_AUTO);
    ck_assert_int_eq(s->weight_datatype, CALC_FORMAT_FLOAT8);
    ck_assert(assumes("weights alone"));
    app = (calc_app){.attn_heads = 32, .kv_heads = 32};
    calc_serving_map_complete(&map, &app, &hopper);
    ck_assert_int_eq(s->attention_type, CALC_ATTENTION_TYPE_MULTIHEAD);
    app = (calc_app){.attn_heads = 128, .kv_lora_rank = 512, .num_experts = 256};
    row.ep = 4;
    maps();
    calc_serving_map_complete(&map, &app, &hopper);
    ck_assert_int_eq(s->attention_type, CALC_ATTENTION_TYPE_MULTI_LATENT);
    ck_assert_int_eq(s->expert_par, 4);
    ck_assert_int_eq(asked->wide_attention, CALC_WIDE_ATTENTION_NONE);
    /* Experts in 4 bits: NVIDIA's latent attention has narrow outputs, AMD's has not. */
    row.weight_dtype = "fp4";
    maps();
    calc_serving_map_complete(&map, &app, &hopper);
    ck_assert_int_eq(asked->wide_attention, CALC_WIDE_ATTENTION_INPUTS);
    map.system = "mi355x";
    calc_serving_map_complete(&map, &app, &hopper);
    ck_assert_int_eq(asked->wide_attention, CALC_WIDE_ATTENTION_ALL);
    app.kv_lora_rank = 0;
    maps();
    calc_serving_map_complete(&map, &app, &hopper);
    ck_assert_int_eq(asked->wide_attention, CALC_WIDE_ATTENTION_ALL);
    app.num_experts = 0;
    calc_serving_map_complete(&map, &app, &hopper);
    ck_assert_int_eq(asked->wide_attention, CALC_WIDE_ATTENTION_NONE);
}
