/** @file stage_types.h  The terms of a step: classes of equal stages, and times and memory of a
 *  block, the ends and the networks. stage_terms.c fills them, stage_step.h combines them.
 */
#ifndef CALC_MODEL_STAGE_TYPES_H
#define CALC_MODEL_STAGE_TYPES_H

#include "calc.h"
#include "model/cost/rule_part.h"
#include "model/operators/collective.h"
#include "model/operators/processor.h"
#include "model/stages/reduce_by_block.h"

enum {
    CALC_MAX_STAGE_CLASSES = 4, /**< the first stage, those with one block more, the others, the
                                     last */
    CALC_STAGE_KINDS = 2        /**< of blocks: dense, with experts */
};

/** The sweep vectorizes these functions, so all of them must be inlined. Checked by a sanitizer
 *  nothing is vectorized, and clang needs minutes for what is inlined. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CALC_STAGE_INLINE static inline
#endif
#endif
#ifndef CALC_STAGE_INLINE
#define CALC_STAGE_INLINE static inline __attribute__((always_inline))
#endif

/** Share of gradients in the last bucket, which has no computation left to hide behind. */
#define CALC_STAGE_LAST_BUCKET 0.03

/** Equal stages that follow one another. A class with 0 stages does not exist.
 *
 *  Members are listed once, here: the sweep keeps an array of each. */
#define CALC_STAGE_CLASS_LIST(X)                                                                   \
    X(stages)   /* how many */                                                                     \
    X(position) /* index of the first of them */                                                   \
    X(dense)    /* blocks of each kind; fractions where kinds alternate or are spread */           \
    X(moe)                                                                                         \
    X(missing) /* blocks that the later ones of them lack: even-stages */                          \
    X(first)   /* 1: has the embedding; less where ends are spread */                              \
    X(last)    /* the same for the head */

typedef struct calc_stage_class {
#define CALC_X(member) double member;
    CALC_STAGE_CLASS_LIST(CALC_X)
#undef CALC_X
} calc_stage_class;

/** Weights of one rank, in elements, or quantities proportional to them. */
typedef struct calc_stage_weights {
    double dense, expert;
} calc_stage_weights;

/** One part of the model for one micro-batch on one processor. */
typedef struct calc_stage_part {
    double fw_s, agrad_s, wgrad_s; /**< everything included: what the schedule sees */
    double spared_s;               /**< part of agrad_s saved without recomputation */
    calc_stage_weights weights;
    calc_stage_weights frozen;      /**< bytes; embedding and head only */
    double kept_bytes, whole_bytes; /**< activations, with and without recomputation */
    double away_bytes;              /**< activations kept in the second memory tier */
    double passing_bytes;           /**< in addition while a pass runs through the part */
} calc_stage_part;

/** Terms of a step that depend on the networks of the pipeline and of data parallelism. The sweep
 * keeps an array of each member, as of calc_stage_class. */
#define CALC_STAGE_LINK_LIST(X)                                                                    \
    X(message_s)              /* between stages, forward */                                        \
    X(back_message_s)         /* and backward */                                                   \
    X(tied_s)                 /* gradients of the table that both ends share */                    \
    X(reduce_dense_latency_s) /* gradients over the replicas: calc_collective_line */              \
    X(reduce_dense_s_per_byte)                                                                     \
    X(reduce_expert_latency_s)                                                                     \
    X(reduce_expert_s_per_byte)                                                                    \
    X(gather_dense_latency_s) /* updated weights */                                                \
    X(gather_dense_s_per_byte)                                                                     \
    X(gather_expert_latency_s)                                                                     \
    X(gather_expert_s_per_byte)                                                                    \
    X(usage)     /* by rule: processor_usage of the network of data parallelism; */                \
    X(collides)  /* 1: pipeline messages use the same network; */                                  \
    X(same_link) /* 1: so does tensor-parallel communication */

typedef struct calc_stage_links {
#define CALC_X(member) double member;
    CALC_STAGE_LINK_LIST(CALC_X)
#undef CALC_X
} calc_stage_links;

/** Weight gradients of the head that are computed when the last stage has no micro-batch left:
 *  stage_deferred.h. */
typedef struct calc_stage_deferred {
    bool any;     /**< loops of the sweep know that theirs have none */
    double all_s; /**< in a step */
    double bytes; /**< kept for them on the last stage */
} calc_stage_deferred;

/** Muon: stage_muon.h. */
typedef struct calc_stage_muon {
    bool any;                                 /**< loops of the sweep know that theirs have none */
    double block_s[CALC_STAGE_KINDS], head_s; /**< matrices, shared; of multi-token prediction */
    double longest_s;                         /**< of one of them */
    double embedding_adam_s, head_adam_s;     /**< second moments read and written */
    double embedding_bytes, head_bytes;       /**< second moments, */
    double away;                              /**< and the share of them in the second tier */
} calc_stage_muon;

/** Frozen weights of a rank: stage_frozen.h. */
typedef struct calc_stage_frozen {
    bool any; /**< loops of the sweep know that theirs have none */
    double block_bytes[CALC_STAGE_KINDS], embedding_bytes, head_bytes; /**< held, or owned */
    double block_away_bytes[CALC_STAGE_KINDS], embedding_away_bytes, head_away_bytes;
    double ahead_bytes[CALC_STAGE_KINDS]; /**< of two blocks, gathered or fetched */
} calc_stage_frozen;

/** Terms of a layout's step, except for its networks, its classes of stages, its chunks and its
 *  flags.
 */
typedef struct calc_stage_terms {
    calc_compat compat; /**< rules of Calculon's that apply */
    calc_stage_part block[CALC_STAGE_KINDS];
    calc_stage_part embedding, head; /**< the head with multi-token prediction */
    calc_stage_deferred deferred;    /**< head.wgrad_s is without them, the mean of micro-batches */
    calc_stage_muon muon;
    calc_stage_frozen frozen;
    double stages, microbatches;
    double lost_rounds;  /**< chunks an incomplete round of micro-batches leaves idle, per chunk */
    int dense_first;     /**< whether dense blocks come before those with experts; no bool, since
                              gcc does not vectorize loops that read one */
    bool ends_as_blocks; /**< embedding and head take the place of a block each */
    bool training;
    double message_hidden;   /**< share that pipeline_par_overlap hides */
    double recompute_blocks; /**< number of blocks of a stage that recompute; 0: all */

    /* Data parallelism. */
    double reduced_bytes, gathered_bytes; /**< per element on the network */
    double reductions;                    /**< per step */
    double window_share, contention;
    double optimizer_s;       /**< per element that is held, with each reduction, */
    double optimizer_owned_s; /**< and per element that is owned */
    double growth;            /**< of the pipeline's time: stragglers */
    double overhead_s;

    /* Memory. */
    double dense_shards, expert_shards;
    double held_bytes, owned_bytes; /**< per element that a rank holds, or owns */
    double gathered_ahead;          /**< bytes per element of two blocks, sharded weights */
    double whole_block_bytes;       /**< bytes per element of one block's whole gradients */
    double framework_bytes[2][2];   /**< [dense blocks][blocks with experts] */
    double framework_head_bytes;
    double used_share, reserved_bytes; /**< 1 + fragmentation; memory outside the allocator */

    /* Second memory tier: bytes per element that a rank holds, or owns. */
    bool away; /**< something is kept there */
    double weight_held_away, weight_owned_away;
    double optimizer_held_away, optimizer_owned_away;

    calc_rule_part rule[CALC_STAGE_KINDS]; /**< terms of a block for Calculon's rules */
} calc_stage_terms;

/** One micro-batch on a stage [s]. */
typedef struct calc_stage_pass {
    double fw_s, agrad_s, wgrad_s;
    /** By rule, for a block, and for the last block of a chunk, which sends the message. */
    double base_fw_s, edge_fw_s, base_bw_s, edge_bw_s;
} calc_stage_pass;

CALC_STAGE_INLINE double calc_stage_min(double a, double b)
{
    return a < b ? a : b;
}

CALC_STAGE_INLINE double calc_stage_pass_s(const calc_stage_pass *p)
{
    return p->fw_s + p->agrad_s + p->wgrad_s;
}

/** Share of a stage's blocks that do not recompute. */
CALC_STAGE_INLINE double calc_stage_rich(const calc_stage_terms *t, const calc_stage_class *c)
{
    double blocks = c->dense + c->moe;
    bool some = t->recompute_blocks > 0 && t->recompute_blocks < blocks;
    return some ? 1 - t->recompute_blocks / blocks : 0;
}

#endif
