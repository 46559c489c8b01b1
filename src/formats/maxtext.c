/* MaxText: a YAML file over base.yml. Every axis of its mesh has a size within a slice (ici) and
 * one over slices (dcn). */
#include "formats/framework.h"
#include "formats/plan_macros.h"

#include "base/error.h"

/* Added to CALC_PLAN_RECOMPUTE: what is stored is on the host; it is not quite all of a block. */
enum { MOVED = 10, NEARLY = 20 };

/* clang-format off */
static const calc_setting_row rows[] = {
    CALC_ROW(WORDS, MODEL, "model_name",
        .words = "llama3-8b=0 llama3.1-8b=0 llama3-70b=1 llama3.1-70b=1 llama3.3-70b=1 llama3-405b=2 llama3.1-405b=2 deepseek2-16b=3 "
                 "deepseek2-236b=4 deepseek3-671b=5")
    CALC_ROW(DECIMAL, LOCAL_BATCH, "per_device_batch_size")
    CALC_ROW(NUMBER, MICROBATCHES, "gradient_accumulation_steps")
    CALC_ROW(NUMBER, SEQ, "max_target_length")
    CALC_ROW(FACTOR, SHARD_DATA, "ici_fsdp_parallelism", .unset = true)
    CALC_ROW(FACTOR, SHARD_DATA, "dcn_fsdp_parallelism", .unset = true)
    CALC_ROW(FACTOR, SHARD_DATA, "ici_fsdp_transpose_parallelism", .unset = true)
    CALC_ROW(FACTOR, SHARD_DATA, "dcn_fsdp_transpose_parallelism", .unset = true)
    CALC_ROW(FACTOR, REPLICATED, "ici_data_parallelism", .unset = true)
    CALC_ROW(FACTOR, REPLICATED, "dcn_data_parallelism", .unset = true)
    CALC_ROW(FACTOR, TENSOR, "ici_tensor_parallelism", .unset = true)
    CALC_ROW(FACTOR, TENSOR, "dcn_tensor_parallelism", .unset = true)
    CALC_ROW(FACTOR, PIPELINE, "ici_pipeline_parallelism", .unset = true)
    CALC_ROW(FACTOR, PIPELINE, "dcn_pipeline_parallelism", .unset = true)
    CALC_ROW(FACTOR, CONTEXT, "ici_context_parallelism", .unset = true)
    CALC_ROW(FACTOR, CONTEXT, "dcn_context_parallelism", .unset = true)
    CALC_ROW(FACTOR, EXPERT, "ici_expert_parallelism", .unset = true)
    CALC_ROW(FACTOR, EXPERT, "dcn_expert_parallelism", .unset = true)
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
    CALC_ROW_DEFAULT(FFN_TYPE, CALC_FFN_TYPE_SWIGLU)
    CALC_ROW_DEFAULT(NORM, CALC_NORM_TYPE_RMS)
    CALC_ROW_DEFAULT(POSITION, CALC_POSITION_TYPE_ROPE)
    CALC_ROW_DEFAULT(BIAS, 0)
    CALC_ROW_DEFAULT(DROPOUT, 0)
    CALC_ROW_DEFAULT(TIED, 0)
    CALC_ROW_UNREAD(MODEL,
        "decoder_block=llama2 global_parameter_scale=1 attention_output_dim=-1 global_head_dim global_num_kv_heads "
        "mlp_bias attention_bias share_kv_projections attention_sink chunk_attn_window_size interleave_moe_layer_step=1 "
        "nope_layer_interval=-1 inhomogeneous_layer_cycle_interval=1 use_post_attn_norm use_post_ffw_norm num_kv_shared_layers "
        "use_double_wide_mlp moba use_indexer o_lora_rank o_groups compress_ratios engram_layers gdn_* partial_rotary_factor=1 "
        "hidden_size_per_layer_input vocab_size_per_layer_input first_num_hash_layers use_multimodal use_audio mhc_expansion_rate=1 "
        "moe_expert_input_dim=-1 trainable_position_size=-1 use_qk_norm_in_gdn lora.enable_lora")
    CALC_ROW_UNREAD(COST,
        "*_sequence_parallelism=1 *_tensor_sequence_parallelism=1 *_autoregressive_parallelism=1 *_diloco_parallelism=1 "
        "*_usp_ulysses_parallelism=1 *_transpose_parallelism=1 num_pipeline_repeats=-1 num_pipeline_microbatches=-1 pipeline_parallel_layers=-1 "
        "pipeline_delay_activation_forwarding pipeline_fsdp_ag_once pipeline_fsdp_ag_per_repeat capacity_factor=-1 opt_type=adamw mu_dtype=float32 "
        "shard_optimizer_over_data enable_dropout=true use_2d_fsdp_sharding shard_exp_on_fsdp use_ring_of_experts "
        "use_batch_split_schedule batch_split_factor=1 fused_qkv fused_mlp te_comm_gemm_overlap=disabled num_moe_token_chunks=1 "
        "use_random_routing num_vocab_tiling=1 expansion_factor_real_data=-1 packing=true use_dpo num_slices=-1 "
        "decoder_layer_input=device context=remat mlpwi=remat mlpwi_0=remat mlpwi_1=remat mlpwo=remat moe_mlpwi_0=remat "
        "moe_mlpwi_1=remat moe_mlpwo=remat query_proj=remat key_proj=remat value_proj=remat kv_proj=remat qkv_proj=remat out_proj=remat "
        "query_wa_proj=remat kv_wa_proj=remat mla_q=remat mla_kv=remat attention_out=remat engram=remat indexer_cutoff_threshold=remat "
        "sparse_matmul=true megablox=true num_moe_emb_chunks float32_qk_product float32_logits scan_layers=true "
        "activations_in_float32 logits_dot_in_fp32 custom_mesh_and_rule use_ragged_sort weight_sparsity_* "
        "moe_fsdp_use_two_stage_all_gather moe_dispatch_no_expert_sharding ragged_buffer_factor=-1 enable_diloco reuse_example_batch")
    CALC_ROW_UNREAD(COST,
        "sa_* local_sa_* local_use_splash_scheduler wi_tile_* wo_tile_* use_tokamax_* use_gmm_v2 merge_gating_gmm use_ragged_attention use_jax_splash "
        "use_splash_scheduler use_sliced_mla_proj use_manual_quantization use_qwix_quantization quant_cfg_path use_custom_sort_vjp=true "
        "use_gather_mosaic_kernel use_sequential_layers use_mhc_pallas_kernel *_fsdp_use_two_stage_all_gather scan_pipeline_* "
        "scan_layers_per_stage set_remat_policy_on_* matmul_precision=default cast_logits_to_fp32=true float32_* shard_mode=auto "
        "context_parallel_load_balance=true compile_xla_flags dq_reduction_steps experimental_sa_* reshape_q vocab_tiling_ag_once "
        "moe_chunk_barrier mla_qk_head_chunk_size enable_rampup_batch_size use_truncation use_qk_clip qk_clip_threshold use_iota_embed force_unroll "
        "enable_streaming_diloco custom_mesh temperature_tuning")
    CALC_ROW_UNREAD(HARMLESS,
        "base_config run_name abort_* *_for_audio *_for_vit *_calibration_method adam_* adamw_mask add_* allow_split_* *_axis_order "
        "*checkpoint* attn_logits_soft_cap final_logits_soft_cap audio_* autoregressive_* base_output_directory beta_* block_diffusion_* "
        "causal_block_size chat_template* check_vma colocated_* communication_overlapping_* num_communication_* compile* compressed_rope_* "
        "constant_bound_config context_parallel_reorder_strategy context_sharding cost_estimate_* custom_mesh_and_rule_* data_* dataset_* "
        "dcn_bandwidth_* debug_* decode_* default_prompt dense_init_scale diloco_* distill_* dtype_mm dump_* elastic_* enable_* engram_* eval_* "
        "force_q_layout freeze_* gcs_metrics generate_* global_ram* global_rope_* goodput_* gradient_clipping_threshold grain_* "
        "hardware heartbeat_* hf_* hide_* image_* indexer_* inference_* init_weights_seed input_data_* internal_* jax_* kv_quant_* "
        "learning_rate* load_* local_checkpoint_* local_rope_* log_* logical_axis_rules* lora_* lr_* managed_* max_* mesh_axes metrics_file "
        "mhc_* mla_naive_kvcache mlp_activations_limit moba_* model_call_mode monitor_* mrope_section mscale mtc_* mtp_* multi_* muon_* "
        "norm_topk_prob normaliz* num_diloco_* num_epoch olmo_* optimize_* original_max_* override_* param_scan_axis per_device_batch_size_* "
        "position_id_* prefill_* prefix_* profile* prometheus_* prompt pure_nnx* qk_norm_with_scale quantization_* quantize_kvcache ragged_* "
        "record_* remove_* replicate_quant_scale report_* return_log_prob ring_scan_unroll rope_* routed_* save_* sft_* sharding_tolerance "
        "shardy sinkhorn_* skip_* spatial_* stack_* step_* steps subslice_shape target_* tokeniz* tpu_* train_* trainable_* training_* "
        "ulysses_context_sharding upload_* use_audio_* use_chat_* use_chunked_prefill use_max_logit_estimate use_mrope use_sft "
        "use_untrainable_* use_vertex_* v_norm_* vertex_* video_* vision_* vllm_* wandb_* warmup_* write_* wsd_* xprof_* z_loss_multiplier")
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
    .settle = settle, CALC_FRAMEWORK_ROWS(rows)};
/* clang-format on */
