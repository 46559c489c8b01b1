/** @file inference_pass.h  One pass of a serving engine over the model: sequences that are decoded,
 *  chunks of prompts that are prefilled, or both in one batch (Agrawal et al. 2024, Sarathi-Serve,
 *  arXiv 2403.02310). The operators are those of training's forward pass (transformer.h) on as many
 *  tokens as the batch has, except:
 *  - attention: the new tokens of a prompt attend to those cached and to each other; a decoded
 *    token reads its whole cache, in one kernel that splits the keys. Latent attention decodes
 *    absorbed: all heads read one latent of kv_rank + rope numbers per token, at
 *    2 (2 kv_rank + rope) FLOP per head (DeepSeek-V2, arXiv 2405.04434); the up-projection of keys
 *    and values becomes the absorbing products, which are as large. A prompt runs expanded, and
 *    expands what was cached again;
 *  - weights are read in the format they are stored in, if that is narrower, and of the experts
 *    those only that some token is routed to: 1 - (1 - k/E)^n of them for n tokens;
 *  - the head runs on tokens that are sampled only, and their logits are gathered;
 *  - a step is one graph: no time of the host, and no kernels of their own to sort tokens;
 *  - kernels and collectives take what the chip's rates of serving say (cost/pass_kernel.h), or
 *    what they take in training where it has none. */
#ifndef CALC_MODEL_INFERENCE_PASS_H
#define CALC_MODEL_INFERENCE_PASS_H

#include "model/operators/processor.h"
#include "model/operators/shape.h"
#include "model/serve/pass_cost.h"
#include "spec/serving_engine.h"

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

/** The fields of an execution that determine its stages. */
typedef struct calc_inference_pass_pipeline {
    int64_t stages, chunks, first_blocks, last_blocks;
    calc_pipeline_balance balance;
} calc_inference_pass_pipeline;

/** A model as one pool of processors serves it. Borrows. */
typedef struct calc_inference_pass_model {
    const calc_system *system;
    const calc_exec *exec; /**< of that pool */
    calc_shape shape;
    calc_serving_rates rates; /**< of kernels, as the engine reaches them */
    double experts_undivided; /**< of the engine's traits */
    bool fused_recurrence;    /**< likewise */
    double launches;          /**< kernels of all blocks for the tokens of prompts */
    calc_kv_cache cache;
    calc_stages stages;
    calc_inference_pass_pipeline pipeline; /**< that these stages are of */
    int64_t message_network;               /**< between stages, if there are several */
    double drafts;        /**< tokens that the model's own prediction block drafts per step */
    calc_pass_memo *memo; /**< where costs of passes are kept, or NULL */
    uint64_t number;      /**< of this strategy, model and machine there */
    uint64_t common; /**< of all strategies there that spread experts another way; 0: not known */
} calc_inference_pass_model;

/** Fill the model of a pool.
 *  @param exec  of that pool, which must live as long: its inference phase is not none, it does not
 *               train, and its schedule is 1f1b (the others order backward passes) */
void calc_inference_pass_model_init(calc_inference_pass_model *model, const calc_app *app,
                                    const calc_system *system, const calc_exec *exec);

/** Change it to another execution that differs in its ranks, batch, pipeline and networks only. */
void calc_inference_pass_model_place(calc_inference_pass_model *model, const calc_exec *exec);

/** The network that messages between the stages of an execution go over; 0 without any. */
int64_t calc_inference_pass_network(const calc_system *system, const calc_exec *exec);

/** Change it to another strategy for the same model and machine that splits a block over as many
 *  ranks; to be placed. The common part of pipelines is not computed again. */
void calc_inference_pass_model_take(calc_inference_pass_model *model,
                                    const calc_inference_pass_model *other);

/** The model on all tokens of a pass. */
calc_shape calc_inference_pass_shape(const calc_inference_pass_model *model,
                                     const calc_inference_pass_work *work);

/** The context of times of a pass, in addition to its operators, with the kernels of serving. */
calc_cost_context calc_inference_pass_context(const calc_inference_pass_model *model,
                                              const calc_shape *shape);

/** Operators of a block in a pass.
 *  @param context  of calc_inference_pass_shape()
 *  @param out      CALC_MAX_OPERATORS */
size_t calc_inference_pass_block(const calc_inference_pass_model *model,
                                 const calc_cost_context *context,
                                 const calc_inference_pass_work *work, calc_block_kind kind,
                                 calc_operator *out);

/** The same in steps: attention, which all kinds of blocks begin with; with experts router and
 * shared experts; and all that follows, then the operators of attention after its first kernel.
 *  @param begun  operators that the step before returned; they are in `out`, or it is 0
 *  @return the number of all so far */
size_t calc_inference_pass_begin(const calc_inference_pass_model *model,
                                 const calc_cost_context *context,
                                 const calc_inference_pass_work *work, calc_block_kind kind,
                                 calc_operator *out);
size_t calc_inference_pass_router(const calc_inference_pass_model *model,
                                  const calc_cost_context *context, size_t begun,
                                  calc_operator *out);
size_t calc_inference_pass_rest(const calc_inference_pass_model *model,
                                const calc_cost_context *context,
                                const calc_inference_pass_work *work, calc_block_kind kind,
                                size_t begun, calc_operator *out);

/** Operators of the final norm, the head and sampling, on the tokens that are sampled, or on one.
 */
size_t calc_inference_pass_head(const calc_inference_pass_model *model, const calc_shape *shape,
                                const calc_inference_pass_work *work, calc_operator *out);

/** Count the weights of an operator that stores them in `datatype` as so many more of those in
 *  weight_datatype as take the same memory. */
static inline void calc_inference_pass_widen(calc_operator *o, const calc_shape *shape)
{
    o->weights *= calc_max(1, shape->element_bytes / shape->weight_bytes);
}

/** Tokens that a pass gives, drafts that are verified included. */
double calc_inference_pass_sampled(const calc_inference_pass_work *work);

/** One batch on a stage, with a breakdown of its time [s]. */
typedef struct calc_inference_pass_spent {
    double kernel_s, tensor_s, context_s, expert_s, sharded_s, ends_s, message_s;
    double total_s;
} calc_inference_pass_spent;

/** What a pass takes. */
typedef struct calc_inference_pass {
    calc_pass_cost cost;
    calc_inference_pass_spent slow; /**< of the slowest stage */
    size_t slowest;                 /**< its class */
    double latency_s;               /**< one batch through all stages */
    double flop;                    /**< matrix arithmetic of all ranks of the replica */
} calc_inference_pass;

/** Evaluate a pass. */
void calc_inference_pass_of(const calc_inference_pass_model *model,
                            const calc_inference_pass_work *work, calc_inference_pass *out);

/** Blocks of a stage that have a cache. */
double calc_inference_pass_cached_blocks(const calc_inference_pass_model *model, size_t index);

/** Overhead of a step on top of its pass [s]: the gap, and the host's time, or its excess over the
 *  pass.
 *  @param pass_s     of the processors
 *  @param sequences  of a replica in the step
 *  @param ranks      that split its layers, >= 1
 *  @param issued_s   time to issue its kernels, for a pass with prompts; 0: it is replayed */
double calc_engine_beside_s(const calc_engine_traits *traits, double pass_s, double sequences,
                            double ranks, double issued_s);

/** The share of a machine's serving rates that an engine's kernels reach.
 *  @param heads  that read each entry of the cache, >= 1; of latents, whose kernels are made for
 *                all of them, 1 */
calc_serving_rates calc_engine_rates_of(const calc_engine_traits *traits,
                                        const calc_serving_rates *rates, double heads);

#endif
