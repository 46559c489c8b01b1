/** @file shape.h  The transformer as one layout runs it: presets resolved, the execution's
 * overrides applied, heads and widths of one tensor-parallel rank. Pure; depends on the
 * application, on the size of a micro-batch, and of the strategy on tensor_par, context_par,
 * expert_par, expert_tensor_par, structure_type, attention_type, flash_attention, memory_model and
 * the datatypes with their scaling. */
#ifndef CALC_MODEL_SHAPE_H
#define CALC_MODEL_SHAPE_H

#include "calc.h"

/** The model, resolved; counts are double because they multiply. */
typedef struct calc_shape {
    double hidden, feedforward, seq, blocks;
    double heads, kv_heads; /**< of the whole model */
    double qk_size, v_size; /**< width of a query or key head, and of a value head */
    double q_rank, kv_rank; /**< latent attention; kv_rank 0: none, q_rank 0: not compressed */
    double rope_size;       /**< latent attention: rotary part of a key */
    double vocab;           /**< padded; 0: no embedding and no head */
    double words;           /**< that the head scores: vocab, or 0 without a head */
    double experts, expert_feedforward, shared_feedforward;
    double experts_per_token; /**< mean, of those that compute */
    double placed_experts;    /**< with the copies that serving has of some */
    double expert_latent;     /**< width of a token on its way to experts */
    double zero_experts;      /**< rows of the router that compute nothing */
    double moe_blocks;        /**< blocks with experts, of the whole model */
    double dense_blocks;      /**< before the first of them; all blocks, without experts */
    double moe_every;         /**< among the blocks after the dense ones, one in this many has
                                   experts, evenly spread if not whole */
    double mtp_blocks;
    double expert_groups, groups_per_token; /**< the experts of a token are in so many groups */
    double window, global_every;
    double packed;        /**< tokens of the documents of a packed sequence; 0: one fills it */
    double chunk;         /**< tokens of a chunk that attention stays in; 0: none */
    calc_part_type mixer; /**< of a part's shape; attention where layers are not listed */
    calc_output_gate output_gate;
    double index_heads, index_size, index_topk, index_block; /**< sparse attention; 0: none */
    double compress_ratio, output_groups, output_rank;       /**< compressed attention */
    /** Linear mixers: key heads or groups, and their width or the size of the state; heads and
     *  their width; tokens of the convolution and of a chunk of the kernels; low rank. */
    double key_heads, key_size, value_heads, value_size, conv, scan_chunk, low_rank, decay_rank;
    double streams;         /**< of the residual, >= 1 */
    double residual_rank;   /**< of the low-rank residual beside a layer; 0: none */
    double layer_embedding; /**< width of an embedding per layer and word; 0: none */
    double layer_vocab;
    calc_norm_place norm_place;
    calc_residual_type residual;
    bool latent, gated, rms, rope, learned, bias, dropout, tied, causal, qk_norm, router_bias;
    bool qkv_bias, qk_norm_whole, sinks, k_eq_v, kv_shared, index_shared, linear_norm;
    bool shared_gate, router_scale, expert_latent_norm, mtp_shared;
    bool flash, headless;
    bool llama, multiquery;      /**< what the preset and the layout say of parts */
    const calc_encoder *encoder; /**< of images, borrowed; NULL: the model has none */
    const calc_stack *stack; /**< the model's layers where it lists them, borrowed; NULL: it does
                                  not */
    double tensor_par, context_par, expert_par, expert_tensor_par; /**< ranks, >= 1 */
    double local_heads, local_kv_heads; /**< of one rank; keys are repeated beyond kv_heads */
    double microbatch;
    double tokens;          /**< of a micro-batch on one context-parallel rank */
    double element_bytes;   /**< of activations, and of weights outside the matrices of blocks */
    double matrix_bytes;    /**< of the inputs of matrix multiplications in blocks */
    double weight_bytes;    /**< of a stored weight */
    double kept_bytes;      /**< of a stored input of a matrix multiplication */
    double activated_bytes; /**< of a stored input of an activation function */
    double grad_bytes;      /**< of an accumulated gradient */
} calc_shape;

/** Resolve an application for a strategy.
 *  @param microbatch  in sequences
 *  @param seq         tokens of a sequence; 0: the application's */
calc_shape calc_shape_of(const calc_app *app, const calc_strategy *strategy, int64_t microbatch,
                         int64_t seq);

/** The shape of one part of a model that lists its layers: of its width and sizes instead of the
 *  model's. */
calc_shape calc_shape_of_part(const calc_shape *model, const calc_part *part);

/** Whether multi-token prediction has layers of its own: those that the model lists, or its last
 * one where a mean block is not one of its kind. */
bool calc_shape_lists_mtp(const calc_shape *shape);

/** Share of dense blocks where kinds alternate, so that a layer stands for both; else 0. */
double calc_shape_alternating(const calc_shape *shape);

/** Blocks without experts among `count` blocks behind the first `before` ones of the model. */
double calc_shape_dense_blocks_in(const calc_shape *shape, double before, double count);

/** Mean number of distinct destinations (ranks, nodes) of a token's k experts, where n destinations
 *  share the experts. The k are different ones, drawn uniformly, so that a destination with m of
 *  the E experts has none of them with probability C(E - m, k) / C(E, k) (hypergeometric
 *  distribution): n (1 - C(E - E/n, k) / C(E, k)). Where E/n is not whole, some destinations have
 *  one more. With limited routing, experts of no further group count once so many are met.
 *  @param destinations  n, >= 1, not necessarily whole
 *  @return [1, min(n, k)], grows with n */
double calc_shape_reached(const calc_shape *shape, double destinations);

/** Share of the blocks that attend without a window: all of them, or with global_every the last of
 *  every group of so many, floor(L / global_every) of L. [0, 1] */
double calc_shape_global_share(const calc_shape *shape);

/** Part of the square of scores that a kernel of causal or windowed attention computes, mean over
 *  the blocks: 1, (S+1)/2S, or for a window of W tokens (W/S)(1 - W/2S) for those that have one. */
double calc_shape_score_share(const calc_shape *shape);

/** Part of the square of queries and keys that the indexer of sparse attention scores: all that a
 *  query may see, of compressed keys one per group. */
double calc_shape_index_share(const calc_shape *shape, bool square);

/** Arithmetic of the indexer's scores, forward [FLOP per query and key]: of all its heads; where
 * keys are chosen one by one, the heads' scores are weighted, too. */
double calc_shape_index_flop(const calc_shape *shape);

static inline bool calc_framework_takes(const calc_strategy *strategy, calc_framework_mem what)
{
    return strategy->framework_mem >> what & 1;
}

/** Sizes of parallel groups that may be absent: at least 1. */
static inline double calc_par_size(int64_t par)
{
    return par > 1 ? (double)par : 1;
}

#endif
