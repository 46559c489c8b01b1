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
    CALC_ROW_UNREAD(MODEL,
        "gpt_j_residual gpt_j_tied mlp_multiple_of=1 expansion_factor num_unique_layers use_bias_in_attn_linear=true moe_num_experts=1 "
        "dim_att head_size ffn_dim mamba_use_bias_in_linears gmlp_attn_dim=64 sparsity_config.* soft_prompt_tuning.*")
    CALC_ROW_UNREAD(COST,
        "pipe_partition_method=type:transformer|mlp checkpoint_num_layers=1 partition_activations contiguous_checkpointing "
        "synchronize_each_layer deepspeed_activation_checkpointing=true layernorm_fusion=true rmsnorm_fusion=true "
        "scaled_*_softmax_fusion=true bias_dropout_fusion=true use_flashattn_swiglu te_* use_bnb_optimizer optimizer_type=adam "
        "optimizer.type=Adam zero_reduce_scatter=true zero_*_bucket_size attention_softmax_in_fp32 fp16_lm_cross_entropy train_impl=normal "
        "mamba_* memory_profiling profile deepscale curriculum_seqlen batch_size")
    CALC_ROW_UNREAD(HARMLESS,
        "is_pipe_parallel world_size max_position_embeddings rpe_* opt_pos_emb_offset param_sharing_style *_epsilon *init_method* "
        "fused_kernels_build_path apply_query_key_layer_scaling use_cpu_initialization rotary_* use_bias_in_norms output_layer_* "
        "serve_model_weights *_server_port online_* zero_contiguous_gradients lr lr_* min_lr warmup override_lr_scheduler "
        "use_checkpoint_lr_scheduler use_wandb wandb_* git_hash log_* tensorboard_dir use_comet comet_* peak_theoretical_tflops "
        "gradient_noise_* memory_profiling_path profile_* distributed_backend local_rank rank lazy_mpu_init short_seq_prob "
        "eod_mask_loss adlr_* seed onnx_safe deepscale_config deepspeed_* user_script iteration do_* tokenizer_type *data_path* "
        "use_shared_fs *_data_weights weight_by_num_documents weighted_sampler_alpha *_impl dpo_* kto_* z_loss fp32_reinforce "
        "kl_* reinforce_leave_one_out allow_chopped mmap_warmup save s3_* config_files load checkpoint_* "
        "extra_save_iters no_save_* no_load_* finetune train_iters train_epochs eval_* keep_last_n_checkpoints split *_file "
        "num_workers exit_interval weight_decay profile_backward clip_grad hysteresis dynamic_loss_scale loss_scale* min_scale "
        "char_level_ppl use_mup coord_check base_shapes_file save_base_shapes mup_* text_gen_type precompute_model_name "
        "temperature top_* return_logits maximum_tokens prompt_end num_samples recompute moe_* hostfile include exclude "
        "master_* launcher force_multi autotuning_run no_ssh_check comment account fp16.* bf16.* deepspeed "
        "curriculum_seqlen sparsity_config soft_prompt_tuning checkpoint-* scheduler.* *_blend* data_* loss_*")
};
/* clang-format on */

static calc_status settle(calc_plan *plan, calc_errors *errors)
{
    /* megatron/model/gpt2_model.py: experts and other blocks are not read. */
    return calc_framework_deepspeed.settle(plan, errors);
}

/* clang-format off */
const calc_framework calc_framework_gpt_neox = {.name = "gpt-neox", .title = "GPT-NeoX",
    .version = "2.0, main branch of May 2026", .launch = "python deepy.py train.py this file", .syntax = CALC_SYNTAX_YAML,
    .has_model = true, .launched = true, .elsewhere = " vocab_size ", /* the tokenizer */ .settle = settle,
    CALC_FRAMEWORK_ROWS(rows), CALC_FRAMEWORK_BASES(&calc_framework_deepspeed)};
/* clang-format on */
