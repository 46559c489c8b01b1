/** @file stage_types.h  The terms of a step: classes of equal stages, and times and memory of a
 *  block, the ends and the networks. stage_terms.c fills them, stage_step.h combines them.
 */
#ifndef CALC_MODEL_STAGE_TYPES_H
#define CALC_MODEL_STAGE_TYPES_H

#include "calc.h"
#include "model/cost/block_memory.h"
#include "model/cost/cost.h"
#include "model/operators/collective.h"
#include "model/operators/processor.h"

/* Rule `reduce-by-block`: gradients are reduced block by block while the
 * backward pass of the next block runs. Source: Isaev et al. (Calculon), SC'23. */

/** Whole number of times b > 0 fits in a >= 0, at most `limit` (a whole number below 2^20).
 *  Exact where a / b would round up to a whole number. */
static inline double calc_reduce_fits(double a, double b, double limit)
{
    double ratio = a / b;
    ratio = ratio < limit ? ratio : limit;
    /* Rounding by addition: not every CPU level has a vector instruction for floor. */
    double n = (ratio + 0x1p52) - 0x1p52;
    /* If that was too much, n * b exceeds a. b in two halves of 26 bits (Veltkamp), so that n *
     * high and n * low are exact. */
    double t = 134217729.0 * b;
    double high = t - (t - b);
    double low = b - high;
    return n * low > a - n * high ? n - 1 : n;
}

/** Inputs of the overlap: times of the layout's backward pass [s]. */
typedef struct calc_reduce_overlap {
    double block_s;  /**< reduction of one block */
    double usage;    /**< processor_usage of its network */
    double collides; /**< 1 if pipeline messages use the same network, else 0 */
    double base_bw_s, edge_bw_s, chunk_bw_s; /**< a base block, the last of a chunk, a chunk */
    double busy_s;                           /**< memory time of a block */
    double link_s, edge_link_s; /**< tensor-parallel communication on the same network */
    double compute_s;           /**< arithmetic of a block that driving the network slows down */
    double message_s;           /**< pipeline message of a chunk */
    double optimizer_window_s;  /**< of a block: gradients hide behind it; 0 if sharded */
    double stages, chunks, base_blocks; /**< base blocks: all of a chunk but its last */
    double last_round;                  /**< micro-batches of the last round, 1..stages */
} calc_reduce_overlap;

/** Exposed time of the reduction in a step, and the windows it hides in [s]. */
typedef struct calc_reduce_times {
    double exposed_s;
    double chunks_window_s; /**< of all chunks but the last */
    double tail_window_s;   /**< of the last chunk */
} calc_reduce_times;

/** The reduction of each chunk but the last hides behind the backward pass of `stages`
 * micro-batches through the next: not behind its memory traffic, nor behind tensor-parallel
 * communication on the same network, but behind the optimizer where that may start block by block.
 * In the last chunk a block's reduction hides behind the next block; the very last block's is
 * exposed. Where the reduction is longer the excess is exposed; where it is shorter, driving the
 * network still takes its share of the processor. */
static inline __attribute__((always_inline)) calc_reduce_times
calc_reduce_overlapped(const calc_reduce_overlap *o)
{
    calc_reduce_times out;
    double taken_s = (o->base_blocks + 1) * (o->busy_s - o->optimizer_window_s) +
                     (o->base_blocks * o->link_s + o->edge_link_s);
    double free_s = o->chunk_bw_s - taken_s;
    double chunk_s = (o->base_blocks + 1) * o->block_s;
    double window_s = o->stages * free_s;
    double slowed_s = o->stages * ((o->base_blocks + 1) * o->compute_s) * o->usage;
    double collisions = calc_reduce_fits(chunk_s, o->chunk_bw_s, o->last_round) * o->collides;
    double excess_s = chunk_s - (window_s - collisions * o->message_s) + slowed_s;
    double chunk_exposed_s = excess_s > 0 ? excess_s : chunk_s * o->usage;
    out.chunks_window_s = (window_s + slowed_s - o->message_s * o->collides) * (o->chunks - 1);

    double tail_s = o->base_blocks * o->block_s;
    double tail_window_s =
        free_s - o->message_s - (o->base_bw_s + o->edge_bw_s) / 2 + o->optimizer_window_s;
    /* A factor: compilers make no vectors of a condition that is the same for all layouts. */
    tail_window_s *= o->base_blocks > 0 ? 1 : 0;
    double tail_excess_s = tail_s + (o->compute_s * o->usage - tail_window_s);
    double tail_exposed_s = tail_excess_s > 0 ? tail_excess_s : tail_s * o->usage;
    out.tail_window_s = tail_window_s + tail_s * o->usage;
    out.exposed_s = o->block_s + ((o->chunks - 1) * chunk_exposed_s + tail_exposed_s);
    return out;
}

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
    double narrowed_bytes;          /**< of its weights: calc_state_bytes.narrowed */
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

/** Muon: calc_muon. */
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
    double lost_rounds; /**< chunks an incomplete round of micro-batches leaves idle, per chunk */
    int dense_first;    /**< whether dense blocks come before those with experts; no bool, since
                             gcc does not vectorize loops that read one */
    int head_as_blocks; /**< calc_stages_head_blocks(); not 0: the embedding takes that of one */
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

/* A block with its state as data parallelism keeps it: exposed time of
 * sharded weights and offload, waiting for its host, and memory. Elementwise arithmetic, like
 * stage_step.h: calc_run() and the sweep call the same functions. */

/** Costs of a block from its operators. */
typedef struct calc_stage_source {
    double fw_s, agrad_s, wgrad_s;  /**< passes on the processor, with repeats */
    double once_fw_s, once_agrad_s; /**< the same where it does not recompute */
    double host_s, host_once_s;     /**< to issue it, with and without repeats */
    double dense_weights, expert_weights;
    calc_stage_weights frozen; /**< bytes of frozen weights */
    double kept_bytes, kept_whole_bytes, passing_bytes;
} calc_stage_source;

/** How the state of blocks is shared and moved. */
typedef struct calc_stage_keeping {
    bool training;
    bool sharded; /**< weights come and go within the passes: zero_stage 3 with several ranks */
    bool gathers_beside, reduces_beside;
    bool offloads; /**< beside the passes of a block, not by rule */
    double weight_bytes, gathered_bytes, reduced_bytes; /**< per element */
    calc_collective_line gather_dense, gather_expert, reduce_dense, reduce_expert;
    double window_share, contention;
    double tier2_byte_s; /**< seconds per byte to or from the second memory tier */
    double speed;        /**< factor on all times: software */
    bool blocking;       /**< the host waits for every kernel */
} calc_stage_keeping;

/** Shares of weights, activations and optimizer state that are kept in the second tier. */
typedef struct calc_stage_away {
    double weight, activation, optimizer;
    double copied; /**< activations that are copied in a pass, over those that are stored */
} calc_stage_away;

/** Exposed time of sharded weights in a block [s], forward and backward: gathered before both
 *  passes, beside them as calc_stage_gathers_beside() says; their gradients scattered after the
 *  backward pass, beside it with data_par_overlap. */
typedef struct calc_stage_sharded {
    double fw_s, bw_s;
    double link_s; /**< on the link, all of it */
} calc_stage_sharded;

/** Exposed time of traffic to the second memory tier in a block [s]. Forward, weights come while
 * activations go: the link is duplex. It goes on while sharded weights hold the block up, so that
 * the slower of the two decides. */
typedef struct calc_stage_offload {
    double fw_s, bw_s;
} calc_stage_offload;

/** Exposed part of a communication that overlaps a window, and the slow-down it causes there. */
CALC_STAGE_INLINE double calc_stage_beside_s(double window_share, double contention, double link_s,
                                             double window_s, double least_s)
{
    double hidden_s = link_s - window_share * window_s;
    return calc_max(least_s, hidden_s) + contention * calc_min(link_s, window_s);
}

/** Weights that are gathered before each of two passes, and their gradients, scattered after the
 *  second: gathers hide if updated weights do, scatters if reductions do.
 *  @param frozen  bytes of weights without gradients */
CALC_STAGE_INLINE calc_stage_sharded calc_stage_shard(const calc_stage_keeping *k, double dense,
                                                      double expert,
                                                      const calc_stage_weights *frozen,
                                                      double fw_pass_s, double bw_pass_s)
{
    double gather_s =
        calc_collective_line_s(&k->gather_dense, k->gathered_bytes * dense + frozen->dense) +
        calc_collective_line_s(&k->gather_expert, k->gathered_bytes * expert + frozen->expert);
    double reduce_s = calc_collective_line_s(&k->reduce_dense, k->reduced_bytes * dense) +
                      calc_collective_line_s(&k->reduce_expert, k->reduced_bytes * expert);
    double gather_beside_s =
        calc_stage_beside_s(k->window_share, k->contention, gather_s, fw_pass_s, 0);
    double beside_s = (k->gathers_beside ? gather_s : 0) + (k->reduces_beside ? reduce_s : 0);
    double bw_s = calc_stage_beside_s(k->window_share, k->contention, beside_s, bw_pass_s, 0) +
                  gather_s + reduce_s - beside_s;
    bool some = k->sharded && dense + expert + frozen->dense + frozen->expert > 0;
    calc_stage_sharded out;
    out.fw_s = some ? (k->gathers_beside ? gather_beside_s : gather_s) : 0;
    out.bw_s = some && k->training ? bw_s : 0;
    out.link_s = some ? (k->training ? gather_s + (gather_s + reduce_s) : gather_s) : 0;
    return out;
}

/** @param frozen      bytes of weights that are not trained
 *  @param fw_s, bw_s  passes of the block on the processor */
CALC_STAGE_INLINE calc_stage_offload
calc_stage_offload_sum(const calc_stage_keeping *k, const calc_stage_away *away, double weights,
                       const calc_stage_weights *frozen, double kept_bytes, double fw_s,
                       double agrad_s, double wgrad_s, const calc_stage_sharded *sharded)
{
    double weight_bytes = k->weight_bytes * weights + frozen->dense + frozen->expert;
    double weight_s = away->weight * weight_bytes * k->tier2_byte_s;
    double activation_s = k->training ? away->copied * kept_bytes * k->tier2_byte_s : 0;
    double fw_away_s = calc_max(weight_s, activation_s) - fw_s - sharded->fw_s;
    double bw_away_s = weight_s + activation_s - agrad_s - wgrad_s - sharded->bw_s;
    bool some = k->offloads && away->weight + away->copied > 0;
    calc_stage_offload out;
    out.fw_s = some ? calc_max(0, fw_away_s) : 0;
    out.bw_s = some && k->training ? calc_max(0, bw_away_s) : 0;
    return out;
}

/** Passes over a block, with the exposed time of sharded weights and offload. */
CALC_STAGE_INLINE calc_stage_pass calc_stage_block_pass(const calc_stage_source *b,
                                                        const calc_stage_keeping *k,
                                                        const calc_stage_away *away, double fw_s,
                                                        double agrad_s)
{
    calc_stage_sharded s = calc_stage_shard(k, b->dense_weights, b->expert_weights, &b->frozen,
                                            fw_s, agrad_s + b->wgrad_s);
    calc_stage_offload o =
        calc_stage_offload_sum(k, away, b->dense_weights + b->expert_weights, &b->frozen,
                               b->kept_bytes, fw_s, agrad_s, b->wgrad_s, &s);
    calc_stage_pass p;
    p.fw_s = fw_s + s.fw_s + o.fw_s;
    p.agrad_s = agrad_s + s.bw_s + o.bw_s;
    p.wgrad_s = b->wgrad_s;
    p.base_fw_s = p.edge_fw_s = p.base_bw_s = p.edge_bw_s = 0;
    return p;
}

/** Time of a block that takes the processor `s`, with its host. Host and processor fall behind in
 * turn, kernel by kernel, so that a block takes longer than the longer of the two sums: by 19 %
 * where they are equal. A norm of fourth power stands for that; among the powers 4, 6 and 8 it
 * describes published runs best (docs/validation.md). A host that waits for every kernel overlaps
 * with none. */
CALC_STAGE_INLINE double calc_stage_beside_host_s(double s, double host_s, bool blocking)
{
    double host = host_s / s;
    double squared = host * host;
    double beside_s =
        blocking ? s + host_s : s * __builtin_sqrt(__builtin_sqrt(1 + squared * squared));
    return s > 0 ? beside_s : 0;
}

/** A block: its passes, none shorter than the host issues it; every pass waits in proportion. */
CALC_STAGE_INLINE calc_stage_part calc_stage_block_of(const calc_stage_source *b,
                                                      const calc_stage_keeping *k,
                                                      const calc_stage_away *away)
{
    calc_stage_pass pass = calc_stage_block_pass(b, k, away, b->fw_s, b->agrad_s);
    calc_stage_pass once = calc_stage_block_pass(b, k, away, b->once_fw_s, b->once_agrad_s);
    double all_s = calc_stage_pass_s(&pass);
    double beside_s = calc_stage_beside_host_s(all_s, b->host_s, k->blocking);
    double factor = all_s > 0 ? beside_s / all_s * k->speed : k->speed;
    /* A block that does not recompute hides less behind its passes; it waits for the host, too,
     * which launches it once. */
    double once_s = calc_stage_beside_host_s(calc_stage_pass_s(&once), b->host_once_s, k->blocking);
    calc_stage_part out;
    out.fw_s = pass.fw_s * factor;
    out.agrad_s = pass.agrad_s * factor;
    out.wgrad_s = pass.wgrad_s * factor;
    out.spared_s = all_s * factor - once_s * k->speed;
    out.weights.dense = b->dense_weights;
    out.weights.expert = b->expert_weights;
    out.frozen.dense = out.frozen.expert = out.narrowed_bytes = 0;
    /* A forward pass alone keeps nothing: a block's activations live while it runs. */
    out.kept_bytes = k->training ? b->kept_bytes * (1 - away->activation) : 0;
    /* Two blocks of offloaded state are in the first tier: one leaving, one arriving. */
    out.whole_bytes = b->kept_whole_bytes + away->activation * b->kept_bytes;
    out.away_bytes = k->training ? b->kept_bytes * away->activation : 0;
    out.passing_bytes = k->training ? b->passing_bytes : 0;
    return out;
}

/* Frozen weights on a stage: memory that knows no gradients and no
 * optimizer. Sharded weights (zero_stage 3) are split over the ranks that share them, and gathered
 * block by block, one ahead; so are those that come from the second memory tier. */

/** Bytes in the first tier, and in the second. */
typedef struct calc_stage_both_tiers {
    double here, away;
} calc_stage_both_tiers;

/** Frozen weights of a stage of a class. */
CALC_STAGE_INLINE calc_stage_both_tiers calc_stage_frozen_of(const calc_stage_terms *t,
                                                             const calc_stage_class *c)
{
    const calc_stage_frozen *f = &t->frozen;
    if (!f->any) {
        return (calc_stage_both_tiers){0, 0};
    }
    double ahead =
        calc_max(c->dense > 0 ? f->ahead_bytes[0] : 0, c->moe > 0 ? f->ahead_bytes[1] : 0);
    return (calc_stage_both_tiers){
        c->dense * f->block_bytes[0] + c->moe * f->block_bytes[1] + c->first * f->embedding_bytes +
            c->last * f->head_bytes + ahead,
        c->dense * f->block_away_bytes[0] + c->moe * f->block_away_bytes[1] +
            c->first * f->embedding_away_bytes + c->last * f->head_away_bytes};
}

/* Weight gradients of the head that wait until the last stage has no
 * micro-batch left (deferred_head_wgrad): then the other stages still drain the pipeline. The
 * stage keeps the head's input and the gradient of its output for every micro-batch. Source:
 * Megatron-LM, tensor_parallel/layers.py (the first so many micro-batches go into buffers that
 * nothing takes them from before the end) and pipeline_parallel/schedules.py
 * (finish_embedding_wgrad_compute: after the last backward pass, before gradients are reduced). */

/** Memory that the stage holds for them [bytes]. @param c  a class of stages */
CALC_STAGE_INLINE double calc_stage_deferred_bytes(const calc_stage_terms *t,
                                                   const calc_stage_class *c)
{
    return t->deferred.any ? c->last * t->deferred.bytes : 0;
}

/** Their time beyond the pipeline [s].
 *  @param drain_s  the other stages' backward passes over a chunk, messages included */
CALC_STAGE_INLINE double calc_stage_deferred_after_s(const calc_stage_deferred *d, double drain_s)
{
    return d->any ? calc_max(0, d->all_s - drain_s) : 0;
}

/** The same of classes in order of the pipeline, the last stage in the last of them. */
CALC_STAGE_INLINE double calc_stage_deferred_s(const calc_stage_terms *t, int classes,
                                               const calc_stage_class *c,
                                               const calc_stage_pass *pass, double chunks)
{
    if (!t->deferred.any) {
        return 0;
    }
    double drain_s = 0;
    for (int i = 0; i < classes; i++) {
        double others = c[i].stages - (i == classes - 1 ? 1 : 0);
        drain_s += others * (pass[i].agrad_s + pass[i].wgrad_s) / chunks;
    }
    return calc_stage_deferred_after_s(&t->deferred, drain_s);
}

/* Muon on a stage: its matrices made orthogonal, and the second moment that
 * Adam keeps of embedding and head. Ranks that share a state have whole matrices each
 * (Megatron-LM, layer_wise_optimizer.py). Norms and biases, which Adam updates, too, count as
 * matrices: they are few. */

/** Matrices of a stage of a class [s]. */
CALC_STAGE_INLINE double calc_stage_muon_s(const calc_stage_terms *t, const calc_stage_class *c)
{
    const calc_stage_muon *m = &t->muon;
    if (!m->any) {
        return 0;
    }
    double matrices_s = c->dense * m->block_s[0] + c->moe * m->block_s[1] + c->last * m->head_s;
    bool some = c->dense + c->moe > 0;
    return calc_max(matrices_s, some ? m->longest_s : 0) + c->first * m->embedding_adam_s +
           c->last * m->head_adam_s;
}

/** Second moments. */
CALC_STAGE_INLINE calc_stage_both_tiers calc_stage_muon_bytes(const calc_stage_terms *t,
                                                              const calc_stage_class *c)
{
    const calc_stage_muon *m = &t->muon;
    double bytes = m->any ? c->first * m->embedding_bytes + c->last * m->head_bytes : 0;
    double away = m->any ? m->away : 0;
    return (calc_stage_both_tiers){(1 - away) * bytes, away * bytes};
}

#endif
