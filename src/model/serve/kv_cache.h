/** @file kv_cache.h  What the layers of a model keep of a sequence that is served: entries per
 * token, tokens stored and read, states, and how many sequences fit. Grouped-query attention
 * (Ainslie et al. 2023, arXiv 2305.13245) stores 2 g d numbers per token and block, latent
 * attention (DeepSeek-V2, arXiv 2405.04434) its latent and the rotary part of a key, a sliding
 * window the last tokens only, compressed attention (DeepSeek-V4) one entry for several tokens
 * behind its window; an indexer adds a key of its own. Linear mixers keep a state, whatever the
 * sequence is long. Pages as in PagedAttention (Kwon et al. 2023, arXiv 2309.06180). */
#ifndef CALC_MODEL_KV_CACHE_H
#define CALC_MODEL_KV_CACHE_H

#include "model/operators/shape.h"

/** What one layer keeps. */
typedef struct calc_kv_layer {
    double share;       /**< of the model's blocks that are such layers */
    double token_bytes; /**< of an entry, keys and values of a token, counted once */
    double rank_bytes;  /**< the same of one rank's heads: split by tensor parallelism, and
                             repeated beyond their number; a latent is whole on every rank */
    double window;      /**< tokens a windowed layer keeps; 0: no window */
    double global;      /**< share of these layers without window */
    double chunk;       /**< tokens of a chunk, of which it keeps the last one; 0: no chunks */
    double ratio;       /**< compressed: tokens behind the window per entry; 0: nothing behind it */
    double topk;        /**< entries that a query reads at most, beside a compressed layer's window;
                             0: all */
    double index_bytes; /**< of an entry's key for the indexer, whole on every rank; 0: none */
    double state_bytes; /**< of a sequence, counted once */
    double state_rank_bytes; /**< the same of one rank's heads */
    bool compressed;
} calc_kv_layer;

/** The cache of one layout. */
typedef struct calc_kv_cache {
    double rank_bytes;  /**< of a token in a mean block, where nothing limits what layers keep */
    double context_par; /**< ranks that split the tokens of a sequence */
    double page;        /**< tokens, >= 1 */
    double states;      /**< of a linear mixer that a sequence has at once: one per position that
                             a step verifies */
    size_t layers;
    calc_kv_layer layer[CALC_MAX_PARTS]; /**< by part of a model that lists its layers; feed-forward
                                              parts and unused ones have no share */
} calc_kv_cache;

/** The cache of a shape. */
calc_kv_cache calc_kv_cache_of(const calc_shape *shape, const calc_inference *inference);

/** Entries that one more token of a sequence of `context` tokens attends to. */
double calc_kv_layer_read(const calc_kv_layer *layer, double context);

/** Entries that its indexer scores for that token; 0 without indexer. */
double calc_kv_layer_scored(const calc_kv_layer *layer, double context);

/** Pairs of a query and an entry when `fresh` tokens follow `cached` ones: every token attends to
 *  those before it and itself, as far as the layer lets it. */
double calc_kv_layer_pairs(const calc_kv_layer *layer, double cached, double fresh);

/** Pairs that its indexer scores then; 0 without indexer. */
double calc_kv_layer_scored_pairs(const calc_kv_layer *layer, double cached, double fresh);

/** Room that a sequence of `context` tokens takes, in whole pages and with its states, in tokens of
 *  rank_bytes. */
double calc_kv_cache_stored(const calc_kv_cache *cache, double context);

/** Bytes of keys, values and indices per token of a sequence of `context` tokens in so many blocks,
 *  counted once. */
double calc_kv_cache_token_bytes(const calc_kv_cache *cache, double blocks, double context);

/** Bytes of the states of a sequence in so many blocks, counted once; 0 without linear mixers. */
double calc_kv_cache_state_bytes(const calc_kv_cache *cache, double blocks);

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
