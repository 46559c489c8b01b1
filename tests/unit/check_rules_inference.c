#include "spec/rules.h"

#include <string.h>

#include "base/error.h"
#include "engines.h"
#include "frame.h"
#include "serving_case.h"
#include "spec/serving_engine.h"

static const calc_inference_phase every[] = {
    CALC_INFERENCE_PHASE_PREFILL, CALC_INFERENCE_PHASE_DECODE, CALC_INFERENCE_PHASE_SERVE};

static void check(const char *model, const calc_exec *exec, calc_errors *errors)
{
    calc_app app = shipped_app(model);
    calc_system system = small_system();
    system.chip.matrix[CALC_DATATYPE_BFLOAT16] = system.chip.matrix[CALC_DATATYPE_FLOAT16];
    memset(errors, 0, sizeof *errors);
    calc_status status = calc_check(&app, &system, exec, errors);
    ck_assert_int_eq(status == CALC_OK, errors->count == 0);
}

static void assert_fine(const char *model, const calc_exec *exec)
{
    calc_errors errors;
    check(model, exec, &errors);
    ck_assert_msg(errors.count == 0, "%s: %s", errors.item[0].pointer, errors.item[0].text);
}

/* Exactly this error. */
static void assert_broken(const char *model, const calc_exec *exec, const char *pointer,
                          const char *text, const char *hint)
{
    calc_errors errors;
    check(model, exec, &errors);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].pointer, pointer);
    ck_assert_str_eq(errors.item[0].text, text);
    ck_assert_str_eq(errors.item[0].hint, hint);
    ck_assert_int_eq(errors.item[0].kind, CALC_KIND_EXEC);
}

static calc_exec decoding(void)
{
    return serving_exec(CALC_INFERENCE_PHASE_DECODE, 8, 1, 2, 16);
}

static calc_exec apart(void)
{
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_DISAGGREGATED, 8, 1, 2, 16);
    e.inference.prefill_procs = 8;
    return e;
}

CALC_TEST(every_phase_is_fine)
{
    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        calc_exec e = serving_exec(every[i], 8, 1, 2, 16);
        assert_fine("llama3-70B", &e);
    }
    calc_exec e = apart();
    assert_fine("llama3-70B", &e);
}

CALC_TEST(a_phase_serves_and_does_not_train)
{
    calc_exec e = decoding();
    e.training = true;
    assert_broken("llama3-70B", &e, "/inference/phase", "nothing is served in training",
                  "use training false");
}

CALC_TEST(without_a_phase_nothing_else_is_given)
{
    const char *text = "without a phase the other fields of inference have no effect";
    const char *hint = "use \"prefill\", \"decode\", \"serve\" or \"disaggregated\"";
    calc_exec e = decoding();
    e.inference = (calc_inference){0};
    assert_fine("llama3-70B", &e);
    e.inference.prompt_size = 1;
    assert_broken("llama3-70B", &e, "/inference/phase", text, hint);
    e.inference = (calc_inference){.prefix_hit = 1e-9};
    assert_broken("llama3-70B", &e, "/inference/phase", text, hint);
}

CALC_TEST(requests_that_are_decoded_generate_two_tokens_at_least)
{
    const char *hint = "use at least 2, or phase \"prefill\"";
    calc_exec e = decoding();
    e.inference.generate_size = 0;
    assert_fine("llama3-70B", &e);
    e.inference.phase = CALC_INFERENCE_PHASE_SERVE;
    assert_broken("llama3-70B", &e, "/inference/generate_size",
                  "a request that generates 0 tokens is not decoded", hint);
    e = apart();
    e.inference.generate_size = 1;
    assert_broken("llama3-70B", &e, "/inference/generate_size",
                  "a request that generates 1 token is not decoded", hint);
    e.inference.generate_size = 2;
    assert_fine("llama3-70B", &e);
}

CALC_TEST(replicas_share_the_batch)
{
    calc_exec e = decoding();
    e.inference.batch = 10;
    assert_fine("llama3-70B", &e);
    e.inference.batch = 11;
    assert_broken("llama3-70B", &e, "/inference/batch", "11 is not a multiple of data_par = 2",
                  "use a multiple of data_par: 12");
    e = serving_exec(CALC_INFERENCE_PHASE_DISAGGREGATED, 8, 1, 2, 16);
    e.inference.prefill_procs = 8;
    e.inference.batch = 11; /* a router spreads them */
    assert_fine("llama3-70B", &e);
    e.inference.batch = 1;
    assert_broken("llama3-70B", &e, "/inference/batch", "1 is not a multiple of data_par = 2",
                  "use a multiple of data_par: 2");
}

CALC_TEST(drafts_must_be_drafted)
{
    const char *text = "nothing is drafted: speculative_accept and speculative_cost have no effect";
    const char *hint = "give speculative_tokens, or leave them out";
    calc_exec e = decoding();
    e.inference.speculative_accept = 0.5;
    assert_broken("llama3-70B", &e, "/inference/speculative_tokens", text, hint);
    e.inference.speculative_accept = 0;
    e.inference.speculative_cost = 0.5;
    assert_broken("llama3-70B", &e, "/inference/speculative_tokens", text, hint);
    e.inference.speculative_tokens = 1;
    assert_fine("llama3-70B", &e);
    /* An engine drafts with another model, which takes time, or with the model's own block. */
    e.inference.engine = shipped_engine("vllm-0.11");
    assert_fine("llama3-70B", &e);
    e.inference.speculative_cost = 0;
    assert_broken(
        "llama3-70B", &e, "/inference/speculative_cost",
        "drafts of an engine take time, and the model has no mtp_blocks that draft",
        "say it: 0.14 was measured of EAGLE-3 beside 8 B parameters, 1e-6 is that of n-grams");
    e.inference.engine = shipped_engine("none");
    assert_fine("llama3-70B", &e);
}

/* What an engine costs beside the model was fitted on one platform, or on several. */
CALC_TEST(an_engine_is_of_the_platform)
{
    static const struct {
        const char *engine;
        calc_platform platform;
        bool fine;
    } cases[] = {
        {"vllm-0.6", CALC_PLATFORM_CUDA, false},         {"vllm-0.6", CALC_PLATFORM_ROCM, true},
        {"vllm-0.6", CALC_PLATFORM_ANY, true},           {"vllm-0.5", CALC_PLATFORM_ROCM, true},
        {"tensorrt_llm-1.2", CALC_PLATFORM_ROCM, false}, {"none", CALC_PLATFORM_CANN, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        calc_errors errors = {0};
        calc_system system = {.platform = cases[i].platform};
        const calc_serving_engine engine = shipped_engine(cases[i].engine);
        calc_serving_engine_check(&system, &engine, &errors);
        ck_assert_int_eq(errors.count, !cases[i].fine);
        ck_assert(cases[i].fine || strstr(errors.item[0].text, "of another platform only"));
    }
}

/* A name alone says nothing. */
CALC_TEST(an_engine_that_was_not_read_is_an_error)
{
    calc_errors errors = {0};
    calc_system system = {.platform = CALC_PLATFORM_CUDA};
    const calc_serving_engine engine = {.name = "mine"};
    calc_serving_engine_check(&system, &engine, &errors);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_int_eq(errors.item[0].status, CALC_ERR_UNSUPPORTED);
    ck_assert_str_eq(errors.item[0].text, "engine \"mine\" was not given");
}

CALC_TEST(decoding_has_no_context_parallelism_and_no_chunks_of_stages)
{
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_PREFILL, 4, 1, 2, 16);
    e.strategy.context_par = 2;
    e.num_procs = 16;
    assert_fine("llama3-70B", &e);
    e.inference.phase = CALC_INFERENCE_PHASE_DECODE;
    assert_broken("llama3-70B", &e, "/context_par",
                  "decoding with context parallelism is not modelled yet",
                  "use 1, or phase \"prefill\"");
    e = serving_exec(CALC_INFERENCE_PHASE_DECODE, 4, 2, 1, 16);
    assert_fine("llama3-70B", &e);
    e.pipeline_interleaving = 2;
    assert_broken("llama3-70B", &e, "/pipeline_interleaving",
                  "chunks of a stage shorten the bubble of training: serving has no use for them",
                  "use 1");
}

CALC_TEST(nothing_is_served_from_the_second_tier)
{
    const char *text = "serving from the second memory tier is not modelled yet";
    calc_exec e = decoding();
    e.strategy.weight_offload = true;
    assert_broken("llama3-70B", &e, "/weight_offload", text, "use false");
    e.strategy.weight_offload = false;
    e.strategy.activations_offload = true;
    assert_broken("llama3-70B", &e, "/activations_offload", text, "use false");
}

CALC_TEST(only_disaggregated_serving_has_a_prefill_pool)
{
    const char *text = "only disaggregated serving has a prefill pool";
    const char *hint = "use phase \"disaggregated\", or leave it out";
    calc_exec e = decoding();
    e.inference.prefill_procs = 8;
    assert_broken("llama3-70B", &e, "/inference/prefill_procs", text, hint);
    e = decoding();
    e.inference.prefill_tensor_par = 8;
    assert_broken("llama3-70B", &e, "/inference/prefill_procs", text, hint);
}

CALC_TEST(the_system_of_a_prefill_pool_has_what_is_asked_of_it)
{
    const char *pointer = "/inference/prefill_system";
    calc_system other = small_system();
    calc_exec e = decoding();
    e.inference.prefill_system = (calc_other_system){"other", &other};
    other.chip.matrix[CALC_DATATYPE_BFLOAT16] = other.chip.matrix[CALC_DATATYPE_FLOAT16];
    other.chip.mem1.bytes_per_s *= 2;
    assert_broken("llama3-70B", &e, "/inference/prefill_procs",
                  "only disaggregated serving has a prefill pool",
                  "use phase \"disaggregated\", or leave it out");
    e = apart();
    e.inference.prefill_system = (calc_other_system){"other", NULL};
    assert_broken("llama3-70B", &e, pointer, "system \"other\" was not given",
                  "put it into calc_exec.inference.prefill_system.system");
    e.inference.prefill_system.system = &other;
    assert_fine("llama3-70B", &e);
    other.networks_count = 1;
    assert_broken("llama3-70B", &e, pointer,
                  "other: pipeline_par_net: no network 1: the system has 1", "use 0");
    other.networks_count = 2;
    other.chip.matrix[CALC_DATATYPE_BFLOAT16].flop_per_s = 0;
    calc_errors errors;
    check("llama3-70B", &e, &errors);
    ck_assert_int_eq(errors.count, 1);
    ck_assert_str_eq(errors.item[0].text,
                     "other: datatype: the system's matrix engine does not offer bfloat16");
}

CALC_TEST(a_prefill_pool_is_whole_replicas)
{
    calc_exec e = apart();
    e.inference.prefill_procs = 0;
    assert_broken("llama3-70B", &e, "/inference/prefill_procs",
                  "0 processors are no replicas of tensor 8 * pipeline 1",
                  "use a multiple of 8: 8");
    e.inference.prefill_procs = 12;
    assert_broken("llama3-70B", &e, "/inference/prefill_procs",
                  "12 processors are no replicas of tensor 8 * pipeline 1",
                  "use a multiple of 8: 16");
    e.inference.prefill_tensor_par = 4;
    assert_fine("llama3-70B", &e);
    e.inference.prefill_tensor_par = 3;
    e.inference.prefill_procs = 3;
    calc_errors errors;
    check("llama3-70B", &e, &errors);
    ck_assert_int_eq(errors.count, 3); /* heads, width and feed-forward */
    ck_assert_str_eq(errors.item[0].text, "3 does not divide attn_heads = 64");
    ck_assert_str_eq(errors.item[0].hint, "use 1, 2, 4, 8, 16, 32 or 64");
}

CALC_TEST(a_prefill_pool_splits_the_experts)
{
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_DISAGGREGATED, 1, 1, 16, 16);
    e.strategy.expert_par = 16;
    e.inference.prefill_procs = 8;
    e.inference.prefill_expert_par = 8;
    assert_fine("deepseek-v3-671B", &e);
    e.inference.prefill_expert_par = 0; /* as expert_par: 16 ranks of 8 processors */
    assert_broken("deepseek-v3-671B", &e, "/inference/prefill_expert_par",
                  "16 does not divide the processors of a prefill stage = 8", "use 1, 2, 4 or 8");
    e.inference.prefill_procs = 9;
    e.inference.prefill_expert_par = 9;
    assert_broken("deepseek-v3-671B", &e, "/inference/prefill_expert_par",
                  "9 does not divide num_experts = 256", "use 1, 2, 4, 8, 16, 32, 64, 128 or 256");
    e.inference.prefill_procs = 16;
    e.inference.prefill_expert_par = 8;
    e.inference.prefill_tensor_par = 2;
    assert_broken("deepseek-v3-671B", &e, "/inference/prefill_expert_par",
                  "8 does not divide prefill_tensor_par = 2", "use 1 or 2");
    e.inference.prefill_tensor_par = 8; /* all ranks have all tokens */
    assert_fine("deepseek-v3-671B", &e);
    e.inference.redundant_experts = 16;
    assert_fine("deepseek-v3-671B", &e);
    e.inference = (calc_inference){.phase = CALC_INFERENCE_PHASE_DISAGGREGATED,
                                   .prompt_size = 1024,
                                   .generate_size = 512,
                                   .prefill_procs = 8};
    e.strategy.expert_par = 1;
    e.strategy.expert_tensor_par = 16; /* as decoding splits an expert */
    assert_broken("deepseek-v3-671B", &e, "/expert_tensor_par",
                  "16 does not divide the processors of a prefill stage = 8", "use 1, 2, 4 or 8");
}

CALC_TEST(what_waits_is_told_where_something_waits)
{
    const char *hint = "use phase \"serve\" or \"disaggregated\", or leave them out";
    const char *text = "nothing waits where one phase runs alone: max_sequences, requests, "
                       "arrival_rate, prompt_spread and generate_spread have no effect";
    for (int i = 0; i < 5; i++) {
        calc_exec e = decoding();
        e.inference.max_sequences = i == 0;
        e.inference.requests = i == 1 ? 16 : 0;
        e.inference.arrival_rate = i == 2;
        e.inference.prompt_spread = i == 3 ? 0.1 : 0;
        e.inference.generate_spread = i == 4 ? 0.1 : 0;
        assert_broken("llama3-70B", &e, "/inference/phase", text, hint);
        e.inference.phase = CALC_INFERENCE_PHASE_PREFILL;
        assert_broken("llama3-70B", &e, "/inference/phase", text, hint);
        e.inference.phase = CALC_INFERENCE_PHASE_SERVE;
        assert_fine("llama3-70B", &e);
        e.inference.phase = CALC_INFERENCE_PHASE_DISAGGREGATED;
        e.inference.prefill_procs = 8;
        assert_fine("llama3-70B", &e);
    }
}

CALC_TEST(prompts_are_held_between_steps_that_decode)
{
    calc_exec e = decoding();
    e.inference.hold_steps = 30;
    for (int phase = CALC_INFERENCE_PHASE_PREFILL; phase <= CALC_INFERENCE_PHASE_DISAGGREGATED;
         phase++) {
        e.inference.phase = (calc_inference_phase)phase;
        e.inference.prefill_procs = phase == CALC_INFERENCE_PHASE_DISAGGREGATED ? 8 : 0;
        if (phase == CALC_INFERENCE_PHASE_SERVE) {
            assert_fine("llama3-70B", &e);
        } else {
            assert_broken("llama3-70B", &e, "/inference/hold_steps",
                          "no prompt is prefilled between the steps that decode",
                          "use phase \"serve\", or leave it out");
        }
    }
}

CALC_TEST(requests_come_in_one_way)
{
    calc_exec e = serving_exec(CALC_INFERENCE_PHASE_SERVE, 8, 1, 2, 16);
    e.inference.requests = 15;
    assert_broken("llama3-70B", &e, "/inference/requests", "15 are fewer than the batch of 16",
                  "use at least the batch");
    e.inference.batch = 14;
    assert_fine("llama3-70B", &e);
    e.inference.arrival_rate = 2;
    assert_broken("llama3-70B", &e, "/inference/batch",
                  "requests arrive at arrival_rate: batch has no effect",
                  "leave out one of the two, or use max_sequences");
    e.inference.batch = 0;
    assert_fine("llama3-70B", &e);
}

/* Rates of one kernel without the first of them, beside others that are whole. */
CALC_TEST(rates_of_serving_need_the_first_of_their_kernel)
{
    calc_app app = shipped_app("llama3-8B");
    calc_system system = small_system();
    calc_exec exec = decoding();
    calc_errors errors = {0};
    system.chip.matrix[CALC_DATATYPE_BFLOAT16] = system.chip.matrix[CALC_DATATYPE_FLOAT16];
    system.chip.serving.decode = (calc_serving_decode){.memory_efficiency = 0.5, .fixed_s = 1e-6};
    system.chip.serving.exchange = (calc_serving_latency){.doubling_s = 1e-6};
    ck_assert_int_eq(calc_check(&app, &system, &exec, &errors), CALC_OK);
    system.chip.serving.matrix.fixed_s = 1e-6;
    system.chip.serving.all_reduce.two_shot_efficiency = 0.5;
    ck_assert_int_eq(calc_check(&app, &system, &exec, &errors), CALC_ERR_RULE);
    ck_assert_int_eq(errors.count, 2);
    ck_assert_str_eq(errors.item[0].pointer, "/serving/matrix");
    ck_assert_str_eq(errors.item[0].text,
                     "without memory_efficiency the other rates have no effect");
    ck_assert_str_eq(errors.item[0].hint, "give memory_efficiency, or none of them");
    ck_assert_str_eq(errors.item[1].pointer, "/serving/all_reduce");
    ck_assert_str_eq(errors.item[1].text,
                     "without one_shot_efficiency the other rates have no effect");
    ck_assert_int_eq(errors.item[1].kind, CALC_KIND_SYSTEM);
}
