/* Names of Megatron Core's settings: options of Megatron-LM and MindSpeed, keys of NeMo's
 * megatron_gpt_config.yaml and of Megatron-Bridge's ConfigContainer. NULL means that the framework
 * has no such key. BOTH(option, nemo, bridge, ...) is a row of all, NEWER one that MindSpeed, which
 * follows an older release, has not; the other macros are rows of one framework only. The order of
 * the rows is the order of the written file. */
/* clang-format off */
SHELL("CUDA_DEVICE_MAX_CONNECTIONS", .member = CALC_PLAN_QUEUES)
BOTH("--nproc-per-node", "trainer.devices", NULL, .member = CALC_PLAN_NODE_PROCS)
BOTH("--nnodes", "trainer.num_nodes", NULL, .member = CALC_PLAN_NODES)
NEMO("trainer.precision", .how = CALC_HOW_WORDS, .member = CALC_PLAN_PRECISION, .words = "bf16=bfloat16 16=float16 32=float32 bf16-mixed=bfloat16 16-mixed=float16")

BOTH("--tensor-model-parallel-size", "model.tensor_model_parallel_size", "model.tensor_model_parallel_size", .member = CALC_PLAN_TENSOR)
BOTH("--pipeline-model-parallel-size", "model.pipeline_model_parallel_size", "model.pipeline_model_parallel_size", .member = CALC_PLAN_PIPELINE)
MEGATRON("--num-virtual-stages-per-pipeline-rank", .member = CALC_PLAN_EVEN_CHUNKS)
MEGATRON("--num-layers-per-virtual-pipeline-stage", .member = CALC_PLAN_CHUNK_BLOCKS, .read_only = true)
MINDSPEED("--num-layers-per-virtual-pipeline-stage", .member = CALC_PLAN_CHUNK_BLOCKS)
MINDSPEED("--num-virtual-stages-per-pipeline-rank", .member = CALC_PLAN_CHUNKS, .read_only = true)
BOTH(NULL, "model.virtual_pipeline_model_parallel_size", "model.virtual_pipeline_model_parallel_size", .member = CALC_PLAN_CHUNKS)
BOTH("--context-parallel-size", "model.context_parallel_size", "model.context_parallel_size", .member = CALC_PLAN_CONTEXT)
MEGATRON("--cp-comm-type", .how = CALC_HOW_WORDS, .member = CALC_PLAN_CONTEXT_TYPE, .words = context_type)
BOTH(NULL, "model.cp_comm_type", "model.cp_comm_type", .how = CALC_HOW_WORDS, .member = CALC_PLAN_CONTEXT_TYPE, .words = context_type)
MINDSPEED("--context-parallel-algo", .how = CALC_HOW_WORDS, .member = CALC_PLAN_CONTEXT_TYPE, .words = "megatron_cp_algo=ring ulysses_cp_algo=ulysses hybrid_cp_algo=hierarchical")
MINDSPEED("--ulysses-degree-in-cp", .member = CALC_PLAN_CONTEXT_INNER)
NEWER("--hierarchical-context-parallel-sizes", NULL, "model.hierarchical_context_parallel_sizes", .how = CALC_HOW_SIZES, .member = CALC_PLAN_CONTEXT_INNER)
BOTH("--expert-model-parallel-size", "model.expert_model_parallel_size", "model.expert_model_parallel_size", .member = CALC_PLAN_EXPERT)
BOTH("--expert-tensor-parallel-size", "model.expert_tensor_parallel_size", "model.expert_tensor_parallel_size", .member = CALC_PLAN_EXPERT_TENSOR)
BOTH("--sequence-parallel", "model.sequence_parallel", "model.sequence_parallel", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_SEQ_PAR)
NEWER("--tp-comm-overlap", "model.ub_tp_comm_overlap", "comm_overlap.tp_comm_overlap", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_TENSOR_OVERLAP)
MINDSPEED("--use-ascend-mc2", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_TENSOR_OVERLAP)
BOTH("--use-tp-pp-dp-mapping", NULL, "dist.use_tp_pp_dp_mapping", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_STAGES_FIRST)
NEWER("--account-for-embedding-in-pipeline-split", NULL, "model.account_for_embedding_in_pipeline_split", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_EVEN_ENDS)
NEWER("--account-for-loss-in-pipeline-split", NULL, "model.account_for_loss_in_pipeline_split", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_EVEN_HEAD)
NEWER("--pipeline-model-parallel-layout", NULL, "model.pipeline_model_parallel_layout", .how = CALC_HOW_STAGES, .member = CALC_PLAN_STAGE_BLOCKS)
MINDSPEED("--account-for-embedding-in-pipeline-split", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_ENDS)
MINDSPEED("--account-for-loss-in-pipeline-split", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_ENDS)
SHELL("--decoder-first-pipeline-num-layers", .member = CALC_PLAN_FIRST_BLOCKS)
SHELL("--decoder-last-pipeline-num-layers", .member = CALC_PLAN_LAST_BLOCKS)
BOTH(NULL, "model.num_layers_in_first_pipeline_stage", "model.num_layers_in_first_pipeline_stage", .member = CALC_PLAN_FIRST_BLOCKS)
BOTH(NULL, "model.num_layers_in_last_pipeline_stage", "model.num_layers_in_last_pipeline_stage", .member = CALC_PLAN_LAST_BLOCKS)
SHELL("--no-overlap-p2p-communication", .how = CALC_HOW_SWITCH, .value = 0, .member = CALC_PLAN_STAGE_OVERLAP)
BOTH(NULL, "model.overlap_p2p_comm", "comm_overlap.overlap_p2p_comm", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_STAGE_OVERLAP)
BOTH("--defer-embedding-wgrad-compute", "model.defer_embedding_wgrad_compute", "comm_overlap.defer_embedding_wgrad_compute", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_DEFER_WGRAD)
BOTH("--wgrad-deferral-limit", "model.wgrad_deferral_limit", "comm_overlap.wgrad_deferral_limit", .member = CALC_PLAN_DEFER_LIMIT, .when = CALC_PLAN_DEFER_WGRAD)
MINDSPEED("--schedules-method", .how = CALC_HOW_WORDS, .member = CALC_PLAN_SCHEDULE, .words = "dualpipev=dualpipe_v")

BOTH("--micro-batch-size", "model.micro_batch_size", "train.micro_batch_size", .member = CALC_PLAN_MICROBATCH)
BOTH("--global-batch-size", "model.global_batch_size", "train.global_batch_size", .member = CALC_PLAN_BATCH)
SHELL("--encoder-seq-length", .member = CALC_PLAN_SEQ, .read_only = true)
BOTH("--seq-length", "model.encoder_seq_length", "model.seq_length", .member = CALC_PLAN_SEQ)
BRIDGE("dataset.seq_length", .member = CALC_PLAN_SEQ)
BOTH("--max-position-embeddings", "model.max_position_embeddings", NULL, .member = CALC_PLAN_POSITIONS)

BOTH("--num-layers", "model.num_layers", "model.num_layers", .member = CALC_PLAN_BLOCKS)
BOTH("--hidden-size", "model.hidden_size", "model.hidden_size", .member = CALC_PLAN_HIDDEN)
BOTH("--ffn-hidden-size", "model.ffn_hidden_size", "model.ffn_hidden_size", .member = CALC_PLAN_FFN)
BOTH("--num-attention-heads", "model.num_attention_heads", "model.num_attention_heads", .member = CALC_PLAN_HEADS)
BOTH("--kv-channels", "model.kv_channels", "model.kv_channels", .member = CALC_PLAN_HEAD_SIZE)
SHELL("--group-query-attention", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_GROUPED)
BOTH("--num-query-groups", "model.num_query_groups", "model.num_query_groups", .member = CALC_PLAN_KV_HEADS)
BOTH("--qk-layernorm", "model.qk_layernorm", "model.qk_layernorm", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_QK_NORM)
BOTH("--multi-latent-attention", NULL, "model.multi_latent_attention", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_LATENT)
BOTH("--q-lora-rank", NULL, "model.q_lora_rank", .member = CALC_PLAN_Q_LORA)
BOTH("--kv-lora-rank", NULL, "model.kv_lora_rank", .member = CALC_PLAN_KV_LORA)
BOTH("--qk-head-dim", NULL, "model.qk_head_dim", .member = CALC_PLAN_QK_NOPE)
BOTH("--qk-pos-emb-head-dim", NULL, "model.qk_pos_emb_head_dim", .member = CALC_PLAN_QK_ROPE)
BOTH("--v-head-dim", NULL, "model.v_head_dim", .member = CALC_PLAN_V_SIZE)
NEWER("--window-size", NULL, "model.window_size", .how = CALC_HOW_WINDOW, .member = CALC_PLAN_WINDOW)
NEWER("--window-attn-skip-freq", NULL, "model.window_attn_skip_freq", .how = CALC_HOW_MARKS, .member = CALC_PLAN_GLOBAL_EVERY)
NEWER("--no-rope-freq", NULL, "model.no_rope_freq", .how = CALC_HOW_MARKS, .member = CALC_PLAN_UNROTATED)
NEWER("--softmax-type", NULL, "model.softmax_type", .how = CALC_HOW_WORDS, .member = CALC_PLAN_SINKS, .words = "learnable=1 vanilla=0 off-by-one=0")
NEWER("--add-qkv-bias", NULL, "model.add_qkv_bias", .how = CALC_HOW_IS, .value = 1, .member = CALC_PLAN_QKV_BIAS)
NEWER("--attention-output-gate", NULL, "model.attention_output_gate", .how = CALC_HOW_IS, .value = CALC_OUTPUT_GATE_CHANNEL, .member = CALC_PLAN_OUTPUT_GATE, .release = "core_v0.19.0")
NEWER("--experimental-attention-variant", NULL, "model.experimental_attention_variant", .how = CALC_HOW_WORDS, .member = CALC_PLAN_VARIANT, .words = "gated_delta_net=1 gdn=1 dsa=2", .release = "core_v0.19.0")
NEWER("--linear-attention-freq", NULL, "model.linear_attention_freq", .how = CALC_HOW_MARKS, .member = CALC_PLAN_LINEAR_EVERY)
NEWER("--linear-num-key-heads", NULL, "model.linear_num_key_heads", .member = CALC_PLAN_KEY_HEADS)
NEWER("--linear-key-head-dim", NULL, "model.linear_key_head_dim", .member = CALC_PLAN_KEY_SIZE)
NEWER("--linear-num-value-heads", NULL, "model.linear_num_value_heads", .member = CALC_PLAN_VALUE_HEADS)
NEWER("--linear-value-head-dim", NULL, "model.linear_value_head_dim", .member = CALC_PLAN_VALUE_SIZE)
NEWER("--linear-conv-kernel-dim", NULL, "model.linear_conv_kernel_dim", .member = CALC_PLAN_CONV)
NEWER("--dsa-indexer-n-heads", NULL, "model.dsa_indexer_n_heads", .member = CALC_PLAN_INDEX_HEADS)
NEWER("--dsa-indexer-head-dim", NULL, "model.dsa_indexer_head_dim", .member = CALC_PLAN_INDEX_SIZE)
NEWER("--dsa-indexer-topk", NULL, "model.dsa_indexer_topk", .member = CALC_PLAN_INDEX_TOPK)
NEWER("--dsa-indexer-topk-freq", NULL, "model.dsa_indexer_topk_freq", .member = CALC_PLAN_INDEX_EVERY)
NEWER("--dsa-indexer-skip-topk-offset", NULL, "model.dsa_indexer_skip_topk_offset", .member = CALC_PLAN_INDEX_OFFSET)
MEGATRON("--hybrid-layer-pattern", .how = CALC_HOW_LETTERS, .member = CALC_PLAN_LETTERS, .release = "core_v0.19.0", .script = "pretrain_hybrid.py --spec megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec")
MEGATRON("--hybrid-override-pattern", .how = CALC_HOW_LETTERS, .member = CALC_PLAN_LETTERS, .read_only = true)
BRIDGE("model.hybrid_layer_pattern", .how = CALC_HOW_LETTERS, .member = CALC_PLAN_LETTERS)
BRIDGE("model.hybrid_override_pattern", .how = CALC_HOW_LETTERS, .member = CALC_PLAN_LETTERS, .read_only = true)
NEWER("--mtp-hybrid-override-pattern", NULL, "model.mtp_hybrid_override_pattern", .how = CALC_HOW_LETTERS, .member = CALC_PLAN_MTP_LETTERS, .read_only = true)
NEWER("--is-hybrid-model", NULL, "model.is_hybrid_model", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_HYBRID_MODEL, .read_only = true)
NEWER("--mamba-num-groups", NULL, "model.mamba_num_groups", .member = CALC_PLAN_STATE_GROUPS)
NEWER("--mamba-state-dim", NULL, "model.mamba_state_dim", .member = CALC_PLAN_STATE_SIZE)
NEWER("--mamba-num-heads", NULL, "model.mamba_num_heads", .member = CALC_PLAN_STATE_HEADS)
NEWER("--mamba-head-dim", NULL, "model.mamba_head_dim", .member = CALC_PLAN_STATE_HEAD_SIZE)
SHELL("--swiglu", .how = CALC_HOW_IS, .value = CALC_FFN_TYPE_SWIGLU, .member = CALC_PLAN_FFN_TYPE)
SHELL("--squared-relu", .how = CALC_HOW_IS, .value = CALC_FFN_TYPE_RELU, .member = CALC_PLAN_FFN_TYPE)
MEGATRON("--quick-geglu", .how = CALC_HOW_IS, .value = CALC_FFN_TYPE_GEGLU, .member = CALC_PLAN_FFN_TYPE)
NEMO("model.activation", .how = CALC_HOW_WORDS, .member = CALC_PLAN_FFN_TYPE, .words = "gelu relu fast-swiglu=swiglu fast-geglu=geglu swiglu geglu")
BRIDGE("model.gated_linear_unit", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_GATED)
BOTH("--normalization", NULL, "model.normalization", .how = CALC_HOW_WORDS, .member = CALC_PLAN_NORM, .words = "LayerNorm=layer RMSNorm=rms")
NEMO("model.normalization", .how = CALC_HOW_WORDS, .member = CALC_PLAN_NORM, .words = "layernorm=layer rmsnorm=rms")
BOTH("--position-embedding-type", "model.position_embedding_type", "model.position_embedding_type", .how = CALC_HOW_WORDS, .member = CALC_PLAN_POSITION, .words = "learned_absolute=learned rope none")
SHELL("--use-rotary-position-embeddings", .how = CALC_HOW_IS, .value = CALC_POSITION_TYPE_ROPE, .member = CALC_PLAN_POSITION, .read_only = true)
SHELL("--no-position-embedding", .how = CALC_HOW_IS, .value = CALC_POSITION_TYPE_NONE, .member = CALC_PLAN_POSITION, .read_only = true)
SHELL("--disable-bias-linear", .how = CALC_HOW_SWITCH, .value = 0, .member = CALC_PLAN_BIAS)
BOTH(NULL, "model.bias", "model.add_bias_linear", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_BIAS)
BOTH("--hidden-dropout", "model.hidden_dropout", "model.hidden_dropout", .member = CALC_PLAN_DROPOUT)
BOTH("--attention-dropout", "model.attention_dropout", "model.attention_dropout", .member = CALC_PLAN_DROPOUT)
SHELL("--untie-embeddings-and-output-weights", .how = CALC_HOW_SWITCH, .value = 0, .member = CALC_PLAN_TIED)
BOTH(NULL, "model.share_embeddings_and_output_weights", "model.share_embeddings_and_output_weights", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_TIED)
BOTH("--vocab-size", NULL, "model.vocab_size", .member = CALC_PLAN_VOCAB)
MEGATRON("--padded-vocab-size", .member = CALC_PLAN_VOCAB, .read_only = true)
BOTH("--make-vocab-size-divisible-by", "model.make_vocab_size_divisible_by", "model.make_vocab_size_divisible_by", .member = CALC_PLAN_VOCAB_MULTIPLE)
BOTH("--mtp-num-layers", NULL, "model.mtp_num_layers", .member = CALC_PLAN_MTP)
NEWER("--mtp-use-repeated-layer", NULL, "model.mtp_use_repeated_layer", .how = CALC_HOW_IS, .value = 1, .member = CALC_PLAN_MTP_SHARED, .release = "core_v0.19.0")

SHELL("--num-experts", .member = CALC_PLAN_EXPERTS, .when = CALC_PLAN_EXPERTS)
BOTH(NULL, "model.num_moe_experts", "model.num_moe_experts", .member = CALC_PLAN_EXPERTS, .when = CALC_PLAN_EXPERTS)
BOTH("--moe-router-topk", "model.moe_router_topk", "model.moe_router_topk", .member = CALC_PLAN_TOP_K)
BOTH("--moe-ffn-hidden-size", "model.moe_ffn_hidden_size", "model.moe_ffn_hidden_size", .member = CALC_PLAN_EXPERT_FFN)
BOTH("--moe-shared-expert-intermediate-size", "model.moe_shared_expert_intermediate_size", "model.moe_shared_expert_intermediate_size", .member = CALC_PLAN_SHARED_FFN)
NEWER("--moe-shared-expert-gate", NULL, "model.moe_shared_expert_gate", .how = CALC_HOW_IS, .value = 1, .member = CALC_PLAN_SHARED_GATE, .release = "core_v0.19.0")
NEWER("--moe-latent-size", NULL, "model.moe_latent_size", .member = CALC_PLAN_EXPERT_LATENT, .release = "core_v0.19.0")
BOTH("--moe-layer-freq", "model.moe_layer_freq", "model.moe_layer_freq", .how = CALC_HOW_PATTERN, .member = CALC_PLAN_DENSE_BLOCKS, .when = CALC_PLAN_EXPERTS)
BOTH("--moe-router-num-groups", "model.moe_router_num_groups", "model.moe_router_num_groups", .member = CALC_PLAN_GROUPS)
BOTH("--moe-router-group-topk", "model.moe_router_group_topk", "model.moe_router_group_topk", .member = CALC_PLAN_TOKEN_GROUPS)
BOTH("--moe-router-enable-expert-bias", "model.moe_router_enable_expert_bias", "model.moe_router_enable_expert_bias", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_ROUTER_BIAS)
BOTH("--moe-router-score-function", "model.moe_router_score_function", "model.moe_router_score_function", .how = CALC_HOW_CONSTANT, .text = "sigmoid", .when = CALC_PLAN_ROUTER_BIAS)
SHELL("--moe-router-pre-softmax", .how = CALC_HOW_CONSTANT, .text = "", .when = CALC_PLAN_ONE_EXPERT)
BOTH(NULL, "model.moe_router_pre_softmax", "model.moe_router_pre_softmax", .how = CALC_HOW_CONSTANT, .text = "true", .when = CALC_PLAN_ONE_EXPERT)
BOTH("--moe-router-dtype", "model.moe_router_dtype", "model.moe_router_dtype", .how = CALC_HOW_WORDS, .member = CALC_PLAN_ROUTER, .words = "fp32=float32")
SHELL("--no-bias-dropout-fusion", .how = CALC_HOW_CONSTANT, .text = "", .when = CALC_PLAN_BIASED_EXPERTS)
BOTH(NULL, "model.bias_dropout_add_fusion", "model.bias_dropout_fusion", .how = CALC_HOW_CONSTANT, .text = "false", .when = CALC_PLAN_BIASED_EXPERTS)
BOTH("--moe-grouped-gemm", NULL, NULL, .how = CALC_HOW_CONSTANT, .text = "", .when = CALC_PLAN_EXPERTS)
BOTH(NULL, "model.moe_grouped_gemm", "model.moe_grouped_gemm", .how = CALC_HOW_CONSTANT, .text = "true", .when = CALC_PLAN_EXPERTS)
BOTH("--moe-token-dispatcher-type", "model.moe_token_dispatcher_type", "model.moe_token_dispatcher_type", .how = CALC_HOW_WORDS, .member = CALC_PLAN_DISPATCH, .words = "alltoall=all_to_all allgather=all_gather flex=node_limited")
BOTH("--moe-enable-deepep", "model.moe_enable_deepep", NULL, .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_DEEPEP)
BRIDGE("model.moe_flex_dispatcher_backend", .how = CALC_HOW_WORDS, .member = CALC_PLAN_FLEX, .words = "deepep=1 hybridep=2")
BRIDGE("model.moe_expert_rank_capacity_factor", .member = CALC_PLAN_ROOM)
BRIDGE("model.moe_paged_stash", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_STASH)
BRIDGE("model.moe_paged_stash_buffer_size_factor_cuda", .member = CALC_PLAN_STASH_SIZE, .when = CALC_PLAN_STASH)
BOTH("--moe-expert-capacity-factor", "model.moe_expert_capacity_factor", "model.moe_expert_capacity_factor", .member = CALC_PLAN_CAPACITY)
BOTH("--moe-pad-expert-input-to-capacity", "model.moe_pad_expert_input_to_capacity", "model.moe_pad_expert_input_to_capacity", .how = CALC_HOW_IS, .value = 1, .member = CALC_PLAN_PADDED)
BOTH("--moe-shared-expert-overlap", "model.moe_shared_expert_overlap", "model.moe_shared_expert_overlap", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_SHARED_OVERLAP)
NEWER("--overlap-moe-expert-parallel-comm", NULL, "comm_overlap.overlap_moe_expert_parallel_comm", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_BATCH_OVERLAP)
NEWER("--delay-wgrad-compute", NULL, "comm_overlap.delay_wgrad_compute", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_DELAYED_WGRAD)
BRIDGE("model.use_transformer_engine_op_fuser", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_FUSED_EXPERTS)
BOTH(NULL, "model.fp8_dot_product_attention", "model.fp8_dot_product_attention", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_FP8_ATTENTION)
MINDSPEED("--moe-fb-overlap", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_BATCH_OVERLAP)

BOTH("--bf16", NULL, "mixed_precision.bf16", .how = CALC_HOW_IS, .value = CALC_DATATYPE_BFLOAT16, .member = CALC_PLAN_PRECISION)
BOTH("--fp16", NULL, "mixed_precision.fp16", .how = CALC_HOW_IS, .value = CALC_DATATYPE_FLOAT16, .member = CALC_PLAN_PRECISION)
BRIDGE("mixed_precision.fp32", .how = CALC_HOW_IS, .value = CALC_DATATYPE_FLOAT32, .member = CALC_PLAN_PRECISION)
BOTH("--fp8-format", NULL, "mixed_precision.fp8", .how = CALC_HOW_WORDS, .member = CALC_PLAN_FP8, .words = "hybrid=1 e4m3=1")
BOTH("--fp8-recipe", NULL, "mixed_precision.fp8_recipe", .how = CALC_HOW_WORDS, .member = CALC_PLAN_FP8_RECIPE, .words = "tensorwise=tensor blockwise=block delayed=tensor mxfp8=block")
BOTH("--fp8-param-gather", NULL, "mixed_precision.fp8_param_gather", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_LOW_WEIGHTS)
NEWER("--fp4-format", NULL, "mixed_precision.fp4", .how = CALC_HOW_WORDS, .member = CALC_PLAN_FP4, .words = "e2m1=1")
NEMO("model.fp8", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_FP8)
SHELL("--accumulate-allreduce-grads-in-fp32", .how = CALC_HOW_IS, .value = CALC_FORMAT_FLOAT32, .member = CALC_PLAN_GRAD)
SHELL("--grad-reduce-in-bf16", .how = CALC_HOW_IS, .value = CALC_FORMAT_BFLOAT16, .member = CALC_PLAN_GRAD)
SHELL("--main-grads-dtype", .how = CALC_HOW_WORDS, .member = CALC_PLAN_MAIN_GRAD, .words = format, .read_only = true)
BRIDGE("mixed_precision.grad_reduce_in_fp32", .how = CALC_HOW_WORDS, .member = CALC_PLAN_GRAD, .words = "true=float32 false=bfloat16")

BOTH(NULL, "model.megatron_amp_O2", NULL, .how = CALC_HOW_CONSTANT, .text = "true")
/* dist_muon, the older name: Muon, with its state sharded. */
NEWER("--optimizer", NULL, "optimizer.optimizer", .how = CALC_HOW_WORDS, .member = CALC_PLAN_OPTIMIZER, .words = "adam muon dist_muon=2")
BOTH("--use-distributed-optimizer", NULL, "ddp.use_distributed_optimizer", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_DIST_OPT)
NEMO("model.optim.name", .how = CALC_HOW_WORDS, .member = CALC_PLAN_DIST_OPT, .words = "mcore_distributed_optim=1 megatron_fused_adam=0 distributed_fused_adam=1 fused_adam=0")
NEWER("--use-megatron-fsdp", NULL, "ddp.use_megatron_fsdp", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_FSDP)
MINDSPEED("--use-custom-fsdp", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_FSDP)
BOTH("--use-torch-fsdp2", NULL, "dist.use_torch_fsdp2", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_TORCH_FSDP, .read_only = true)
MEGATRON("--torch-fsdp2-no-reshard-after-forward", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_TORCH_GATHERED, .read_only = true)
BRIDGE("dist.use_megatron_fsdp", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_FSDP, .read_only = true)
NEWER("--ckpt-format", NULL, "checkpoint.ckpt_format", .how = CALC_HOW_CONSTANT, .text = "fsdp_dtensor", .when = CALC_PLAN_FSDP)
MINDSPEED("--no-gradient-accumulation-fusion", .how = CALC_HOW_CONSTANT, .text = "", .when = CALC_PLAN_FSDP)
BOTH("--data-parallel-sharding-strategy", NULL, "ddp.data_parallel_sharding_strategy", .how = CALC_HOW_WORDS, .member = CALC_PLAN_SHARDED, .words = "no_shard=0 optim=1 optim_grads=2 optim_grads_params=3", .when = CALC_PLAN_FSDP)
BOTH("--num-distributed-optimizer-instances", NULL, "ddp.num_distributed_optimizer_instances", .member = CALC_PLAN_INSTANCES, .when = CALC_PLAN_DIST_OPT)
BOTH("--overlap-grad-reduce", "model.optim.overlap_grad_sync", "ddp.overlap_grad_reduce", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_GRAD_OVERLAP)
BOTH("--overlap-param-gather", "model.optim.overlap_param_sync", "ddp.overlap_param_gather", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_GATHER_OVERLAP)
BRIDGE("comm_overlap.overlap_grad_reduce", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_GRAD_OVERLAP, .read_only = true)
BRIDGE("comm_overlap.overlap_param_gather", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_GATHER_OVERLAP, .read_only = true)
NEWER("--optimizer-cpu-offload", NULL, "optimizer.optimizer_cpu_offload", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_OPT_OFFLOAD)
NEWER("--optimizer-offload-fraction", NULL, "optimizer.optimizer_offload_fraction", .how = CALC_HOW_DECIMAL, .member = CALC_PLAN_OFFLOAD_SHARE, .when = CALC_PLAN_OPT_OFFLOAD)
MINDSPEED("--swap-optimizer", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_OPT_OFFLOAD)
NEWER("--cpu-offloading", NULL, "model.cpu_offloading", .how = CALC_HOW_IS, .value = 1, .member = CALC_PLAN_ACT_OFFLOAD, .read_only = true)
NEWER("--cpu-offloading-num-layers", NULL, "model.cpu_offloading_num_layers", .member = CALC_PLAN_OFFLOAD_BLOCKS, .read_only = true)
NEMO("model.cpu_offloading", .how = CALC_HOW_IS, .value = 1, .member = CALC_PLAN_ACT_OFFLOAD)
NEMO("model.cpu_offloading_num_layers", .member = CALC_PLAN_OFFLOAD_BLOCKS)
MINDSPEED("--swap-attention", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_ACT_OFFLOAD)
MEGATRON("--fine-grained-activation-offloading", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_MOVES, .read_only = true)
MEGATRON("--offload-modules", .how = CALC_HOW_SET, .member = CALC_PLAN_MOVED, .words = moved, .read_only = true)
MEGATRON("--activation-offload-fraction", .how = CALC_HOW_DECIMAL, .member = CALC_PLAN_OFFLOAD_SHARE, .read_only = true)
BRIDGE("model.fine_grained_activation_offloading", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_MOVES)
BRIDGE("model.offload_modules", .how = CALC_HOW_SET, .member = CALC_PLAN_MOVED, .words = moved)
BRIDGE("model.activation_offload_fraction", .how = CALC_HOW_DECIMAL, .member = CALC_PLAN_OFFLOAD_SHARE, .when = CALC_PLAN_MOVES)
BOTH("--use-precision-aware-optimizer", NULL, "optimizer.use_precision_aware_optimizer", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_PRECISE)
SHELL("--main-params-dtype", .how = CALC_HOW_WORDS, .member = CALC_PLAN_MASTER, .words = "fp32=float32 fp16=float16")
SHELL("--exp-avg-dtype", .how = CALC_HOW_WORDS, .member = CALC_PLAN_MOMENTS, .words = format)
SHELL("--exp-avg-sq-dtype", .how = CALC_HOW_WORDS, .member = CALC_PLAN_MOMENTS, .words = format)

BOTH("--recompute-granularity", "model.activations_checkpoint_granularity", "model.recompute_granularity", .how = CALC_HOW_WORDS, .member = CALC_PLAN_RECOMPUTE, .words = "selective=1 full=2")
SHELL("--recompute-activations", .how = CALC_HOW_IS, .value = 1, .member = CALC_PLAN_RECOMPUTE, .read_only = true)
BOTH("--recompute-method", "model.activations_checkpoint_method", "model.recompute_method", .how = CALC_HOW_WORDS, .member = CALC_PLAN_RECOMPUTE_METHOD, .words = "uniform=0 block=1")
BOTH("--recompute-num-layers", "model.activations_checkpoint_num_layers", "model.recompute_num_layers", .member = CALC_PLAN_RECOMPUTE_BLOCKS)
NEWER("--recompute-modules", NULL, "model.recompute_modules", .how = CALC_HOW_SET, .member = CALC_PLAN_RECOMPUTE_MODULES, .words = "core_attn layernorm mla_up_proj mlp moe_act shared_experts moe")
MINDSPEED("--recompute-modules", .how = CALC_HOW_SET, .member = CALC_PLAN_RECOMPUTE_MODULES, .words = "core_attn moe_act layernorm mla_up_proj mlp moe")
BOTH("--distribute-saved-activations", "model.distribute_saved_activations", "model.distribute_saved_activations", .how = CALC_HOW_IS, .value = 1, .member = CALC_PLAN_DISTRIBUTED)

SHELL("--transformer-impl", .how = CALC_HOW_CONSTANT, .text = "transformer_engine")
NEWER("--attention-backend", NULL, "model.attention_backend", .how = CALC_HOW_WORDS, .member = CALC_PLAN_FLASH, .words = "flash=1 unfused=0 fused=1 auto=1 local=0")
MEGATRON("--use-flash-attn", .how = CALC_HOW_IS, .value = 1, .member = CALC_PLAN_FLASH, .read_only = true)
MINDSPEED("--use-flash-attn", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_FLASH)
NEMO("model.use_flash_attention", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_FLASH)
SHELL("--no-bias-gelu-fusion", .how = CALC_HOW_SWITCH, .value = 0, .member = CALC_PLAN_FUSED_ACT)
SHELL("--no-bias-swiglu-fusion", .how = CALC_HOW_SWITCH, .value = 0, .member = CALC_PLAN_FUSED_ACT)
MINDSPEED("--use-fused-swiglu", .how = CALC_HOW_IS, .value = 1, .member = CALC_PLAN_FUSED_ACT)
BOTH(NULL, "model.bias_activation_fusion", "model.bias_activation_fusion", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_FUSED_ACT)
SHELL("--no-rope-fusion", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_UNFUSED_ROPE)
BOTH(NULL, "model.apply_rope_fusion", "model.apply_rope_fusion", .how = CALC_HOW_SWITCH, .value = 0, .member = CALC_PLAN_UNFUSED_ROPE)
BOTH("--cross-entropy-loss-fusion", "model.cross_entropy_loss_fusion", "model.cross_entropy_loss_fusion", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_FUSED_LOSS)
MEGATRON("--cuda-graph-impl", .how = CALC_HOW_WORDS, .member = CALC_PLAN_GRAPHS, .words = graphs, .when = CALC_PLAN_GRAPHS)
NEWER("--cuda-graph-scope", NULL, "model.cuda_graph_scope", .how = CALC_HOW_SET, .member = CALC_PLAN_GRAPHED, .words = "attn=1 moe_router=2 moe_preprocess=4 mlp=8 moe=16 mamba=32", .when = CALC_PLAN_GRAPHED)
SHELL("--enable-cuda-graph", .how = CALC_HOW_IS, .value = 1, .member = CALC_PLAN_GRAPHS, .read_only = true)
NEMO("model.enable_cuda_graph", .how = CALC_HOW_SWITCH, .value = 1, .member = CALC_PLAN_GRAPHS)
BRIDGE("model.cuda_graph_impl", .how = CALC_HOW_WORDS, .member = CALC_PLAN_GRAPHS, .words = graphs)

CALC_ROW_DEFAULT(DISPATCH, CALC_DISPATCH_TYPE_ALL_GATHER)
NEMO(NULL, .how = CALC_HOW_DEFAULT, .member = CALC_PLAN_UNFUSED_ROPE, .value = 1)
NEMO(NULL, .how = CALC_HOW_DEFAULT, .member = CALC_PLAN_FLASH, .value = 0)
NEMO(NULL, .how = CALC_HOW_DEFAULT, .member = CALC_PLAN_STAGE_OVERLAP, .value = 0)
MINDSPEED(NULL, .how = CALC_HOW_DEFAULT, .member = CALC_PLAN_FLASH, .value = 0)
NEMO(NULL, .how = CALC_HOW_DEFAULT, .member = CALC_PLAN_GRAD, .value = CALC_FORMAT_FLOAT32)
BRIDGE(NULL, .how = CALC_HOW_DEFAULT, .member = CALC_PLAN_GRAD, .value = CALC_FORMAT_FLOAT32)
BRIDGE(NULL, .how = CALC_HOW_DEFAULT, .member = CALC_PLAN_FUSED_LOSS, .value = 1)
BRIDGE(NULL, .how = CALC_HOW_DEFAULT, .member = CALC_PLAN_PRECISION, .value = CALC_DATATYPE_BFLOAT16)

/* What is not read: what changes the model; what changes time or memory; the rest. */
CALC_ROW_UNREAD(MODEL, "hybrid-attention-ratio hybrid-mlp-ratio hybrid-override-pattern hybrid-layer-pattern mtp-hybrid-override-pattern is-hybrid-model mamba-* experimental-attention-variant linear-attention-* linear-*-dim linear-num-* "
    "attention-output-gate dsa-indexer-* heterogeneous-* moe-latent-size moe-shared-expert-gate mtp-use-repeated-layer retro-add-retriever relative-attention-* spec=megatron.core.models.hybrid.hybrid_layer_specs spec=megatron.core.models.mamba.mamba_layer_specs yaml-cfg use-checkpoint-args use-mp-args-from-checkpoint-args "
    "load-model-opt-format encoder-num-layers decoder-num-layers vision-* dino-* swin-* multi-head-latent-attention qk-nope-head-dim qk-rope-head-dim n-shared-experts expert-interval noop-layers transformer-block-type=pre_ln "
    "attention-type=multihead peft.* compress-dense add-dense-bias")
NEMO(NULL, CALC_UNREAD(MODEL, "mtp-num-layers multi-latent-attention *-lora-rank qk-*-dim v-head-dim window-size add-bias-linear=true"))
NEMO(NULL, CALC_UNREAD(COST, "trainer.accumulate_grad_batches=1"))
CALC_ROW_UNREAD(COST, "cp-comm-type hierarchical-context-parallel-sizes account-for-* enable-recompute-layers-per-pp-rank add-qkv-bias qk-l2-norm no-rope-freq softmax-type=vanilla activation-func-clamp-value "
    "activation-func-fp8-input-store batch-size model-parallel-size checkpoint-activations moe-extended-tp rampup-batch-size decrease-batch-size-if-needed step-batch-size-schedule sft variable-seq-lengths hybrid-context-parallel "
    "max-seqlen-per-dp-cp-rank use-arbitrary-attention-mask reset-attention-mask reset-position-ids recompute-* activations-checkpoint-layers-per-pipeline num-micro*-with-partial-activation-checkpoints "
    "moe-layer-recompute cpu-offloading* *offload* swap-* pin-cpu-*=true no-pin-cpu-* overlap-cpu-optimizer-d2h-h2d empty-unused-memory-level overlap-* delay-wgrad-compute defer-embedding-wgrad-compute wgrad-deferral-limit=0 "
    "microbatch-group-size-per-v* pipeline-model-parallel-comm-backend pipeline-model-parallel-split-rank encoder-*-model-parallel-size use-ring-exchange-p2p no-scatter-gather-tensors-in-pipeline ddp-bucket-size ddp-num-buckets "
    "bucket-size num-buckets *pad-buckets-for-high-nccl-busbw suggested-communication-unit-size align-*=true no-align-* grad-allreduce-chunk-size-mb fsdp* megatron-fsdp-* torch-fsdp2-* use-torch-fsdp2 use-custom-fsdp use-megatron-fsdp "
    "enable-full-sharding-in-hsdp outer-dp-sharding-strategy=no_shard use-layer-wise-distributed-optimizer reduce-scatter-with-fp32-accumulation store-param-remainders main-params-dtype=torch.float32 main-grads-dtype=torch.float32 "
    "exp-avg-dtype=torch.float32 exp-avg-sq-dtype=torch.float32 fp4* fp8 fp8-recipe=delayed fp8-param* fp8-e4m3 fp8-hybrid fp8-wgrad=true no-fp8-wgrad fp8-multi-head-attention fp8-dot-product-attention fp8-output-proj "
    "first-last-layers-bf16 keep-fp8-transpose-cache* reuse-grad-buf-for-mxfp8-param-ag disable-parameter-transpose-cache quant-recipe fp16-lm-cross-entropy fp32-residual-connection "
    "cross-entropy-fusion-impl=native no-clone-scatter-output-in-embedding clone-scatter-output-in-embedding=true *gradient-accumulation-fusion=true no-masked-softmax-fusion masked-softmax-fusion=true no-persist-layer-norm "
    "memory-efficient-layer-norm async-tensor-model-parallel-allreduce=true no-async-tensor-model-parallel-allreduce tp-comm-bulk-*=true tp-comm-overlap-ag=true tp-comm-overlap-rs=true tp-comm-split-*=true tp-comm-overlap* "
    "tp-comm-atomic-* disable-tp-comm-* ub-tp-comm-overlap-cfg deterministic-mode disable-bf16-reduced-precision-matmul batch-invariant-mode disable-jit-fuser symmetric-ar-type disable-symmetric-registration external-cuda-graph "
    "enable-cuda-graph cuda-graph-scope cuda-graph-modules optimizer-cuda-graph use-te-activation-func use-fused-* fused-* use-grouped-gemm-* dense-grouped-gemm use-transformer-engine-full-layer-spec transformer-impl=transformer_engine "
    "transformer-engine=true mcore-gpt=true use-legacy-models attention-backend=AttnBackend.auto use-kitchen* kitchen-* flash-attention-version mla-down-proj-fusion use-emha get-attention-mask-from-fusion=true moe-deepep-num-sms=20 "
    "moe-flex-dispatcher-num-sms moe-hybridep-* moe-ncclep-* moe-permute-fusion* moe-router-fusion moe-router-padding-for-* moe-router-topk-limited-devices moe-token-dropping moe-use-legacy-grouped-gemm moe-single-grouped-* "
    "moe-paged-stash-* moe-enable-deepep moe-router-force-load-balancing moe-router-force-biased moe-pad-experts-for-cuda-graph-inference ep-overlap-* high-priority-* nccl-communicator-config-path use-nccl-ub nccl-ub use-sharp sharp "
    "*gtp-weight-remat-size *-num-weight-shards muon-num-ns-steps=5 muon-tp-mode mtp-standalone perform-rl-step rl-*")
MINDSPEED(NULL, CALC_UNREAD(COST, "adaptive-* alibi-* ampipe-* async-log-* attention-mask-* automated-* balanced-moe-* coc-* context-parallel-* cp-window-size dualpipev-* enable-backward-* enable-expert-* enable-fine-* enable-overlap-* "
    "enable-token-* enable-zero3 expert-placement-* fine-grained-expert-* fix-router gemm-* hccl-* jit-compile layerzero* megatron-cp-* moe-* nd1-* nd2-* npu-deterministic optimi* param-and-grad-* pipe-experts-* pipeline-num-* "
    "num-layer-list pp-schedule-list print-expert-load reset-bucket-* reuse-fp32-param save-memory-* smart-swap tp-2d tp-x tp-y trans-hot-* unaligned-linear use-ascend-coc use-cp-* use-fusion-* use-multiparameter-* use-nanopipe* use-nd-* "
    "use-pipe-* use-ulysses-* virtual-optimizer sparse-mode pre-tockens next-tockens shape-order square-alibi-* fsdp2-config-path no-use-rts use-ema mbs-idx"))
MINDSPEED(NULL, CALC_UNREAD(HARMLESS, "additional-config ai-framework auto-settings* dist-train ema-decay fill-neg-inf noisy-gate-policy op-cal-tflops prof-* s3-cache-path skip-bias-add target-nnodes disable-gloo-group"))
NEMO(NULL, CALC_UNREAD(HARMLESS, "exp_manager.* defaults name s3_checkpointing.* model.data.* model.tokenizer.* model.optim.* trainer.accelerator trainer.benchmark trainer.enable_* trainer.gradient_clip_val trainer.limit_* trainer.log* "
    "trainer.max_* trainer.use_distributed_sampler trainer.val_check_interval drop-layers megatron-timer-kwargs* model.megatron_timer_kwargs.* model.nsys_profile.* run.* hydra.*"))
BRIDGE(NULL, CALC_UNREAD(HARMLESS, "dataset.* dist.* train.* checkpoint.* logger.* scheduler.* tokenizer.* rng.* profiling.* rerun_state_machine.* validation.* straggler.* ft.* nvrx_straggler.* inprocess_restart.* optimizer.timers "
    "comm_overlap.data_parallel_size"))
CALC_ROW_UNREAD(HARMLESS, "_* *_func output-layer-init-method bias-dropout-fusion sft-tokenizer-prompt-format dsa-kernel-backend *-factory activation-func adam-* adaptive-muon-* adlr-* apex-* app-tag-* apply-layernorm-1p apply-query-key-layer-scaling "
    "apply-residual-connection-post-layernorm apply-wd-* async-save attention-softmax-in-fp32 auto-detect-ckpt-format autocast-* average-in-collective *average-in-collective barrier-with-* no-barrier-* batch-p2p-* bert-* beta-fast "
    "beta-slow bf16 fp16 biencoder-* block-data-path cache-mla-latents calc-ft-timeouts calculate-per-token-loss check-* no-check-* ckpt-* no-ckpt-* classes-fraction clip-grad config-logger-dir cuda-graph-warmup-steps cuda-graph-retain-* "
    "cuda-graph-use-* data-* mock-data dataloader-type deallocate-pipeline-outputs decode-only-* decoder-seq-length decoupled-* disable-chunked-prefill disable-gloo-process-groups disable-mamba-mem-eff-path use-mamba-mem-eff-path "
    "disable-msc disable-straggler-on-startup dist-ckpt-* distrib-optim-* distributed-* do-layer-norm-weight-decay embedding-init-* embedding-path enable-autocast enable-experimental enable-ft-package enable-gloo* enable-megatron-timers "
    "end-weight-decay eod-mask-loss error-injection-* eval-* evidence-data-path exit-* experimental-attention-variant-loss-* ffn-dropout finetune flash-decode flight-recorder-* fp8-amax-* fp8-interval fp8-margin full-validation "
    "gated-linear-unit gc-interval glu-linear-offset gpu-sniff-* grad-div-ar-fusion grad-norm-* grad-reduce-in-fp32 gradient-as-bucket-view gradient-reduce-div-fusion no-gradient-reduce-div-fusion grpo-* head-lr-mult headscale "
    "hetereogenous-dist-checkpoint hf-model-* hysteresis ict-* img-* indexer-* inference-* init-method* init-model-with-meta-device initial-loss-scale inprocess-* iter-per-epoch iterations-to-skip langrl-* layernorm-* lazy-mpu-init "
    "legacy-tokenizer lion-* load load-* no-load-* local-rank log-* no-log-* logging-level loss-scale loss-scale-window lr lr-* manual-gc* no-manual-gc-* mask-* max-tokens-to-oom memory-snapshot-path merge-file mid-level-dataset-surplus "
    "min-loss-scale min-lr mlp-chunks-for-* moe-apply-probs-* moe-aux-* moe-grad-* moe-input-* moe-mlp-glu-* moe-per-layer-logging moe-router-bias-update-rate moe-router-load-balancing-type moe-router-quantile-* "
    "moe-router-topk-scaling-factor")
CALC_ROW_UNREAD(HARMLESS, "moe-enable-routing-replay moe-shared-expert-glu-* moe-token-drop-policy moe-upcycling-* moe-use-upcycling moe-z-* mrope-section mscale* mtp-detach-heads mtp-enabled mtp-loss-* multiple-validation-sets *mup* "
    "muon-* native-amp-* nccl-all-reduce-for-prefill nonpersistent-* non-persistent-* no-create-attention-mask-* no-data-sharding no-initialization no-mmap-bin-files no-one-logger no-save-* no-strict-* no-use-tokenizer-* norm-epsilon "
    "normalize-attention-scores num-channels num-classes num-dataset-* num-layers-at-* num-workers object-storage-* one-logger-* onnx-safe openai-gelu original-max-position-* output-bert-* override-* param-name-* parallel-output "
    "params-dtype patch-dim per-split-* perform-initialization persist-layer-norm persistent-save-interval pipeline-dtype post-process pre-process pretrained-checkpoint profile* *profile qk-clip* query-in-block-prob record-memory-history "
    "reduce-amax tp-only-amax-red replication* rerun-* reset-lr* restore-* resume-* result-rejected-* retriever-* retro-* rope-scaling* rope-type rotary-* run-workload-* sample-rate save save-* scale-positional-embedding "
    "scatter-embedding-* seed seq-len-interpolation-factor sgd-momentum sharp-enabled-group short-seq-prob should-pad-vocab skip-train soap-* softmax-scale split start-weight-decay straggler-* sync-batch-comm te-rng-tracker tensorboard-* "
    "test-* tiktoken-* timers timing-* titles-data-path tokenizer-* tp-comm-bootstrap-backend train-* transformer-layer-spec trust-remote-code use-checkpoint-opt-* use-cpu-initialization use-dist-ckpt use-gloo-* use-inference-* "
    "use-mcore-models use-one-sent-docs use-persistent-* use-pytorch-profiler use-rope-scaling use-scaled-init-method use-te-rng-tracker use-tokenizer-* valid-* validation-param-sync-overlap vocab-extra-ids vocab-file wandb-* warmup "
    "weight-decay weight-decay-* yarn-* inference-rng-tracker bert-no-binary-head exit-signal* use-distributed-optimizer log-max-attention-logit master-addr master-port node-rank rdzv-* max-restarts monitor-interval start-method role "
    "redirects tee local-ranks-filter log-dir standalone no-python module run-path")
/* clang-format on */
