/* The two servers of a disaggregated layout. */
#include "formats/export.h"

#include "frame.h"
#include "small_case.h"

static calc_exec exec, own;

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
    calc_export_pool_exec(&exec, CALC_POOL_PREFILL, &own);
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
    calc_export_pool_exec(&exec, CALC_POOL_PREFILL, &own);
    ck_assert_int_eq(own.inference.batch, 3);
}

CALC_TEST(tokens_keep_theirs)
{
    calc_export_pool_exec(&exec, CALC_POOL_DECODE, &own);
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
