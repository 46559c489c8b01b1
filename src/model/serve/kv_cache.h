/** @file kv_cache.h  Cached keys and values of the tokens of a sequence: bytes per token, tokens
 *  stored and read, and how many fit. Grouped-query attention (Ainslie et al. 2023, arXiv
 *  2305.13245) stores 2 g d numbers per token and block, latent attention (DeepSeek-V2, arXiv
 *  2405.04434) its latent and the rotary part of a key, a sliding window the last tokens only;
 *  pages as in PagedAttention (Kwon et al. 2023, arXiv 2309.06180). */
#ifndef CALC_MODEL_KV_CACHE_H
#define CALC_MODEL_KV_CACHE_H

#include "model/operators/shape.h"

/** The cache of one layout. */
typedef struct calc_kv_cache {
    double token_bytes; /**< of a token in one block, counted once */
    double rank_bytes;  /**< the same of one rank's heads: split by tensor parallelism, and
                             repeated beyond their number; a latent is whole on every rank */
    double context_par; /**< ranks that split the tokens of a sequence */
    double page;        /**< tokens, >= 1 */
    double window;      /**< tokens a windowed block keeps; 0: no window */
    double global;      /**< share of the blocks without window */
} calc_kv_cache;

/** The cache of a shape. */
calc_kv_cache calc_kv_cache_of(const calc_shape *shape, const calc_inference *inference);

/** Tokens a sequence of `context` tokens takes room for, in whole pages, mean over the blocks. */
double calc_kv_cache_stored(const calc_kv_cache *cache, double context);

/** Tokens that one more token of a sequence of `context` tokens attends to, mean over the blocks.
 */
double calc_kv_cache_read(const calc_kv_cache *cache, double context);

/** Pairs of a query and a key when `fresh` tokens follow `cached` ones, mean over the blocks:
 *  every token attends to those before it and itself. */
double calc_kv_cache_pairs(const calc_kv_cache *cache, double cached, double fresh);

/** Bytes on one rank of `blocks` blocks for so many sequences of `context` tokens. */
double calc_kv_cache_space(const calc_kv_cache *cache, double blocks, double sequences,
                           double context);

/** Sequences that fit into `bytes` on one rank of `blocks` blocks. */
typedef struct calc_kv_room {
    double tokens;    /**< of such sequences, the last of which need not be whole */
    double sequences; /**< whole ones of `context` tokens */
} calc_kv_room;

/** Room in `bytes`; none if they are negative. */
calc_kv_room calc_kv_cache_capacity(const calc_kv_cache *cache, double blocks, double context,
                                    double bytes);

#endif
