/* Programs around the Trainer of Hugging Face and its launcher, in transformers 5.0: LLaMA-Factory,
 * Axolotl, TRL and ms-swift take its arguments, and Accelerate's file or plugins say how they are
 * spread. YAML or options of a command; the model is one of Hugging Face, by name. */
#include "formats/framework.h"
#include "formats/plan_macros.h"

/* Added to CALC_PLAN_SHARDED, resolved in settle_sharding(). */
enum {
    SOME = CALC_PLAN_SHARDED_IN_NODES,
    ZERO = 30,         /* by DeepSpeed, with its settings by Accelerate */
    OWN_ZERO = 50,     /* the same, with settings of ms-swift */
    STATE_AWAY = 100,  /* the optimizer state on the host */
    WEIGHTS_AWAY = 200 /* and the weights */
};
/* Bits of CALC_PLAN_TORCH_FSDP: words of the argument "fsdp". */
enum { FULL = 1, KEPT = 2, FULL_SOME = 4, KEPT_SOME = 8, AWAY = 16 };
/* Values of CALC_PLAN_OPTIMIZER and CALC_PLAN_ADAPTER beside those of the field; of
 * CALC_PLAN_PRECISION: all is of bfloat16; what CALC_PLAN_RECOMPUTE has more: activations move. */
enum { BYTES = 10 /* Adam with moments of 8 bits */, OTHER = 20 };
/* Of the host, as the estimators of DeepSpeed have it. */
static const double ENGINE_BUFFERS = 1.5;

/* accelerate/utils/dataclasses.py: numbers are those of torch's ShardingStrategy */
static const char strategy[] =
    "FULL_SHARD=3 SHARD_GRAD_OP=2 NO_SHARD=0 HYBRID_SHARD=13 HYBRID_SHARD_ZERO2=12 true=3 "
    "false=2 1=3 2=2 3=0 4=13 5=12";
static const char checkpoint[] = "true=2 false=0 offload=22 offload_disk=22 unsloth=22";
static const char attention[] =
    "flash_attention_2=1 sdpa=1 eager=0 flash_attention_3=1 flash_attn=1 fa2=1 fa3=1 auto=1 "
    "disabled=0 xformers=1 flex_attention=1 sage=1 flash_attn3=1 flash_attention_4=1 "
    "kernels-community/flash-attn2=1 kernels-community/flash-attn3=1 "
    "kernels-community/vllm-flash-attn3=1";
/* 20: not modelled. */
static const char part[] =
    "full=all lora=adapters qlora=adapters freeze=blocks longlora=adapters lora_llm=adapters "
    "oft=20 llama-adapter=20 adalora=20 llamapro=20 vera=20 boft=20 fourierft=20 reft=20 bone=20 "
    "adapter=20";
static const char modules[] = CALC_LORA_WORDS;
static const char bits[] = "4=nf4 8=int8";
static const char formats[] =
    "bfloat16 bf16=bfloat16 float16 fp16=float16 float32 fp32=float32 auto=";
/* transformers/training_args.py, OptimizerNames; axolotl/utils/schemas/enums.py */
static const char optimizers[] =
    "adamw_torch=adam adamw_torch_fused=adam adamw_8bit=10 adamw_bnb_8bit=10 adamw_torch_8bit=10 "
    "paged_adamw_8bit=10 ao_adamw_8bit=10 ao_adamw_fp8=10 muon adamw_hf=adam "
    "adamw_apex_fused=adam adamw_torch_npu_fused=adam adamw_torch_xla=adam "
    "paged_adamw_32bit=adam paged_adamw=adam optimi_adamw=adam flash_adamw=adam flash_adam=adam "
    "adafactor=20 adamw_anyprecision=20 adamw_torch_4bit=20 ademamix=20 sgd=20 adagrad=20 "
    "ademamix_8bit=20 lion_8bit=20 lion_32bit=20 paged_ademamix_32bit=20 paged_ademamix_8bit=20 "
    "paged_lion_32bit=20 paged_lion_8bit=20 rmsprop=20 rmsprop_bnb=20 rmsprop_bnb_8bit=20 "
    "rmsprop_bnb_32bit=20 galore_adamw=20 galore_adamw_8bit=20 galore_adafactor=20 "
    "galore_adamw_layerwise=20 galore_adamw_8bit_layerwise=20 galore_adafactor_layerwise=20 "
    "q_galore_adamw8bit=20 lomo=20 adalomo=20 grokadamw=20 schedule_free_radam=20 "
    "schedule_free_adamw=20 schedule_free_sgd=20 apollo_adamw=20 apollo_adamw_layerwise=20 "
    "stable_adamw=20 ao_adamw_4bit=20 adopt_adamw=20 came_pytorch=20 dion=20 sinkgd=20 "
    "flash_sgd=20 flash_sgdw=20 flash_lion=20";

/* clang-format off */
#define OPEN_FORMAT                                                                                \
    {.how = CALC_HOW_DEFAULT, .member = CALC_PLAN_PRECISION, .value = CALC_DATATYPE_BFLOAT16,      \
     .assumed = "the number format is the model's; bfloat16 is assumed"},
static const calc_setting_row accelerate_rows[] = {
    CALC_ROW(NUMBER, PROCS, "num_processes", .unset = true) CALC_ROW(NUMBER, NODES, "num_machines")
    CALC_ROW(WORDS, FSDP, "distributed_type",
        .words = "FSDP=1 DEEPSPEED=0 MULTI_GPU=0 MULTI_NPU=0 MULTI_XPU=0 MULTI_HPU=0 MULTI_MLU=0 NO=0 MEGATRON_LM=0 XLA=0 MULTI_NEURON=0")
    CALC_ROW(WORDS, PRECISION, "mixed_precision", .words = "bf16=bfloat16 fp16=float16 no=float32 fp8=float8")
    CALC_ROW(WORDS, SHARDED, "fsdp_config.fsdp_sharding_strategy", .words = strategy)
    CALC_ROW(WORDS, SHARDED, "fsdp_config.fsdp_reshard_after_forward", .words = strategy)
    CALC_ROW(NUMBER, FSDP, "fsdp_config.fsdp_version") CALC_ROW(SWITCH, WEIGHT_OFFLOAD, "fsdp_config.fsdp_offload_params", .value = 1)
    CALC_ROW(WORDS, RECOMPUTE, "fsdp_config.fsdp_activation_checkpointing", .words = checkpoint)
    CALC_ROW(FILE, SHARDED, "deepspeed_config.deepspeed_config_file", .text = "deepspeed")
    CALC_ROW(WORDS, SHARDED, "deepspeed_config.zero_stage", .words = "0=30 1=31 2=32 3=33")
    CALC_ROW(WORDS, OPT_OFFLOAD, "deepspeed_config.offload_optimizer_device", .words = "cpu=1 none=0")
    CALC_ROW(WORDS, WEIGHT_OFFLOAD, "deepspeed_config.offload_param_device", .words = "cpu=1 none=0")
    CALC_ROW(NUMBER, MICROBATCHES, "deepspeed_config.gradient_accumulation_steps")
    CALC_ROW(NUMBER, REPLICATED, "parallelism_config.parallelism_config_dp_replicate_size")
    CALC_ROW(NUMBER, SHARD_DATA, "parallelism_config.parallelism_config_dp_shard_size")
    CALC_ROW(NUMBER, TENSOR, "parallelism_config.parallelism_config_tp_size")
    CALC_ROW(NUMBER, RING_RANKS, "parallelism_config.parallelism_config_cp_size")
    CALC_ROW(WORDS, CONTEXT_TYPE, "parallelism_config.parallelism_config_cp_comm_strategy", .words = "allgather=all_gather alltoall=ring")
    CALC_ROW(NUMBER, HEADS_RANKS, "parallelism_config.parallelism_config_sp_size")
    CALC_ROW(NUMBER, TENSOR, "megatron_lm_config.megatron_lm_tp_degree") CALC_ROW(NUMBER, PIPELINE, "megatron_lm_config.megatron_lm_pp_degree")
    CALC_ROW(NUMBER, MICROBATCHES, "megatron_lm_config.megatron_lm_num_micro_batches")
    CALC_ROW(NUMBER, CONTEXT, "megatron_lm_config.megatron_lm_context_parallel_size")
    CALC_ROW(NUMBER, EXPERT, "megatron_lm_config.megatron_lm_expert_model_parallel_size")
    CALC_ROW(NUMBER, EXPERT_TENSOR, "megatron_lm_config.megatron_lm_expert_tensor_parallel_size")
    CALC_ROW(SWITCH, SEQ_PAR, "megatron_lm_config.megatron_lm_sequence_parallelism", .value = 1)
    CALC_ROW(SWITCH, DIST_OPT, "megatron_lm_config.megatron_lm_use_distributed_optimizer", .value = 1)
    CALC_ROW(SWITCH, OPT_OFFLOAD, "megatron_lm_config.megatron_lm_optimizer_cpu_offload", .value = 1)
    CALC_ROW(WORDS, RECOMPUTE, "megatron_lm_config.megatron_lm_recompute_activations", .words = "true=1 false=0")
    CALC_ROW(WORDS, RECOMPUTE, "megatron_lm_config.megatron_lm_recompute_granularity", .words = "selective=1 full=2 none=0")
    CALC_ROW(WORDS, EAGER, "dynamo_config.dynamo_backend", .words = "no=1 inductor=0 aot_eager=1 eager=1")
    CALC_ROWS_FSDP
};

static const calc_setting_row trainer_rows[] = {
    CALC_ROW(NUMBER, MICROBATCH, "per_device_train_batch_size") CALC_ROW(NUMBER, MICROBATCHES, "gradient_accumulation_steps")
    CALC_ROW(IS, PRECISION, "bf16", .value = CALC_DATATYPE_BFLOAT16, .assumed = "bfloat16 is assumed")
    CALC_ROW(IS, PRECISION, "fp16", .value = CALC_DATATYPE_FLOAT16)
    CALC_ROW(WORDS, STATE, "dtype", .words = formats) /* the model is loaded so, and the optimizer's state is of it */
    CALC_ROW(WORDS, STATE, "torch_dtype", .words = formats)
    CALC_ROW(WORDS, RECOMPUTE, "gradient_checkpointing", .words = checkpoint)
    CALC_ROW(WORDS, OPTIMIZER, "optim", .words = optimizers)
    CALC_ROW(FILE, SHARDED, "deepspeed", /* the words: swift/config/ */
        .words = "zero0=50 zero1=51 zero2=52 zero3=53 zero2_offload=152 zero3_offload=253", .text = "deepspeed")
    CALC_ROW(SET, TORCH_FSDP, "fsdp",
        .words = "full_shard=1 shard_grad_op=2 no_shard=0 hybrid_shard=4 hybrid_shard_zero2=8 offload=16 auto_wrap=0 fsdp2=1 true=1 false=0")
    CALC_ROW(FILE, SHARDED, "config_file", .text = "accelerate")
    CALC_ROW(SWITCH, LIGER, "use_liger_kernel", .value = 1)
    CALC_ROW(SWITCH, LIGER, "use_liger", .value = 1) /* of programs around it, as those of adapters below */
    CALC_ROW(IS, ADAPTER, "use_lora", .also = "lora_enable", .value = CALC_TRAINED_ADAPTERS) CALC_ROW(IS, ADAPTER, "use_peft_lora", .value = CALC_TRAINED_ADAPTERS)
    CALC_ROW(IS, FROZEN, "q_lora", .value = CALC_FROZEN_DATATYPE_NF4) CALC_ROW(NUMBER, LORA_RANK, "lora_r", .also = "lora_rank")
    CALC_ROW(SET, LORA_MODULES, "lora_target_modules", .words = modules)
    CALC_ROW(WORDS, FLASH, "attn_implementation", .words = attention)
    CALC_ROW(SWITCH, EAGER, "torch_compile", .value = 0) CALC_ROW(SWITCH, PACKED, "packing", .value = 1)
    CALC_ROW(DECIMAL, LORA_DROPOUT, "lora_dropout") CALC_ROW(SWITCH, DORA, "use_dora", .value = 1)
    CALC_ROW(IS, FROZEN, "load_in_4bit", .also = "use_4bit_quantization", .value = CALC_FROZEN_DATATYPE_NF4)
    CALC_ROW(IS, FROZEN, "load_in_8bit", .also = "use_8bit_quantization", .value = CALC_FROZEN_DATATYPE_INT8) CALC_ROW(SWITCH, NESTED, "use_nested_quant", .value = 1)
    CALC_ROW(NUMBER, SEQ, "model_max_length", .also = "max_seq_len") /* not the Trainer's: most programs around it have it */
    CALC_ROW(NAME, MODEL, "model_name_or_path")
    CALC_ROW_DEFAULT(MICROBATCH, 8)
    OPEN_FORMAT
};

/* hparams/: of LLaMA-Factory 0.9.5 */
static const calc_setting_row llama_factory_rows[] = {
    CALC_ROW(NUMBER, SEQ, "cutoff_len")
    CALC_ROW(WORDS, ADAPTER, "finetuning_type", .words = part)
    CALC_ROW(SET, LORA_MODULES, "lora_target", .words = modules)
    CALC_ROW(NUMBER, TRAINED_BLOCKS, "freeze_trainable_layers") CALC_ROW(SWITCH, TOWER, "freeze_vision_tower", .value = 1)
    CALC_ROW(SWITCH, TOWER_OUT, "freeze_multi_modal_projector", .value = 1)
    CALC_ROW(WORDS, FROZEN, "quantization_bit", .words = bits)
    CALC_ROW(SWITCH, NESTED, "double_quantization", .value = 1)
    CALC_ROW(WORDS, RECOMPUTE, "disable_gradient_checkpointing", .words = "true=0 false=2")
    CALC_ROW(WORDS, FLASH, "flash_attn", .words = attention)
    CALC_ROW(SWITCH, LIGER, "enable_liger_kernel", .value = 1) CALC_ROW(IS, PACKED, "neat_packing", .value = 1)
    CALC_ROW(IS, MASTER, "pure_bf16", .value = CALC_FORMAT_BFLOAT16)
    CALC_ROW(SWITCH, FP8, "fp8", .value = 1)
    CALC_ROW(NUMBER, PROCS, "ray_num_workers") CALC_ROW(NUMBER, CHUNKS, "virtual_pipeline_model_parallel_size")
    CALC_ROW(SWITCH, FUSED_ACT, "bias_activation_fusion", .value = 1) CALC_ROW(SWITCH, UNFUSED_ROPE, "apply_rope_fusion", .value = 0)
    OPEN_FORMAT
    CALC_ROW_DEFAULT(SEQ, 2048) CALC_ROW_DEFAULT(RECOMPUTE, 2) CALC_ROW_DEFAULT(LORA_RANK, 8) CALC_ROW_DEFAULT(NESTED, 1)
};

/* utils/schemas/: of Axolotl 0.18 */
static const calc_setting_row axolotl_rows[] = {
    CALC_ROW(NUMBER, MICROBATCH, "micro_batch_size") CALC_ROW(NUMBER, SEQ, "sequence_len")
    CALC_ROW(WORDS, PRECISION, "bf16", .words = "true=bfloat16 auto=bfloat16 full=20 false=")
    CALC_ROW(SWITCH, PACKED, "sample_packing", .value = 1) CALC_ROW(IS, PACKED, "pad_to_sequence_len", .value = 1)
    CALC_ROW(WORDS, OPTIMIZER, "optimizer", .words = optimizers)
    CALC_ROW(WORDS, ADAPTER, "adapter", .words = part)
    CALC_ROW(IS, LORA_MODULES, "lora_target_linear", .value = 0) CALC_ROW(SWITCH, DORA, "peft_use_dora", .value = 1)
    CALC_ROW(SWITCH, NESTED, "bnb_config_kwargs.bnb_4bit_use_double_quant", .value = 1)
    CALC_ROW(NUMBER, TENSOR, "tensor_parallel_size") CALC_ROW(NUMBER, EXPERT, "expert_parallel_size")
    CALC_ROW(NUMBER, CONTEXT, "context_parallel_size", .also = "sequence_parallel_degree")
    CALC_ROW(NUMBER, SHARD_DATA, "dp_shard_size") CALC_ROW(NUMBER, REPLICATED, "dp_replicate_size") CALC_ROW(NUMBER, FSDP, "fsdp_version")
    CALC_ROW(IS, FLASH, "flash_attention", .value = 1) CALC_ROW(IS, FLASH, "sdp_attention", .also = "xformers_attention", .value = 1)
    CALC_ROW(IS, FLASH, "eager_attention", .value = 0)
    CALC_ROW(IS, FUSED_LOSS, "liger_fused_linear_cross_entropy", .also = "liger_cross_entropy", .value = 1)
    CALC_ROW(IS, FUSED_NORM, "liger_rms_norm", .value = 1)
    CALC_ROW(WORDS, ACT_OFFLOAD, "activation_offloading", .words = "true=1 false=0 legacy=1 disk=1 hidden_states=1")
    CALC_ROW(IS, FUSED_LOSS, "cut_cross_entropy", .value = 1)
    CALC_ROW(SET, FUSED_LOSS, "plugins", .words = "axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin=1 *=")
    CALC_ROW(IS, FUSED_LOSS, "chunked_cross_entropy", .value = 1)
    CALC_ROW(SWITCH, FP8, "fp8", .value = 1)
    CALC_ROW(NAME, MODEL, "base_model")
    CALC_ROW_DEFAULT(SEQ, 512) CALC_ROW_DEFAULT(LORA_RANK, 8) CALC_ROW_DEFAULT(NESTED, 1) CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(MICROBATCH, 1)
};

/* trl/trainer/: of TRL 1.9 */
static const calc_setting_row trl_rows[] = {
    CALC_ROW(NUMBER, SEQ, "max_length", .also = "max_seq_length")
    CALC_ROW(NUMBER, PROMPT, "max_prompt_length") CALC_ROW(NUMBER, RESPONSE, "max_completion_length")
    CALC_ROW(FILE, SHARDED, "accelerate_config", .words = "fsdp1=3 fsdp2=3 zero1=31 zero2=32 zero3=33 multi_gpu=0 single_gpu=0", .text = "accelerate")
    CALC_ROW(SWITCH, ACT_OFFLOAD, "activation_offloading", .value = 1) CALC_ROW(IS, ADAPTER, "use_peft", .value = CALC_TRAINED_ADAPTERS)
    CALC_ROW(SWITCH, NESTED, "use_bnb_nested_quant", .value = 1)
    CALC_ROW_DEFAULT(SEQ, 1024) CALC_ROW_DEFAULT(LORA_RANK, 16) CALC_ROW_DEFAULT(LORA_DROPOUT, 0.05)
    /* PEFT's choice for models like Llama */
    CALC_ROW_DEFAULT(LORA_MODULES, 1 << CALC_LORA_MODULES_Q_PROJ | 1 << CALC_LORA_MODULES_V_PROJ) CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(RECOMPUTE, 2)
};

/* swift/arguments/, swift/trainers/arguments.py: of ms-swift 4.6 */
static const calc_setting_row swift_rows[] = {
    CALC_ROW(NUMBER, SEQ, "max_length")
    CALC_ROW(WORDS, ADAPTER, "tuner_type", .also = "train_type", .words = part)
    CALC_ROW(SET, LORA_MODULES, "target_modules", .words = modules)
    CALC_ROW(SWITCH, TOWER, "freeze_vit", .value = 1) CALC_ROW(SWITCH, TOWER_OUT, "freeze_aligner", .value = 1)
    CALC_ROW(WORDS, FROZEN, "quant_bits", .words = bits)
    CALC_ROW(SWITCH, NESTED, "bnb_4bit_use_double_quant", .value = 1)
    CALC_ROW(WORDS, FLASH, "attn_impl", .words = attention)
    CALC_ROW(NUMBER, HEADS_RANKS, "sequence_parallel_size") CALC_ROW(NUMBER, TENSOR, "deepspeed_autotp_size")
    CALC_ROW(NAME, MODEL, "model")
    CALC_ROW_DEFAULT(LORA_RANK, 8) CALC_ROW_DEFAULT(LORA_DROPOUT, 0.05) CALC_ROW_DEFAULT(NESTED, 1)
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16) CALC_ROW_DEFAULT(MICROBATCH, 1) CALC_ROW_DEFAULT(RECOMPUTE, 2)
};

/* swift/megatron/arguments/megatron_args.py, of ms-swift 4.6: with Megatron Core */
static const calc_setting_row swift_core_rows[] = {
    CALC_ROW(NUMBER, SEQ, "max_length") CALC_ROW(NUMBER, CHUNKS, "virtual_pipeline_model_parallel_size")
    CALC_ROW(SWITCH, STAGE_OVERLAP, "overlap_p2p_comm", .value = 1) CALC_ROW(SWITCH, FUSED_ACT, "bias_activation_fusion", .value = 1)
    CALC_ROW(SWITCH, UNFUSED_ROPE, "apply_rope_fusion", .value = 0)
    CALC_ROW(WORDS, RECOMPUTE, "recompute_granularity", .words = "selective=1 full=2 none=0")
    CALC_ROW_DEFAULT(LORA_FUSED, 1) CALC_ROW_DEFAULT(LORA_EXPERTS, CALC_LORA_EXPERTS_EACH) CALC_ROW_DEFAULT(BATCH, 16) CALC_ROW_DEFAULT(RECOMPUTE, 1)
    CALC_ROW_DEFAULT(DIST_OPT, 1) CALC_ROW_DEFAULT(EAGER, 0) CALC_ROW_DEFAULT(ACTIVATIONS, CALC_FORMAT_AUTO) CALC_ROW_DEFAULT(GRAD_OVERLAP, 0)
    CALC_ROW_DEFAULT(LOSS_PARALLEL, 0) CALC_ROW_DEFAULT(DISPATCH, CALC_DISPATCH_TYPE_ALL_TO_ALL) CALC_ROW_DEFAULT(EXPERT_TENSOR, 1)
};
/* clang-format on */

/* @param loaded  format in which the program loads weights that are trained, which are the
 *                optimizer's then; NaN: not known */
static void settle_sharding(calc_plan *plan, double loaded)
{
    /* The words of the argument "fsdp", and FSDP without a word on what it shards. */
    int64_t words = COUNT(TORCH_FSDP);
    if (!SAYS(SHARDED) && words & (FULL | KEPT | FULL_SOME | KEPT_SOME)) {
        SET(SHARDED,
            (words & (KEPT | KEPT_SOME) ? 2 : 3) + (words & (FULL_SOME | KEPT_SOME) ? SOME : 0));
    } else if (!SAYS(SHARDED) && YES(FSDP)) {
        SET(SHARDED, 3);
    }
    if (words & AWAY) {
        SET(WEIGHT_OFFLOAD, 1);
    }
    SET(TORCH_FSDP, NAN);
    /* torch/distributed/fsdp: parameters on the host are updated there. */
    if (YES(WEIGHT_OFFLOAD) && VALUE(SHARDED) < ZERO) {
        SET(OPT_OFFLOAD, 1);
    }
    int64_t sharded = COUNT(SHARDED);
    bool engine = sharded >= ZERO || SAYS(OFFLOAD_BUFFERS); /* DeepSpeed, named or by its file */
    if (sharded >= STATE_AWAY) {
        SET(OPT_OFFLOAD, 1);
        SET(WEIGHT_OFFLOAD, sharded >= WEIGHTS_AWAY);
        sharded %= STATE_AWAY;
    }
    if (sharded >= ZERO) {
        bool own = sharded >= OWN_ZERO;
        sharded -= own ? OWN_ZERO : ZERO;
        if (!SAYS(GRAD_OVERLAP)) {
            SET(GRAD_OVERLAP, !own && sharded == 3); /* deepspeed/runtime/zero/config.py */
        }
    }
    if (engine) {
        SET(STATE, NAN); /* runtime/bf16_optimizer.py: a copy in float32 */
        SET(MASTER, NAN);
        SET(OFFLOAD_BUFFERS, VALUE_OR(OFFLOAD_BUFFERS, ENGINE_BUFFERS)); /* known the next time */
    } else if (COUNT(MASTER) == CALC_FORMAT_BFLOAT16) {
        SET(STATE, CALC_FORMAT_BFLOAT16);
    } else if (sharded > 0 && COUNT(ADAPTER) != CALC_TRAINED_ADAPTERS) {
        /* accelerate/utils/fsdp_utils.py, fsdp2_prepare_model(), and accelerator.py: parameters
         * that are trained are converted to float32, and are the optimizer's. */
        SET(STATE, CALC_FORMAT_FLOAT32);
    } else if (!SAYS(STATE) && COUNT(ADAPTER) != CALC_TRAINED_ADAPTERS) {
        SET(STATE, loaded);
    }
    if (SAYS(SHARDED)) {
        SET(SHARDED, sharded);
        calc_plan_shard_in_nodes(plan);
    }
}

static void settle_accelerate(calc_plan *plan)
{
    settle_sharding(plan, (double)NAN);
    if (SAYS(PIPELINE)) { /* of Megatron-LM's plugin */
        SET(LOSS_PARALLEL, 0);
    }
    if (!SAYS(MICROBATCH) && !SAYS(BATCH)) {
        calc_plan_note(plan, "the script says the batch of a processor; one sequence is assumed");
    }
}

static void settle_data(calc_plan *plan)
{
    if (COUNT(ADAPTER) == OTHER) {
        calc_plan_note(plan, "its kind of adapters is not modelled; the layout is of training all "
                             "weights");
        SET(ADAPTER, CALC_TRAINED_ALL);
    }
    if (COUNT(ADAPTER) != CALC_TRAINED_BLOCKS) {
        SET(TRAINED_BLOCKS, NAN);
    } else if (!SAYS(TRAINED_BLOCKS)) {
        SET(TRAINED_BLOCKS, 2); /* hparams/finetuning_args.py of LLaMA-Factory */
    }
    if (!YES(PACKED)) {
        calc_plan_note(plan, "sequences are not packed; each is taken as long as the longest");
    }
}

static void settle_loaded(calc_plan *plan, double loaded)
{
    if (COUNT(OPTIMIZER) == OTHER) {
        calc_plan_note(plan, "the optimizer is taken as AdamW, with its state in float32");
    } else if (COUNT(OPTIMIZER) == BYTES) {
        SET(MOMENTS, CALC_FORMAT_FLOAT8);
    }
    if (COUNT(OPTIMIZER) >= BYTES) {
        SET(OPTIMIZER, NAN);
    }
    if (COUNT_OR(RECOMPUTE, 0) >= OTHER) {
        SET(RECOMPUTE, VALUE(RECOMPUTE) - OTHER);
        SET(ACT_OFFLOAD, 1);
    }
    settle_data(plan);
    settle_sharding(plan, loaded);
    /* peft/tuners/tuners_utils.py, autocast_adapter_dtype: engines that shard convert them. */
    bool alone = !SAYS(SHARDED) && !SAYS(DIST_OPT) && !SAYS(TENSOR);
    if (COUNT(ADAPTER) == CALC_TRAINED_ADAPTERS && alone) {
        SET(STATE, CALC_FORMAT_FLOAT32);
    }
}

/* TRL's dtype of trl/trainer/model_config.py; that of other programs is not known, and is that of
 * most. */
static void settle_trainer(calc_plan *plan)
{
    settle_loaded(plan, CALC_FORMAT_FLOAT32);
}

static void settle_transformers(calc_plan *plan)
{
    if (SAYS(ADAPTER) && !SAYS(LORA_RANK)) {
        SET(LORA_RANK, 8); /* peft/tuners/lora/config.py */
        calc_plan_note(plan, "the program says the rank of its adapters; PEFT's 8 is assumed");
    }
    settle_trainer(plan);
}

/* The format in which a program computes, if it loads weights in that. */
static double computes_in(const calc_plan *plan)
{
    return COUNT_OR(PRECISION, CALC_DATATYPE_BFLOAT16) == CALC_DATATYPE_BFLOAT16
               ? CALC_FORMAT_BFLOAT16
               : CALC_FORMAT_FLOAT32;
}

/* utils/config/, resolve_dtype(): weights are loaded in bfloat16, which "full" keeps under FSDP,
 * too. */
static void settle_axolotl(calc_plan *plan)
{
    if (COUNT_OR(PRECISION, 0) >= OTHER) {
        SET(PRECISION, CALC_DATATYPE_BFLOAT16);
        SET(MASTER, CALC_FORMAT_BFLOAT16);
    }
    settle_loaded(plan, computes_in(plan));
}

/* LLaMA-Factory and ms-swift train an adapter unless they are told to train all weights. With
 * Megatron Core's options LLaMA-Factory trains by that, which compiles nothing and recomputes what
 * it is told to.
 * @return in what other weights are loaded */
static double settle_adapter(calc_plan *plan, double loaded)
{
    bool core = SAYS(PIPELINE) || SAYS(EXPERT) || SAYS(DIST_OPT);
    if (!SAYS(ADAPTER)) {
        SET(ADAPTER, CALC_TRAINED_ADAPTERS);
    }
    if (SAYS(TENSOR) || core) {
        SET(EAGER, 0);
        SET(LOSS_PARALLEL, 0);
        SET(RECOMPUTE, COUNT(RECOMPUTE));
        SET(STATE, NAN);
        return (double)NAN;
    }
    return loaded;
}

/* model/adapter.py: what is trained is converted to float32, unless pure_bf16 is said. */
static void settle_llama_factory(calc_plan *plan)
{
    settle_loaded(plan, settle_adapter(plan, CALC_FORMAT_FLOAT32));
}

/* swift/arguments/sft_args.py: without gradient_accumulation_steps a step is of at least 16
 * sequences. Weights are loaded as the model has them. */
static void settle_swift(calc_plan *plan)
{
    if (!SAYS(MICROBATCHES) && SAYS(PROCS)) {
        SET(MICROBATCHES, fmax(1, ceil(16 / VALUE(MICROBATCH) / VALUE(PROCS))));
    }
    settle_loaded(plan, settle_adapter(plan, computes_in(plan)));
}

#define COMMON(title_, version_, launch_)                                                          \
    .title = title_, .version = version_, .launch = launch_, .syntax = CALC_SYNTAX_YAML,           \
    .options = true

/* Names of the Trainer's arguments that Axolotl has not. */
#define OTHERS "model_name_or_path=- --model_name_or_path=- per_device_train=- --per_device_train=-"

/* clang-format off */
const calc_framework calc_framework_accelerate = {.name = "accelerate",
    COMMON("Accelerate", "1.15, configuration file", "accelerate launch --config_file this file"),
    .settle = settle_accelerate, CALC_FRAMEWORK_ROWS(accelerate_rows, accelerate)};
/* Launcher's options have the names of its file; those of FSDP go without their beginning, too. */
const calc_framework calc_framework_transformers = {.name = "transformers",
    COMMON("Transformers", "5.0, TrainingArguments", "the program that takes these arguments"), .settle = settle_transformers,
    .renamed = "fsdp_config.fsdp_=fsdp_config.fsdp_ fsdp_config.=fsdp_config.fsdp_ --fsdp_=fsdp_config.fsdp_ "
        "--zero_stage=deepspeed_config.zero_stage --offload_=deepspeed_config.offload_ --parallelism_=parallelism_config.parallelism_",
    CALC_FRAMEWORK_ROWS(trainer_rows, trainer), CALC_FRAMEWORK_BASES(&calc_framework_accelerate)};
const calc_framework calc_framework_llama_factory = {.name = "llama-factory", .alone = true, .program = "llamafactory|LLaMA-Factory|src/train",
    COMMON("LLaMA-Factory", "0.9.5", "llamafactory-cli train this file"), .settle = settle_llama_factory,
    CALC_FRAMEWORK_ROWS(llama_factory_rows, llama_factory), CALC_FRAMEWORK_BASES(&calc_framework_transformers, &calc_framework_megatron)};
const calc_framework calc_framework_axolotl = {.name = "axolotl", .alone = true, .program = "axolotl train",
    COMMON("Axolotl", "0.18", "axolotl train this file"), .settle = settle_axolotl, CALC_FRAMEWORK_ROWS(axolotl_rows, axolotl),
    .renamed = OTHERS, CALC_FRAMEWORK_BASES(&calc_framework_transformers)};
const calc_framework calc_framework_trl = {.name = "trl", .program = "trl ",
    COMMON("TRL", "1.9", "trl sft --config this file"), .settle = settle_trainer, CALC_FRAMEWORK_ROWS(trl_rows, trl),
    CALC_FRAMEWORK_BASES(&calc_framework_transformers)};
const calc_framework calc_framework_swift = {.name = "ms-swift", .alone = true, .program = "swift sft|swift pt|swift rlhf|swift/cli/sft|swift/cli/pt|swift/cli/rlhf",
    COMMON("ms-swift", "4.6", "swift sft this file"), .settle = settle_swift, CALC_FRAMEWORK_ROWS(swift_rows, swift),
    .renamed = "model_name_or_path=- --model_name_or_path=-",
    CALC_FRAMEWORK_BASES(&calc_framework_transformers)};
const calc_framework calc_framework_swift_core = {.name = "megatron-swift", .alone = true, .program = "megatron sft|megatron pt|megatron rlhf",
    COMMON("Megatron-SWIFT", "4.6", "megatron sft this file"), .settle = settle_data,
    .renamed = "torch_dtype=- --torch_dtype=-",
    CALC_FRAMEWORK_ROWS(swift_core_rows, swift_core), CALC_FRAMEWORK_BASES(&calc_framework_megatron, &calc_framework_swift)};
/* clang-format on */
