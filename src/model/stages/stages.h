/** @file stages.h  The pipeline of a layout: which blocks each stage has, and the terms of its step
 *  (stage_step.h) from the cost of its parts. A homogeneous stretch of stages is one class, so that
 *  everything is in closed form. */
#ifndef CALC_MODEL_STAGES_H
#define CALC_MODEL_STAGES_H

#include "model/cost/block_memory.h"
#include "model/cost/cost.h"
#include "model/cost/optimizer.h"
#include "model/cost/state.h"
#include "model/operators/transformer.h"
#include "model/stages/stage_step.h"

/** How the blocks are spread. */
typedef struct calc_stages {
    double stages, chunks, microbatches;
    size_t count;                                  /**< classes in use; neighbours differ */
    calc_stage_class item[CALC_MAX_STAGE_CLASSES]; /**< those in use first, then empty ones */
    double most_blocks, fewest_blocks;             /**< of a stage */
    bool ends_spread; /**< embedding and head are spread over all stages, too */
    bool filled;      /**< whether there is a block for every stage */
    size_t divided;   /**< numbers that chunks are to divide: */
    double divide[CALC_MAX_STAGE_CLASSES]; /**< of a stage, blocks and parts that count as one */
    double most_chunks;                    /**< that stages have where nothing is to be divided */
    bool fit;                              /**< calc_stages_fit() */
} calc_stages;

/** Whether interleaved chunks come in whole rounds of a micro-batch per stage, as Megatron-LM asks
 *  for (schedules.py: the micro-batches must be a multiple of the pipeline's size). */
bool calc_stages_rounds_fit(const calc_exec *exec);

/** Blocks whose place the head takes with pipeline_balance `ends`, where the embedding takes that
 * of one: one, or two where the stages are then alike; else 0. */
static inline int calc_stages_head_blocks(int64_t blocks, const calc_exec *exec)
{
    bool ends = exec->pipeline_par > 1 && exec->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS;
    bool two = (blocks + 3) % exec->pipeline_par == 0 &&
               exec->pipeline_schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    return ends ? 1 + two : 0;
}

/** Spread the blocks of a model over the stages of an execution. */
calc_stages calc_stages_split(const calc_shape *shape, const calc_exec *exec, calc_compat compat);

/** Whether there is a block for every stage, chunks divide them and calc_stages_rounds_fit().
 *  @param like  the stages of an execution that differs in its chunks alone */
bool calc_stages_fit(const calc_stages *like, const calc_exec *exec, calc_compat compat);

/** With more chunks than these they do not fit. [1, 2^31) where any do */
int64_t calc_stages_most_chunks(const calc_stages *like);

/** Whether the stages of an execution may have several chunks at all: the rules of spec/ refuse
 * them elsewhere. */
static inline bool calc_stages_interleave(const calc_exec *exec)
{
    return exec->pipeline_par > 1 && exec->pipeline_schedule == CALC_PIPELINE_SCHEDULE_1F1B &&
           exec->inference.phase == CALC_INFERENCE_PHASE_NONE;
}

/** With more chunks than these, one would have neither a block nor an end of the model, however the
 *  blocks are spread; 1 without calc_stages_interleave(). */
static inline int64_t calc_stages_chunks_limit(const calc_app *app, const calc_exec *exec)
{
    return calc_stages_interleave(exec) ? (app->num_blocks + 2) / exec->pipeline_par : 1;
}

/** Classes to evaluate: calc_stage_step_of(). */
static inline int calc_stages_classes(const calc_stages *stages)
{
    return (int)stages->count;
}

/** Parts that depend on neither data nor pipeline parallelism: one micro-batch on one processor. */
typedef struct calc_stage_parts {
    calc_cost block[CALC_BLOCK_KINDS];
    calc_cost embedding, head, mtp;
    double host_s[CALC_BLOCK_KINDS];      /**< to issue a block, forward and backward */
    double host_once_s[CALC_BLOCK_KINDS]; /**< of one that does not recompute */
    double message_bytes;                 /**< between stages, if there are several */
    double framework_bytes[2][2];         /**< [dense blocks][blocks with experts] */
    double framework_head_bytes;
    calc_muon muon[CALC_BLOCK_KINDS], mtp_muon; /**< with that optimizer only */
    size_t layers[CALC_BLOCK_KINDS];            /**< with weights, where a rule asks for them */
    double weights[CALC_BLOCK_KINDS][CALC_MAX_WEIGHTS];
} calc_stage_parts;

/** Cost of all parts of a layout. */
void calc_stage_parts_of(const calc_cost_context *context, calc_stage_parts *out);

/** Operations of data parallelism of the dense weights, or of those of experts. */
typedef struct calc_stage_group_lines {
    calc_collective_line sum;    /**< all-reduce */
    calc_collective_line reduce; /**< reduce-scatter over the ranks that share a state, and
                                      all-reduce beyond them */
    calc_collective_line gather; /**< all-gather among them */
    double broadcast_s; /**< from rank to rank passes on: beyond the latency of a gather [s] */
} calc_stage_group_lines;

/** Operations of data parallelism and between stages, for one strategy: they depend on its groups,
 *  and on nothing else of a layout. */
typedef struct calc_stage_lines {
    calc_stage_group_lines dense, expert;
    calc_collective_line message, ends;
    double dense_ranks, expert_ranks;   /**< replicas */
    double dense_shards, expert_shards; /**< of them, ranks that share a sharded state */
    double nodes_log2;
} calc_stage_lines;

/** @param bytes  calc_stage_message_bytes() */
calc_stage_lines calc_stage_lines_of(const calc_system *system, const calc_exec *exec,
                                     const calc_strategy *strategy, const calc_groups *groups,
                                     double bytes);

/** The same in two steps: the ranks, and then the times of the operations that the state of the
 *  strategy needs. */
void calc_stage_lines_ranks(const calc_system *system, const calc_exec *exec,
                            const calc_strategy *strategy, const calc_groups *groups,
                            calc_stage_lines *out);
void calc_stage_lines_time(const calc_system *system, const calc_strategy *strategy,
                           const calc_groups *groups, double bytes, calc_stage_lines *out);

/** Terms of a step, and those that depend on the networks of pipeline and data parallelism.
 *  @param exec  of it, pipeline_par, data_par, batch_size, microbatch_size, zero_stage,
 *               optimizer_sharding, the datatypes of state, offload, pipeline_schedule,
 *               recompute_blocks and memory_model */
void calc_stage_terms_of(const calc_cost_context *context, const calc_exec *exec,
                         const calc_stage_parts *parts, const calc_stage_lines *lines,
                         calc_stage_terms *out, calc_stage_links *links);

/** The same in steps, for a sweep: terms as far as they depend on the parts and the state only,
 *  @param like  the same for a layout that differs only in how its state is shared, and whether the
 *               optimizer is offloaded: its blocks and ends are taken; or NULL
 *  @param optimizer  calc_stage_rules_optimizer() of each kind of block on one rank, where a rule
 * asks for it; NULL: it is computed */
void calc_stage_terms_row(const calc_cost_context *context, const calc_exec *exec,
                          const calc_stage_parts *parts, const calc_stage_terms *like,
                          const calc_optimizer_step *optimizer, calc_stage_terms *out);

/** the rest of them, which depends on pipeline_par, data_par and batch_size (where weights are
 * sharded, zero_stage 3, on the networks, too),
 *  @param optimizer  where a rule asks for it and state is sharded: calc_stage_rules_optimizer() of
 *                    each kind of block; NULL: it is computed */
void calc_stage_terms_cell(const calc_cost_context *context, const calc_exec *exec,
                           const calc_stage_parts *parts, const calc_stage_lines *lines,
                           const calc_optimizer_step *optimizer, calc_stage_terms *terms);

/** of which these depend on the shape and the sizes only, */
void calc_stage_terms_pipeline(const calc_shape *shape, const calc_exec *exec,
                               calc_stage_terms *terms);

/** and the links.
 *  @param message_bytes  calc_stage_parts.message_bytes; nothing else of the parts matters */
calc_stage_links calc_stage_links_of(const calc_cost_context *context, const calc_exec *exec,
                                     double message_bytes, const calc_stage_lines *lines);

/** Share of the messages between stages that is exposed. */
double calc_stage_exposed_messages(const calc_stage_terms *terms, const calc_strategy *strategy);

/** Elements of the table of words on one rank, where embedding and head share it; else 0. */
double calc_stage_tied_weights(const calc_cost_context *context);

/** Exposed time of sharded weights in a block: stage_block.h. */
calc_stage_sharded calc_stage_sharded_of(const calc_cost_context *context,
                                         const calc_strategy *strategy, const calc_cost *block,
                                         const calc_stage_lines *lines);

/** The same of the ends of the model: the embedding, and the head with multi-token prediction; a
 *  table that both share on one stage is the embedding's. */
typedef struct calc_stage_sharded_ends {
    calc_stage_sharded embedding, head;
} calc_stage_sharded_ends;

calc_stage_sharded_ends calc_stage_sharded_ends_of(const calc_cost_context *context,
                                                   const calc_exec *exec,
                                                   const calc_stage_parts *parts,
                                                   const calc_stage_lines *lines);

/** Traffic of a block to the second memory tier: stage_block.h. */
calc_stage_offload calc_stage_offload_of(const calc_cost_context *context,
                                         const calc_strategy *strategy, const calc_cost *block,
                                         const calc_stage_sharded *sharded);

/** Shares that are kept in the second tier, apart from single operators: */
calc_stage_away calc_stage_away_of(const calc_strategy *strategy);

/** of a block, with them. */
calc_stage_away calc_stage_away_block(const calc_strategy *strategy, const calc_cost *block);

/** How blocks keep their state.
 *  @param lines  of data parallelism; where weights are not sharded they do not matter
 *  @param speed  factor on all times */
calc_stage_keeping calc_stage_keeping_of(const calc_cost_context *context,
                                         const calc_strategy *strategy,
                                         const calc_stage_lines *lines, double speed);

/** A block of a kind as its operators cost. */
calc_stage_source calc_stage_source_of(const calc_stage_parts *parts, calc_block_kind kind);

/** Whether the all-gather of updated weights overlaps with the forward pass. */
bool calc_stage_gathers_beside(const calc_strategy *strategy);

/** The exposed part of a reduction and its all-gather, as far as the strategy overlaps them [s]. */
static inline double calc_stage_reduction_exposed_s(const calc_strategy *strategy,
                                                    const calc_stage_reduction *x)
{
    return (strategy->data_par_overlap ? x->reduce_beside_s : x->reduce_s) +
           (calc_stage_gathers_beside(strategy) ? x->gather_beside_s : x->gather_s);
}

/** State of a stage [bytes]: the parts of calc_stage_memory.state. */
typedef struct calc_stage_state {
    double weight, grad, optimizer;
} calc_stage_state;

calc_stage_state calc_stage_state_of(const calc_cost_context *context, const calc_exec *exec,
                                     const calc_stage_terms *terms, const calc_stage_class *class);

/* Terms of a block for Calculon's rules: offload, overlap, optimizer, memory. */

/** Fill terms->rule; nothing without a rule. Depends on the fields of a row of a sweep, and on
 *  shards.
 *  @param dense_shards  ranks that share a state: does not matter where none is sharded
 *  @param optimizer     calc_stage_rules_optimizer() of each kind; NULL: it is computed */
void calc_stage_rules_of(const calc_cost_context *context, const calc_strategy *strategy,
                         const calc_stage_parts *parts, double dense_shards,
                         const calc_optimizer_step *optimizer, calc_stage_terms *terms);

/** The optimizer's step of a block of a kind. */
calc_optimizer_step calc_stage_rules_optimizer(const calc_cost_context *context,
                                               const calc_strategy *strategy,
                                               const calc_stage_parts *parts, calc_block_kind kind,
                                               double shards);

/** Bytes that travel to or from the second tier while a block runs, forward and backward: weights
 *  come while activations go, the link is duplex; backward all of them and the optimizer's state.
 */
typedef struct calc_stage_travel {
    double fw_bytes, bw_bytes;
} calc_stage_travel;

calc_stage_travel calc_stage_rules_travel(const calc_strategy *strategy, bool training,
                                          const calc_block_memory *block);

#endif
