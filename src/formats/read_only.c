#include "base/error.h"
#include "formats/framework.h"
#include "formats/plan_macros.h"

/* NeMo Automodel: a YAML file of a recipe. The model is one of Hugging Face, by name. */

static const char attention[] = "te=1 sdpa=1 flex=1 flash_attention_2=1 flash_attention_3=1 "
                                "flash_attention_4=1 tilelang=1 cudnn=1 magi=1 "
                                "eager=0";

/* clang-format off */
static const calc_setting_row automodel_rows[] = {
    CALC_ROW(NUMBER, BATCH, "step_scheduler.global_batch_size") CALC_ROW(NUMBER, LOCAL_BATCH, "step_scheduler.local_batch_size")
    CALC_ROW(NUMBER, SEQ, "packed_sequence.packed_sequence_size", .unset = true, .value = 1) CALC_ROW(NUMBER, SEQ, "dataset.seq_len")
    CALC_ROW(NUMBER, SEQ, "dataset.seq_length")
    CALC_ROW(WORDS, SHARDED, "distributed.strategy", .words = "fsdp2=3 megatron_fsdp=3 ddp=0")
    /* The class of a manager, as older files name the strategy. */
    CALC_ROW(WORDS, SHARDED, "distributed._target_",
        .words = "nemo_automodel.components.distributed.fsdp2.FSDP2Manager=3 "
                 "nemo_automodel.components.distributed.megatron_fsdp.MegatronFSDPManager=3 nemo_automodel.components.distributed.ddp.DDPManager=0")
    CALC_ROW(WORDS, SHARDED, "distributed.reshard_after_forward", .words = "true=3 false=2")
    CALC_ROW(NUMBER, SHARDED, "distributed.zero_dp_strategy") CALC_ROW(NUMBER, DATA, "distributed.dp_size")
    CALC_ROW(NUMBER, REPLICATED, "distributed.dp_replicate_size") CALC_ROW(NUMBER, TENSOR, "distributed.tp_size")
    CALC_ROW(NUMBER, CONTEXT, "distributed.cp_size") CALC_ROW(NUMBER, PIPELINE, "distributed.pp_size") CALC_ROW(NUMBER, EXPERT, "distributed.ep_size")
    CALC_ROW(SWITCH, SEQ_PAR, "distributed.sequence_parallel", .value = 1)
    CALC_ROW(SWITCH, TENSOR_OVERLAP, "distributed.enable_async_tensor_parallel", .value = 1)
    CALC_ROW(WORDS, RECOMPUTE, "distributed.activation_checkpointing", .words = "true=2 false=0 full=2 selective=1 none=0")
    CALC_ROW(WORDS, LOOPED, "distributed.pipeline.pp_schedule",
        .words = "1f1b interleaved1f1b=100 gpipe InterleavedZeroBubble=zb_h1 ZBVZeroBubble=zb_v")
    CALC_ROW(NUMBER, MICROBATCH, "distributed.pipeline.pp_microbatch_size") CALC_ROW(NUMBER, NODES, "benchmark.num_nodes")
    CALC_ROW(WORDS, DISPATCH, "model.backend.dispatcher", .words = "deepep=node_limited hybridep=node_limited torch=all_to_all")
    CALC_ROW(WORDS, FLASH, "model.backend.attn", .also = "model.attn_implementation", .words = attention)
    CALC_ROW(SWITCH, FP8, "fp8.enabled", .value = 1)
    /* docs/guides/mixed-precision-training.md: parameters, their gradients and the state are of this format. */
    CALC_ROW(WORDS, STATE, "model.torch_dtype",
        .words = "bf16=bfloat16 bfloat16 torch.bfloat16=bfloat16 auto=bfloat16 float32 fp32=float32 torch.float32=float32 float16 fp16=float16")
    CALC_ROW(WORDS, OPTIMIZER, "optimizer._target_",
        .words = "torch.optim.AdamW=adam torch.optim.Adam=adam dion.Muon=muon flashoptim.FlashAdamW=adam "
                 "transformer_engine.pytorch.optimizers.FusedAdam=adam transformer_engine.pytorch.optimizers.fused_adam.FusedAdam=adam")
    CALC_ROW(WORDS, MASTER, "optimizer.master_weights", .words = "true=float32 false=")
    CALC_ROW(WORDS, MOMENTS, "optimizer.exp_avg_dtype", .words = "torch.float32=float32 torch.bfloat16=bfloat16 torch.float16=float16 torch.uint8=float8")
    CALC_ROW(SWITCH, EAGER, "compile.enabled", .value = 0)
    CALC_ROW(WORDS, LIGER, "model.use_liger_kernel", .words = "true=2 false=0")
    CALC_ROW_DEFAULT(LIGER, 2)
    CALC_ROW(SWITCH, TOWER, "freeze_config.freeze_vision_tower", .value = 1) CALC_ROW(NUMBER, LORA_RANK, "peft.dim")
    CALC_ROW(SET, LORA_MODULES, "peft.target_modules", .words = CALC_LORA_WORDS)
    CALC_ROW(IS, LORA_MODULES, "peft.match_all_linear", .value = 0) CALC_ROW(DECIMAL, LORA_DROPOUT, "peft.dropout")
    CALC_ROW(WORDS, LORA_BEFORE, "peft.dropout_position", .words = "pre=1 post=0")
    CALC_ROW(IS, FROZEN, "quantization.load_in_4bit", .value = CALC_FROZEN_DATATYPE_NF4)
    CALC_ROW(IS, FROZEN, "quantization.load_in_8bit", .value = CALC_FROZEN_DATATYPE_INT8)
    CALC_ROW(SWITCH, NESTED, "quantization.bnb_4bit_use_double_quant", .value = 1)
    CALC_ROW(NAME, MODEL, "model.pretrained_model_name_or_path", .also = "model.config.pretrained_model_name_or_path")
    CALC_ROW_DEFAULT(SHARDED, 3) CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16) CALC_ROW_DEFAULT(STATE, CALC_FORMAT_BFLOAT16) CALC_ROWS_FSDP
    CALC_ROW_DEFAULT(CONTEXT_TYPE, CALC_CONTEXT_PAR_TYPE_ALL_GATHER) CALC_ROW_DEFAULT(EXPERT_TENSOR, 1) CALC_ROW_DEFAULT(LORA_RANK, 8)
    CALC_ROW_DEFAULT(LORA_EXPERTS, CALC_LORA_EXPERTS_EACH) CALC_ROW_DEFAULT(LORA_BEFORE, 0) CALC_ROW_DEFAULT(NESTED, 1)
};
/* clang-format on */

static void settle_automodel(calc_plan *plan)
{
    if (SAYS(REPLICATED) && !(VALUE(REPLICATED) > 1)) {
        SET(REPLICATED, NAN);
    }
    if (!SAYS(NODE_PROCS)) {
        SET(NODES, NAN); /* how many processors a node has, the launcher says */
    }
    if (VALUE(TENSOR) > 1 || VALUE(CONTEXT) > 1) {
        SET(LIGER, 0); /* _transformers/kernel_patches.py, _apply_preload_overrides() */
    }
    if (SAYS(LORA_RANK) || SAYS(LORA_MODULES)) {
        SET(ADAPTER, CALC_TRAINED_ADAPTERS);
    }
}

/* clang-format off */
const calc_framework calc_framework_automodel = {.name = "automodel", .title = "NeMo Automodel", .version = "0.5",
    .launch = "automodel this file", .syntax = CALC_SYNTAX_YAML, .options = true, .settle = settle_automodel, CALC_FRAMEWORK_ROWS(automodel_rows, automodel)};
/* clang-format on */

/* GPT-NeoX: YAML files, with the keys of DeepSpeed's file between its own. */

/* clang-format off */
static const calc_setting_row gpt_neox_rows[] = {
    CALC_ROW(NUMBER, PIPELINE, "pipe_parallel_size", .unset = true, .value = 1) CALC_ROW(NUMBER, TENSOR, "model_parallel_size")
    CALC_ROW(NUMBER, PROCS, "global_num_gpus") CALC_ROW(NUMBER, NODE_PROCS, "num_gpus", .unset = true, .launcher = true)
    CALC_ROW(NUMBER, NODES, "num_nodes", .unset = true, .launcher = true) CALC_ROW(NUMBER, CONTEXT, "context_parallel_size")
    CALC_ROW(SWITCH, SEQ_PAR, "sequence_parallel", .value = 1) CALC_ROW(NUMBER, SHARDED, "zero_stage")
    CALC_ROW(WORDS, PRECISION, "precision", .words = "fp16=float16 bfloat16 fp32=float32")
    CALC_ROW(WORDS, RECOMPUTE, "checkpoint_activations", .words = "true=2 false=0")
    CALC_ROW(SWITCH, ACT_OFFLOAD, "checkpoint_in_cpu", .value = 1)
    CALC_ROW(NUMBER, HIDDEN, "hidden_size") CALC_ROW(NUMBER, FFN, "intermediate_size") CALC_ROW(NUMBER, BLOCKS, "num_layers")
    CALC_ROW(NUMBER, HEADS, "num_attention_heads") CALC_ROW(NUMBER, KV_HEADS, "num_kv_heads") CALC_ROW(NUMBER, SEQ, "seq_length")
    CALC_ROW(NUMBER, VOCAB, "padded_vocab_size") CALC_ROW(NUMBER, VOCAB_MULTIPLE, "make_vocab_size_divisible_by")
    CALC_ROW(NUMBER, WINDOW, "sliding_window_width")
    CALC_ROW(WORDS, NORM, "norm", .words = "layernorm=layer rmsnorm=rms non_parametric_layernorm=layer te_rmsnorm=rms te_layernorm=layer")
    CALC_ROW(WORDS, POSITION, "pos_emb", .words = "learned rotary=rope none")
    CALC_ROW(WORDS, FFN_TYPE, "activation", .words = "gelu geglu relu swiglu silu=gelu")
    /* The first kind in the list [[[kind], blocks]]. */
    CALC_ROW(WORDS, FLASH, "attention_config", .words = "flash=1 global=0")
    CALC_ROW(SWITCH, TIED, "no_weight_tying", .value = 0) CALC_ROW(SWITCH, QK_NORM, "use_qk_layernorm", .value = 1)
    CALC_ROW(DECIMAL, DROPOUT, "hidden_dropout", .also = "attention_dropout") CALC_ROW(SWITCH, BIAS, "use_bias_in_mlp", .value = 1)
    CALC_ROW(SWITCH, FUSED_ACT, "bias_gelu_fusion", .value = 1) CALC_ROW(SWITCH, UNFUSED_ROPE, "rope_fusion", .value = 0)
    CALC_ROW_DEFAULT(FFN_TYPE, CALC_FFN_TYPE_GELU) CALC_ROW_DEFAULT(DROPOUT, 0) CALC_ROW_DEFAULT(FLASH, 0) CALC_ROW_DEFAULT(EAGER, 1)
    CALC_ROW_DEFAULT(FUSED_ACT, 0) CALC_ROW_DEFAULT(UNFUSED_ROPE, 1)
};

const calc_framework calc_framework_gpt_neox = {.name = "gpt-neox", .title = "GPT-NeoX",
    .version = "2.0, main branch of May 2026", .launch = "python deepy.py train.py this file", .syntax = CALC_SYNTAX_YAML,
    .has_model = true, .launched = true, .elsewhere = " vocab_size ", /* the tokenizer */
    CALC_FRAMEWORK_ROWS(gpt_neox_rows, gpt_neox), CALC_FRAMEWORK_BASES(&calc_framework_deepspeed)};
/* clang-format on */

/* LLM Foundry, with Composer as its trainer: a YAML file. */

/* clang-format off */
static const calc_setting_row llm_foundry_rows[] = {
    CALC_ROW(NUMBER, SEQ, "max_seq_len", .assumed = "calc takes it as not given")
    CALC_ROW(NUMBER, SEQ, "variables.max_seq_len", .read_only = true) CALC_ROW(NUMBER, BATCH, "global_train_batch_size")
    CALC_ROW(NUMBER, MICROBATCH, "device_train_microbatch_size", .assumed = "one sequence is assumed")
    CALC_ROW(WORDS, PRECISION, "precision", .words = "amp_bf16=bfloat16 amp_fp16=float16 fp32=float32 amp_fp8=float8")
    CALC_ROW(NUMBER, PROCS, "n_gpus")
    CALC_ROW(WORDS, SHARDED, "fsdp_config.sharding_strategy",
        .words = "FULL_SHARD=3 SHARD_GRAD_OP=2 NO_SHARD=0 HYBRID_SHARD=13 _HYBRID_SHARD_ZERO2=12")
    CALC_ROW(WORDS, RECOMPUTE, "fsdp_config.activation_checkpointing", .words = "true=2 false=0")
    CALC_ROW(SWITCH, ACT_OFFLOAD, "fsdp_config.activation_cpu_offload", .value = 1)
    CALC_ROW(NUMBER, SHARD_RANKS, "fsdp_config.data_parallel_shard_degree", .unset = true)
    CALC_ROW(NUMBER, TENSOR, "tp_config.tensor_parallel_degree") CALC_ROW(NUMBER, HIDDEN, "model.d_model") CALC_ROW(NUMBER, HEADS, "model.n_heads")
    CALC_ROW(NUMBER, BLOCKS, "model.n_layers") CALC_ROW(NUMBER, HEAD_SIZE, "model.head_dim") CALC_ROW(DECIMAL, FFN_RATIO, "model.expansion_ratio")
    CALC_ROW(NUMBER, FFN, "model.ffn_config.ffn_hidden_size") CALC_ROW(NUMBER, VOCAB, "model.vocab_size")
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
    CALC_ROW(SWITCH, BIAS, "model.no_bias", .value = 0) CALC_ROW(SWITCH, TIED, "model.tie_word_embeddings", .value = 1)
    CALC_ROW(DECIMAL, DROPOUT, "model.resid_pdrop", .also = "model.emb_pdrop") CALC_ROW(DECIMAL, DROPOUT, "model.attn_config.attn_pdrop")
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(STATE, CALC_FORMAT_FLOAT32) /* what FSDP shards is the optimizer's */
    CALC_ROWS_FSDP CALC_ROW_DEFAULT(FFN_TYPE, CALC_FFN_TYPE_GELU) CALC_ROW_DEFAULT(DROPOUT, 0) CALC_ROW_DEFAULT(VOCAB_MULTIPLE, 1)
};
/* clang-format on */

static void settle_llm_foundry(calc_plan *plan)
{
    if (!SAYS(FFN) && SAYS(HIDDEN)) {
        SET(FFN, floor(VALUE(HIDDEN) * VALUE_OR(FFN_RATIO, 4)));
    }
    calc_plan_shard_in_nodes(plan);
}

/* clang-format off */
static const calc_framework llm_foundry_base = {CALC_FRAMEWORK_ROWS(llm_foundry_rows, llm_foundry)};
const calc_framework calc_framework_llm_foundry = {.name = "llm-foundry", .title = "LLM Foundry", .version = "0.22",
    .launch = "composer train/train.py this file", .syntax = CALC_SYNTAX_YAML, .options = true, .has_model = true, .launched = true,
    .renamed = "parameters.= parallelism_config.fsdp.=fsdp_config. parallelism_config.tp.=tp_config.", .settle = settle_llm_foundry,
    CALC_FRAMEWORK_ROWS(llm_foundry_rows, llm_foundry), CALC_FRAMEWORK_BASES(&llm_foundry_base)};
/* clang-format on */

/* MaxText: a YAML file over base.yml. Every axis of its mesh has a size within a slice (ici) and
 * one over slices (dcn). */

/* Added to CALC_PLAN_RECOMPUTE: what is stored is on the host; it is not quite all of a block. */
enum { MOVED = 10, NEARLY = 20 };

/* clang-format off */
#define AXIS(member, name)                                                                         \
    CALC_ROW(FACTOR, member, "ici_" name, .unset = true) CALC_ROW(FACTOR, member, "dcn_" name, .unset = true)
static const calc_setting_row maxtext_rows[] = {
    CALC_ROW(WORDS, MODEL, "model_name",
        .words = "llama3-8b=0 llama3.1-8b=0 llama3-70b=1 llama3.1-70b=1 llama3.3-70b=1 llama3-405b=2 llama3.1-405b=2 deepseek2-16b=3 "
                 "deepseek2-236b=4 deepseek3-671b=5")
    CALC_ROW(DECIMAL, LOCAL_BATCH, "per_device_batch_size")
    CALC_ROW(NUMBER, MICROBATCHES, "gradient_accumulation_steps") CALC_ROW(NUMBER, SEQ, "max_target_length")
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
    CALC_ROW(WORDS, STATE, "weight_dtype", .words = "float32 bfloat16")
    CALC_ROW(WORDS, FP8, "quantization",
        .words = "=0 fp8=1 fp8_full=1 fp8_gpu=1 fp8_nanoo=1 te_fp8_delayedscaling=1 te_fp8_currentscaling=1 te_mxfp8=1 nanoo_fp8=1")
    CALC_ROW(WORDS, FLASH, "attention", .words = "autoselected=1 flash=1 cudnn_flash_te=1 cudnn_flash_jax=1 dot_product=0")
    CALC_ROW(NUMBER, HIDDEN, "base_emb_dim") CALC_ROW(NUMBER, FFN, "base_mlp_dim") CALC_ROW(NUMBER, BLOCKS, "base_num_decoder_layers")
    CALC_ROW(NUMBER, HEADS, "base_num_query_heads") CALC_ROW(NUMBER, KV_HEADS, "base_num_kv_heads") CALC_ROW(NUMBER, HEAD_SIZE, "head_dim")
    CALC_ROW(NUMBER, VOCAB, "vocab_size")
    /* The first of mlp_activations; the others multiply it. */
    CALC_ROW(WORDS, FFN_TYPE, "mlp_activations", .words = "silu=swiglu gelu=geglu")
    CALC_ROW(DECIMAL, DROPOUT, "dropout_rate") CALC_ROW(SWITCH, TIED, "logits_via_embedding", .value = 1)
    CALC_ROW(SWITCH, QK_NORM, "use_qk_norm", .value = 1) CALC_ROW(NUMBER, WINDOW, "sliding_window_size")
    CALC_ROW(WORDS, LATENT, "attention_type", .words = "global=0 full=0 mla=1")
    CALC_ROW(NUMBER, Q_LORA, "q_lora_rank") CALC_ROW(NUMBER, KV_LORA, "kv_lora_rank") CALC_ROW(NUMBER, QK_NOPE, "qk_nope_head_dim")
    CALC_ROW(NUMBER, QK_ROPE, "qk_rope_head_dim") CALC_ROW(NUMBER, V_SIZE, "v_head_dim") CALC_ROW(NUMBER, EXPERTS, "num_experts")
    CALC_ROW(NUMBER, TOP_K, "num_experts_per_tok") CALC_ROW(NUMBER, EXPERT_FFN, "base_moe_mlp_dim", .unset = true)
    CALC_ROW(NUMBER, SHARED_FFN, "shared_experts") CALC_ROW(NUMBER, DENSE_BLOCKS, "first_num_dense_layers")
    CALC_ROW(SWITCH, ROUTER_BIAS, "routed_bias", .value = 1)
    CALC_ROW(NUMBER, GROUPS, "n_routing_groups", .unset = true) CALC_ROW(NUMBER, TOKEN_GROUPS, "topk_routing_group", .unset = true)
    CALC_ROW(NUMBER, MTP, "mtp_num_layers")
    CALC_ROW_DEFAULT(SEQ, 2048) CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16) CALC_ROW_DEFAULT(GRAD, CALC_FORMAT_FLOAT32)
    CALC_ROW_DEFAULT(STATE, CALC_FORMAT_FLOAT32) CALC_ROW_DEFAULT(SHARDED, 3) CALC_ROW_DEFAULT(RECOMPUTE, 2)
    CALC_ROW_DEFAULT(CONTEXT_TYPE, CALC_CONTEXT_PAR_TYPE_ALL_GATHER) CALC_ROW_DEFAULT(GRAD_OVERLAP, 1) CALC_ROW_DEFAULT(SEQ_PAR, 0) CALC_ROWS_LLAMA
};
/* clang-format on */

/* configs/pyconfig.py: a step takes per_device_batch_size sequences of every processor, so that a
 * replica takes those of its ranks together. */
static calc_status settle_maxtext(calc_plan *plan, calc_errors *errors)
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
    if (SAYS(PROCS) && SAYS(SHARD_DATA) && !SAYS(REPLICATED)) { /* dcn_data_parallelism of -1 */
        each = VALUE(TENSOR) * VALUE(CONTEXT) * VALUE(PIPELINE) * VALUE(SHARD_DATA);
        SET(REPLICATED, fmax(1, floor(VALUE(PROCS) / each)));
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
const calc_framework calc_framework_maxtext = {.name = "maxtext", .title = "MaxText", .program = "axText|axtext", .alone = true, .version = "0.2.4, base.yml",
    .launch = "python3 -m maxtext.trainers.pre_train.train this file", .syntax = CALC_SYNTAX_YAML, .options = true, .has_model = true, .launched = true,
    .reconcile = settle_maxtext, CALC_FRAMEWORK_ROWS(maxtext_rows, maxtext)};
/* clang-format on */

/* nanotron: a YAML file. */

/* clang-format off */
static const calc_setting_row nanotron_rows[] = {
    CALC_ROW(NUMBER, DATA, "parallelism.dp") CALC_ROW(NUMBER, TENSOR, "parallelism.tp") CALC_ROW(NUMBER, PIPELINE, "parallelism.pp")
    CALC_ROW(NUMBER, EXPERT, "parallelism.expert_parallel_size") CALC_ROW(NUMBER, CONTEXT, "parallelism.context_parallel_size")
    CALC_ROW(WORDS, SCHEDULE, "parallelism.pp_engine", .words = "1f1b afab=gpipe")
    CALC_ROW(WORDS, SEQ_PAR, "parallelism.tp_mode", .words = "REDUCE_SCATTER=1 ALL_REDUCE=0")
    CALC_ROW(WORDS, TENSOR_SWITCHES, "parallelism.tp_linear_async_communication", .words = "true=3 false=0")
    CALC_ROW(WORDS, RECOMPUTE, "parallelism.recompute_layer", .words = "true=2 false=0")
    CALC_ROW(NUMBER, SHARDED, "optimizer.zero_stage")
    CALC_ROW(WORDS, GRAD, "optimizer.accumulate_grad_in_fp32", .words = "true=float32 false=auto")
    CALC_ROW(NUMBER, MICROBATCH, "tokens.micro_batch_size") CALC_ROW(NUMBER, MICROBATCHES, "tokens.batch_accumulation_per_replica")
    CALC_ROW(NUMBER, SEQ, "tokens.sequence_length")
    CALC_ROW(WORDS, PRECISION, "model.dtype", .words = "bfloat16 float16 float32")
    CALC_ROW(NUMBER, VOCAB_MULTIPLE, "model.make_vocab_size_divisible_by") CALC_ROW(NUMBER, HIDDEN, "model.model_config.hidden_size")
    CALC_ROW(NUMBER, FFN, "model.model_config.intermediate_size") CALC_ROW(NUMBER, BLOCKS, "model.model_config.num_hidden_layers")
    CALC_ROW(NUMBER, HEADS, "model.model_config.num_attention_heads") CALC_ROW(NUMBER, KV_HEADS, "model.model_config.num_key_value_heads")
    CALC_ROW(NUMBER, VOCAB, "model.model_config.vocab_size") CALC_ROW(NUMBER, WINDOW, "model.model_config.sliding_window_size")
    CALC_ROW(WORDS, FFN_TYPE, "model.model_config.hidden_act", .words = "silu=swiglu gelu=geglu")
    CALC_ROW(SWITCH, TIED, "model.model_config.tie_word_embeddings", .value = 1)
    CALC_ROW(WORDS, FLASH, "model.model_config._attn_implementation",
        .words = "flash_attention_2=1 sdpa=1 flex_attention=1 ring_flash_triton=1 ring=1 llama3_ring_attention=1 eager=0")
    CALC_ROW(NUMBER, EXPERTS, "model.model_config.moe_config.num_experts") CALC_ROW(NUMBER, TOP_K, "model.model_config.moe_config.top_k")
    CALC_ROW(NUMBER, EXPERTS, "model.model_config.moe_num_experts") CALC_ROW(NUMBER, TOP_K, "model.model_config.num_experts_per_tok")
    CALC_ROW(NUMBER, EXPERT_FFN, "model.model_config.moe_config.moe_intermediate_size")
    CALC_ROW(NUMBER, SHARED_FFN, "model.model_config.moe_config.shared_expert_intermediate_size")
    CALC_ROW(SWITCH, SHARED, "model.model_config.moe_config.enable_shared_expert", .value = 1)
    CALC_ROW(WORDS, DISPATCH, "model.model_config.moe_config.token_dispatcher_type", .words = "alltoall=all_to_all allgather=all_gather")
    CALC_ROW_DEFAULT(SCHEDULE, CALC_PIPELINE_SCHEDULE_GPIPE) CALC_ROW_DEFAULT(TENSOR_SWITCHES, 0) CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(GRAD_OVERLAP, 1) CALC_ROW_DEFAULT(VOCAB_MULTIPLE, 1) CALC_ROWS_LLAMA CALC_ROW_DEFAULT(DISPATCH, CALC_DISPATCH_TYPE_ALL_TO_ALL)
    CALC_ROW_DEFAULT(EXPERT_TENSOR, 1)
};
/* clang-format on */

static void settle_nanotron(calc_plan *plan)
{
    if (!YES(SHARED)) {
        SET(SHARED_FFN, NAN);
    }
    if (COUNT(EXPERT) > 1) { /* slurm_launcher.py */
        SET(DATA, VALUE(DATA) * VALUE(EXPERT));
        calc_plan_note(plan, "ranks of experts are beside those of data, with their own sequences");
    }
    if (VALUE(PIPELINE) > 1) { /* parallel/pipeline_parallel: by the cost of its blocks */
        calc_plan_note(
            plan, "it divides blocks by their cost and that of the head; equal stages are taken");
    }
}

/* clang-format off */
const calc_framework calc_framework_nanotron = {.name = "nanotron", .title = "nanotron",
    .version = "main branch of April 2026", .launch = "torchrun run_train.py --config-file this file",
    .syntax = CALC_SYNTAX_YAML, .has_model = true, .settle = settle_nanotron, CALC_FRAMEWORK_ROWS(nanotron_rows, nanotron)};
/* clang-format on */

/* Megatron-DeepSpeed: options of Megatron-LM and a file of DeepSpeed. Sharding and ranks of
 * sequences are DeepSpeed's. */

/* clang-format off */
static const calc_setting_row megatron_deepspeed_rows[] = {
    CALC_ROW(FILE, SHARDED, "--deepspeed-config", .text = "deepspeed")
    CALC_ROW(NUMBER, SHARDED, "--zero-stage") CALC_ROW(NUMBER, CONTEXT, "--ds-sequence-parallel-size")
    CALC_ROW(NUMBER, EXPERT, "--moe-expert-parallel-size") CALC_ROW(NUMBER, TOP_K, "--topk") CALC_ROW(NUMBER, KV_HEADS, "--num-key-value-heads")
    CALC_ROW(IS, RECOMPUTE, "--checkpoint-activations", .value = 2) CALC_ROW(IS, ACT_OFFLOAD, "--checkpoint-in-cpu", .value = 1)
    CALC_ROW(IS, OPT_OFFLOAD, "--cpu-optimizer", .value = 1) CALC_ROW(IS, FLASH, "--use-flash-attn-v1", .also = "--use-flash-attn-v2", .value = 1)
    CALC_ROW(IS, FLASH, "--use-flash-attn-triton", .also = "--use-flash-attn-builder", .value = 1)
    CALC_ROW_DEFAULT(FLASH, 0) CALC_ROW_DEFAULT(CONTEXT_TYPE, CALC_CONTEXT_PAR_TYPE_ULYSSES)
};
const calc_framework calc_framework_megatron_deepspeed = {.name = "megatron-deepspeed", .title = "Megatron-DeepSpeed",
    .version = "main branch of July 2025", .launch = "run it with deepspeed", .script = "pretrain_gpt.py", .syntax = CALC_SYNTAX_SHELL, .has_model = true,
    CALC_FRAMEWORK_ROWS(megatron_deepspeed_rows, megatron_deepspeed), CALC_FRAMEWORK_BASES(&calc_framework_megatron)};

/* Primus of AMD: its YAML file overrides options of Megatron-LM, by the names of its arguments. */
static const calc_setting_row primus_rows[] = {
    CALC_ROW(NAME, MODEL, "modules.pre_trainer.model", .also = "modules.sft_trainer.model")
    CALC_ROW(WORDS, TENSOR_SWITCHES, "modules.pre_trainer.framework", .also = "modules.sft_trainer.framework", .words = "megatron=")
    CALC_ROW(SWITCH, FUSED_ACT, "modules.pre_trainer.overrides.bias_swiglu_fusion", .value = 1)
    CALC_ROW(SWITCH, UNFUSED_ROPE, "modules.pre_trainer.overrides.apply_rope_fusion", .value = 0)
    CALC_ROW(WORDS, FP8, "modules.pre_trainer.overrides.fp8", .words = "hybrid=1 e4m3=1 null=0")
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16) CALC_ROW_DEFAULT(MICROBATCH, 2) CALC_ROW_DEFAULT(SEQ, 4096)
};
const calc_framework calc_framework_primus = {.name = "primus", .title = "Primus", .version = "main branch of August 2026",
    .launch = "EXP=this file bash examples/run_pretrain.sh", .syntax = CALC_SYNTAX_YAML, .launched = true,
    .renamed = "modules.pre_trainer.overrides.=-- modules.sft_trainer.overrides.=--",
    CALC_FRAMEWORK_ROWS(primus_rows, primus), CALC_FRAMEWORK_BASES(&calc_framework_megatron)};

/* FlagScale: options of Megatron-LM in sections of YAML. */
static const calc_setting_row flagscale_rows[] = {CALC_ROW(NUMBER, NODE_PROCS, "experiment.runner.nproc_per_node", .launcher = true)
    CALC_ROW(NUMBER, NODES, "experiment.runner.nnodes", .launcher = true)};
const calc_framework calc_framework_flagscale = {.name = "flagscale", .title = "FlagScale", .version = "main branch of 2026",
    .launch = "flagscale train MODEL --config its experiment", .syntax = CALC_SYNTAX_YAML, .has_model = true, .launched = true,
    .renamed = "system.precision.=-- system.checkpoint.=-- system.logging.=-- system.=-- model.optimizer.lr_scheduler.=-- model.optimizer.=-- model.=-- "
               "data.tokenizer.=-- data.=--",
    CALC_FRAMEWORK_ROWS(flagscale_rows, flagscale), CALC_FRAMEWORK_BASES(&calc_framework_megatron)};
/* clang-format on */

/* NeMo 2: a recipe as YAML. Its parts are those of Megatron-Bridge by other names. */

/* clang-format off */
static const calc_setting_row nemo_recipe_rows[] = {
    CALC_ROW(NUMBER, NODE_PROCS, "trainer.devices") CALC_ROW(NUMBER, NODES, "trainer.num_nodes")
    CALC_ROW(WORDS, PRECISION, "trainer.plugins.precision",
        .words = "bf16-mixed=bfloat16 bf16=bfloat16 16-mixed=float16 16=float16 32=float32 32-true=float32")
    CALC_ROW(NUMBER, SEQ, "data.seq_length")
    CALC_ROW(WORDS, LORA_CLASS, "peft._target_",
        .words = "nemo.collections.llm.peft.LoRA=1 nemo.collections.llm.peft.lora.LoRA=1 nemo.collections.llm.peft.canonical_lora.CanonicalLoRA=2 "
                 "nemo.collections.llm.peft.CanonicalLoRA=2 nemo.collections.llm.peft.dora.DoRA=3 nemo.collections.llm.peft.DoRA=3")
    CALC_ROW_DEFAULT(DIST_OPT, 1)
};

/* What NeMo 2 has not is not Megatron-Bridge's key of the same name. */
const calc_framework calc_framework_nemo2 = {.name = "nemo2", .title = "NeMo 2", .version = "2.4.0, recipe",
    .launch = "nemo llm pretrain --yaml this file", .program = "llm pretrain|llm finetune", .syntax = CALC_SYNTAX_YAML, .options = true, .has_model = true,
    .renamed = "trainer.strategy.ddp.=ddp. trainer.strategy.=model. model.config.=model. data.=train. optim.config.=optimizer. "
        "trainer.plugins.=mixed_precision. model.=- train.=-",
    CALC_FRAMEWORK_ROWS(nemo_recipe_rows, nemo_recipe), CALC_FRAMEWORK_BASES(&calc_framework_bridge)};
/* clang-format on */
