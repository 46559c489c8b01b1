/** @file stage_block.h  A block with its state as data parallelism keeps it: exposed time of
 *  sharded weights and offload, waiting for its host, and memory. Elementwise arithmetic, like
 *  stage_step.h: calc_run() and the sweep call the same functions. */
#ifndef CALC_MODEL_STAGE_BLOCK_H
#define CALC_MODEL_STAGE_BLOCK_H

#include "calc.h"
#include "model/stages/stage_types.h"

/** Costs of a block from its operators: X(member). The sweep keeps an array of each. */
#define CALC_STAGE_SOURCE_LIST(X)                                                                  \
    X(fw_s) /* passes on the processor, with repeats */                                            \
    X(agrad_s)                                                                                     \
    X(wgrad_s)                                                                                     \
    X(once_fw_s) /* the same where it does not recompute */                                        \
    X(once_agrad_s)                                                                                \
    X(host_s) /* to issue it, with and without repeats */                                          \
    X(host_once_s)                                                                                 \
    X(dense_weights)                                                                               \
    X(expert_weights)                                                                              \
    X(kept_bytes)                                                                                  \
    X(kept_whole_bytes)                                                                            \
    X(passing_bytes)

typedef struct calc_stage_source {
#define CALC_X(member) double member;
    CALC_STAGE_SOURCE_LIST(CALC_X)
#undef CALC_X
    calc_stage_weights frozen; /**< bytes of frozen weights; none in the sweep's loops */
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
    return calc_max(least_s, hidden_s) + contention * calc_stage_min(link_s, window_s);
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
    out.frozen.dense = out.frozen.expert = 0;
    /* A forward pass alone keeps nothing: a block's activations live while it runs. */
    out.kept_bytes = k->training ? b->kept_bytes * (1 - away->activation) : 0;
    /* Two blocks of offloaded state are in the first tier: one leaving, one arriving. */
    out.whole_bytes = b->kept_whole_bytes + away->activation * b->kept_bytes;
    out.away_bytes = k->training ? b->kept_bytes * away->activation : 0;
    out.passing_bytes = k->training ? b->passing_bytes : 0;
    return out;
}

#endif
