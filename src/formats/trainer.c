/* Programs around the Trainer of Hugging Face and its launcher, in transformers 5.0: LLaMA-Factory,
 * Axolotl, TRL and ms-swift take its arguments, and Accelerate's file or plugins say how they are
 * spread. YAML or options of a command; the model is one of Hugging Face, by name. */
#include "formats/framework.h"
#include "formats/plan_macros.h"

/* Added to CALC_PLAN_SHARDED, resolved in settle_sharding(). */
enum {
    SOME = 10,         /* within a node only; copies on other nodes */
    ZERO = 30,         /* by DeepSpeed, with its settings by Accelerate */
    OWN_ZERO = 50,     /* the same, with settings of ms-swift */
    STATE_AWAY = 100,  /* the optimizer state on the host */
    WEIGHTS_AWAY = 200 /* and the weights */
};
/* Bits of CALC_PLAN_TORCH_FSDP: words of the argument "fsdp". */
enum { FULL = 1, KEPT = 2, FULL_SOME = 4, KEPT_SOME = 8, AWAY = 16 };
/* Values of CALC_PLAN_OPTIMIZER beside those of the field. */
enum { BYTES = 10 /* Adam with moments of 8 bits */, OTHER = 20 };

/* accelerate/utils/dataclasses.py: numbers are those of torch's ShardingStrategy */
static const char strategy[] =
    "FULL_SHARD=3 SHARD_GRAD_OP=2 NO_SHARD=0 HYBRID_SHARD=13 HYBRID_SHARD_ZERO2=12 true=3 "
    "false=2 1=3 2=2 3=0 4=13 5=12";
static const char checkpoint[] = "true=2 false=0 offload=2 offload_disk=2 unsloth=2";
static const char attention[] =
    "flash_attention_2=1 sdpa=1 eager=0 flash_attention_3=1 flash_attn=1 fa2=1 fa3=1 auto=1 "
    "disabled=0 xformers=1 flex_attention=1 sage=1 flash_attn3=1 flash_attention_4=1 "
    "kernels-community/flash-attn2=1 kernels-community/flash-attn3=1 "
    "kernels-community/vllm-flash-attn3=1";
static const char part[] =
    "full=0 lora=1 qlora=1 oft=1 freeze=1 llama-adapter=1 longlora=1 adalora=1 llamapro=1 vera=1 "
    "boft=1 fourierft=1 reft=1 bone=1 lora_llm=1 adapter=1";
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

#define STORED "weights and optimizer state are taken as of mixed precision, with a copy in float32"
#define QUANTIZED "weights are taken as they are trained, not quantized"
#define ADAPTED "it trains a part of the weights or an adapter; the layout is of full fine-tuning"
#define LONGEST "sequences are not packed; each is taken as long as the longest"
#define SHORTER "its loss is taken as that of training on whole sequences"

/* clang-format off */
static const calc_setting_row accelerate_rows[] = {
    CALC_ROW(NUMBER, PROCS, "num_processes", .unset = true)
    CALC_ROW(NUMBER, NODES, "num_machines")
    CALC_ROW(WORDS, FSDP, "distributed_type",
        .words = "FSDP=1 DEEPSPEED=0 MULTI_GPU=0 MULTI_NPU=0 MULTI_XPU=0 MULTI_HPU=0 MULTI_MLU=0 NO=0 MEGATRON_LM=0 XLA=0 MULTI_NEURON=0")
    CALC_ROW(WORDS, PRECISION, "mixed_precision", .words = "bf16=bfloat16 fp16=float16 no=float32 fp8=float8")
    CALC_ROW(WORDS, SHARDED, "fsdp_config.fsdp_sharding_strategy", .words = strategy)
    CALC_ROW(WORDS, SHARDED, "fsdp_config.fsdp_reshard_after_forward", .words = strategy)
    CALC_ROW(NUMBER, FSDP, "fsdp_config.fsdp_version")
    CALC_ROW(SWITCH, WEIGHT_OFFLOAD, "fsdp_config.fsdp_offload_params", .value = 1)
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
    CALC_ROW(NUMBER, TENSOR, "megatron_lm_config.megatron_lm_tp_degree")
    CALC_ROW(NUMBER, PIPELINE, "megatron_lm_config.megatron_lm_pp_degree")
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
    CALC_ROW_DEFAULT(EAGER, 1)
    CALC_ROW_DEFAULT(GRAD, CALC_FORMAT_FLOAT32)
    CALC_ROW_DEFAULT(GRAD_OVERLAP, 1)
    CALC_ROW_UNREAD(COST,
        "fsdp_config.fsdp_forward_prefetch fsdp_config.fsdp_backward_prefetch=BACKWARD_PRE fsdp_config.fsdp_min_num_params "
        "megatron_lm_config.* fp8_config.enable_fsdp_float8_all_gather use_cpu downcast_bf16 ipex_config.* cpu")
    CALC_ROW_UNREAD(HARMLESS,
        "fsdp_config.* deepspeed_config.* parallelism_config.* dynamo_config.* fp8_config.* mpirun_config.* compute_environment "
        "debug machine_rank main_process_ip main_process_port main_training_function rdzv_backend same_network tpu_* gpu_ids "
        "enable_cpu_affinity command_file commands num_cpu_threads_per_process multi_gpu use_fsdp use_deepspeed "
        "deepspeed_hostfile deepspeed_multinode_launcher rdzv_conf max_restarts monitor_interval role tee log_dir module")
};

static const calc_setting_row trainer_rows[] = {
    CALC_ROW(NUMBER, MICROBATCH, "per_device_train_batch_size")
    CALC_ROW(NUMBER, MICROBATCHES, "gradient_accumulation_steps")
    CALC_ROW(IS, PRECISION, "bf16", .value = CALC_DATATYPE_BFLOAT16, .assumed = "bfloat16 is assumed")
    CALC_ROW(IS, PRECISION, "fp16", .value = CALC_DATATYPE_FLOAT16)
    CALC_ROW(WORDS, RECOMPUTE, "gradient_checkpointing", .words = checkpoint)
    CALC_ROW(WORDS, OPTIMIZER, "optim", .words = optimizers)
    CALC_ROW(FILE, SHARDED, "deepspeed", /* the words: swift/config/ */
        .words = "zero0=50 zero1=51 zero2=52 zero3=53 zero2_offload=152 zero3_offload=253", .text = "deepspeed")
    CALC_ROW(SET, TORCH_FSDP, "fsdp",
        .words = "full_shard=1 shard_grad_op=2 no_shard=0 hybrid_shard=4 hybrid_shard_zero2=8 offload=16 auto_wrap=0 fsdp2=1 true=1 false=0")
    CALC_ROW(FILE, SHARDED, "config_file", .text = "accelerate")
    CALC_ROW(SWITCH, FUSED_LOSS, "use_liger_kernel", .value = 1)
    CALC_ROW(WORDS, FLASH, "attn_implementation", .words = attention)
    CALC_ROW(SWITCH, EAGER, "torch_compile", .value = 0)
    CALC_ROW(SWITCH, PACKED, "packing", .value = 1)
    CALC_ROW(NAME, MODEL, "model_name_or_path")
    CALC_ROW(NUMBER, NODE_PROCS, "nproc_per_node")
    CALC_ROW(NUMBER, NODES, "nnodes")
    CALC_ROW_DEFAULT(MICROBATCH, 8)
    CALC_ROW_UNREAD(COST, "dtype=float32 torch_dtype=float32", .assumed = STORED)
    CALC_ROW_UNREAD(COST, "load_in_8bit load_in_4bit quantization_bit", .assumed = QUANTIZED)
    CALC_ROW_UNREAD(COST,
        "auto_find_batch_size tf32 optim_target_modules torch_empty_cache_steps full_determinism ddp_find_unused_parameters "
        "ddp_bucket_cap_mb ddp_backend=nccl activation_offloading group_by_length train_sampling_strategy=random "
        "neftune_noise_alpha padding_free use_cache gradient_checkpointing_kwargs.* debug local_rank=-1 use_cpu")
    CALC_ROW_UNREAD(HARMLESS,
        "output_dir num_train_epochs max_steps learning_rate lr_* warmup_* optim_args weight_decay adam_* max_grad_norm "
        "average_tokens_across_devices label_* *_full_eval torch_compile_* liger_kernel_config.* logging_* log_* "
        "include_* disable_tqdm report_to run_name project trackio_* eval_* per_device_eval_batch_size prediction_loss_only "
        "batch_eval_metrics save_* enable_jit_checkpoint push_to_hub hub_* load_best_model_at_end metric_for_best_model "
        "greater_is_better ignore_data_skip restore_callback_states_from_checkpoint seed data_seed accelerator_config.* "
        "accelerator_config dataloader_* remove_unused_columns length_column_name ddp_broadcast_buffers ddp_timeout "
        "skip_memory_metrics do_* resume_from_checkpoint trust_remote_code streaming model_revision overwrite_output_dir "
        "fsdp_config parallelism_config liger_kernel_config gradient_checkpointing_kwargs fsdp_transformer_layer_cls_to_wrap "
        "master_addr master_port node_rank rdzv_*")
};

/* hparams/: of LLaMA-Factory 0.9.5 */
static const calc_setting_row llama_factory_rows[] = {
    CALC_ROW(NUMBER, SEQ, "cutoff_len")
    CALC_ROW(WORDS, ADAPTER, "finetuning_type", .words = part)
    CALC_ROW(WORDS, RECOMPUTE, "disable_gradient_checkpointing", .words = "true=0 false=2")
    CALC_ROW(WORDS, FLASH, "flash_attn", .words = attention)
    CALC_ROW(SWITCH, FUSED_LOSS, "enable_liger_kernel", .value = 1)
    CALC_ROW(IS, PACKED, "neat_packing", .value = 1)
    CALC_ROW(SWITCH, FP8, "fp8", .value = 1)
    CALC_ROW(NUMBER, PROCS, "ray_num_workers")
    CALC_ROW(NUMBER, CHUNKS, "virtual_pipeline_model_parallel_size")
    CALC_ROW(SWITCH, FUSED_ACT, "bias_activation_fusion", .value = 1)
    CALC_ROW(SWITCH, UNFUSED_ROPE, "apply_rope_fusion", .value = 0)
    CALC_ROW_DEFAULT(SEQ, 2048)
    CALC_ROW_DEFAULT(RECOMPUTE, 2)
    CALC_ROW_UNREAD(MODEL, "mixture_of_depths")
    CALC_ROW_UNREAD(COST, "pure_bf16", .assumed = STORED)
    CALC_ROW_UNREAD(COST, "stage=sft", .assumed = "the layout is of training one model on whole sequences")
    CALC_ROW_UNREAD(COST,
        "use_galore use_apollo use_badam use_adam_mini use_muon use_llama_pro use_unsloth use_unsloth_gc use_kt shift_attn "
        "upcast_* fp8_enable_fsdp_float8_all_gather use_hyper_parallel hyper_parallel_cp_size=1 streaming resize_vocab")
    CALC_ROW_UNREAD(HARMLESS,
        "template dataset* *dataset media_dir train_on_prompt mask_history buffer_size mix_strategy interleave_probs "
        "overwrite_cache preprocessing_* max_samples ignore_pad_token_for_loss val_size tool_format default_system "
        "*_thinking tokenized_path data_shared_file_system adapter_* *_token* cache_dir use_fast_tokenizer "
        "*special_tokens* low_cpu_mem_usage rope_scaling use_reentrant_gc moe_aux_loss_coef train_from_scratch infer_* "
        "offload_folder use_kv_cache use_v1_kernels print_param_status quantization_* double_quantization image_* "
        "video_* audio_* use_audio_in_video crop_to_patches export_* vllm_* sglang_* kt_* compute_dtype device_map model_max_length "
        "block_diag_attn freeze_* additional_target lora_* loraplus_* use_rslora use_dora pissa_* create_new_adapter "
        "module_dropout oft_* pref_* dpo_* kto_* simpo_* ppo_* ref_model* reward_model* ld_alpha galore_* apollo_* "
        "badam_* use_swanlab swanlab_* use_mca use_megatron_bridge megatron_bridge_args hyper_parallel_args *_loss "
        "asft_alpha eaft_alpha compute_accuracy disable_shuffling early_stopping_steps plot_loss "
        "enable_torch_profiler profile* fp8_backend ray_* temperature top_* num_beams max_length max_new_tokens "
        "*_penalty mixed_precision")
};

/* utils/schemas/: of Axolotl 0.18 */
static const calc_setting_row axolotl_rows[] = {
    CALC_ROW(NUMBER, MICROBATCH, "micro_batch_size")
    CALC_ROW(NUMBER, SEQ, "sequence_len")
    CALC_ROW(WORDS, PRECISION, "bf16", .words = "true=bfloat16 auto=bfloat16 full=bfloat16 false=")
    CALC_ROW(SWITCH, PACKED, "sample_packing", .value = 1)
    CALC_ROW(IS, PACKED, "pad_to_sequence_len", .value = 1)
    CALC_ROW(WORDS, OPTIMIZER, "optimizer", .words = optimizers)
    CALC_ROW(WORDS, ADAPTER, "adapter", .words = part)
    CALC_ROW(NUMBER, TENSOR, "tensor_parallel_size")
    CALC_ROW(NUMBER, CONTEXT, "context_parallel_size")
    CALC_ROW(NUMBER, CONTEXT, "sequence_parallel_degree")
    CALC_ROW(NUMBER, SHARD_DATA, "dp_shard_size")
    CALC_ROW(NUMBER, REPLICATED, "dp_replicate_size")
    CALC_ROW(NUMBER, FSDP, "fsdp_version")
    CALC_ROW(IS, FLASH, "flash_attention", .value = 1)
    CALC_ROW(IS, FLASH, "sdp_attention", .value = 1)
    CALC_ROW(IS, FLASH, "xformers_attention", .value = 1)
    CALC_ROW(IS, FLASH, "eager_attention", .value = 0)
    CALC_ROW(IS, FUSED_LOSS, "liger_fused_linear_cross_entropy", .value = 1)
    CALC_ROW(IS, FUSED_LOSS, "liger_cross_entropy", .value = 1)
    CALC_ROW(IS, FUSED_LOSS, "cut_cross_entropy", .value = 1)
    CALC_ROW(IS, FUSED_LOSS, "chunked_cross_entropy", .value = 1)
    CALC_ROW(SWITCH, FP8, "fp8", .value = 1)
    CALC_ROW(NAME, MODEL, "base_model")
    CALC_ROW_DEFAULT(SEQ, 512)
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(MICROBATCH, 1)
    CALC_ROW_UNREAD(MODEL, "overrides_of_model_config.* overrides_of_model_config llama4_linearized_experts")
    CALC_ROW_UNREAD(COST, "bfloat16 float16 float32", .assumed = STORED)
    CALC_ROW_UNREAD(COST, "gptq model_quantization_config quantize_moe_experts qat.* qat use_onebitllms", .assumed = QUANTIZED)
    CALC_ROW_UNREAD(COST, "rl reward_model process_reward_model ebft.* ebft", .assumed = "the layout is of training one model on whole sequences")
    CALC_ROW_UNREAD(COST,
        "batch_size activation_offloading layer_offloading selective_checkpointing.* selective_checkpointing tiled_mlp "
        "fp8_enable_fsdp_float8_all_gather deepcompile batch_flattening lora_mlp_kernel lora_qkv_kernel lora_o_kernel "
        "lora_embedding_kernel lora_on_cpu unfrozen_parameters relora lisa_n_layers s2_attention liger_rope liger_rms_norm "
        "liger_layer_norm liger_swiglu liger_glu_activation flash_attn_fuse_mlp flash_attn_cross_entropy flash_attn_rms_norm "
        "sage_attention flex_attention flash_optimum fused_attn_kernel experts_implementation use_kernels fp32_norms "
        "resize_token_embeddings_to_32x device=auto max_memory.* gpu_memory_limit torch_compile_options.* type_of_model "
        "freeze_mm_modules large_head_attention flash_attn_d512 sdpa_varlen gemma4_hybrid_attn_impl scaling_softmax "
        "max_packed_sequence_len pad_to_multiple_of trainer_cls shrink_embeddings")
    CALC_ROW_UNREAD(HARMLESS,
        "*dataset* *_dataset ebft.* trl.* vllm.* quantization.* peft.* special_tokens.* dynamic_checkpoint.* bnb_config_kwargs.* "
        "gradient_checkpointing_kwargs.* strict *resume* *_embeddings* embeddings_* reinit_weights num_labels center_rewards_coefficient "
        "dpo_* precompute_ref_log_probs sample_packing_* *sample_packing min_sample_len max_prompt_len excess_length_strategy "
        "curriculum_sampling multipack_* pretrain_* use_pose pretraining_* pose_* streaming_* flex_attn_compile_kwargs* heads_k_stride "
        "ring_attn_func scaling_softmax_* chunked_cross_entropy_num_chunks use_eaft eaft_* tiled_mlp_* fsdp_final_state_dict_type "
        "fp32_norm_classes val_set_size tokens added_tokens_overrides evals_per_epoch saves_per_epoch early_stopping_patience "
        "use_tensorboard profiler_* orpo_alpha simpo_gamma cpo_alpha kto_* rl_beta rpo_alpha low_cpu_mem_usage chat_template* "
        "eot_tokens default_system_message fix_untrained_tokens is_* preprocess_iterable total_* axolotl_config_path plugins.* plugins "
        "generat* num_generation_samples use_* wandb_* mlflow_* comet_* gradio_* otel_* hf_* lisa_* ray_* resources_per_worker* "
        "train_on_inputs embedding_lr* learning_rate torchdistx_path cosine_* lr_* dion_* qgalore_* num_epochs jagged_* "
        "base_model_* cls_model_config tokenizer_* processor_* experimental_* model_quantization_config_kwargs.* revision_of_model "
        "loftq_* lora_* peft_* peft qlora_* loraplus_* merge_* relora_* rope_scaling noisy_embedding_alpha evaluation_strategy "
        "overrides_of_model_kwargs.* overrides_of_model_kwargs image_* role* mean_* ddp world_size gc_* loss_* bench_* dataloader_* "
        "device_map device eval_* shuffle_* *_kwargs message_property_mappings.* liger_* max_memory trl vllm quantization special_tokens dynamic_checkpoint")
};

/* trl/trainer/: of TRL 1.9 */
static const calc_setting_row trl_rows[] = {
    CALC_ROW(NUMBER, SEQ, "max_length")
    CALC_ROW(NUMBER, SEQ, "max_seq_length")
    CALC_ROW(IS, ADAPTER, "use_peft", .value = 1)
    CALC_ROW_DEFAULT(SEQ, 1024)
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(RECOMPUTE, 2)
    CALC_ROW_UNREAD(COST, "use_vllm", .assumed = "generation is not part of the layout")
    CALC_ROW_UNREAD(COST, "pad_to_multiple_of loss_type=nll", .assumed = SHORTER)
    CALC_ROW_UNREAD(HARMLESS,
        "model_init_kwargs* router_aux_loss_coef chat_template_path dataset_* datasets eos_token pad_token truncation_mode "
        "shuffle_dataset packing_strategy completion_only_loss assistant_only_loss lora_* use_rslora use_dora bnb_* "
        "use_bnb_nested_quant ignore_bias_buffers test_split_size vllm_* env.*")
};

/* swift/arguments/, swift/trainers/arguments.py: of ms-swift 4.6 */
static const calc_setting_row swift_rows[] = {
    CALC_ROW(NUMBER, SEQ, "max_length")
    CALC_ROW(WORDS, ADAPTER, "tuner_type", .words = part)
    CALC_ROW(WORDS, ADAPTER, "train_type", .words = part)
    CALC_ROW(WORDS, FLASH, "attn_impl", .words = attention)
    CALC_ROW(NUMBER, HEADS_RANKS, "sequence_parallel_size")
    CALC_ROW(NUMBER, TENSOR, "deepspeed_autotp_size")
    CALC_ROW(NAME, MODEL, "model")
    CALC_ROW_DEFAULT(PRECISION, CALC_DATATYPE_BFLOAT16)
    CALC_ROW_DEFAULT(MICROBATCH, 1)
    CALC_ROW_DEFAULT(RECOMPUTE, 2)
    CALC_ROW_UNREAD(COST, "torch_dtype=float32", .assumed = STORED)
    CALC_ROW_UNREAD(COST, "quant_method quant_bits", .assumed = QUANTIZED)
    CALC_ROW_UNREAD(COST, "rlhf_type", .assumed = "the layout is of training one model on whole sequences")
    CALC_ROW_UNREAD(COST,
        "zero_hpz_partition_size=1 use_galore optimizer packing_length lisa_activated_layers trainable_parameters* experts_impl "
        "vit_gradient_checkpointing max_model_len num_labels use_logits_to_keep")
    CALC_ROW_UNREAD(HARMLESS,
        "swanlab_* add_version create_checkpoint_symlink max_new_tokens temperature load_* tuner_backend adapters external_plugins "
        "custom_* model_* enable_* packing_* lazy_tokenize use_hf ignore_args_error use_swift_lora *dataset* columns "
        "interleave_prob stopping_strategy shuffle_buffer_size download_mode strict disable_* "
        "task_type new_special_tokens problem_type rope_scaling device_map max_memory local_repo_path init_* template* system "
        "truncation_strategy max_pixels agent_template norm_bbox use_chat_template padding_side loss_* is_binary_loss_scale "
        "response_prefix preserve_thinking add_non_thinking_prefix hqq_axis bnb_* freeze_* target_* modules_to_save lora_* "
        "lorap_lr_ratio use_rslora use_dora fourier_* boft_* vera_* adapter_* adalora_* llamapro_* reft_* router_aux_loss_coef "
        "safe_serialization max_shard_size check_model acc_strategy train_dataloader_shuffle max_epochs aligner_lr vit_lr "
        "ds3_gather_for_generation resume_only_model mrl_dims callbacks early_stop_interval extra_eval_args galore_* lisa_* "
        "use_flash_ckpt split_dataset_ratio")
};

/* swift/megatron/arguments/megatron_args.py, of ms-swift 4.6: with Megatron Core */
static const calc_setting_row swift_core_rows[] = {
    CALC_ROW(NUMBER, SEQ, "max_length")
    CALC_ROW(NUMBER, CHUNKS, "virtual_pipeline_model_parallel_size")
    CALC_ROW(SWITCH, STAGE_OVERLAP, "overlap_p2p_comm", .value = 1)
    CALC_ROW(SWITCH, FUSED_ACT, "bias_activation_fusion", .value = 1)
    CALC_ROW(SWITCH, UNFUSED_ROPE, "apply_rope_fusion", .value = 0)
    CALC_ROW(WORDS, RECOMPUTE, "recompute_granularity", .words = "selective=1 full=2 none=0")
    CALC_ROW_DEFAULT(BATCH, 16)
    CALC_ROW_DEFAULT(RECOMPUTE, 1)
    CALC_ROW_DEFAULT(DIST_OPT, 1)
    CALC_ROW_DEFAULT(EAGER, 0)
    CALC_ROW_DEFAULT(GRAD_OVERLAP, 0)
    CALC_ROW_DEFAULT(DISPATCH, CALC_DISPATCH_TYPE_ALL_TO_ALL)
    CALC_ROW_DEFAULT(EXPERT_TENSOR, 1)
    CALC_ROW_UNREAD(COST,
        "moe_layer_recompute mhc_recompute_layer_num padding_free=true mlp_padding_free group_by_length gradient_accumulation_fusion=true "
        "masked_softmax_fusion=true bias_dropout_fusion=true moe_grouped_gemm=true moe_permute_fusion optimizer_cuda_graph "
        "microbatch_group_size_per_vp_stage cp_partition_mode=zigzag sequence_packing_scheduler use_fused_mhc apply_dsa_kernel_fusion "
        "batch_p2p_comm attention_softmax_in_fp32 linear_decoupled_in_proj")
    CALC_ROW_UNREAD(HARMLESS,
        "mcore_* *_model teacher_* *teacher* beta rpo_alpha reference_free label_smoothing f_divergence_type desirable_weight undesirable_weight "
        "calculate_KL center_rewards_coefficient gkd_* lmbda seq_kd sft_alpha generation_batch_size steps_per_generation "
        "num_generations* max_completion_length importance_* *_tau tau_* fipo_* epsilon* delta top_* repetition_* use_vllm use_ray "
        "vllm_* sleep_level offload_* reward_* cosine_* soft_* dynamic_sample max_resample_times overlong_filter scale_rewards "
        "advantage_* kl_* wandb_* log_* rollout_* off_policy_* router_replay_mode sync_* async_* move_model_batches multi_turn_* "
        "max_turns completion_* use_gym_env gym_env num_iterations output_dir merge_lora save_* bridge_backend dsa_* csa_* "
        "megatron_extra_kwargs language_model_only apply_wd_* data_sharding lr* min_lr *_decay* clip_grad sgd_momentum no_* finetune "
        "perform_initialization align_* nccl_comm_warmup swanlab_* fp8_amax_* fp4_* moe_* mtp_* data_parallel_random_init muon_* "
        "use_persistent_ckpt_worker dist_ckpt_* distrib_* tensorboard_* eval_iters ref_* manual_gc* te_rng_tracker skip_megatron_init "
        "use_cpu_initialization train_iters vit_* logging_steps report_to calculate_per_token_loss manual_gc_steps cross_entropy_fusion_impl=native")
};
/* clang-format on */

/* ---- What follows from the settings ---------------------------------------------------------- */

/* The words of the argument "fsdp", and FSDP without a word on what it shards. */
static void settle_fsdp(calc_plan *plan)
{
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
}

static void settle_sharding(calc_plan *plan)
{
    int64_t sharded = COUNT(SHARDED);
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
    } else if (sharded >= SOME) {
        double node = SAYS(NODE_PROCS)             ? VALUE(NODE_PROCS)
                      : SAYS(PROCS) && SAYS(NODES) ? floor(VALUE(PROCS) / VALUE(NODES))
                                                   : 8;
        if (!SAYS(NODE_PROCS) && !SAYS(NODES)) {
            calc_plan_note(plan,
                           "hybrid sharding is within a node; nodes of 8 processors are assumed");
        }
        sharded -= SOME;
        SET(SHARD_RANKS, node);
    }
    if (SAYS(SHARDED)) {
        SET(SHARDED, sharded);
    }
}

static calc_status settle_accelerate(calc_plan *plan, calc_errors *errors)
{
    (void)errors;
    settle_fsdp(plan);
    settle_sharding(plan);
    if (COUNT(PRECISION) == CALC_DATATYPE_FLOAT8) {
        SET(PRECISION, CALC_DATATYPE_BFLOAT16);
        SET(FP8, 1);
    }
    if (YES(FP8)) { /* the multiplication quantizes what it takes */
        SET(ACTIVATIONS, CALC_FORMAT_BFLOAT16);
    }
    if (!SAYS(MICROBATCH) && !SAYS(BATCH)) {
        calc_plan_note(plan, "the script says the batch of a processor; one sequence is assumed");
    }
    return CALC_OK;
}

static calc_status settle_trainer(calc_plan *plan, calc_errors *errors)
{
    if (COUNT(OPTIMIZER) == OTHER) {
        calc_plan_note(plan, "the optimizer is taken as AdamW, with its state in float32");
    } else if (COUNT(OPTIMIZER) == BYTES) {
        SET(MOMENTS, CALC_FORMAT_FLOAT8);
    }
    if (COUNT(OPTIMIZER) >= BYTES) {
        SET(OPTIMIZER, NAN);
    }
    if (YES(ADAPTER)) {
        calc_plan_note(plan, ADAPTED);
    }
    if (!YES(PACKED)) {
        calc_plan_note(plan, LONGEST);
    }
    if (!SAYS(MICROBATCH) && !SAYS(BATCH)) {
        SET(MICROBATCH, 8);
    }
    return settle_accelerate(plan, errors);
}

/* LLaMA-Factory and ms-swift train an adapter unless they are told to train all weights. With
 * Megatron Core's options LLaMA-Factory trains by that, which compiles nothing and recomputes what
 * it is told to. */
static calc_status settle_adapter(calc_plan *plan, calc_errors *errors)
{
    if (!SAYS(ADAPTER)) {
        SET(ADAPTER, 1);
    }
    if (SAYS(TENSOR) || SAYS(PIPELINE) || SAYS(EXPERT) || SAYS(DIST_OPT)) {
        SET(EAGER, 0);
        SET(RECOMPUTE, COUNT(RECOMPUTE));
    }
    return settle_trainer(plan, errors);
}

static calc_status settle_axolotl(calc_plan *plan, calc_errors *errors)
{
    if (!SAYS(MICROBATCH)) {
        SET(MICROBATCH, 1);
    }
    return settle_trainer(plan, errors);
}

/* swift/arguments/sft_args.py: without gradient_accumulation_steps a step is of at least 16
 * sequences. */
static calc_status settle_swift(calc_plan *plan, calc_errors *errors)
{
    if (!SAYS(MICROBATCH)) {
        SET(MICROBATCH, 1);
    }
    if (!SAYS(MICROBATCHES) && SAYS(PROCS)) {
        SET(MICROBATCHES, fmax(1, ceil(16 / VALUE(MICROBATCH) / VALUE(PROCS))));
    }
    return settle_adapter(plan, errors);
}

static calc_status settle_swift_core(calc_plan *plan, calc_errors *errors)
{
    (void)errors;
    if (YES(ADAPTER)) {
        calc_plan_note(plan, ADAPTED);
    }
    if (!YES(PACKED)) {
        calc_plan_note(plan, LONGEST);
    }
    return CALC_OK;
}

#define COMMON(title_, version_, launch_)                                                          \
    .title = title_, .version = version_, .launch = launch_, .syntax = CALC_SYNTAX_YAML,           \
    .options = true

/* clang-format off */
const calc_framework calc_framework_accelerate = {.name = "accelerate",
    COMMON("Accelerate", "1.15, configuration file", "accelerate launch --config_file this file"),
    .settle = settle_accelerate, CALC_FRAMEWORK_ROWS(accelerate_rows)};
/* Launcher's options have the names of its file; those of FSDP go without their beginning, too. */
static const calc_framework trainer = {
    .renamed = "fsdp_config.fsdp_=fsdp_config.fsdp_ fsdp_config.=fsdp_config.fsdp_ --fsdp_=fsdp_config.fsdp_ "
        "--zero_stage=deepspeed_config.zero_stage --offload_=deepspeed_config.offload_ --parallelism_=parallelism_config.parallelism_",
    CALC_FRAMEWORK_ROWS(trainer_rows), CALC_FRAMEWORK_BASES(&calc_framework_accelerate)};
const calc_framework calc_framework_llama_factory = {.name = "llama-factory", .program = "llamafactory-cli",
    COMMON("LLaMA-Factory", "0.9.5", "llamafactory-cli train this file"), .settle = settle_adapter,
    CALC_FRAMEWORK_ROWS(llama_factory_rows), CALC_FRAMEWORK_BASES(&trainer, &calc_framework_megatron)};
const calc_framework calc_framework_axolotl = {.name = "axolotl", .program = "axolotl train",
    COMMON("Axolotl", "0.18", "axolotl train this file"), .settle = settle_axolotl, CALC_FRAMEWORK_ROWS(axolotl_rows),
    CALC_FRAMEWORK_BASES(&trainer)};
const calc_framework calc_framework_trl = {.name = "trl", .program = "trl sft",
    COMMON("TRL", "1.9", "trl sft --config this file"), .settle = settle_trainer, CALC_FRAMEWORK_ROWS(trl_rows),
    CALC_FRAMEWORK_BASES(&trainer)};
const calc_framework calc_framework_swift = {.name = "ms-swift", .program = "swift sft",
    COMMON("ms-swift", "4.6", "swift sft this file"), .settle = settle_swift, CALC_FRAMEWORK_ROWS(swift_rows),
    CALC_FRAMEWORK_BASES(&trainer)};
const calc_framework calc_framework_swift_core = {.name = "megatron-swift", .program = "megatron sft",
    COMMON("Megatron-SWIFT", "4.6", "megatron sft this file"), .settle = settle_swift_core,
    CALC_FRAMEWORK_ROWS(swift_core_rows), CALC_FRAMEWORK_BASES(&calc_framework_megatron, &calc_framework_swift)};
/* clang-format on */
