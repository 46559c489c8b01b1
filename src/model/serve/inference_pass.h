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
#include "model/serve/kv_cache.h"
#include "model/serve/pass_memo.h"

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

#endif
