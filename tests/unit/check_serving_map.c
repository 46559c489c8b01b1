/* What a run of serving means: how requests come, lengths, number formats, what was measured. */
#include "serving_run_case.h"

#include <string.h>

#include "engines.h"
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
    calc_serving_map_row(&map, &row, NULL, NULL, shipped_engines());
    ck_assert_msg(!map.reason, "%s", map.reason ? map.reason : "");
}

static void has_reason(const char *reason)
{
    calc_serving_map_row(&map, &row, NULL, NULL, shipped_engines());
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
    ck_assert_int_eq(map.kind, CALC_SERVING_KIND_CLOSED_LOOP);
    ck_assert_int_eq(asked->phase, CALC_INFERENCE_PHASE_SERVE);
    ck_assert_str_eq(asked->engine.name, "vllm-0.11");
    ck_assert_int_eq(asked->prompt_size, 1000);
    ck_assert_int_eq(asked->generate_size, 500);
    ck_assert_int_eq(asked->batch, 16);
    ck_assert_int_eq(asked->chunk_size, 8192);
    ck_assert_int_eq(asked->requests, 160);
    ck_assert(asked->prompt_spread == 0 && asked->generate_spread == 0);
    ck_assert_int_eq(asked->kv_datatype, CALC_FORMAT_AUTO);
    ck_assert(map.measured[CALC_QUANTITY_TPOT] == 0.012 &&
              map.measured[CALC_QUANTITY_TTFT] == 0.1 && map.gpus == 4 && map.requests == 16);
    ck_assert(isnan(map.measured[CALC_QUANTITY_E2E]) &&
              isnan(map.measured[CALC_QUANTITY_OUTPUT_RATE]));
    ck_assert_int_eq(map.year, 2025);
    ck_assert_int_eq(asked->max_sequences, 0);
    ck_assert(assumes("ten rounds"));
    for (int prompts = 1; prompts <= 17; prompts += 16) { /* every place is taken once at least */
        row.num_prompts = prompts;
        maps();
        ck_assert_int_eq(asked->requests, prompts == 1 ? 16 : 17);
        ck_assert(!assumes("ten rounds"));
    }
    row.num_prompts = (double)NAN;
    row.max_sequences = 8;
    maps();
    ck_assert_int_eq(asked->max_sequences, 8);
}

CALC_TEST(all_at_once_is_one_round)
{
    row.metric_kind = "all requests at once";
    row.concurrency_or_batch = (double)NAN;
    has_reason("how many requests come is in no column");
    row.num_prompts = 1000;
    maps();
    ck_assert_int_eq(map.kind, CALC_SERVING_KIND_ALL_AT_ONCE);
    ck_assert_str_eq(calc_serving_kind_words[map.kind], "all at once");
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

CALC_TEST(drafts_are_those_of_the_row)
{
    row.drafts = 2;
    maps();
    ck_assert_int_eq(asked->speculative_tokens, 2);
    ck_assert_double_eq(asked->speculative_accept, 0.7);
    ck_assert(assumes("70 % of the drafts"));
}

/* "vllm 0.11.0", or the engine of a month; builds of a platform where there are none of the name.
 */
CALC_TEST(an_engine_is_known_by_its_version_or_date)
{
    const struct {
        const char *software, *date;
        calc_platform platform;
        const char *engine;
        int year;
    } cases[] = {{"vLLM 0.5.3.post1", "", CALC_PLATFORM_CUDA, "vllm-0.5", 2024},
                 {"vLLM v0.10.2", "", CALC_PLATFORM_CUDA, "vllm-0.8", 2025},
                 {"vllm-0.19", "", CALC_PLATFORM_CUDA, "vllm-0.11", 2025},
                 {"vllm", "2024 (a paper)", CALC_PLATFORM_CUDA, "vllm-0.5", 2024},
                 {"vllm nightly", "2026-04-01", CALC_PLATFORM_CUDA, "vllm-0.11", 2026},
                 {"vllm_rocm 0.7", "", CALC_PLATFORM_ROCM, "vllm_rocm-0.6", 2025},
                 {"TensorRT-LLM 1.1.0rc2", "", CALC_PLATFORM_CUDA, "tensorrt_llm-1.1", 2025},
                 {"tensorrt_llm", "2025-10-30", CALC_PLATFORM_CUDA, "tensorrt_llm-1.0", 2025},
                 {"SGLang v0.5.3rc0", "", CALC_PLATFORM_CUDA, "sglang-0.5", 2025},
                 {"sglang 0.5.3", "", CALC_PLATFORM_ROCM, "sglang_rocm-0.5", 2025},
                 {"sglang 0.5.7", "", CALC_PLATFORM_ROCM, "sglang_rocm-0.5.5", 2026},
                 {"gpt-fast", "2023-11-30", CALC_PLATFORM_CUDA, "gpt-fast-2023", 2023}};
    static calc_system machine;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        machine.platform = cases[i].platform;
        row.software = cases[i].software;
        row.published = cases[i].date;
        calc_serving_map_row(&map, &row, NULL, &machine, shipped_engines());
        ck_assert_ptr_null(map.reason);
        ck_assert_str_eq(asked->engine.name, cases[i].engine);
        ck_assert_int_eq(map.year, cases[i].year);
    }
}

/* The columns of a file that are fields stand for what follows from the others. */
CALC_TEST(fields_stand_for_what_follows)
{
    const char text[] = "app,sys,software,num_gpus,tp,isl,osl,concurrency_or_batch,tpot_or_itl_ms,"
                        "drafts,inference.speculative_accept,inference.chunk_size,prefix,"
                        "inference.engine,inference.prefix_hit,assumed\n"
                        "m,g,nobody,4,4,1000.5,500,16,9,2,0.9,2048,x,sglang-0.5,0.25,one | two\n"
                        "m,g,vllm 0.11.0,4,4,1000.5,500,16,9,,,,x,,,\n";
    calc_serving_rows rows;
    calc_errors errors = {0};
    ck_assert_int_eq(
        calc_serving_rows_parse(&rows, (calc_text){strdup(text), strlen(text)}, "r", &errors),
        CALC_OK);
    row = rows.row[0];
    maps();
    ck_assert_str_eq(asked->engine.name, "sglang-0.5");
    ck_assert(asked->speculative_accept == 0.9 && asked->prefix_hit == 0.25);
    ck_assert(asked->chunk_size == 2048 && asked->prompt_size == 1001);
    ck_assert(asked->prompt_spread == 0.99 && !assumes("70 %"));
    ck_assert(map.assumed.count >= 2 && strcmp(map.assumed.text[0], "one") == 0 &&
              strcmp(map.assumed.text[1], "two") == 0);
    row = rows.row[1];
    maps();
    ck_assert_str_eq(asked->engine.name, "vllm-0.11");
    ck_assert(asked->chunk_size == 8192 && asked->prefix_hit == 0 && !assumes("one"));
    calc_serving_rows_free(&rows);
}

CALC_TEST(model_and_machine_complete_it)
{
    calc_app app = {.attn_heads = 64, .kv_heads = 8};
    static calc_system hopper, ampere;
    hopper.chip.matrix[CALC_DATATYPE_FLOAT8].flop_per_s = 1;
    hopper.networks_count = ampere.networks_count = 2;
    calc_serving_map_row(&map, &row, &app, &hopper, shipped_engines());
    const calc_strategy *s = &map.exec.strategy;
    ck_assert_int_eq(s->attention_type, CALC_ATTENTION_TYPE_GROUPED_QUERY);
    ck_assert_int_eq(s->matrix_datatype, CALC_FORMAT_FLOAT8);
    ck_assert(s->expert_par == 0 && s->data_par_net == 1 && map.exec.pipeline_par_net == 1);
    calc_serving_map_row(&map, &row, &app, &ampere, shipped_engines());
    ck_assert_int_eq(s->matrix_datatype, CALC_FORMAT_AUTO);
    ck_assert_int_eq(s->weight_datatype, CALC_FORMAT_FLOAT8);
    ck_assert(assumes("weights alone"));
    app = (calc_app){.attn_heads = 32, .kv_heads = 32};
    calc_serving_map_row(&map, &row, &app, &hopper, shipped_engines());
    ck_assert_int_eq(s->attention_type, CALC_ATTENTION_TYPE_MULTIHEAD);
    app = (calc_app){.attn_heads = 128, .kv_lora_rank = 512, .num_experts = 256};
    row.ep = 4;
    calc_serving_map_row(&map, &row, &app, &hopper, shipped_engines());
    ck_assert_int_eq(s->attention_type, CALC_ATTENTION_TYPE_MULTI_LATENT);
    ck_assert_int_eq(s->expert_par, 4);
    ck_assert_int_eq(asked->wide_attention, CALC_WIDE_ATTENTION_NONE);
    row.weight_dtype = "fp4"; /* latent attention has narrow outputs then */
    calc_serving_map_row(&map, &row, &app, &hopper, shipped_engines());
    ck_assert_int_eq(asked->wide_attention, CALC_WIDE_ATTENTION_INPUTS);
    app.kv_lora_rank = 0;
    calc_serving_map_row(&map, &row, &app, &hopper, shipped_engines());
    ck_assert_int_eq(asked->wide_attention, CALC_WIDE_ATTENTION_ALL);
    app.num_experts = 0;
    calc_serving_map_row(&map, &row, &app, &hopper, shipped_engines());
    ck_assert_int_eq(asked->wide_attention, CALC_WIDE_ATTENTION_NONE);
}

/* vLLM's server takes fewer on small memories. */
CALC_TEST(engines_limit_themselves)
{
    const struct {
        const char *software;
        double gib;
        int64_t sequences, tokens;
    } cases[] = {{"vllm 0.11.0", 80, 1024, 8192},
                 {"vllm 0.11.0", 48, 256, 2048},
                 {"sglang 0.5.3", 48, 0, 0},
                 {"tensorrt_llm 1.2.0", 80, 2048, 8192}};
    static calc_system machine;
    row.metric_kind = "all requests at once";
    row.num_prompts = 100;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        row.software = cases[i].software;
        machine.chip.mem1.capacity_bytes = cases[i].gib * 1073741824;
        calc_serving_map_row(&map, &row, NULL, &machine, shipped_engines());
        ck_assert_ptr_null(map.reason);
        ck_assert_int_eq(asked->max_sequences, cases[i].sequences);
        ck_assert_int_eq(asked->chunk_size, cases[i].tokens);
    }
}
