/* MaxText: a YAML file over base.yml. Every axis of its mesh has a size within a slice (ici) and
 * one over slices (dcn). */
#include "formats/framework.h"
#include "formats/plan_macros.h"

#include "base/error.h"

/* Added to CALC_PLAN_RECOMPUTE: what is stored is on the host; it is not quite all of a block. */
enum { MOVED = 10, NEARLY = 20 };

/* clang-format off */
#define AXIS(member, name)                                                                         \
    CALC_ROW(FACTOR, member, "ici_" name, .unset = true) CALC_ROW(FACTOR, member, "dcn_" name, .unset = true)
static const calc_setting_row rows[] = {
    CALC_ROW(WORDS, MODEL, "model_name",
        .words = "llama3-8b=0 llama3.1-8b=0 llama3-70b=1 llama3.1-70b=1 llama3.3-70b=1 llama3-405b=2 llama3.1-405b=2 deepseek2-16b=3 "
                 "deepseek2-236b=4 deepseek3-671b=5")
    CALC_ROW(DECIMAL, LOCAL_BATCH, "per_device_batch_size")
    CALC_ROW(NUMBER, MICROBATCHES, "gradient_accumulation_steps")
    CALC_ROW(NUMBER, SEQ, "max_target_length")
    AXIS(SHARD_DATA, "fsdp_parallelism")
    AXIS(SHARD_DATA, "fsdp_transpose_parallelism")
    AXIS(REPLICATED, "data_parallelism")
    AXIS(TENSOR, "tensor_parallelism")
    AXIS(PIPELINE, "pipeline_parallelism")
    AXIS(CONTEXT, "context_parallelism")
    AXIS(EXPERT, "expert_parallelism")
    CALC_ROW(WORDS, CONTEXT_TYPE, "context_parallel_strategy", .words = "all_gather ring ulysses")
    CALC_ROW(NUMBER, CHUNK_BLOCKS, "num_layers_per_pipeline_stage")
    /* layers/decoders.py, get_remat_policy(): the minimal ones keep results of matrix multiplications, and recompute the attention between
     * them and what is elementwise. */
    CALC_ROW(WORDS, RECOMPUTE, "remat_policy",
        .words = "full=2 none=0 minimal=1 minimal_with_context=0 minimal_flash=0 minimal_with_quantization=1 minimal_with_context_and_quantization=0 "
                 "minimal_offloaded=11 save_dot_with_context_except_mlp=22 save_dot_except_mlpwi=22 save_dot_except_mlp=22 save_qkv_proj=22 "
                 "qkv_proj_offloaded=22 save_out_proj=22 custom=22")
    CALC_ROW(SWITCH, OPT_OFFLOAD, "optimizer_memory_host_offload", .value = 1)
    CALC_ROW(SWITCH, WEIGHT_OFFLOAD, "parameter_memory_host_offload", .value = 1)
    CALC_ROW(WORDS, PRECISION, "dtype", .words = "bfloat16 float32 float16")
    CALC_ROW(WORDS, GRAD, "grad_dtype", .words = "float32 bfloat16")
    CALC_ROW(WORDS, MASTER, "weight_dtype", .words = "float32=auto bfloat16")
    CALC_ROW(WORDS, FP8, "quantization",
        .words = "=0 fp8=1 fp8_full=1 fp8_gpu=1 fp8_nanoo=1 te_fp8_delayedscaling=1 te_fp8_currentscaling=1 te_mxfp8=1 nanoo_fp8=1")
    CALC_ROW(WORDS, FLASH, "attention", .words = "autoselected=1 flash=1 cudnn_flash_te=1 cudnn_flash_jax=1 dot_product=0")
    CALC_ROW(NUMBER, HIDDEN, "base_emb_dim")
    CALC_ROW(NUMBER, FFN, "base_mlp_dim")
    CALC_ROW(NUMBER, BLOCKS, "base_num_decoder_layers")
    CALC_ROW(NUMBER, HEADS, "base_num_query_heads")
    CALC_ROW(NUMBER, KV_HEADS, "base_num_kv_heads")
    CALC_ROW(NUMBER, HEAD_SIZE, "head_dim")
    CALC_ROW(NUMBER, VOCAB, "vocab_size")
    /* The first of mlp_activations; the others multiply it. */
    CALC_ROW(WORDS, FFN_TYPE, "mlp_activations", .words = "silu=swiglu gelu=geglu")
    CALC_ROW(DECIMAL, DROPOUT, "dropout_rate")
    CALC_ROW(SWITCH, TIED, "logits_via_embedding", .value = 1)
    CALC_ROW(SWITCH, QK_NORM, "use_qk_norm", .value = 1)
    CALC_ROW(NUMBER, WINDOW, "sliding_window_size")
    CALC_ROW(WORDS, LATENT, "attention_type", .words = "global=0 full=0 mla=1")
    CALC_ROW(NUMBER, Q_LORA, "q_lora_rank")
    CALC_ROW(NUMBER, KV_LORA, "kv_lora_rank")
    CALC_ROW(NUMBER, QK_NOPE, "qk_nope_head_dim")
    CALC_ROW(NUMBER, QK_ROPE, "qk_rope_head_dim")
    CALC_ROW(NUMBER, V_SIZE, "v_head_dim")
    CALC_ROW(NUMBER, EXPERTS, "num_experts")
    CALC_ROW(NUMBER, TOP_K, "num_experts_per_tok")
    CALC_ROW(NUMBER, EXPERT_FFN, "base_moe_mlp_dim", .unset = true)
    CALC_ROW(NUMBER, SHARED_FFN, "shared_experts")
    CALC_ROW(NUMBER, DENSE_BLOCKS, "first_num_dense_layers")
    CALC_ROW(SWITCH, ROUTER_BIAS, "routed_bias", .value = 1)
    CALC_ROW(NUMBER, GROUPS, "n_routing_groups", .unset = true)
    CALC_ROW(NUMBER, TOKEN_GROUPS, "topk_routing_group", .unset = true)
    CALC_ROW(NUMBER, MTP, "mtp_num_layers")
    CALC_ROW_DEFAULT(SEQ, 2048)
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(GRAD, CALC_FORMAT_FLOAT32)
    CALC_ROW_DEFAULT(SHARDED, 3)
    CALC_ROW_DEFAULT(RECOMPUTE, 2)
    CALC_ROW_DEFAULT(CONTEXT_TYPE, CALC_CONTEXT_PAR_TYPE_ALL_GATHER)
    CALC_ROW_DEFAULT(GRAD_OVERLAP, 1)
    CALC_ROW_DEFAULT(SEQ_PAR, 0)
    CALC_ROWS_LLAMA
};
/* clang-format on */

/* ---- What follows from the settings ---------------------------------------------------------- */

/* configs/pyconfig.py: a step takes per_device_batch_size sequences of every processor, so that a
 * replica takes those of its ranks together. */
static calc_status settle(calc_plan *plan, calc_errors *errors)
{
    double each = VALUE_OR(LOCAL_BATCH, 12) * VALUE(TENSOR) * VALUE(CONTEXT) * VALUE(PIPELINE);
    if (each < 1 || each != floor(each)) {
        return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL,
                               "calc has no sequences that replicas share",
                               "a replica takes %g sequences: per_device_batch_size times tensor, "
                               "context and pipeline "
                               "parallelism",
                               each);
    }
    SET(LOCAL_BATCH, NAN);
    if (VALUE(PIPELINE) > 1) { /* as many micro-batches as stages, unless more are asked for */
        double passes = VALUE(PIPELINE);
        SET(MICROBATCH, fmax(1, floor(each / passes)));
        SET(MICROBATCHES, VALUE(MICROBATCHES) * each / VALUE(MICROBATCH));
    } else {
        SET(MICROBATCH, each);
    }
    int recompute = (int)VALUE_OR(RECOMPUTE, 2);
    if (recompute >= NEARLY) {
        calc_plan_note(plan,
                       "remat_policy keeps some results; all of a block is taken as recomputed");
        SET(RECOMPUTE, recompute - NEARLY);
    } else if (recompute >= MOVED) {
        SET(RECOMPUTE, recompute - MOVED);
        SET(ACT_OFFLOAD, 1);
    }
    /* Ranks that share experts take other sequences: they are replicas of the rest. */
    if (SAYS(EXPERT) && SAYS(SHARD_DATA)) {
        SET(SHARD_DATA, VALUE(SHARD_DATA) * VALUE(EXPERT));
    }
    if (!(VALUE(EXPERTS) > 1)) {
        SET(EXPERTS, NAN);
    } else if (YES(SHARED_FFN)) {
        SET(SHARED_FFN, VALUE(SHARED_FFN) * VALUE(EXPERT_FFN));
    }
    if (SAYS(REPLICATED) && !SAYS(SHARD_DATA) && !SAYS(PROCS) && VALUE(REPLICATED) > 1) {
        SET(DATA, VALUE(REPLICATED));
    }
    if (!YES(LATENT)) {
        SET(KV_LORA, NAN);
    }
    return CALC_OK;
}

/* clang-format off */
const calc_framework calc_framework_maxtext = {.name = "maxtext", .title = "MaxText", .version = "0.2.4, base.yml",
    .launch = "python3 -m maxtext.trainers.pre_train.train this file", .syntax = CALC_SYNTAX_YAML, .has_model = true,
    .settle = settle, CALC_FRAMEWORK_ROWS(rows, maxtext)};
/* clang-format on */
