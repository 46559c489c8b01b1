/* What serving engines take beside a pass. */
#include "model/serve/inference_pass.h"

#include "engines.h"
#include "frame.h"
#include "serving_case.h"

#include <math.h>

CALC_TEST(no_engine_takes_nothing)
{
    calc_engine_traits t = shipped_engine("none").traits;
    calc_serving_rates rates = {.matrix = {.memory_efficiency = 0.8, .efficiency = 0.7},
                                .decode = {.memory_efficiency = 0.9}};
    calc_serving_rates own = calc_engine_rates_of(&t, &rates, 8);
    ck_assert_double_eq(calc_engine_beside_s(&t, 0.01, 64, 8, 0), 0);
    ck_assert_double_eq(t.request_s, 0);
    ck_assert_double_eq(own.matrix.efficiency, 0.7);
    ck_assert_double_eq(own.decode.memory_efficiency, 0.9);
}

/* TensorRT-LLM since September 2025; whoever states it has it of any engine. */
CALC_TEST(latent_prompts_are_narrow_where_the_engine_has_them_so)
{
    calc_inference i = {.engine = shipped_engine("tensorrt_llm-1.1")};
    ck_assert(!calc_serving_engine_traits(&i).narrow_prompts);
    i.traits.narrow_prompts = true;
    ck_assert(calc_serving_engine_traits(&i).narrow_prompts);
    ck_assert(shipped_engine("tensorrt_llm-1.2").traits.narrow_prompts);
    ck_assert(!shipped_engine("sglang-0.5").traits.narrow_prompts);
}

CALC_TEST(delta_rules_of_prompts_are_one_kernel_where_the_engine_has_it)
{
    calc_inference i = {.engine = shipped_engine("sglang-0.5")};
    ck_assert(!calc_serving_engine_traits(&i).fused_recurrence);
    i.traits.fused_recurrence = true;
    ck_assert(calc_serving_engine_traits(&i).fused_recurrence);
    ck_assert(shipped_engine("vllm-0.11").traits.fused_recurrence);
    ck_assert(!shipped_engine("vllm-0.8").traits.fused_recurrence);
}

/* CUDA graphs came with vLLM 0.2.6; compiled prompts with its second core, and with TensorRT. */
CALC_TEST(documents_say_who_issues_kernels)
{
    calc_inference i = {.engine = shipped_engine("vllm-0.5")};
    ck_assert(!calc_serving_engine_traits(&i).eager);
    i.traits.eager = true;
    ck_assert(calc_serving_engine_traits(&i).eager);
    ck_assert(shipped_engine("vllm-0.2").traits.eager);
    ck_assert(!shipped_engine("vllm-0.2").compiled && shipped_engine("vllm-0.11").compiled);
    ck_assert(shipped_engine("tensorrt_llm-0.9").compiled);
    ck_assert(!shipped_engine("tensorrt_llm-1.0").compiled);
}

/* 2 ms and 50 us for each of 20 sequences are 3 ms; a tenth more for each of 3 doublings. */
CALC_TEST(a_host_that_does_not_work_ahead_is_added)
{
    calc_engine_traits t = {.host_s = 2e-3, .host_sequence_s = 50e-6, .gap_s = 1e-4};
    ck_assert_double_eq_tol(calc_engine_beside_s(&t, 0.01, 20, 1, 0), 3.1e-3, 1e-12);
    t.host_growth = 0.1;
    ck_assert_double_eq_tol(calc_engine_beside_s(&t, 0.01, 20, 8, 0), 3.9e-3 + 1e-4, 1e-12);
}

CALC_TEST(a_host_that_works_ahead_is_waited_for_where_it_is_slower)
{
    calc_engine_traits t = {.host_s = 3e-3, .gap_s = 1e-4, .overlapped = true};
    ck_assert_double_eq_tol(calc_engine_beside_s(&t, 0.01, 1, 1, 0), 1e-4, 1e-12);
    ck_assert_double_eq_tol(calc_engine_beside_s(&t, 0.001, 1, 1, 0), 2e-3 + 1e-4, 1e-12);
}

/* A pass of 1 ms whose kernels take 5 ms to issue is as long as these, and hides a host of 3 ms. */
CALC_TEST(a_pass_takes_what_issuing_it_takes)
{
    calc_engine_traits t = {.host_s = 3e-3, .overlapped = true};
    ck_assert_double_eq_tol(calc_engine_beside_s(&t, 1e-3, 1, 1, 5e-3), 4e-3, 1e-12);
    ck_assert_double_eq_tol(calc_engine_beside_s(&t, 6e-3, 1, 1, 5e-3), 0, 1e-12);
    t.overlapped = false;
    ck_assert_double_eq_tol(calc_engine_beside_s(&t, 1e-3, 1, 1, 5e-3), 7e-3, 1e-12);
}

CALC_TEST(kernels_of_an_engine_may_be_slower)
{
    calc_engine_traits t = {.matrix_share = 0.5, .cache_share = 0.5};
    calc_serving_rates rates = {.matrix = {.memory_efficiency = 0.8,
                                           .efficiency_8bit = 0.6,
                                           .block_scaled_efficiency = 0.2},
                                .decode = {.memory_efficiency = 0.9}};
    calc_serving_rates own = calc_engine_rates_of(&t, &rates, 2);
    ck_assert_double_eq(own.matrix.efficiency, 0.5); /* of 1, as nothing is said */
    ck_assert_double_eq(own.matrix.efficiency_8bit, 0.3);
    ck_assert_double_eq(own.matrix.block_scaled_efficiency, 0.1);
    ck_assert_double_eq(own.matrix.memory_efficiency, 0.8);
    ck_assert_double_eq(own.decode.memory_efficiency, 0.45);
    own = calc_engine_rates_of(&t, &rates, 1);
    ck_assert_double_eq(own.decode.memory_efficiency, 0.9);
    own = calc_engine_rates_of(&t, &rates, 8); /* eight times as long, not twice */
    ck_assert_double_eq(own.decode.memory_efficiency, 0.9 / 8);
}

CALC_TEST(what_an_execution_states_stands_for_the_engines)
{
    calc_inference i = {.engine = shipped_engine("vllm-0.6"),
                        .traits = {.host_s = 1e-3, .cache_share = 0.5}};
    calc_engine_traits shipped = i.engine.traits;
    calc_engine_traits t = calc_serving_engine_traits(&i);
    ck_assert_double_eq(t.host_s, 1e-3);
    ck_assert_double_eq(t.cache_share, 0.5);
    ck_assert_double_eq(t.host_sequence_s, shipped.host_sequence_s);
    ck_assert_double_eq(t.matrix_share, shipped.matrix_share);
    ck_assert(!t.overlapped);
    i.traits.overlapped = true;
    ck_assert(calc_serving_engine_traits(&i).overlapped);
}

/* Host times of milliseconds, shares of at most 1: a slip of a unit would show. */
CALC_TEST(traits_are_of_their_size)
{
    const calc_serving_engines *all = shipped_engines();
    for (size_t e = 0; e < all->count; e++) {
        calc_engine_traits t = all->item[e].traits;
        ck_assert_double_lt(t.host_s, 0.02);
        ck_assert_double_lt(t.host_sequence_s, 0.001);
        ck_assert_double_lt(t.issue_s, 1e-4);
        ck_assert_double_lt(t.gap_s, 0.005);
        ck_assert_double_lt(t.request_s, 0.1);
        ck_assert(t.matrix_share <= 1 && t.cache_share <= 1 && t.experts_undivided <= 1);
        ck_assert_double_lt(t.handover_steps, 50);
        ck_assert(t.host_s + t.gap_s + t.request_s > 0);
    }
}

/* A trait that made models or machines equal would be one of them, not of the engine. */
CALC_TEST(models_and_machines_differ_under_every_engine)
{
    static const char *const models[] = {"gpt-oss-20B", "gpt-oss-120B", "qwen3-30B-A3B"};
    static const char *const machines[] = {"h100_sxm", "gb200_nvl72"};
    static const char *const engines[] = {"tensorrt_llm-1.2", "vllm-0.11", "sglang-0.5"};
    enum { CASES = 6 };
    for (size_t g = 0; g < sizeof engines / sizeof *engines; g++) {
        double tokens_per_s[CASES];
        for (size_t i = 0; i < CASES; i++) {
            calc_app app = shipped_app(models[i / 2]);
            calc_system system;
            char path[512];
            snprintf(path, sizeof path, "%s/systems/%s.json", CALC_DATA_DIR_SOURCE,
                     machines[i % 2]);
            ck_assert_int_eq(calc_load(CALC_KIND_SYSTEM, &system, path, NULL), CALC_OK);
            calc_exec e = serving_exec(CALC_INFERENCE_PHASE_DECODE, 1, 1, 1, 2048);
            calc_stats stats;
            e.strategy.attention_type = CALC_ATTENTION_TYPE_GROUPED_QUERY;
            e.strategy.weight_datatype = CALC_FORMAT_FLOAT4;
            e.inference.kv_datatype = CALC_FORMAT_FLOAT8;
            e.inference.prompt_size = e.inference.generate_size = 1000;
            e.inference.engine = shipped_engine(engines[g]);
            system.chip.mem1.capacity_bytes = 2e12;
            ck_assert_int_eq(calc_run(&app, &system, &e, CALC_COMPAT_NONE, &stats),
                             CALC_VERDICT_OK);
            tokens_per_s[i] = stats.output_tokens_per_s;
            for (size_t j = 0; j < i; j++) {
                bool related = i / 2 == j / 2 || i % 2 == j % 2; /* of one model or machine */
                ck_assert(!related || fabs(tokens_per_s[i] / tokens_per_s[j] - 1) > 0.03);
            }
        }
    }
}
