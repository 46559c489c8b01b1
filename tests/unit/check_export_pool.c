/* The two servers of a disaggregated layout. */
#include "formats/export.h"

#include "frame.h"
#include "small_case.h"

static calc_exec exec, own;

/* Of the pools of vLLM. */
static void split(calc_pool pool)
{
    calc_exec server[CALC_POOL_COUNT];
    ck_assert_int_eq(calc_export_servers(&calc_framework_vllm, &exec, server), CALC_POOL_COUNT);
    own = server[pool];
}

/* 8 processors decode in two replicas, 6 prefill in three; four prompts in a pass. */
static void enter(void)
{
    exec = (calc_exec){.num_procs = 8,
                       .pipeline_par = 1,
                       .batch_size = 1,
                       .strategy = {.tensor_par = 4, .data_par = 2},
                       .inference = {.phase = CALC_INFERENCE_PHASE_DISAGGREGATED,
                                     .batch = 64,
                                     .chunk_size = 2048,
                                     .prefill_batch = 4,
                                     .max_sequences = 16,
                                     .speculative_tokens = 2,
                                     .prefill_procs = 6,
                                     .prefill_tensor_par = 2}};
}

const calc_test_frame calc_tests = {.setup = enter};

CALC_TEST(prompts_have_their_own_sizes)
{
    split(CALC_POOL_PREFILL);
    ck_assert_int_eq(own.inference.phase, CALC_INFERENCE_PHASE_PREFILL);
    ck_assert_int_eq(own.num_procs, 6);
    ck_assert_int_eq(own.strategy.tensor_par, 2);
    ck_assert_int_eq(own.strategy.data_par, 3);
    ck_assert_int_eq(own.inference.batch, 12);
    ck_assert_int_eq(own.inference.chunk_size, 2048);
    ck_assert_int_eq(own.inference.speculative_tokens, 0);
    ck_assert_int_eq(own.inference.max_sequences, 0);
    ck_assert_int_eq(own.inference.prefill_procs, 0);
    exec.inference.prefill_batch = 0;
    split(CALC_POOL_PREFILL);
    ck_assert_int_eq(own.inference.batch, 3);
}

CALC_TEST(tokens_keep_theirs)
{
    split(CALC_POOL_DECODE);
    ck_assert_int_eq(own.inference.phase, CALC_INFERENCE_PHASE_DECODE);
    ck_assert_int_eq(own.num_procs, 8);
    ck_assert_int_eq(own.strategy.tensor_par, 4);
    ck_assert_int_eq(own.inference.batch, 64);
    ck_assert_int_eq(own.inference.max_sequences, 16);
    ck_assert_int_eq(own.inference.speculative_tokens, 2);
    ck_assert_int_eq(own.inference.chunk_size, 0);
    ck_assert_int_eq(own.inference.prefill_tensor_par, 0);
    ck_assert_int_eq(own.inference.prefill_procs, 0);
}

CALC_TEST(a_layout_without_pools_is_one_server)
{
    calc_exec server[CALC_POOL_COUNT];
    ck_assert_int_eq(calc_export_servers(&calc_framework_tensorrt_llm, &exec, server), 1);
    ck_assert(calc_same(calc_table_of(CALC_KIND_EXEC), &server[0], &exec));
    exec.inference.phase = CALC_INFERENCE_PHASE_SERVE;
    ck_assert_int_eq(calc_export_servers(&calc_framework_vllm, &exec, server), 1);
    ck_assert_int_eq(server[0].inference.phase, CALC_INFERENCE_PHASE_SERVE);
}
