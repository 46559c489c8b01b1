/* LLM Foundry, with Composer as its trainer: a YAML file. */
#include "formats/framework.h"

enum { SOME = 10 /* CALC_PLAN_SHARDED: within a node only */ };
static const calc_word strategy[] = {{"FULL_SHARD", 3},
                                     {"SHARD_GRAD_OP", 2},
                                     {"NO_SHARD", 0},
                                     {"HYBRID_SHARD", SOME + 3},
                                     {"_HYBRID_SHARD_ZERO2", SOME + 2},
                                     {0}};
static const calc_word format[] = {{"amp_bf16", CALC_DATATYPE_BFLOAT16},
                                   {"amp_fp16", CALC_DATATYPE_FLOAT16},
                                   {"fp32", CALC_DATATYPE_FLOAT32},
                                   {"amp_fp8", CALC_DATATYPE_FLOAT8},
                                   {0}};
static const calc_word recompute[] = {{"true", 2}, {"false", 0}, {0}};
static const calc_word attention[] = {{"flash", 1}, {"flex", 1}, {"torch", 0}, {0}};
static const calc_word norm[] = {{"low_precision_layernorm", CALC_NORM_TYPE_LAYER},
                                 {"layernorm", CALC_NORM_TYPE_LAYER},
                                 {"rmsnorm", CALC_NORM_TYPE_RMS},
                                 {"low_precision_rmsnorm", CALC_NORM_TYPE_RMS},
                                 {"triton_rmsnorm", CALC_NORM_TYPE_RMS},
                                 {0}};
static const calc_word ffn[] = {{"mptmlp", CALC_FFN_TYPE_GELU},
                                {"mptglu", CALC_FFN_TYPE_GEGLU},
                                {"mptgeglu", CALC_FFN_TYPE_GEGLU},
                                {"te_ln_mlp", CALC_FFN_TYPE_GELU},
                                {0}};
static const calc_word activation[] = {{"silu", CALC_FFN_TYPE_SWIGLU}, {"gelu", NAN}, {0}};
static const calc_word rotary[] = {{"true", CALC_POSITION_TYPE_ROPE}, {"false", NAN}, {0}};

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(NUMBER, SEQ, "max_seq_len", .assumed = "calc takes it as not given")
    CALC_ROW(NUMBER, SEQ, "variables.max_seq_len", .read_only = true)
    CALC_ROW(NUMBER, BATCH, "global_train_batch_size")
    CALC_ROW(NUMBER, MICROBATCH, "device_train_microbatch_size", .assumed = "one sequence is assumed")
    CALC_ROW(WORDS, PRECISION, "precision", .words = format)
    CALC_ROW(NUMBER, PROCS, "n_gpus")
    CALC_ROW(WORDS, SHARDED, "fsdp_config.sharding_strategy", .words = strategy)
    CALC_ROW(WORDS, RECOMPUTE, "fsdp_config.activation_checkpointing", .words = recompute)
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
    CALC_ROW(WORDS, FLASH, "model.attn_config.attn_impl", .words = attention)
    CALC_ROW(SWITCH, QK_NORM, "model.attn_config.qk_ln", .value = 1)
    CALC_ROW(WORDS, POSITION, "model.attn_config.rope", .words = rotary)
    CALC_ROW(IS, POSITION, "model.attn_config.alibi", .value = CALC_POSITION_TYPE_NONE)
    CALC_ROW(NUMBER, WINDOW, "model.attn_config.sliding_window_size", .unset = true)
    CALC_ROW(WORDS, FFN_TYPE, "model.ffn_config.ffn_type", .words = ffn)
    CALC_ROW(WORDS, FFN_TYPE, "model.ffn_config.ffn_act_fn.name", .words = activation)
    CALC_ROW(WORDS, NORM, "model.norm_type", .words = norm)
    CALC_ROW(SWITCH, BIAS, "model.no_bias", .value = 0)
    CALC_ROW(SWITCH, TIED, "model.tie_word_embeddings", .value = 1)
    CALC_ROW(DECIMAL, DROPOUT, "model.resid_pdrop")
    CALC_ROW(DECIMAL, DROPOUT, "model.emb_pdrop")
    CALC_ROW(DECIMAL, DROPOUT, "model.attn_config.attn_pdrop")
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(GRAD, CALC_FORMAT_FLOAT32)
    CALC_ROW_DEFAULT(GRAD_OVERLAP, 1)
    CALC_ROW_DEFAULT(EAGER, 1)
    CALC_ROW_DEFAULT(FFN_TYPE, CALC_FFN_TYPE_GELU)
    CALC_ROW_DEFAULT(DROPOUT, 0)
    CALC_ROW_DEFAULT(VOCAB_MULTIPLE, 1)
    CALC_ROW_UNREAD(MODEL,
        "model.name=mpt_causal_lm model.block_overrides.* model.attn_config.attn_type=multihead_attention "
        "model.learned_pos_emb=true model.attention_bias model.attn_config.nope model.attn_config.kv_dim model.ffn_config.moe_* "
        "model.config_overrides.* model.config_overrides model.block_overrides")
    CALC_ROW_UNREAD(COST, "fsdp_config.mixed_precision=DEFAULT", .assumed = "gradients are taken as stored and reduced in float32")
    CALC_ROW_UNREAD(HARMLESS, "algorithms.gradient_clipping.*")
    CALC_ROW_UNREAD(COST,
        "fsdp_config.limit_all_gathers=true fsdp_config.backward_prefetch=BACKWARD_PRE fsdp_config.forward_prefetch model.peft_config.* "
        "fsdp_config.cpu_offload compile_config.* compile_config tp_config.* model.attn_config.fused_qkv=true model.fc_type=torch model.fc_type.* "
        "model.ffn_config.* optimizer.name=decoupled_adamw model.lora model.attn_config.attn_uses_sequence_id device_train_grad_accum "
        "expandable_segments=true cuda_load_lazy algorithms.* algorithms")
    CALC_ROW_UNREAD(HARMLESS,
        "fsdp_config.* model.* tokenizer.* train_loader.* eval_loader.* eval_loaders optimizer.* scheduler.* callbacks.* loggers.* "
        "variables.* device_eval_batch_size device_train_batch_size max_duration seed code_paths max_split_size_mb dist_timeout "
        "accumulate_train_batch_on_tokens eval_* icl_* progress_bar log_* python_log_level console_log_interval "
        "save_* load_* only_* train_subset_num_batches spin_dataloaders metadata.* metadata flatten_metadata run_name "
        "autoresume profiler.* models *_loader tokenizer scheduler optimizer callbacks loggers profiler variables fsdp_config tp_config model")
};
static const char *const renamed[] = {"parallelism_config.fsdp.", "fsdp_config.", "parallelism_config.tp.", "tp_config.", NULL};
/* clang-format on */

/* ---- What follows from the settings ---------------------------------------------------------- */

#define SET(name, number) (plan->value[CALC_PLAN_##name] = (double)(number))
#define SAYS(name) calc_plan_says(plan, CALC_PLAN_##name)
#define VALUE(name) calc_plan_value(plan, CALC_PLAN_##name)

static calc_status settle(calc_plan *plan, calc_errors *errors)
{
    (void)errors;
    if (!SAYS(FFN) && SAYS(HIDDEN)) {
        SET(FFN, floor(VALUE(HIDDEN) * calc_plan_get(plan, CALC_PLAN_FFN_RATIO, 4)));
    }
    if (VALUE(SHARDED) >= SOME) {
        SET(SHARDED, VALUE(SHARDED) - SOME);
        if (!SAYS(SHARD_RANKS)) {
            calc_plan_note(plan,
                           "hybrid sharding is within a node; nodes of 8 processors are assumed");
            SET(SHARD_RANKS, 8);
        }
    }
    if ((int)VALUE(PRECISION) == CALC_DATATYPE_FLOAT8) {
        SET(PRECISION, CALC_DATATYPE_BFLOAT16);
        SET(FP8, 1);
        SET(ACTIVATIONS, CALC_FORMAT_BFLOAT16);
    }
    return CALC_OK;
}

static const calc_framework base = {CALC_FRAMEWORK_ROWS(rows)};
const calc_framework calc_framework_llm_foundry = {.name = "llm-foundry",
                                                   .title = "LLM Foundry",
                                                   .version = "0.22",
                                                   .launch = "composer train/train.py this file",
                                                   .syntax = CALC_SYNTAX_YAML,
                                                   .has_model = true,
                                                   .launched = true,
                                                   .renamed = renamed,
                                                   .settle = settle,
                                                   CALC_FRAMEWORK_ROWS(rows),
                                                   CALC_FRAMEWORK_BASES(&base)};
