/* GPT-NeoX: YAML files, with the keys of DeepSpeed's file between its own. */
#include "formats/framework.h"

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(NUMBER, PIPELINE, "pipe_parallel_size", .unset = true, .value = 1)
    CALC_ROW(NUMBER, TENSOR, "model_parallel_size")
    CALC_ROW(NUMBER, PROCS, "global_num_gpus")
    CALC_ROW(NUMBER, NODE_PROCS, "num_gpus", .unset = true)
    CALC_ROW(NUMBER, NODES, "num_nodes", .unset = true)
    CALC_ROW(NUMBER, CONTEXT, "context_parallel_size")
    CALC_ROW(SWITCH, SEQ_PAR, "sequence_parallel", .value = 1)
    CALC_ROW(NUMBER, SHARDED, "zero_stage")
    CALC_ROW(WORDS, PRECISION, "precision", .words = "fp16=float16 bfloat16 fp32=float32")
    CALC_ROW(WORDS, RECOMPUTE, "checkpoint_activations", .words = "true=2 false=0")
    CALC_ROW(SWITCH, ACT_OFFLOAD, "checkpoint_in_cpu", .value = 1)
    CALC_ROW(NUMBER, HIDDEN, "hidden_size")
    CALC_ROW(NUMBER, FFN, "intermediate_size")
    CALC_ROW(NUMBER, BLOCKS, "num_layers")
    CALC_ROW(NUMBER, HEADS, "num_attention_heads")
    CALC_ROW(NUMBER, KV_HEADS, "num_kv_heads")
    CALC_ROW(NUMBER, SEQ, "seq_length")
    CALC_ROW(NUMBER, VOCAB, "padded_vocab_size")
    CALC_ROW(NUMBER, VOCAB_MULTIPLE, "make_vocab_size_divisible_by")
    CALC_ROW(NUMBER, WINDOW, "sliding_window_width")
    CALC_ROW(WORDS, NORM, "norm", .words = "layernorm=layer rmsnorm=rms non_parametric_layernorm=layer te_rmsnorm=rms te_layernorm=layer")
    CALC_ROW(WORDS, POSITION, "pos_emb", .words = "learned rotary=rope none")
    CALC_ROW(WORDS, FFN_TYPE, "activation", .words = "gelu geglu relu swiglu silu=gelu")
    /* The first kind in the list [[[kind], blocks]]. */
    CALC_ROW(WORDS, FLASH, "attention_config", .words = "flash=1 global=0")
    CALC_ROW(SWITCH, TIED, "no_weight_tying", .value = 0)
    CALC_ROW(SWITCH, QK_NORM, "use_qk_layernorm", .value = 1)
    CALC_ROW(DECIMAL, DROPOUT, "hidden_dropout")
    CALC_ROW(DECIMAL, DROPOUT, "attention_dropout")
    CALC_ROW(SWITCH, BIAS, "use_bias_in_mlp", .value = 1)
    CALC_ROW(SWITCH, FUSED_ACT, "bias_gelu_fusion", .value = 1)
    CALC_ROW(SWITCH, UNFUSED_ROPE, "rope_fusion", .value = 0)
    CALC_ROW_DEFAULT(FFN_TYPE, CALC_FFN_TYPE_GELU)
    CALC_ROW_DEFAULT(DROPOUT, 0)
    CALC_ROW_DEFAULT(FLASH, 0)
    CALC_ROW_DEFAULT(EAGER, 1)
    CALC_ROW_DEFAULT(FUSED_ACT, 0)
    CALC_ROW_DEFAULT(UNFUSED_ROPE, 1)
};

const calc_framework calc_framework_gpt_neox = {.name = "gpt-neox", .title = "GPT-NeoX",
    .version = "2.0, main branch of May 2026", .launch = "python deepy.py train.py this file", .syntax = CALC_SYNTAX_YAML,
    .has_model = true, .launched = true, .elsewhere = " vocab_size ", /* the tokenizer */
    CALC_FRAMEWORK_ROWS(rows, gpt_neox), CALC_FRAMEWORK_BASES(&calc_framework_deepspeed)};
/* clang-format on */
