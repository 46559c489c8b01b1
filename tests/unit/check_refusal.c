#include "formats/refusal.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static calc_app app;
static calc_exec exec;

/* Mixtral-like, on 32 processors, fine for every framework. */
static void setup(void)
{
    app = (calc_app){.hidden = 4096,
                     .feedforward = 14336,
                     .seq_size = 4096,
                     .attn_heads = 32,
                     .attn_size = 128,
                     .num_blocks = 32,
                     .num_experts = 8,
                     .experts_per_token = 2};
    exec = (calc_exec){.num_procs = 32,
                       .strategy.tensor_par = 2,
                       .pipeline_par = 4,
                       .strategy.data_par = 4,
                       .batch_size = 32,
                       .microbatch_size = 1,
                       .pipeline_interleaving = 2,
                       .strategy.expert_par = 4,
                       .strategy.datatype = CALC_DATATYPE_BFLOAT16,
                       .strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_RS_AG,
                       .strategy.expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_BATCH,
                       .training = true};
}

static void keep(void *context, const char *reason)
{
    *(const char **)context = reason;
}

static void fine(const calc_framework *framework)
{
    const char *reason = "";
    size_t count = calc_export_refused(framework, &app, &exec, keep, &reason);
    ck_assert_msg(count == 0, "%s", reason);
}

static void refused(const calc_framework *framework, const char *words)
{
    const char *reason = "";
    ck_assert_uint_eq(calc_export_refused(framework, &app, &exec, keep, &reason), 1);
    ck_assert_msg(strstr(reason, words), "%s", reason);
    setup();
}

#define MEGATRON &calc_framework_megatron

START_TEST(what_starts_is_not_refused)
{
    for (size_t i = 0; calc_framework_list[i]; i++) {
        fine(calc_framework_list[i]);
    }
}
END_TEST

START_TEST(overlap_of_two_batches_has_conditions)
{
    exec.pipeline_interleaving = 1;
    refused(MEGATRON, "pipeline_interleaving of at least 2");
    exec.pipeline_interleaving = 1;
    exec.strategy.expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_NONE;
    fine(MEGATRON);
    setup();
    exec.strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
    refused(MEGATRON, "activation_recompute full");
    exec.strategy.expert_par = 0;
    refused(MEGATRON, "expert_par of at least 2");
    exec.strategy.expert_par = 0;
    app.num_experts = 0;
    fine(MEGATRON);
    setup();
    exec.pipeline_interleaving = 1; /* MindSpeed has another overlap, NeMo none */
    fine(&calc_framework_mindspeed);
    fine(&calc_framework_nemo);
    refused(&calc_framework_bridge, "pipeline_interleaving of at least 2");
}
END_TEST

START_TEST(stages_hold_equally_many_blocks)
{
    app.num_blocks = 33;
    refused(MEGATRON, "do not divide");
    app.num_blocks = 33;
    exec.first_stage_blocks = 9; /* 24 in three stages of two chunks */
    fine(MEGATRON);
    exec.last_stage_blocks = 8; /* 16 in two */
    fine(MEGATRON);
    exec.last_stage_blocks = 7;
    refused(MEGATRON, "do not divide");
    app.num_blocks = 30;
    exec.pipeline_balance = CALC_PIPELINE_BALANCE_ENDS;
    fine(MEGATRON);
    exec.pipeline_balance = CALC_PIPELINE_BALANCE_FREE;
    app.num_blocks = 32;
    refused(MEGATRON, "--pipeline-model-parallel-layout");
    exec.pipeline_balance = CALC_PIPELINE_BALANCE_ENDS;
    exec.first_stage_blocks = 4;
    app.num_blocks = 32; /* and two make 30 in three stages of two chunks */
    refused(MEGATRON, "excludes first_stage_blocks");
    app.num_blocks = 33;
    exec.pipeline_par = 1;
    exec.pipeline_interleaving = 1;
    fine(MEGATRON);
}
END_TEST

START_TEST(sequence_parallelism_is_needed)
{
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    refused(MEGATRON, "experts with tensor_par above 1");
    exec.strategy.tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    app.num_experts = 0;
    fine(MEGATRON);
    exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_ASYNC;
    fine(MEGATRON);
    exec.strategy.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_FUSED;
    refused(MEGATRON, "tensor_par_overlap");
}
END_TEST

START_TEST(stages_and_sharded_gradients_are_either_or)
{
    exec.strategy.zero_stage = 2;
    refused(&calc_framework_paddle, "zero_stage 2 and 3");
    exec.strategy.zero_stage = 1;
    fine(&calc_framework_paddle);
    exec.strategy.zero_stage = 3;
    fine(MEGATRON);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("refusal");
    TCase *tests = tcase_create("refusal");
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, what_starts_is_not_refused);
    tcase_add_test(tests, overlap_of_two_batches_has_conditions);
    tcase_add_test(tests, stages_hold_equally_many_blocks);
    tcase_add_test(tests, sequence_parallelism_is_needed);
    tcase_add_test(tests, stages_and_sharded_gradients_are_either_or);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
