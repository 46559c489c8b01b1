/* What publishers told the engine. */
#include "serving_run_case.h"
#include "validate/serving_names.h"

#include <stdlib.h>
#include <string.h>

#include "frame.h"

CALC_TEST(recipes_go_by_source_engine_machine_and_format)
{
    const struct {
        const char *source, *system, *weights;
        calc_serving_engine engine;
        calc_format cache;
        int64_t chunk; /* of prompts of 1,024 tokens */
    } cases[] = {
        {"InferenceX (x)", "h200", "fp8", CALC_SERVING_ENGINE_SGLANG_0_5, CALC_FORMAT_AUTO, 32768},
        {"InferenceX (x)", "b200", "fp4", CALC_SERVING_ENGINE_SGLANG_0_5, CALC_FORMAT_FLOAT8,
         16384},
        {"InferenceX (x)", "b200", "fp8", CALC_SERVING_ENGINE_SGLANG_0_5, CALC_FORMAT_FLOAT8,
         32768},
        {"InferenceX (x)", "mi300x", "fp8", CALC_SERVING_ENGINE_SGLANG_0_5, CALC_FORMAT_AUTO,
         196608},
        {"an InferenceX export", "h200", "fp8", CALC_SERVING_ENGINE_TENSORRT_LLM_1_2,
         CALC_FORMAT_FLOAT8, 16384},
        {"InferenceX (x)", "h200", "fp8", CALC_SERVING_ENGINE_TENSORRT_LLM_1_1, CALC_FORMAT_FLOAT8,
         1024},
        {"InferenceX (x)", "b200", "fp8", CALC_SERVING_ENGINE_VLLM_0_11, CALC_FORMAT_FLOAT8, 8192},
        {"x: a gap analysis", "h100_sxm", "fp8", CALC_SERVING_ENGINE_TENSORRT_LLM_1_0,
         CALC_FORMAT_FLOAT8, 1024},
        {"x: a gap analysis", "h100_sxm", "", CALC_SERVING_ENGINE_TENSORRT_LLM_1_0,
         CALC_FORMAT_AUTO, 1024},
        {"x: a gap analysis", "h100_sxm", "", CALC_SERVING_ENGINE_VLLM_0_11, CALC_FORMAT_AUTO,
         1024},
        {"x: a gap analysis", "h100_sxm", "", CALC_SERVING_ENGINE_SGLANG_0_5, CALC_FORMAT_AUTO,
         8192},
        {"InferenceX (x)", "mi355x", "fp8", CALC_SERVING_ENGINE_ATOM_0_1, CALC_FORMAT_FLOAT8,
         16384},
        {"TensorRT-LLM performance.md", "h100_sxm", "fp8", CALC_SERVING_ENGINE_TENSORRT_LLM_0_5,
         CALC_FORMAT_FLOAT8, 8192},
        {"TensorRT-LLM performance.md", "a100_sxm_80g", "fp16",
         CALC_SERVING_ENGINE_TENSORRT_LLM_0_5, CALC_FORMAT_AUTO, 8192},
        {"somebody", "h200", "fp8", CALC_SERVING_ENGINE_VLLM_0_11, CALC_FORMAT_AUTO, 8192},
        {"gpt-fast README", "h200", "int8", CALC_SERVING_ENGINE_GPT_FAST_2023, CALC_FORMAT_AUTO,
         8192}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_serving_row row = serving_row();
        row.source = cases[i].source;
        row.weight_dtype = cases[i].weights;
        row.isl = 1024;
        calc_serving_recipe r = calc_serving_recipe_of(&row, cases[i].engine, cases[i].system);
        ck_assert_int_eq(r.kv_datatype, cases[i].cache);
        ck_assert_int_eq(r.chunk_size, cases[i].chunk);
        ck_assert_ptr_nonnull(r.assumed);
    }
}

/* Of vLLM those of its server: large on 70 GiB and more, but for A100. */
CALC_TEST(engines_limit_themselves)
{
    const struct {
        calc_serving_engine engine;
        const char *system;
        int64_t sequences, tokens;
    } cases[] = {{CALC_SERVING_ENGINE_VLLM_0_11, "h100_sxm", 1024, 8192},
                 {CALC_SERVING_ENGINE_VLLM_0_8, "mi300x", 1024, 8192},
                 {CALC_SERVING_ENGINE_VLLM_0_11, "a100_sxm_80g", 256, 2048},
                 {CALC_SERVING_ENGINE_VLLM_0_11, "l40s", 256, 2048},
                 {CALC_SERVING_ENGINE_SGLANG_0_5, "a100_sxm_80g", 0, 8192},
                 {CALC_SERVING_ENGINE_TENSORRT_LLM_1_2, "h100_sxm", 2048, 8192}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_serving_limits own = calc_serving_limits_of(cases[i].engine, cases[i].system);
        ck_assert_int_eq(own.sequences, cases[i].sequences);
        ck_assert_int_eq(own.tokens, cases[i].tokens);
    }
}

CALC_TEST(drafts_are_known_of_few)
{
    const struct {
        const char *source, *drafts, *alone;
        calc_serving_engine engine;
        int64_t tokens;
    } cases[] = {{"InferenceX (x)", "mtp", "False", CALC_SERVING_ENGINE_TENSORRT_LLM_1_2, 3},
                 {"InferenceX (x)", "mtp", "True", CALC_SERVING_ENGINE_TENSORRT_LLM_1_1, 1},
                 {"InferenceX (x)", "mtp", "False", CALC_SERVING_ENGINE_SGLANG_0_5, 2},
                 {"InferenceX (x)", "mtp", "False", CALC_SERVING_ENGINE_ATOM_0_1, 0},
                 {"InferenceX (x)", "", "False", CALC_SERVING_ENGINE_SGLANG_0_5, 0},
                 {"InferenceX (x)", "yes (see script)", "", CALC_SERVING_ENGINE_SGLANG_0_5, 0},
                 {"somebody", "mtp", "False", CALC_SERVING_ENGINE_SGLANG_0_5, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_serving_row row = serving_row();
        row.source = cases[i].source;
        row.spec_decode = cases[i].drafts;
        row.dp_attention = cases[i].alone;
        calc_serving_recipe r = calc_serving_recipe_of(&row, cases[i].engine, "b200");
        ck_assert_int_eq(r.drafts, cases[i].tokens);
    }
}

CALC_TEST(pools_have_slots_for_a_little_less_than_there_is)
{
    const struct {
        double each;
        int64_t slots;
    } cases[] = {{0.5, 1},   {1, 1},     {2.4, 2}, {3, 3},       {4.5, 4},  {76.8, 64},
                 {53.3, 48}, {256, 256}, {17, 16}, {268.9, 256}, {768, 768}};
    calc_serving_row row = serving_row();
    row.source = "InferenceX (x)";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(
            calc_serving_recipe_slots(&row, CALC_SERVING_ENGINE_TENSORRT_LLM_1_2, cases[i].each),
            cases[i].slots);
    }
    ck_assert_int_eq(calc_serving_recipe_slots(&row, CALC_SERVING_ENGINE_SGLANG_0_5, 9), 0);
    row.source = "somebody";
    ck_assert_int_eq(calc_serving_recipe_slots(&row, CALC_SERVING_ENGINE_TENSORRT_LLM_1_2, 9), 0);
}

CALC_TEST(recipes_go_by_model)
{
    calc_serving_row row = serving_row();
    row.source = "an InferenceX export";
    row.model = "MiniMaxAI/MiniMax-M2.5";
    calc_serving_engine engine = CALC_SERVING_ENGINE_VLLM_0_11;
    ck_assert_int_eq(calc_serving_recipe_of(&row, engine, "b300").chunk_size, 2000);
    ck_assert_int_eq(calc_serving_recipe_of(&row, engine, "h100_sxm").chunk_size, 8192);
    ck_assert_int_eq(calc_serving_recipe_of(&row, engine, "h100_sxm").kv_datatype,
                     CALC_FORMAT_AUTO);
    ck_assert_int_eq(calc_serving_recipe_of(&row, engine, "h200").chunk_size, 32768);
    row.model = "meta-llama/Llama-3.1-70B";
    ck_assert_int_eq(calc_serving_recipe_of(&row, engine, "b300").chunk_size, 8192);
}

CALC_TEST(recipes_change_on_a_day)
{
    calc_serving_row row = serving_row();
    row.source = "InferenceX (x)";
    row.date = "2026-01-20";
    calc_serving_engine engine = CALC_SERVING_ENGINE_TENSORRT_LLM_1_1;
    ck_assert_int_eq(calc_serving_recipe_of(&row, engine, "h200").chunk_size, 1000);
    row.date = "2026-01-21";
    ck_assert_int_eq(calc_serving_recipe_of(&row, engine, "h200").chunk_size, 8192);
}

/* SGLang looks for requests at times on B200 alone, TensorRT-LLM's ranks of attention wait for one
   another. */
CALC_TEST(prompts_are_held_where_the_recipes_say)
{
    const struct {
        const char *source, *system, *alone;
        calc_serving_engine engine;
        double requests;
        int64_t steps;
    } cases[] = {{"InferenceX (x)", "b200", "False", CALC_SERVING_ENGINE_SGLANG_0_5, 8, 10},
                 {"InferenceX (x)", "b200", "False", CALC_SERVING_ENGINE_SGLANG_0_5, 16, 30},
                 {"InferenceX (x)", "h200", "False", CALC_SERVING_ENGINE_SGLANG_0_5, 16, 0},
                 {"InferenceX (x)", "mi355x", "False", CALC_SERVING_ENGINE_SGLANG_0_5, 16, 0},
                 {"InferenceX (x)", "b200", "True", CALC_SERVING_ENGINE_TENSORRT_LLM_1_1, 16, 60},
                 {"InferenceX (x)", "h200", "True", CALC_SERVING_ENGINE_TENSORRT_LLM_1_2, 4, 60},
                 {"InferenceX (x)", "b200", "False", CALC_SERVING_ENGINE_TENSORRT_LLM_1_1, 16, 0},
                 {"InferenceX (x)", "b200", "False", CALC_SERVING_ENGINE_VLLM_0_11, 16, 0},
                 {"an InferenceX export", "b200", "True", CALC_SERVING_ENGINE_SGLANG_0_5, 16, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_serving_row row = serving_row();
        row.source = cases[i].source;
        row.dp_attention = cases[i].alone;
        row.concurrency_or_batch = cases[i].requests;
        calc_serving_recipe r = calc_serving_recipe_of(&row, cases[i].engine, cases[i].system);
        ck_assert_int_eq(r.hold_steps, cases[i].steps);
    }
}
