#include "formats/plan.h"

#include "frame.h"

/* Llama 3 70B on 64 processors in nodes of 8. */
static void llama(calc_app *app, calc_exec *exec)
{
    *app = (calc_app){.hidden = 8192,
                      .feedforward = 28672,
                      .seq_size = 8192,
                      .attn_heads = 64,
                      .attn_size = 128,
                      .num_blocks = 80,
                      .structure_type = CALC_STRUCTURE_TYPE_LLAMA,
                      .kv_heads = 8};
    *exec = (calc_exec){.num_procs = 64,
                        .strategy.tensor_par = 4,
                        .pipeline_par = 4,
                        .strategy.data_par = 4,
                        .batch_size = 128,
                        .microbatch_size = 2,
                        .pipeline_interleaving = 5,
                        .strategy.datatype = CALC_DATATYPE_BFLOAT16,
                        .strategy.optimizer_sharding = true,
                        .strategy.zero_stage = 0,
                        .strategy.data_par_overlap = true,
                        .strategy.attention_type = CALC_ATTENTION_TYPE_FLASH};
}

#define SAYS(name, number) ck_assert_double_eq(plan.value[CALC_PLAN_##name], number)
#define SILENT(name) ck_assert(!calc_plan_says(&plan, CALC_PLAN_##name))

/* One setting says all where weights, gradients, master weights and both moments have one format,
 * or weights are wide. */
CALC_TEST(one_format_of_all_state_is_said_once)
{
    enum { ALL = 4 };
    for (int other = 0; other <= ALL; other++) { /* ALL: none of them */
        calc_app app;
        calc_exec exec;
        calc_plan plan;
        llama(&app, &exec);
        calc_format *of[ALL] = {&exec.strategy.weight_datatype, &exec.strategy.grad_datatype,
                                &exec.strategy.master_datatype,
                                &exec.strategy.optimizer_moment_datatype};
        for (int i = 0; i < ALL; i++) {
            *of[i] = i == other ? CALC_FORMAT_FLOAT16 : CALC_FORMAT_BFLOAT16;
        }
        calc_plan_from(&plan, &app, &exec, 8);
        if (other == ALL) {
            SAYS(STATE, CALC_FORMAT_BFLOAT16);
        } else {
            SILENT(STATE);
        }
        exec.strategy.weight_datatype = CALC_FORMAT_FLOAT32;
        calc_plan_from(&plan, &app, &exec, 8);
        SAYS(STATE, CALC_FORMAT_FLOAT32);
    }
}

CALC_TEST(a_layout_is_said_in_numbers)
{
    calc_app app;
    calc_exec exec;
    calc_plan plan;
    llama(&app, &exec);
    calc_plan_from(&plan, &app, &exec, 8);
    SAYS(NODE_PROCS, 8);
    SAYS(NODES, 8);
    SAYS(CHUNKS, 5);
    SAYS(CHUNK_BLOCKS, 4);
    SAYS(MICROBATCHES, 16);
    SAYS(LOCAL_BATCH, 32);
    SAYS(LOOPED, 100);
    SAYS(SHARDED, 1);
    SAYS(DIST_OPT, 1);
    SAYS(FSDP, 0);
    SAYS(SHARD_RANKS, 4);
    SAYS(INSTANCES, 1);
    SAYS(GATHER_OVERLAP, 1);
    SAYS(FLASH, 1);
    SAYS(RECOMPUTE, 0);
    SILENT(CONTEXT);
    SILENT(EXPERTS);
    SILENT(GRAD);
    SILENT(FP8);
}

CALC_TEST(presets_are_resolved)
{
    calc_app app;
    calc_exec exec;
    calc_plan plan;
    llama(&app, &exec);
    calc_plan_from(&plan, &app, &exec, 8);
    SAYS(FFN_TYPE, CALC_FFN_TYPE_SWIGLU);
    SAYS(GATED, 1);
    SAYS(NORM, CALC_NORM_TYPE_RMS);
    SAYS(POSITION, CALC_POSITION_TYPE_ROPE);
    SAYS(BIAS, 0);
    SAYS(DROPOUT, 0);
    SAYS(TIED, 0);
    SAYS(KV_HEADS, 8);
    SAYS(MODEL, 1);
    app.structure_type = CALC_STRUCTURE_TYPE_GPT;
    app.bias = CALC_CHOICE_FALSE;
    calc_plan_from(&plan, &app, &exec, 8);
    SAYS(FFN_TYPE, CALC_FFN_TYPE_GELU);
    SAYS(DROPOUT, 0.1);
    SAYS(TIED, 1);
    SAYS(BIAS, 0);
    exec.strategy.structure_type = CALC_STRUCTURE_TYPE_LLAMA;
    calc_plan_from(&plan, &app, &exec, 8);
    SAYS(FFN_TYPE, CALC_FFN_TYPE_SWIGLU);
}

CALC_TEST(models_of_the_same_width_and_depth_have_their_own_names)
{
    calc_app app;
    calc_exec exec;
    calc_plan plan;
    llama(&app, &exec);
    app.vocab_size = 128256;
    calc_plan_from(&plan, &app, &exec, 8);
    SAYS(MODEL, 1);
    app.vocab_size = 32000; /* Llama 2 70B */
    calc_plan_from(&plan, &app, &exec, 8);
    SILENT(MODEL);
    app.vocab_size = 0;
    app.feedforward = 29568; /* Qwen 2 72B */
    calc_plan_from(&plan, &app, &exec, 8);
    SILENT(MODEL);
}

CALC_TEST(nodes_of_any_size_hold_whole_shares)
{
    calc_app app;
    calc_exec exec;
    calc_plan plan;
    llama(&app, &exec);
    calc_plan_from(&plan, &app, &exec, 6);
    SAYS(NODE_PROCS, 2);
    SAYS(NODES, 32);
    calc_plan_from(&plan, &app, &exec, 1000);
    SAYS(NODE_PROCS, 8);
}

/* No framework has 8-bit numbers only: the rest is bfloat16. */
CALC_TEST(eight_bits_are_for_matrices)
{
    calc_app app;
    calc_exec exec;
    calc_plan plan;
    llama(&app, &exec);
    exec.strategy.datatype = CALC_DATATYPE_FLOAT8;
    calc_plan_from(&plan, &app, &exec, 8);
    SAYS(PRECISION, CALC_DATATYPE_BFLOAT16);
    SAYS(FP8, 1);
}

/* Each pair is one meaning in two spellings. */
CALC_TEST(spellings_of_one_meaning_become_equal)
{
    for (int i = 0; i < 6; i++) {
        calc_app app[2];
        calc_exec exec[2];
        llama(&app[0], &exec[0]);
        llama(&app[1], &exec[1]);
        exec[1].strategy.attention_type =
            i == 0 ? CALC_ATTENTION_TYPE_GROUPED_QUERY : exec[1].strategy.attention_type;
        exec[1].strategy.flash_attention = i == 0;
        exec[1].strategy.context_par = i == 1;
        exec[1].strategy.zero_stage = i == 2 ? 1 : 0;
        exec[1].seq_size = i == 3 ? 8192 : 0;
        exec[1].strategy.grad_reduce_datatype = i == 4 ? CALC_FORMAT_FLOAT32 : CALC_FORMAT_AUTO;
        exec[0].strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
        exec[1].strategy.activation_recompute =
            i == 5 ? CALC_ACTIVATION_RECOMPUTE_MODULES : CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
        exec[1].strategy.recompute_modules = 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN;
        calc_plan_resolve(&app[0], &exec[0]);
        calc_plan_resolve(&app[1], &exec[1]);
        ck_assert_mem_eq(&app[0], &app[1], sizeof app[0]);
        ck_assert_mem_eq(&exec[0], &exec[1], sizeof exec[0]);
    }
}

CALC_TEST(meanings_that_differ_stay_different)
{
    calc_app app;
    calc_exec exec[2];
    llama(&app, &exec[0]);
    llama(&app, &exec[1]);
    exec[1].strategy.zero_stage = 2;
    calc_plan_resolve(&app, &exec[0]);
    calc_plan_resolve(&app, &exec[1]);
    ck_assert_int_eq(exec[0].strategy.zero_stage, 1);
    ck_assert_int_eq(exec[1].strategy.zero_stage, 2);
    ck_assert_int_eq(exec[0].strategy.fsdp_par, 4);
}
