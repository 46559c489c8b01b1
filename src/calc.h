/** @file calc.h
 *  Analytical performance model of training and serving large language models.
 *
 *  Three plain-value structs say what is asked: calc_app (the model that is trained), calc_system
 *  (the machine) and calc_exec (how the one is laid out on the other). calc_run() answers with
 *  calc_stats. The members of these structs are the rows of the tables calc/<kind>.fields.h; the
 *  same tables drive the JSON reader and writer, `--set`, CSV columns and the documentation.
 *
 *  Units: seconds, bytes, FLOP and their quotients, always as double; counts are int64_t.
 *  Threads: no global state anywhere. calc_run() neither allocates nor prints.
 *  Ownership: structs are copied with `=` and own nothing. Only calc_text owns memory.
 */
#ifndef CALC_H
#define CALC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CALC_VERSION_MAJOR 0
#define CALC_VERSION_MINOR 1
#define CALC_VERSION_PATCH 0
#define CALC_VERSION "0.1.0"

#if defined(CALC_SHARED) && defined(__GNUC__)
#define CALC_API __attribute__((visibility("default")))
#else
#define CALC_API
#endif
#if defined(__GNUC__)
#define CALC_MUST_USE __attribute__((warn_unused_result))
#define CALC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CALC_MUST_USE
#define CALC_PRINTF(fmt, args)
#endif

/* ---- Limits: structs are flat, so that copying one is an assignment -------------------------- */

enum {
    CALC_MAX_NETWORKS = 8,     /**< networks of one system */
    CALC_MAX_CURVE_STEPS = 32, /**< steps of one efficiency curve */
    CALC_MAX_LAYERS = 64,      /**< layers of one transformer block */
    CALC_MAX_ERRORS = 16,      /**< errors reported in one go */
    CALC_MAX_REASONS = 16      /**< reasons why a layout is infeasible */
};

/* ---- Words: each list gives an enum, its texts and its documentation ------------------------- */

/** What went wrong: X(NAME, sentence). */
#define CALC_STATUS_LIST(X)                                                                        \
    X(OK, "fine")                                                                                  \
    X(ERR_NOT_FOUND, "no such file")                                                               \
    X(ERR_IO, "reading or writing failed")                                                         \
    X(ERR_NOMEM, "out of memory")                                                                  \
    X(ERR_SYNTAX, "not valid JSON")                                                                \
    X(ERR_FIELD, "unknown, ambiguous, missing or repeated field")                                  \
    X(ERR_TYPE, "value of the wrong type")                                                         \
    X(ERR_RANGE, "value out of range")                                                             \
    X(ERR_RULE, "fields that contradict each other")                                               \
    X(ERR_UNSUPPORTED, "recognised but not modelled yet")

typedef enum calc_status {
#define CALC_X(name, text) CALC_##name,
    CALC_STATUS_LIST(CALC_X)
#undef CALC_X
        CALC_STATUS_COUNT
} calc_status;

/** Whether the layout can run; every one but `ok` is an answer, not an error. In order of report.
 */
#define CALC_VERDICT_LIST(X)                                                                       \
    X(OK, "ok")                                                                                    \
    X(NETWORK_SIZE, "network_size") /* more ranks on a network than it connects */                 \
    X(NETWORK_FILL, "network_fill") /* a network that must be filled would not be */               \
    X(INTERLEAVING, "interleaving") /* interleaving does not divide the blocks per processor */    \
    X(OFFLOAD_BLOCKS, "offload_blocks") /* offload needs at least 3 blocks per processor */        \
    X(MEM1_CAPACITY, "mem1_capacity")   /* tier 1 memory too small */                              \
    X(MEM2_CAPACITY, "mem2_capacity")   /* tier 2 memory too small */

typedef enum calc_verdict {
#define CALC_X(name, text) CALC_VERDICT_##name,
    CALC_VERDICT_LIST(CALC_X)
#undef CALC_X
        CALC_VERDICT_COUNT
} calc_verdict;

/** Number formats a processor may compute in. */
#define CALC_DATATYPE_LIST(X)                                                                      \
    X(FLOAT8, "float8")                                                                            \
    X(FLOAT16, "float16")                                                                          \
    X(BFLOAT16, "bfloat16")                                                                        \
    X(FLOAT32, "float32")                                                                          \
    X(FLOAT4, "float4")

/** Number formats of what is stored or sent; auto: what the field's documentation says. */
#define CALC_FORMAT_LIST(X)                                                                        \
    X(AUTO, "auto")                                                                                \
    X(FLOAT4, "float4")                                                                            \
    X(FLOAT8, "float8")                                                                            \
    X(FLOAT16, "float16")                                                                          \
    X(BFLOAT16, "bfloat16")                                                                        \
    X(FLOAT32, "float32")

/** Yes, no, or what a preset says; true and false in JSON. */
#define CALC_CHOICE_LIST(X)                                                                        \
    X(AUTO, "auto")                                                                                \
    X(TRUE, "true")                                                                                \
    X(FALSE, "false")

/** Attention heads: one key and value per head; one for all; one per group (app.kv_heads);
 *  compressed (app.kv_lora_rank). flash is multihead with flash_attention. */
#define CALC_ATTENTION_TYPE_LIST(X)                                                                \
    X(MULTIHEAD, "multihead")                                                                      \
    X(MULTIQUERY, "multiquery")                                                                    \
    X(FLASH, "flash")                                                                              \
    X(GROUPED_QUERY, "grouped_query")                                                              \
    X(MULTI_LATENT, "multi_latent")

/** Feed-forward layer: two matrices with GELU or ReLU between, or three with a gate. */
#define CALC_FFN_TYPE_LIST(X)                                                                      \
    X(AUTO, "auto")                                                                                \
    X(GELU, "gelu")                                                                                \
    X(RELU, "relu")                                                                                \
    X(SWIGLU, "swiglu")                                                                            \
    X(GEGLU, "geglu")

/** Normalization. */
#define CALC_NORM_TYPE_LIST(X)                                                                     \
    X(AUTO, "auto")                                                                                \
    X(LAYER, "layer")                                                                              \
    X(RMS, "rms")

/** Positions: a learned table, rotary embedding, or none. */
#define CALC_POSITION_TYPE_LIST(X)                                                                 \
    X(AUTO, "auto")                                                                                \
    X(LEARNED, "learned")                                                                          \
    X(ROPE, "rope")                                                                                \
    X(NONE, "none")

/** Presets of a block's structure: llama is swiglu, rms, rope, no bias, no dropout, untied. */
#define CALC_STRUCTURE_TYPE_LIST(X)                                                                \
    X(GPT, "gpt")                                                                                  \
    X(LLAMA, "llama")

/** What the backward pass computes again instead of keeping it. */
#define CALC_ACTIVATION_RECOMPUTE_LIST(X)                                                          \
    X(NONE, "none")                                                                                \
    X(ATTN_ONLY, "attn_only")                                                                      \
    X(FULL, "full")                                                                                \
    X(MODULES, "modules")

/** Parts of a block that are recomputed, as Megatron-LM names them (recompute_modules). */
#define CALC_RECOMPUTE_MODULES_LIST(X)                                                             \
    X(CORE_ATTN, "core_attn")                                                                      \
    X(LAYERNORM, "layernorm")                                                                      \
    X(MLA_UP_PROJ, "mla_up_proj")                                                                  \
    X(MLP, "mlp")                                                                                  \
    X(MOE_ACT, "moe_act")                                                                          \
    X(SHARED_EXPERTS, "shared_experts")                                                            \
    X(MOE, "moe")

/** Memory that a framework takes for itself. */
#define CALC_FRAMEWORK_MEM_LIST(X) X(TE_DUMMY_WGRAD, "te_dummy_wgrad")

/** Collectives of tensor parallelism: all-reduce; all-reduce with the pipeline message scattered;
 *  reduce-scatter and all-gather (sequence parallelism). */
#define CALC_TENSOR_PAR_COMM_TYPE_LIST(X)                                                          \
    X(AR, "ar")                                                                                    \
    X(P2P_RS_AG, "p2p_rs_ag")                                                                      \
    X(RS_AG, "rs_ag")

/** How tensor-parallel communication overlaps with the matrix multiplication beside it: in tiles
 *  (ring, pipe), asynchronously in the backward pass, or fused into the kernels (user buffers,
 *  async tensor parallelism, MC2). */
#define CALC_TENSOR_PAR_OVERLAP_LIST(X)                                                            \
    X(NONE, "none")                                                                                \
    X(RING, "ring")                                                                                \
    X(PIPE, "pipe")                                                                                \
    X(ASYNC, "async")                                                                              \
    X(FUSED, "fused")

/** What decides which network a group of ranks uses: the `_net` fields, one tier per group, or
 *  the order in which ranks are laid out, fastest first, over nodes (Megatron-LM's --use-tp-...
 *  orders); then a group that spans nodes uses both tiers. */
#define CALC_RANK_ORDER_LIST(X)                                                                    \
    X(NETWORKS, "networks")                                                                        \
    X(TP_CP_EP_DP_PP, "tp-cp-ep-dp-pp")                                                            \
    X(TP_CP_EP_PP_DP, "tp-cp-ep-pp-dp")

/** How context parallelism exchanges keys and values. */
#define CALC_CONTEXT_PAR_TYPE_LIST(X)                                                              \
    X(RING, "ring")                                                                                \
    X(ALL_GATHER, "all_gather")                                                                    \
    X(ULYSSES, "ulysses")                                                                          \
    X(HIERARCHICAL, "hierarchical")

/** How the triangle of causal attention is spread over context-parallel ranks. */
#define CALC_CONTEXT_PAR_BALANCE_LIST(X)                                                           \
    X(ZIGZAG, "zigzag")                                                                            \
    X(NONE, "none")

/** How tokens reach their experts: one copy per expert; gathered by all; one copy per node. */
#define CALC_DISPATCH_TYPE_LIST(X)                                                                 \
    X(ALL_TO_ALL, "all_to_all")                                                                    \
    X(ALL_GATHER, "all_gather")                                                                    \
    X(NODE_LIMITED, "node_limited")

/** What hides the all-to-all of experts: nothing, the shared experts, another micro-batch. */
#define CALC_EXPERT_PAR_OVERLAP_LIST(X)                                                            \
    X(NONE, "none")                                                                                \
    X(SHARED, "shared")                                                                            \
    X(BATCH, "batch")

/** Pipeline schedules. */
#define CALC_PIPELINE_SCHEDULE_LIST(X)                                                             \
    X(1F1B, "1f1b")                                                                                \
    X(GPIPE, "gpipe")                                                                              \
    X(ZB_H1, "zb_h1")                                                                              \
    X(ZB_H2, "zb_h2")                                                                              \
    X(ZB_V, "zb_v")                                                                                \
    X(DUALPIPE, "dualpipe")                                                                        \
    X(DUALPIPE_V, "dualpipe_v")

/** How blocks are spread over stages: as many on each; embedding and head each counting as one
 *  block; or a free layout, as equal as can be. */
#define CALC_PIPELINE_BALANCE_LIST(X)                                                              \
    X(BLOCKS, "blocks")                                                                            \
    X(ENDS, "ends")                                                                                \
    X(FREE, "free")

/** Whose memory: Calculon's, or Megatron-LM's (whole fp32 gradients, peak over the stages). */
#define CALC_MEMORY_MODEL_LIST(X)                                                                  \
    X(CALCULON, "calculon")                                                                        \
    X(MEGATRON, "megatron")

/** Kernels of flash attention: the vendor's, or portable ones. */
#define CALC_ATTENTION_KERNEL_LIST(X)                                                              \
    X(VENDOR, "vendor")                                                                            \
    X(GENERIC, "generic")

/** Scales of 8 and 4 bit numbers: per tensor, or per block of numbers (MX, DeepSeek). */
#define CALC_SCALING_LIST(X)                                                                       \
    X(TENSOR, "tensor")                                                                            \
    X(BLOCK, "block")

/** Time of an operation: the larger of arithmetic and memory time, or their sum. */
#define CALC_PROCESSING_MODE_LIST(X)                                                               \
    X(ROOFLINE, "roofline")                                                                        \
    X(NO_OVERLAP, "no_overlap")

/** What is served: nothing of it (Calculon's forward pass), prompts, tokens, both together, or both
 *  on processors of their own. */
#define CALC_INFERENCE_PHASE_LIST(X)                                                               \
    X(NONE, "none")                                                                                \
    X(PREFILL, "prefill")                                                                          \
    X(DECODE, "decode")                                                                            \
    X(SERVE, "serve")                                                                              \
    X(DISAGGREGATED, "disaggregated")

/** Whose arithmetic: ours, or Calculon's with its three known defects (docs/calculon.md). */
#define CALC_COMPAT_LIST(X)                                                                        \
    X(NONE, "none")                                                                                \
    X(CALCULON, "calculon")

#define CALC_DECLARE_ENUM(type, TYPE)                                                              \
    typedef enum calc_##type{CALC_##TYPE##_LIST(CALC_X_##TYPE) CALC_##TYPE##_COUNT} calc_##type;
#define CALC_X_DATATYPE(name, text) CALC_DATATYPE_##name,
#define CALC_X_ATTENTION_TYPE(name, text) CALC_ATTENTION_TYPE_##name,
#define CALC_X_STRUCTURE_TYPE(name, text) CALC_STRUCTURE_TYPE_##name,
#define CALC_X_ACTIVATION_RECOMPUTE(name, text) CALC_ACTIVATION_RECOMPUTE_##name,
#define CALC_X_TENSOR_PAR_COMM_TYPE(name, text) CALC_TENSOR_PAR_COMM_TYPE_##name,
#define CALC_X_TENSOR_PAR_OVERLAP(name, text) CALC_TENSOR_PAR_OVERLAP_##name,
#define CALC_X_PROCESSING_MODE(name, text) CALC_PROCESSING_MODE_##name,
#define CALC_X_COMPAT(name, text) CALC_COMPAT_##name,
#define CALC_X_FORMAT(name, text) CALC_FORMAT_##name,
#define CALC_X_CHOICE(name, text) CALC_CHOICE_##name,
#define CALC_X_FFN_TYPE(name, text) CALC_FFN_TYPE_##name,
#define CALC_X_NORM_TYPE(name, text) CALC_NORM_TYPE_##name,
#define CALC_X_POSITION_TYPE(name, text) CALC_POSITION_TYPE_##name,
#define CALC_X_RANK_ORDER(name, text) CALC_RANK_ORDER_##name,
#define CALC_X_CONTEXT_PAR_TYPE(name, text) CALC_CONTEXT_PAR_TYPE_##name,
#define CALC_X_CONTEXT_PAR_BALANCE(name, text) CALC_CONTEXT_PAR_BALANCE_##name,
#define CALC_X_DISPATCH_TYPE(name, text) CALC_DISPATCH_TYPE_##name,
#define CALC_X_EXPERT_PAR_OVERLAP(name, text) CALC_EXPERT_PAR_OVERLAP_##name,
#define CALC_X_PIPELINE_SCHEDULE(name, text) CALC_PIPELINE_SCHEDULE_##name,
#define CALC_X_PIPELINE_BALANCE(name, text) CALC_PIPELINE_BALANCE_##name,
#define CALC_X_MEMORY_MODEL(name, text) CALC_MEMORY_MODEL_##name,
#define CALC_X_ATTENTION_KERNEL(name, text) CALC_ATTENTION_KERNEL_##name,
#define CALC_X_SCALING(name, text) CALC_SCALING_##name,
#define CALC_X_INFERENCE_PHASE(name, text) CALC_INFERENCE_PHASE_##name,
CALC_DECLARE_ENUM(datatype, DATATYPE)
CALC_DECLARE_ENUM(attention_type, ATTENTION_TYPE)
CALC_DECLARE_ENUM(structure_type, STRUCTURE_TYPE)
CALC_DECLARE_ENUM(activation_recompute, ACTIVATION_RECOMPUTE)
CALC_DECLARE_ENUM(tensor_par_comm_type, TENSOR_PAR_COMM_TYPE)
CALC_DECLARE_ENUM(tensor_par_overlap, TENSOR_PAR_OVERLAP)
CALC_DECLARE_ENUM(processing_mode, PROCESSING_MODE)
CALC_DECLARE_ENUM(compat, COMPAT)
CALC_DECLARE_ENUM(format, FORMAT)
CALC_DECLARE_ENUM(choice, CHOICE)
CALC_DECLARE_ENUM(ffn_type, FFN_TYPE)
CALC_DECLARE_ENUM(norm_type, NORM_TYPE)
CALC_DECLARE_ENUM(position_type, POSITION_TYPE)
CALC_DECLARE_ENUM(rank_order, RANK_ORDER)
CALC_DECLARE_ENUM(context_par_type, CONTEXT_PAR_TYPE)
CALC_DECLARE_ENUM(context_par_balance, CONTEXT_PAR_BALANCE)
CALC_DECLARE_ENUM(dispatch_type, DISPATCH_TYPE)
CALC_DECLARE_ENUM(expert_par_overlap, EXPERT_PAR_OVERLAP)
CALC_DECLARE_ENUM(pipeline_schedule, PIPELINE_SCHEDULE)
CALC_DECLARE_ENUM(pipeline_balance, PIPELINE_BALANCE)
CALC_DECLARE_ENUM(memory_model, MEMORY_MODEL)
CALC_DECLARE_ENUM(attention_kernel, ATTENTION_KERNEL)
CALC_DECLARE_ENUM(scaling, SCALING)
CALC_DECLARE_ENUM(inference_phase, INFERENCE_PHASE)

/* Members of a SET are bits, in the order of the list. */
#define CALC_DECLARE_SET(type, TYPE)                                                               \
    enum { CALC_##TYPE##_LIST(CALC_X_##TYPE) CALC_##TYPE##_COUNT };                                \
    typedef int64_t calc_##type;
#define CALC_X_RECOMPUTE_MODULES(name, text) CALC_RECOMPUTE_MODULES_##name,
#define CALC_X_FRAMEWORK_MEM(name, text) CALC_FRAMEWORK_MEM_##name,
CALC_DECLARE_SET(recompute_modules, RECOMPUTE_MODULES)
CALC_DECLARE_SET(framework_mem, FRAMEWORK_MEM)

/** The documents calc reads, and the two kinds of answers it gives. */
typedef enum calc_kind {
    CALC_KIND_APP,
    CALC_KIND_SYSTEM,
    CALC_KIND_EXEC,
    CALC_KIND_STATS,
    CALC_KIND_LAYER,
    CALC_KIND_COUNT,
    CALC_KIND_NONE = CALC_KIND_COUNT
} calc_kind;

/* ---- Values ---------------------------------------------------------------------------------- */

/** Efficiency as a step function of the size of one operation: the first step, from the largest
 *  threshold down, that the size reaches. The last threshold is 0. */
typedef struct calc_curve {
    int64_t count;                           /**< steps in use */
    double threshold[CALC_MAX_CURVE_STEPS];  /**< [FLOP] for engines, [bytes] for memories */
    double efficiency[CALC_MAX_CURVE_STEPS]; /**< fraction of peak, in (0, 1] */
} calc_curve;

/** Cost of one network operation on V bytes and n ranks: it moves scalar * (V + offset * V / n). */
typedef struct calc_network_op {
    double scalar; /**< > 0 */
    double offset; /**< 0 for point-to-point, which JSON writes as null */
} calc_network_op;

/* Members of a struct, made from the rows of its table. */
#define CALC_MEMBER_INT(name, arg) int64_t name;
#define CALC_MEMBER_REAL(name, arg) double name;
#define CALC_MEMBER_BOOL(name, arg) bool name;
#define CALC_MEMBER_ENUM(name, arg) calc_##arg name;
#define CALC_MEMBER_SET(name, arg) calc_##arg name;
#define CALC_MEMBER_CURVE(name, arg) calc_curve name;
#define CALC_MEMBER_OP(name, arg) calc_network_op name;
#define CALC_MEMBER_OBJECT(name, arg) calc_##arg name;
#define CALC_MEMBER_LIST(name, arg)                                                                \
    calc_##arg name[CALC_MAX_NETWORKS];                                                            \
    int64_t name##_count;
#define CALC_MEMBER_MAP(name, arg) calc_##arg name[CALC_DATATYPE_COUNT];
#define CALC_MEMBER_NOTE(name, arg)

#define CALC_FIELD(name, type, arg, ...) CALC_MEMBER_##type(name, arg)
/** The model that is trained or served. */
typedef struct calc_app {
#include "calc/app.fields.h"
} calc_app;
/** Peak rate and efficiency of one engine in one datatype; a rate of 0 means not offered. */
typedef struct calc_engine {
#include "calc/engine.fields.h"
} calc_engine;
/** Kernels of flash attention. */
typedef struct calc_attention_rates {
#include "calc/attention_rates.fields.h"
} calc_attention_rates;
/** Grouped matrix multiplications: one per local expert. */
typedef struct calc_grouped_rates {
#include "calc/grouped_rates.fields.h"
} calc_grouped_rates;
/** Time of starting a kernel. */
typedef struct calc_launch {
#include "calc/launch.fields.h"
} calc_launch;
/** The host, which issues the kernels. */
typedef struct calc_host {
#include "calc/host.fields.h"
} calc_host;
/** How much of the communication each mechanism hides. */
typedef struct calc_overlap_shares {
#include "calc/overlap_shares.fields.h"
} calc_overlap_shares;
/** What one network operation reaches, where it differs from its network. */
typedef struct calc_op_rate {
#include "calc/op_rate.fields.h"
} calc_op_rate;
/** The same for each operation. */
typedef struct calc_op_rates {
#include "calc/op_rates.fields.h"
} calc_op_rates;
/** One tier of memory. */
typedef struct calc_memory_tier {
#include "calc/memory_tier.fields.h"
} calc_memory_tier;
/** The operations of a network. */
typedef struct calc_network_ops {
#include "calc/network_ops.fields.h"
} calc_network_ops;
/** One network tier. */
typedef struct calc_network {
#include "calc/network.fields.h"
} calc_network;
/** The machine: one kind of processor, its memory tiers and its networks. */
typedef struct calc_system {
#include "calc/system.fields.h"
} calc_system;
/** What is served, where the model is not trained. */
typedef struct calc_inference {
#include "calc/inference.fields.h"
} calc_inference;
/** How the model is laid out and run. */
typedef struct calc_exec {
#include "calc/exec.fields.h"
} calc_exec;
/** The answer. A statistic that cannot be computed for the layout is NaN (JSON null). */
typedef struct calc_stats {
    calc_verdict verdict; /**< the first reason of infeasibility, or CALC_VERDICT_OK */
#include "calc/stats.fields.h"
} calc_stats;
/** The answer for one layer of the block, `name` first. */
typedef struct calc_layer_stats {
    const char *name; /**< static text */
#include "calc/layer.fields.h"
} calc_layer_stats;
#undef CALC_FIELD

/* ---- Fields by name -------------------------------------------------------------------------- */

typedef enum calc_field_type {
    CALC_TYPE_INT,
    CALC_TYPE_REAL,
    CALC_TYPE_BOOL,
    CALC_TYPE_ENUM,
    CALC_TYPE_SET,    /**< choices, any number of them: ["core_attn", "mlp"] */
    CALC_TYPE_CURVE,  /**< [[size, efficiency], ...] */
    CALC_TYPE_OP,     /**< [scalar, offset] */
    CALC_TYPE_OBJECT, /**< a struct with a table of its own */
    CALC_TYPE_LIST,   /**< up to CALC_MAX_NETWORKS such structs */
    CALC_TYPE_MAP,    /**< one such struct per datatype */
    CALC_TYPE_NOTE    /**< text for people: read, checked to be text, not kept */
} calc_field_type;

enum {
    CALC_OPTIONAL = 1,       /**< may be absent: then 0, false, the first choice or .absent */
    CALC_ABOVE_LO = 2,       /**< .lo itself is not allowed */
    CALC_BELOW_HI = 4,       /**< .hi itself is not allowed */
    CALC_POINT_TO_POINT = 8, /**< OP: the offset must be null */
    CALC_EXTRA = 16          /**< STATS: ours, not among Calculon's statistics */
};

typedef struct calc_table calc_table;

/** One row of a table. */
typedef struct calc_field {
    const char *name; /**< member of the struct */
    const char *key;  /**< key in JSON and CSV, and name for people */
    calc_field_type type;
    unsigned flags;             /**< CALC_OPTIONAL ... */
    size_t offset;              /**< of the member in its struct */
    size_t element;             /**< LIST, MAP: bytes of one element */
    size_t count;               /**< LIST: offset of the member that counts the elements */
    const calc_table *table;    /**< OBJECT, LIST, MAP: rows of the element */
    const char *const *choices; /**< ENUM, and keys of a MAP: texts, NULL at the end */
    double lo, hi;              /**< INT, REAL: range in file units; both 0: any finite value */
    double absent;              /**< OPTIONAL INT: value when the key is absent; OP: [1, absent] */
    double scale;               /**< file unit in SI units (GiB: 2^30); 0 means 1 */
    const char *unit;           /**< in the file: "GB/s"; NULL: a pure number */
    const char *where;          /**< STATS, LAYER: the function that computes it */
    const char *doc;            /**< one sentence */
} calc_field;

/** The rows of one struct. */
struct calc_table {
    const char *name; /**< "exe", "networks", ... */
    size_t size;      /**< bytes of the struct */
    size_t count;     /**< rows */
    const calc_field *rows;
};

/** A field inside a struct, however deep: networks[1].bandwidth. */
typedef struct calc_field_ref {
    calc_kind kind;
    const calc_field *field; /**< its row */
    size_t offset;           /**< from the start of the outermost struct */
} calc_field_ref;

/** The table of a kind; borrowed, static. NULL for CALC_KIND_NONE. */
CALC_API const calc_table *calc_table_of(calc_kind kind);

/** Short name of a kind: "app", "sys", "exe", "stats", "layer". */
CALC_API const char *calc_kind_name(calc_kind kind);

/** Find a field by its dotted path from the struct's root, in JSON keys: "tensor_par",
 *  "mem1.GiB", "networks[0].ops.all_reduce", "matrix.float16.tflops".
 *  @return CALC_OK, or CALC_ERR_FIELD when there is none (*out is then untouched). */
CALC_API CALC_MUST_USE calc_status calc_field_find(calc_kind kind, const char *path,
                                                   calc_field_ref *out);

/** Value of an INT, REAL, BOOL, ENUM or SET field as a number in file units; NaN for other types.
 */
CALC_API double calc_field_number(const calc_field_ref *ref, const void *object);

/** Text of a status, a verdict, and of the choices of an enumerated field. */
CALC_API const char *calc_status_text(calc_status status);
CALC_API const char *calc_verdict_text(calc_verdict verdict);

/* ---- Errors ---------------------------------------------------------------------------------- */

/** One error, for people: `file:line:column: pointer: text` and then the hint. */
typedef struct calc_error {
    calc_status status;
    calc_kind kind;    /**< document the pointer is in, CALC_KIND_NONE if in none */
    int line, column;  /**< 1-based; 0 when unknown */
    char file[256];    /**< name of the document; shortened from the left */
    char pointer[128]; /**< JSON pointer: "/networks/0/size" */
    char text[320];    /**< what was found and what is allowed */
    char hint[256];    /**< what to do; may be empty */
} calc_error;

/** Errors in the order they were found. Start with `calc_errors errors = {0};`. */
typedef struct calc_errors {
    int count;   /**< of item */
    int dropped; /**< found beyond CALC_MAX_ERRORS */
    calc_error item[CALC_MAX_ERRORS];
} calc_errors;

/** Print one error, without a newline at its end, as snprintf would.
 *  @return the length it needs. */
CALC_API int calc_error_print(const calc_error *error, char *buffer, size_t size);

/* ---- Input ----------------------------------------------------------------------------------- */

/** Fill *object (a calc_app, calc_system or calc_exec, by kind) from a JSON file.
 *  All errors of the file are collected, with line and column.
 *  @return CALC_OK, or the status of the first error; *object is then unspecified. */
CALC_API CALC_MUST_USE calc_status calc_load(calc_kind kind, void *object, const char *path,
                                             calc_errors *errors);

/** The same from `length` bytes of text; `name` is what errors call it. */
CALC_API CALC_MUST_USE calc_status calc_parse(calc_kind kind, void *object, const char *text,
                                              size_t length, const char *name, calc_errors *errors);

/** Set one field by name: "tensor_par=8", "sys.mem1.GiB=141", "exe.structure_type=gpt",
 *  "networks[0].ops.all_reduce=[2.0,-1]", "recompute_modules=core_attn+mlp". A name that more than
 * one of the three structs has must be qualified by `app.`, `sys.` or `exe.`.
 *  @param where  NULL or filled with the field that was set
 *  @return CALC_OK, or CALC_ERR_FIELD, _TYPE, _RANGE, _SYNTAX, _NOMEM; the structs are then
 *  untouched. */
CALC_API CALC_MUST_USE calc_status calc_set(calc_app *app, calc_system *system, calc_exec *exec,
                                            const char *assignment, calc_field_ref *where,
                                            calc_errors *errors);

/** Check the rules between fields and between the three documents. Errors carry the document's
 *  kind and the JSON pointer; calc_errors_locate() adds the place.
 *  @return CALC_OK, CALC_ERR_RULE or CALC_ERR_UNSUPPORTED. */
CALC_API CALC_MUST_USE calc_status calc_check(const calc_app *app, const calc_system *system,
                                              const calc_exec *exec, calc_errors *errors);

/** Give errors of a document that lack a place their file, line and column, from its text. */
CALC_API void calc_errors_locate(calc_errors *errors, calc_kind kind, const char *text,
                                 size_t length, const char *name);

/* ---- The model ------------------------------------------------------------------------------- */

/** Evaluate one layout. Pure: the same inputs give the same bits. The inputs must have passed
 *  calc_check(). "Does not fit" is not a failure: see the verdict.
 *  @return stats->verdict */
CALC_API calc_verdict calc_run(const calc_app *app, const calc_system *system,
                               const calc_exec *exec, calc_compat compat, calc_stats *stats);

/** Statistics of each layer of the transformer block, for one micro-batch on one processor.
 *  @param out  filled with up to `capacity` rows (CALC_MAX_LAYERS always suffice)
 *  @return how many layers there are */
CALC_API size_t calc_layers(const calc_app *app, const calc_system *system, const calc_exec *exec,
                            calc_layer_stats *out, size_t capacity);

/** Why a layout is infeasible, with the numbers and what would fix it. */
typedef struct calc_reason {
    calc_verdict verdict;
    char text[256];
    char hint[256];
} calc_reason;

/** All reasons, not only the first.
 *  @param stats  what calc_run() gave for the same inputs
 *  @return how many there are; 0 for a feasible layout */
CALC_API size_t calc_reasons(const calc_app *app, const calc_system *system, const calc_exec *exec,
                             const calc_stats *stats, calc_reason out[CALC_MAX_REASONS]);

/** Trainable parameters of a model, and of its parts; parts sum to the total. */
typedef struct calc_parameters {
    double total;     /**< all */
    double active;    /**< used by one token; equals total without experts */
    double attention; /**< query, key, value and output projections, with biases */
    double mlp;       /**< feed-forward matrices, with biases; shared experts */
    double experts;   /**< routed experts and routers */
    double norm;      /**< norms */
    double embedding; /**< token and position tables, and the head where it is not tied */
    double mtp;       /**< blocks of multi-token prediction; not part of the total */
} calc_parameters;

/** Count parameters. A file with Calculon's keys only counts as in Narayanan et al. 2021 (arXiv
 *  2104.04473, eq. 2, with the exact attention width): a 51,200-word vocabulary, learned positions,
 *  biases. Any other as it says, down to the last norm. */
CALC_API void calc_count_parameters(const calc_app *app, calc_parameters *out);

#ifdef __cplusplus
}
#endif
#endif /* CALC_H */
