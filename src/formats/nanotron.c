/* nanotron: a YAML file. */
#include "formats/framework.h"
#include "formats/plan_macros.h"

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(NUMBER, DATA, "parallelism.dp")
    CALC_ROW(NUMBER, TENSOR, "parallelism.tp")
    CALC_ROW(NUMBER, PIPELINE, "parallelism.pp")
    CALC_ROW(NUMBER, EXPERT, "parallelism.expert_parallel_size")
    CALC_ROW(NUMBER, CONTEXT, "parallelism.context_parallel_size")
    CALC_ROW(WORDS, SCHEDULE, "parallelism.pp_engine", .words = "1f1b afab=gpipe")
    CALC_ROW(WORDS, SEQ_PAR, "parallelism.tp_mode", .words = "REDUCE_SCATTER=1 ALL_REDUCE=0")
    CALC_ROW(WORDS, TENSOR_SWITCHES, "parallelism.tp_linear_async_communication", .words = "true=3 false=0")
    CALC_ROW(WORDS, RECOMPUTE, "parallelism.recompute_layer", .words = "true=2 false=0")
    CALC_ROW(NUMBER, SHARDED, "optimizer.zero_stage")
    CALC_ROW(WORDS, GRAD, "optimizer.accumulate_grad_in_fp32", .words = "true=float32 false=auto")
    CALC_ROW(NUMBER, MICROBATCH, "tokens.micro_batch_size")
    CALC_ROW(NUMBER, MICROBATCHES, "tokens.batch_accumulation_per_replica")
    CALC_ROW(NUMBER, SEQ, "tokens.sequence_length")
    CALC_ROW(WORDS, PRECISION, "model.dtype", .words = "bfloat16 float16 float32")
    CALC_ROW(NUMBER, VOCAB_MULTIPLE, "model.make_vocab_size_divisible_by")
    CALC_ROW(NUMBER, HIDDEN, "model.model_config.hidden_size")
    CALC_ROW(NUMBER, FFN, "model.model_config.intermediate_size")
    CALC_ROW(NUMBER, BLOCKS, "model.model_config.num_hidden_layers")
    CALC_ROW(NUMBER, HEADS, "model.model_config.num_attention_heads")
    CALC_ROW(NUMBER, KV_HEADS, "model.model_config.num_key_value_heads")
    CALC_ROW(NUMBER, VOCAB, "model.model_config.vocab_size")
    CALC_ROW(NUMBER, WINDOW, "model.model_config.sliding_window_size")
    CALC_ROW(WORDS, FFN_TYPE, "model.model_config.hidden_act", .words = "silu=swiglu gelu=geglu")
    CALC_ROW(SWITCH, TIED, "model.model_config.tie_word_embeddings", .value = 1)
    CALC_ROW(WORDS, FLASH, "model.model_config._attn_implementation",
        .words = "flash_attention_2=1 sdpa=1 flex_attention=1 ring_flash_triton=1 ring=1 llama3_ring_attention=1 eager=0")
    CALC_ROW(NUMBER, EXPERTS, "model.model_config.moe_config.num_experts")
    CALC_ROW(NUMBER, TOP_K, "model.model_config.moe_config.top_k")
    CALC_ROW(NUMBER, EXPERT_FFN, "model.model_config.moe_config.moe_intermediate_size")
    CALC_ROW(NUMBER, SHARED_FFN, "model.model_config.moe_config.shared_expert_intermediate_size")
    CALC_ROW(SWITCH, SHARED, "model.model_config.moe_config.enable_shared_expert", .value = 1)
    CALC_ROW(WORDS, DISPATCH, "model.model_config.moe_config.token_dispatcher_type", .words = "alltoall=all_to_all allgather=all_gather")
    CALC_ROW_DEFAULT(SCHEDULE, CALC_PIPELINE_SCHEDULE_GPIPE)
    CALC_ROW_DEFAULT(TENSOR_SWITCHES, 0)
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(GRAD_OVERLAP, 1)
    CALC_ROW_DEFAULT(VOCAB_MULTIPLE, 1)
    CALC_ROWS_LLAMA
    CALC_ROW_DEFAULT(DISPATCH, CALC_DISPATCH_TYPE_ALL_TO_ALL)
    CALC_ROW_DEFAULT(EXPERT_TENSOR, 1)
};
/* clang-format on */

/* ---- What follows from the settings ---------------------------------------------------------- */

static calc_status settle(calc_plan *plan, calc_errors *errors)
{
    (void)errors;
    if (!YES(SHARED)) {
        SET(SHARED_FFN, NAN);
    }
    if (VALUE(PIPELINE) > 1) { /* parallel/pipeline_parallel: by the cost of its blocks */
        calc_plan_note(
            plan, "it divides blocks by their cost and that of the head; equal stages are taken");
    }
    return CALC_OK;
}

/* clang-format off */
const calc_framework calc_framework_nanotron = {.name = "nanotron", .title = "nanotron",
    .version = "main branch of April 2026", .launch = "torchrun run_train.py --config-file this file",
    .syntax = CALC_SYNTAX_YAML, .has_model = true, .settle = settle, CALC_FRAMEWORK_ROWS(rows, nanotron)};
/* clang-format on */
