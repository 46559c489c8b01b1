/* LLM Foundry, with Composer as its trainer: a YAML file. */
#include "formats/framework.h"
#include "formats/plan_macros.h"

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(NUMBER, SEQ, "max_seq_len", .assumed = "calc takes it as not given")
    CALC_ROW(NUMBER, SEQ, "variables.max_seq_len", .read_only = true)
    CALC_ROW(NUMBER, BATCH, "global_train_batch_size")
    CALC_ROW(NUMBER, MICROBATCH, "device_train_microbatch_size", .assumed = "one sequence is assumed")
    CALC_ROW(WORDS, PRECISION, "precision", .words = "amp_bf16=bfloat16 amp_fp16=float16 fp32=float32 amp_fp8=float8")
    CALC_ROW(NUMBER, PROCS, "n_gpus")
    CALC_ROW(WORDS, SHARDED, "fsdp_config.sharding_strategy",
        .words = "FULL_SHARD=3 SHARD_GRAD_OP=2 NO_SHARD=0 HYBRID_SHARD=13 _HYBRID_SHARD_ZERO2=12")
    CALC_ROW(WORDS, RECOMPUTE, "fsdp_config.activation_checkpointing", .words = "true=2 false=0")
    CALC_ROW(SWITCH, ACT_OFFLOAD, "fsdp_config.activation_cpu_offload", .value = 1)
    CALC_ROW(NUMBER, SHARD_RANKS, "fsdp_config.data_parallel_shard_degree", .unset = true)
    CALC_ROW(NUMBER, TENSOR, "tp_config.tensor_parallel_degree")
    CALC_ROW(NUMBER, HIDDEN, "model.d_model")
    CALC_ROW(NUMBER, HEADS, "model.n_heads")
    CALC_ROW(NUMBER, BLOCKS, "model.n_layers")
    CALC_ROW(NUMBER, HEAD_SIZE, "model.head_dim")
    CALC_ROW(DECIMAL, FFN_RATIO, "model.expansion_ratio")
    CALC_ROW(NUMBER, FFN, "model.ffn_config.ffn_hidden_size")
    CALC_ROW(NUMBER, VOCAB, "model.vocab_size")
    CALC_ROW(NUMBER, KV_HEADS, "model.attn_config.kv_n_heads")
    CALC_ROW(WORDS, FLASH, "model.attn_config.attn_impl", .words = "flash=1 flex=1 torch=0")
    CALC_ROW(SWITCH, QK_NORM, "model.attn_config.qk_ln", .value = 1)
    CALC_ROW(WORDS, POSITION, "model.attn_config.rope", .words = "true=rope false=")
    CALC_ROW(IS, POSITION, "model.attn_config.alibi", .value = CALC_POSITION_TYPE_NONE)
    CALC_ROW(NUMBER, WINDOW, "model.attn_config.sliding_window_size", .unset = true)
    CALC_ROW(WORDS, FFN_TYPE, "model.ffn_config.ffn_type", .words = "mptmlp=gelu mptglu=geglu mptgeglu=geglu te_ln_mlp=gelu")
    CALC_ROW(WORDS, FFN_TYPE, "model.ffn_config.ffn_act_fn.name", .words = "silu=swiglu gelu=")
    CALC_ROW(WORDS, NORM, "model.norm_type",
        .words = "low_precision_layernorm=layer layernorm=layer rmsnorm=rms low_precision_rmsnorm=rms triton_rmsnorm=rms")
    CALC_ROW(SWITCH, BIAS, "model.no_bias", .value = 0)
    CALC_ROW(SWITCH, TIED, "model.tie_word_embeddings", .value = 1)
    CALC_ROW(DECIMAL, DROPOUT, "model.resid_pdrop")
    CALC_ROW(DECIMAL, DROPOUT, "model.emb_pdrop")
    CALC_ROW(DECIMAL, DROPOUT, "model.attn_config.attn_pdrop")
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROWS_FSDP
    CALC_ROW_DEFAULT(FFN_TYPE, CALC_FFN_TYPE_GELU)
    CALC_ROW_DEFAULT(DROPOUT, 0)
    CALC_ROW_DEFAULT(VOCAB_MULTIPLE, 1)
};
/* clang-format on */

/* ---- What follows from the settings ---------------------------------------------------------- */

static calc_status settle(calc_plan *plan, calc_errors *errors)
{
    (void)errors;
    if (!SAYS(FFN) && SAYS(HIDDEN)) {
        SET(FFN, floor(VALUE(HIDDEN) * VALUE_OR(FFN_RATIO, 4)));
    }
    calc_plan_shard_in_nodes(plan);
    return CALC_OK;
}

/* clang-format off */
static const calc_framework base = {CALC_FRAMEWORK_ROWS(rows, llm_foundry)};
const calc_framework calc_framework_llm_foundry = {.name = "llm-foundry", .title = "LLM Foundry", .version = "0.22",
    .launch = "composer train/train.py this file", .syntax = CALC_SYNTAX_YAML, .has_model = true, .launched = true,
    .renamed = "parallelism_config.fsdp.=fsdp_config. parallelism_config.tp.=tp_config.", .settle = settle,
    CALC_FRAMEWORK_ROWS(rows, llm_foundry), CALC_FRAMEWORK_BASES(&base)};
/* clang-format on */
