/** @file pass_cost.h  Cost of a pass of a serving engine per block and at the ends of the model,
 *  independent of the pipeline over which these are spread: the operators of its batch, summed. All
 *  layouts of one strategy on one machine that run the same batch share it, so that a sweep asks
 *  once (pass_memo.h); but where weights are sharded, gathering them depends on more. */
#ifndef CALC_MODEL_PASS_COST_H
#define CALC_MODEL_PASS_COST_H

#include "model/stages/stages.h"

struct calc_inference_pass_model;

/** The batch of one pass, on one replica. */
typedef struct calc_inference_pass_work {
    double sequences; /**< decoded */
    double queries;   /**< tokens of each: the next one and the drafts that are verified */
    double context;   /**< tokens each has in the cache */
    double drafts;    /**< tokens drafted for each, before they are verified */
    double prompts;   /**< prefilled beside them */
    double chunk;     /**< new tokens of each */
    double cached;    /**< tokens of each that are in the cache already */
    double finished;  /**< prompts whose first token this pass gives */
    double idle;      /**< share without tokens of the replicas that share experts: 0 .. 1 */
} calc_inference_pass_work;

/** One batch through a block, or nothing of a kind that the model does not have. */
typedef struct calc_pass_block {
    double kernel_s, tensor_s, context_s, expert_s; /**< kernels, and exposed communication */
    double sharded_s;                               /**< weights that are gathered before it */
    double tensor_link_s;                           /**< of tensor_s, hidden or not */
    double flop, bytes;                             /**< of the kernels */
    double whole_bytes;                             /**< activations while it runs */
    calc_stage_weights weights;
} calc_pass_block;

/** One batch through the model. Times of blocks are those of the kernels, times of the ends those
 *  of the software (software_efficiency). */
typedef struct calc_pass_cost {
    calc_pass_block block[CALC_BLOCK_KINDS];
    double embedding_s, head_s;                 /**< the head with drafts */
    double sharded_embedding_s, sharded_head_s; /**< of them, gathered weights */
    double head_flop;
    double message_bytes;                /**< between stages, if there are several */
    double message_s[CALC_MAX_NETWORKS]; /**< it takes, by the network that it goes over */
    double message_hidden;               /**< share of it that pipeline_par_overlap hides */
    /* Memory of the stages; the head with the weights of drafting. */
    calc_stage_weights embedding, head;
    double logit_bytes, draft_bytes; /**< activations of the head, and of its prediction blocks */
    double held_bytes, owned_bytes;  /**< per element that a rank holds, or owns */
    double gathered_ahead;           /**< bytes per element of two blocks, sharded weights */
    double dense_shards, expert_shards;
} calc_pass_cost;

/** Sum the operators of a pass.
 *  @param model  of its pipeline only whether there are several stages matters, and with sharded
 *                weights (zero_stage 3) its networks and replicas */
void calc_pass_cost_of(const struct calc_inference_pass_model *model,
                       const calc_inference_pass_work *work, calc_pass_cost *out);

/** The part of a pass that does not depend on how experts are spread over ranks. */
typedef struct calc_pass_common {
    calc_group tensor, context;  /**< ranks it was computed for, */
    calc_dispatch_type dispatch; /**< and how tokens reach experts: a prefill pool has its own */
    calc_cost routed;            /**< a block with experts, up to them */
    calc_pass_cost cost;         /**< of all, with the experts of one strategy */
} calc_pass_common;

/** calc_pass_cost_of() with the part that others may share. */
void calc_pass_common_of(const struct calc_inference_pass_model *model,
                         const calc_inference_pass_work *work, calc_pass_common *out);

/** The cost of a pass of the same batch, of a model that differs in expert_par and
 * expert_tensor_par alone, does not shard weights and has no blocks that draft.
 *  @return whether it has as much in common; if not, *out is not filled */
bool calc_pass_cost_like(const struct calc_inference_pass_model *model,
                         const calc_inference_pass_work *work, const calc_pass_common *common,
                         calc_pass_cost *out);

/** Memory of the stages of a class that runs such passes, without the cache. */
calc_stage_memory calc_pass_cost_memory(const calc_pass_cost *cost, const calc_stage_class *c);

/** Numbers in a batch. */
enum { CALC_PASS_MEMO_WORDS = sizeof(calc_inference_pass_work) / sizeof(uint64_t) };

/** What a pass is known by. */
typedef struct calc_pass_memo_key {
    uint64_t number, variant;
    uint64_t word[CALC_PASS_MEMO_WORDS]; /**< the bits of its batch */
} calc_pass_memo_key;

/** One pass. */
typedef struct calc_pass_memo_entry {
    calc_pass_memo_key key;
    bool known; /**< whether there is a cost */
    calc_pass_cost cost;
} calc_pass_memo_entry;

/** The common part of passes that differ in how experts are spread. */
typedef struct calc_pass_common_entry {
    calc_pass_memo_key key;
    bool known;
    calc_pass_common common;
} calc_pass_common_entry;

/** All of them; zeros at first. */
typedef struct calc_pass_memo {
    size_t count; /**< a power of two */
    calc_pass_memo_entry *entry;
    size_t commons; /**< a power of two, or 0: the common part is not kept */
    calc_pass_common_entry *common;
} calc_pass_memo;

/** The place of a batch, which is its own when this returns. The same batch of the next number has
 *  the next place: a sweep asks for them in this order.
 *  @param number, variant  the same for layouts that have the same cost of the same batch
 *  @return its cost if entry->known; if not, to be filled in */
calc_pass_memo_entry *calc_pass_memo_at(calc_pass_memo *memo, uint64_t number, uint64_t variant,
                                        const calc_inference_pass_work *work);

/** The same for the common part. @return NULL if it is not kept */
calc_pass_common_entry *calc_pass_memo_common_at(calc_pass_memo *memo, uint64_t number,
                                                 uint64_t variant,
                                                 const calc_inference_pass_work *work);

/** The cost of a pass: calc_pass_cost_of(), or a kept result of it or of an equal one. */
void calc_pass_memo_cost(const struct calc_inference_pass_model *model,
                         const calc_inference_pass_work *work, calc_pass_cost *out);

#endif
