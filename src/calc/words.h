/** @file words.h  The words of the documents: each list gives an enum, its texts and its
 *  documentation. A part of calc.h. A row of a list is X(T, NAME, "text"): T is what the names of
 *  the enum begin with. */
#ifndef CALC_WORDS_H
#define CALC_WORDS_H

#include <stdint.h>

/** Shares of a block's kernels (cuda_graph) that graphs of parts of a block launch: attention, and
 *  the router of experts with or without what precedes their exchange; the router alone. */
#define CALC_GRAPHED_ATTENTION 0.7
#define CALC_GRAPHED_ROUTER 0.2

/** Number formats a processor may compute in. */
#define CALC_DATATYPE_LIST(X, T)                                                                   \
    X(T, FLOAT8, "float8")                                                                         \
    X(T, FLOAT16, "float16")                                                                       \
    X(T, BFLOAT16, "bfloat16")                                                                     \
    X(T, FLOAT32, "float32")                                                                       \
    X(T, FLOAT4, "float4")

/** Number formats for storage and communication; auto: see the documentation of the field. */
#define CALC_FORMAT_LIST(X, T)                                                                     \
    X(T, AUTO, "auto")                                                                             \
    X(T, FLOAT4, "float4")                                                                         \
    X(T, FLOAT8, "float8")                                                                         \
    X(T, FLOAT16, "float16")                                                                       \
    X(T, BFLOAT16, "bfloat16")                                                                     \
    X(T, FLOAT32, "float32")

/** Yes, no, or as the preset says; true and false in JSON. */
#define CALC_CHOICE_LIST(X, T)                                                                     \
    X(T, AUTO, "auto")                                                                             \
    X(T, TRUE, "true")                                                                             \
    X(T, FALSE, "false")

/** Attention heads: one key and value per head; one for all; one per group (app.kv_heads);
 *  compressed (app.kv_lora_rank). flash is multihead with flash_attention. */
#define CALC_ATTENTION_TYPE_LIST(X, T)                                                             \
    X(T, MULTIHEAD, "multihead")                                                                   \
    X(T, MULTIQUERY, "multiquery")                                                                 \
    X(T, FLASH, "flash")                                                                           \
    X(T, GROUPED_QUERY, "grouped_query")                                                           \
    X(T, MULTI_LATENT, "multi_latent")

/** Feed-forward layer: two matrices with GELU or ReLU between, or three with a gate. */
#define CALC_FFN_TYPE_LIST(X, T)                                                                   \
    X(T, AUTO, "auto")                                                                             \
    X(T, GELU, "gelu")                                                                             \
    X(T, RELU, "relu")                                                                             \
    X(T, SWIGLU, "swiglu")                                                                         \
    X(T, GEGLU, "geglu")

/** Parts of a layer: mixers, which let tokens see each other, up to SHORT_CONV; then feed-forward
 *  parts. */
#define CALC_PART_TYPE_LIST(X, T)                                                                  \
    X(T, ATTENTION, "attention")                                                                   \
    X(T, COMPRESSED, "compressed")                                                                 \
    X(T, MAMBA1, "mamba1")                                                                         \
    X(T, MAMBA2, "mamba2")                                                                         \
    X(T, GATED_DELTA, "gated_delta")                                                               \
    X(T, KIMI_DELTA, "kimi_delta")                                                                 \
    X(T, LIGHTNING, "lightning")                                                                   \
    X(T, SHORT_CONV, "short_conv")                                                                 \
    X(T, MLP, "mlp")                                                                               \
    X(T, MOE, "moe")

/** Sigmoid gate on the output of a mixer: one number per head, or one per channel. */
#define CALC_OUTPUT_GATE_LIST(X, T)                                                                \
    X(T, NONE, "none")                                                                             \
    X(T, HEAD, "head")                                                                             \
    X(T, CHANNEL, "channel")

/** Norms of a sub-layer: before it, behind it, or both. */
#define CALC_NORM_PLACE_LIST(X, T)                                                                 \
    X(T, PRE, "pre")                                                                               \
    X(T, POST, "post")                                                                             \
    X(T, SANDWICH, "sandwich")

/** How layers are joined: a plain residual stream; several streams mixed before and behind every
 *  sub-layer (hyper-connections, mHC) or layer (AltUp with LAuReL); snapshots of earlier layers
 *  that every sub-layer attends to. */
#define CALC_RESIDUAL_TYPE_LIST(X, T)                                                              \
    X(T, PLAIN, "plain")                                                                           \
    X(T, HYPER, "hyper")                                                                           \
    X(T, ALTUP, "altup")                                                                           \
    X(T, ATTENTION, "attention")

/** Normalization. */
#define CALC_NORM_TYPE_LIST(X, T)                                                                  \
    X(T, AUTO, "auto")                                                                             \
    X(T, LAYER, "layer")                                                                           \
    X(T, RMS, "rms")

/** Positions: a learned table, rotary embedding, or none. */
#define CALC_POSITION_TYPE_LIST(X, T)                                                              \
    X(T, AUTO, "auto")                                                                             \
    X(T, LEARNED, "learned")                                                                       \
    X(T, ROPE, "rope")                                                                             \
    X(T, NONE, "none")

/** Presets of a block's structure: llama is swiglu, rms, rope, no bias, no dropout, untied. */
#define CALC_STRUCTURE_TYPE_LIST(X, T)                                                             \
    X(T, GPT, "gpt")                                                                               \
    X(T, LLAMA, "llama")

/** Activations that the backward pass recomputes instead of keeping them: none; the scores of
 *  attention; all but the inputs of blocks; parts of a block (recompute_modules); all but the
 * inputs of blocks and the results of attention, of every second matrix multiplication of a block
 * and of collectives that reduce or exchange. */
#define CALC_ACTIVATION_RECOMPUTE_LIST(X, T)                                                       \
    X(T, NONE, "none")                                                                             \
    X(T, ATTN_ONLY, "attn_only")                                                                   \
    X(T, FULL, "full")                                                                             \
    X(T, MODULES, "modules")                                                                       \
    X(T, SELECTIVE_OP, "selective_op")

/** Parts of a block that are recomputed, as Megatron-LM names them (recompute_modules). */
#define CALC_RECOMPUTE_MODULES_LIST(X, T)                                                          \
    X(T, CORE_ATTN, "core_attn")                                                                   \
    X(T, LAYERNORM, "layernorm")                                                                   \
    X(T, MLA_UP_PROJ, "mla_up_proj")                                                               \
    X(T, MLP, "mlp")                                                                               \
    X(T, MOE_ACT, "moe_act")                                                                       \
    X(T, SHARED_EXPERTS, "shared_experts")                                                         \
    X(T, MOE, "moe")

/** Parts of a block whose inputs are kept in the second memory tier, as Megatron-LM names them
 *  (offload_modules). */
#define CALC_OFFLOAD_MODULES_LIST(X, T)                                                            \
    X(T, ATTN_NORM, "attn_norm")                                                                   \
    X(T, QKV_LINEAR, "qkv_linear")                                                                 \
    X(T, CORE_ATTN, "core_attn")                                                                   \
    X(T, ATTN_PROJ, "attn_proj")                                                                   \
    X(T, MLP_NORM, "mlp_norm")                                                                     \
    X(T, EXPERT_FC1, "expert_fc1")                                                                 \
    X(T, MOE_ACT, "moe_act")                                                                       \
    X(T, FUSED_GROUP_MLP, "fused_group_mlp")

/** Optimizers. */
#define CALC_OPTIMIZER_LIST(X, T)                                                                  \
    X(T, ADAM, "adam")                                                                             \
    X(T, MUON, "muon")

/** Weights that are trained: all; those of adapters; the last blocks; the head. The others are
 *  frozen: they have no gradients and no optimizer state. */
#define CALC_TRAINED_LIST(X, T)                                                                    \
    X(T, ALL, "all")                                                                               \
    X(T, ADAPTERS, "adapters")                                                                     \
    X(T, BLOCKS, "blocks")                                                                         \
    X(T, HEAD, "head")

/** What is trained of an encoder of images. */
#define CALC_ENCODER_TRAINED_LIST(X, T)                                                            \
    X(T, ALL, "all")                                                                               \
    X(T, PROJECTOR, "projector")                                                                   \
    X(T, NONE, "none")

/** Number formats of frozen weights; auto: datatype. nf4: 4 bits and a scale of 32 for every 64
 *  numbers; nf4_double: these scales in 8 bits, with one of 32 for every 256 of them (QLoRA, arXiv
 *  2305.14314). */
#define CALC_FROZEN_DATATYPE_LIST(X, T)                                                            \
    X(T, AUTO, "auto")                                                                             \
    X(T, NF4_DOUBLE, "nf4_double")                                                                 \
    X(T, NF4, "nf4")                                                                               \
    X(T, FLOAT4, "float4")                                                                         \
    X(T, INT8, "int8")                                                                             \
    X(T, FLOAT8, "float8")                                                                         \
    X(T, FLOAT16, "float16")                                                                       \
    X(T, BFLOAT16, "bfloat16")                                                                     \
    X(T, FLOAT32, "float32")

/** Matrices that have adapters, as Hugging Face names them (lora_modules); those of experts have
 *  theirs by lora_experts. */
#define CALC_LORA_MODULES_LIST(X, T)                                                               \
    X(T, Q_PROJ, "q_proj")                                                                         \
    X(T, K_PROJ, "k_proj")                                                                         \
    X(T, V_PROJ, "v_proj")                                                                         \
    X(T, O_PROJ, "o_proj")                                                                         \
    X(T, Q_A_PROJ, "q_a_proj")                                                                     \
    X(T, Q_B_PROJ, "q_b_proj")                                                                     \
    X(T, KV_A_PROJ, "kv_a_proj")                                                                   \
    X(T, KV_B_PROJ, "kv_b_proj")                                                                   \
    X(T, IN_PROJ, "in_proj")                                                                       \
    X(T, OUT_PROJ, "out_proj")                                                                     \
    X(T, GATE_PROJ, "gate_proj")                                                                   \
    X(T, UP_PROJ, "up_proj")                                                                       \
    X(T, DOWN_PROJ, "down_proj")                                                                   \
    X(T, HEAD, "head")

/** Adapters of routed experts: none; one for all of a layer; one for each; the factor on the side
 *  of the residual stream for all, the other for each. */
#define CALC_LORA_EXPERTS_LIST(X, T)                                                               \
    X(T, NONE, "none")                                                                             \
    X(T, SHARED, "shared")                                                                         \
    X(T, EACH, "each")                                                                             \
    X(T, OUTER, "outer")

/** Memory that a framework takes for itself: copies of weight gradients of Transformer Engine, of
 *  workspaces, of logits in PyTorch's loss, and in the one over tensor-parallel ranks of DTensor;
 *  logits of the whole vocabulary, gathered over these ranks; those that the model has returned, in
 *  single precision, which a training loop holds until its backward pass is done; log-probabilities
 * and entropy by kernels of their own, for parts of the vocabulary (loss_chunks); experts' results
 *  weighed in single precision. */
#define CALC_FRAMEWORK_MEM_LIST(X, T)                                                              \
    X(T, TE_DUMMY_WGRAD, "te_dummy_wgrad")                                                         \
    X(T, GEMM_WORKSPACE, "gemm_workspace")                                                         \
    X(T, LOSS_COPIES, "loss_copies")                                                               \
    X(T, LOSS_PARALLEL, "loss_parallel")                                                           \
    X(T, LOGITS_GATHERED, "logits_gathered")                                                       \
    X(T, LOGITS_HELD, "logits_held")                                                               \
    X(T, LOGPROBS, "logprobs")                                                                     \
    X(T, WIDE_SCORES, "wide_scores")

/** Collectives of tensor parallelism: all-reduce; all-reduce with the pipeline message scattered;
 *  reduce-scatter and all-gather (sequence parallelism). */
#define CALC_TENSOR_PAR_COMM_TYPE_LIST(X, T)                                                       \
    X(T, AR, "ar")                                                                                 \
    X(T, P2P_RS_AG, "p2p_rs_ag")                                                                   \
    X(T, RS_AG, "rs_ag")

/** How tensor-parallel communication overlaps with the matrix multiplication beside it: in tiles
 *  (ring, pipe), asynchronously in the backward pass, or fused into the kernels (user buffers,
 *  async tensor parallelism, MC2). */
#define CALC_TENSOR_PAR_OVERLAP_LIST(X, T)                                                         \
    X(T, NONE, "none")                                                                             \
    X(T, RING, "ring")                                                                             \
    X(T, PIPE, "pipe")                                                                             \
    X(T, ASYNC, "async")                                                                           \
    X(T, FUSED, "fused")

/** How the network of a group of ranks is determined: by the `_net` fields, one tier per group, or
 *  by the order in which ranks are laid out over nodes, fastest first (Megatron-LM's --use-tp-...
 *  orders); a group that spans nodes then uses both tiers. */
#define CALC_RANK_ORDER_LIST(X, T)                                                                 \
    X(T, NETWORKS, "networks")                                                                     \
    X(T, TP_CP_EP_DP_PP, "tp-cp-ep-dp-pp")                                                         \
    X(T, TP_CP_EP_PP_DP, "tp-cp-ep-pp-dp")

/** How context parallelism exchanges keys and values. */
#define CALC_CONTEXT_PAR_TYPE_LIST(X, T)                                                           \
    X(T, RING, "ring")                                                                             \
    X(T, ALL_GATHER, "all_gather")                                                                 \
    X(T, ULYSSES, "ulysses")                                                                       \
    X(T, HIERARCHICAL, "hierarchical")

/** How the triangle of causal attention is spread over context-parallel ranks. */
#define CALC_CONTEXT_PAR_BALANCE_LIST(X, T)                                                        \
    X(T, ZIGZAG, "zigzag")                                                                         \
    X(T, NONE, "none")

/** Matrices of attention that stay as wide as the activations where others are narrower: none,
 *  those before the products of queries and keys, or also the one behind them. */
#define CALC_WIDE_ATTENTION_LIST(X, T)                                                             \
    X(T, NONE, "none")                                                                             \
    X(T, INPUTS, "inputs")                                                                         \
    X(T, ALL, "all")

/** How tokens reach their experts: one copy per expert; gathered by all; one copy per node; or all
 *  ranks have all tokens and add up the outputs of their experts (serving). */
#define CALC_DISPATCH_TYPE_LIST(X, T)                                                              \
    X(T, ALL_TO_ALL, "all_to_all")                                                                 \
    X(T, ALL_GATHER, "all_gather")                                                                 \
    X(T, NODE_LIMITED, "node_limited")                                                             \
    X(T, REPLICATED, "replicated")

/** Overlap of the all-to-all of experts with: nothing, the shared experts, another micro-batch. */
#define CALC_EXPERT_PAR_OVERLAP_LIST(X, T)                                                         \
    X(T, NONE, "none")                                                                             \
    X(T, SHARED, "shared")                                                                         \
    X(T, BATCH, "batch")

/** Pipeline schedules. */
#define CALC_PIPELINE_SCHEDULE_LIST(X, T)                                                          \
    X(T, 1F1B, "1f1b")                                                                             \
    X(T, GPIPE, "gpipe")                                                                           \
    X(T, ZB_H1, "zb_h1")                                                                           \
    X(T, ZB_H2, "zb_h2")                                                                           \
    X(T, ZB_V, "zb_v")                                                                             \
    X(T, DUALPIPE, "dualpipe")                                                                     \
    X(T, DUALPIPE_V, "dualpipe_v")

/** What tells them apart, in the same order: calc_schedule_traits of spec/schedule.h. */
#define CALC_PIPELINE_SCHEDULE_TRAITS(X)                                                           \
    X(1F1B, 0, 1, false, false, 0, 1, NULL)                                                        \
    X(GPIPE, 1, 1, false, false, 0, 1, NULL)                                                       \
    X(ZB_H1, 1, 1, false, true, 0, 1, NULL)                                                        \
    X(ZB_H2, 1, 1, false, true, 0, 1, NULL)                                                        \
    X(ZB_V, 2, 1, true, true, 0, 1, NULL)                                                          \
    X(DUALPIPE, 1, 2, true, true, 2, 2, "DualPipe")                                                \
    X(DUALPIPE_V, 2, 1, true, true, 2, 1, "DualPipeV")

/** How blocks are spread over stages: equally many on each; with embedding and head each counted as
 *  one block; or a free layout, as even as possible. */
#define CALC_PIPELINE_BALANCE_LIST(X, T)                                                           \
    X(T, BLOCKS, "blocks")                                                                         \
    X(T, ENDS, "ends")                                                                             \
    X(T, FREE, "free")

/** Memory model: Calculon's, or Megatron-LM's (whole fp32 gradients, peak over the stages). */
#define CALC_MEMORY_MODEL_LIST(X, T)                                                               \
    X(T, CALCULON, "calculon")                                                                     \
    X(T, MEGATRON, "megatron")

/** How a sharded optimizer's state is divided among ranks: equal parts of a flat buffer, the same
 *  with gradients that every rank has summed, or whole tensors, with gradients likewise. */
#define CALC_OPTIMIZER_SHARDS_LIST(X, T)                                                           \
    X(T, EVEN, "even")                                                                             \
    X(T, SUMMED, "summed")                                                                         \
    X(T, TENSORS, "tensors")

/** Kernels of flash attention: the vendor's, or portable ones. */
#define CALC_ATTENTION_KERNEL_LIST(X, T)                                                           \
    X(T, VENDOR, "vendor")                                                                         \
    X(T, GENERIC, "generic")

/** Scales of 8 and 4 bit numbers: per tensor, or per block of numbers (MX, DeepSeek). */
#define CALC_SCALING_LIST(X, T)                                                                    \
    X(T, TENSOR, "tensor")                                                                         \
    X(T, BLOCK, "block")                                                                           \
    X(T, ROW, "row")

/** What people call a tier of memory, and a network; no number depends on it. */
#define CALC_MEMORY_KIND_LIST(X, T)                                                                \
    X(T, UNNAMED, "unnamed")                                                                       \
    X(T, HBM, "HBM")                                                                               \
    X(T, GDDR, "GDDR")                                                                             \
    X(T, LPDDR, "LPDDR")                                                                           \
    X(T, HOST, "host memory")
#define CALC_NETWORK_KIND_LIST(X, T)                                                               \
    X(T, UNNAMED, "unnamed")                                                                       \
    X(T, NVLINK, "NVLink")                                                                         \
    X(T, XGMI, "xGMI")                                                                             \
    X(T, HCCS, "HCCS")                                                                             \
    X(T, UNIFIED_BUS, "unified bus")                                                               \
    X(T, ICI, "ICI")                                                                               \
    X(T, NEURONLINK, "NeuronLink")                                                                 \
    X(T, PCIE, "PCIe")                                                                             \
    X(T, INFINIBAND, "InfiniBand")                                                                 \
    X(T, ROCE, "RoCE")                                                                             \
    X(T, ETHERNET, "Ethernet")                                                                     \
    X(T, EFA, "EFA")

/** Software platform of the processors; ANY: not specified. */
#define CALC_PLATFORM_LIST(X, T)                                                                   \
    X(T, ANY, "any")                                                                               \
    X(T, CUDA, "cuda")                                                                             \
    X(T, ROCM, "rocm")                                                                             \
    X(T, CANN, "cann")                                                                             \
    X(T, XPU, "xpu")                                                                               \
    X(T, HPU, "hpu")                                                                               \
    X(T, TPU, "tpu")                                                                               \
    X(T, NEURON, "neuron")

/** Time of an operation: the larger of arithmetic and memory time, or their sum. */
#define CALC_PROCESSING_MODE_LIST(X, T)                                                            \
    X(T, ROOFLINE, "roofline")                                                                     \
    X(T, NO_OVERLAP, "no_overlap")

/** Phase of serving: none (Calculon's forward pass), prompts, tokens, both together, or each on
 *  processors of its own. */
#define CALC_INFERENCE_PHASE_LIST(X, T)                                                            \
    X(T, NONE, "none")                                                                             \
    X(T, PREFILL, "prefill")                                                                       \
    X(T, DECODE, "decode")                                                                         \
    X(T, SERVE, "serve")                                                                           \
    X(T, DISAGGREGATED, "disaggregated")

/** Programs that serve, as far as calc knows by which rules they start a layout
 *  (spec/serving_engine.h). */
#define CALC_SERVING_PROGRAM_LIST(X, T)                                                            \
    X(T, OTHER, "other")                                                                           \
    X(T, VLLM, "vllm")                                                                             \
    X(T, SGLANG, "sglang")                                                                         \
    X(T, TENSORRT_LLM, "tensorrt-llm")

/** What inference.memory_share is a share of: of the memory, for everything; of the memory, for
 *  weights and cache; of what all but the cache leaves. */
#define CALC_MEMORY_TAKEN_LIST(X, T)                                                               \
    X(T, ALL, "all")                                                                               \
    X(T, STATIC, "static")                                                                         \
    X(T, FREE, "free")

/** Time of the multiplications of experts: the larger of arithmetic and memory time, or their sum;
 *  auto: their sum. */
#define CALC_GROUPED_MODE_LIST(X, T)                                                               \
    X(T, AUTO, "auto")                                                                             \
    X(T, ROOFLINE, "roofline")                                                                     \
    X(T, NO_OVERLAP, "no_overlap")

/** Conventions of Calculon that may be applied to a layout (docs/calculon.md): each is a rule with
 *  a name and a sentence, tested in one place. Without any, calc's own model applies. The first
 *  three are Calculon's known defects. */
#define CALC_COMPAT_LIST(X)                                                                        \
    X(RECOMPUTE_SUMS, "recompute-sums", "a recomputed layer counts all forward work up to it")     \
    X(IDLE_MESSAGE, "idle-message", "without a pipeline its message still takes a latency")        \
    X(INFERENCE_MESSAGE, "inference-message", "a forward pass alone sends messages backward, too") \
    X(LAYERS, "layers",                                                                            \
      "forks, dropouts and residuals are kernels of their own; no embedding, head or loss")        \
    X(TILES, "tiles",                                                                              \
      "tiles hide behind arithmetic alone, and all that fits; pipe counts its extra tile twice")   \
    X(REDUCTION_FLOP, "reduction-flop",                                                            \
      "processors add up the shares of tensor-parallel reductions on every network")               \
    X(EVEN_STAGES, "even-stages",                                                                  \
      "every stage has the ceiling of blocks; what is too much is given back in the bubble")       \
    X(MEAN_IN_FLIGHT, "mean-in-flight", "every stage holds as many micro-batches as the first")    \
    X(WHOLE_CHECKPOINTS, "whole-checkpoints",                                                      \
      "the input of a recomputed block is not split over tensor-parallel ranks")                   \
    X(BLOCK_MEMORY, "block-memory",                                                                \
      "a stage holds one block with all activations and their gradients, and no other transient")  \
    X(OPTIMIZER_ROOFLINE, "optimizer-roofline",                                                    \
      "the optimizer takes its arithmetic and its state's traffic once, layer by layer")           \
    X(OFFLOAD_EACH, "offload-each",                                                                \
      "optimizer state travels with every micro-batch, after the block's own memory traffic")      \
    X(REDUCE_BY_BLOCK, "reduce-by-block",                                                          \
      "gradients are reduced block by block beside the backward pass of the next")                 \
    X(BLOCK_EFFICIENCY, "block-efficiency",                                                        \
      "efficiencies count the arithmetic of the ceiling of blocks, and the optimizer's")

#define CALC_ENUMERATOR(T, name, text) T##name,
#define CALC_DECLARE_ENUM(type, TYPE)                                                              \
    typedef enum calc_##type{CALC_##TYPE##_LIST(CALC_ENUMERATOR, CALC_##TYPE##_)                   \
                                 CALC_##TYPE##_COUNT} calc_##type;
/* The types of choices: X(name, NAME). */
#define CALC_ENUM_LIST(X)                                                                          \
    X(datatype, DATATYPE)                                                                          \
    X(attention_type, ATTENTION_TYPE)                                                              \
    X(structure_type, STRUCTURE_TYPE)                                                              \
    X(activation_recompute, ACTIVATION_RECOMPUTE)                                                  \
    X(tensor_par_comm_type, TENSOR_PAR_COMM_TYPE)                                                  \
    X(tensor_par_overlap, TENSOR_PAR_OVERLAP)                                                      \
    X(memory_kind, MEMORY_KIND)                                                                    \
    X(network_kind, NETWORK_KIND)                                                                  \
    X(platform, PLATFORM)                                                                          \
    X(processing_mode, PROCESSING_MODE)                                                            \
    X(grouped_mode, GROUPED_MODE)                                                                  \
    X(format, FORMAT)                                                                              \
    X(choice, CHOICE)                                                                              \
    X(ffn_type, FFN_TYPE)                                                                          \
    X(norm_type, NORM_TYPE)                                                                        \
    X(part_type, PART_TYPE)                                                                        \
    X(output_gate, OUTPUT_GATE)                                                                    \
    X(norm_place, NORM_PLACE)                                                                      \
    X(residual_type, RESIDUAL_TYPE)                                                                \
    X(position_type, POSITION_TYPE)                                                                \
    X(rank_order, RANK_ORDER)                                                                      \
    X(context_par_type, CONTEXT_PAR_TYPE)                                                          \
    X(context_par_balance, CONTEXT_PAR_BALANCE)                                                    \
    X(wide_attention, WIDE_ATTENTION)                                                              \
    X(dispatch_type, DISPATCH_TYPE)                                                                \
    X(expert_par_overlap, EXPERT_PAR_OVERLAP)                                                      \
    X(pipeline_schedule, PIPELINE_SCHEDULE)                                                        \
    X(pipeline_balance, PIPELINE_BALANCE)                                                          \
    X(memory_model, MEMORY_MODEL)                                                                  \
    X(optimizer_shards, OPTIMIZER_SHARDS)                                                          \
    X(attention_kernel, ATTENTION_KERNEL)                                                          \
    X(optimizer, OPTIMIZER)                                                                        \
    X(scaling, SCALING)                                                                            \
    X(trained, TRAINED)                                                                            \
    X(encoder_trained, ENCODER_TRAINED)                                                            \
    X(frozen_datatype, FROZEN_DATATYPE)                                                            \
    X(lora_experts, LORA_EXPERTS)                                                                  \
    X(inference_phase, INFERENCE_PHASE)                                                            \
    X(serving_program, SERVING_PROGRAM)                                                            \
    X(memory_taken, MEMORY_TAKEN)
CALC_ENUM_LIST(CALC_DECLARE_ENUM)

/* Members of a SET are bits, in the order of the list. */
#define CALC_DECLARE_SET(type, TYPE)                                                               \
    enum { CALC_##TYPE##_LIST(CALC_ENUMERATOR, CALC_##TYPE##_) CALC_##TYPE##_COUNT };              \
    typedef int64_t calc_##type;
#define CALC_X_COMPAT(name, text, sentence) CALC_COMPAT_##name,
CALC_DECLARE_SET(recompute_modules, RECOMPUTE_MODULES)
CALC_DECLARE_SET(offload_modules, OFFLOAD_MODULES)
CALC_DECLARE_SET(framework_mem, FRAMEWORK_MEM)
CALC_DECLARE_SET(lora_modules, LORA_MODULES)

/** Parts of experts that keep what paged_stash packs. */
#define CALC_STASHED_MODULES                                                                       \
    (1 << CALC_OFFLOAD_MODULES_EXPERT_FC1 | 1 << CALC_OFFLOAD_MODULES_MOE_ACT |                    \
     1 << CALC_OFFLOAD_MODULES_FUSED_GROUP_MLP)

/** Rules of Calculon, as bits. */
enum { CALC_COMPAT_LIST(CALC_X_COMPAT) CALC_COMPAT_COUNT };
typedef int64_t calc_compat;

/** No rule: calc's model; all of them: Calculon's; all but its three defects: Calculon repaired. */
#define CALC_COMPAT_NONE ((calc_compat)0)
#define CALC_COMPAT_CALCULON (((calc_compat)1 << CALC_COMPAT_COUNT) - 1)
#define CALC_COMPAT_REPAIRED (CALC_COMPAT_CALCULON & ~(calc_compat)7)

/** Whether a rule is among them. */
static inline _Bool calc_compat_has(calc_compat compat, int rule)
{
    return (compat >> rule & 1) != 0;
}

#endif
