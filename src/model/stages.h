/** @file stages.h  The pipeline of an extended layout: which blocks each stage has, what a stage
 *  takes and holds, and how stages become a step. A homogeneous stretch of stages is one class, so
 *  that everything is in closed form. */
#ifndef CALC_MODEL_STAGES_H
#define CALC_MODEL_STAGES_H

#include "model/cost.h"
#include "model/transformer.h"

/** Classes of stages: the first, those with one block more, the others, the last. */
enum { CALC_MAX_STAGE_CLASSES = 4 };

/** Equal stages that follow one another. */
typedef struct calc_stage_class {
    double stages;     /**< how many */
    double position;   /**< index of the first of them */
    double dense, moe; /**< blocks of each kind; fractions where kinds alternate or are spread */
    bool first, last;  /**< has the embedding; has the head */
} calc_stage_class;

/** How the blocks are spread. */
typedef struct calc_stages {
    double stages, chunks, microbatches;
    size_t count;
    calc_stage_class item[CALC_MAX_STAGE_CLASSES];
    double most_blocks; /**< of a stage */
    bool ends_spread;   /**< embedding and head are spread over all stages, too */
    bool fit;           /**< whether there is a block for every stage and chunks divide them */
} calc_stages;

/** Spread the blocks of a model over the stages of an execution. */
calc_stages calc_stages_split(const calc_shape *shape, const calc_exec *exec);

/** What depends on the row of a layout only: one micro-batch on one processor. */
typedef struct calc_stage_parts {
    calc_cost block[CALC_BLOCK_KINDS];
    calc_cost embedding, head, mtp;
    double host_s[CALC_BLOCK_KINDS]; /**< to issue a block, forward and backward */
    double message_bytes;            /**< between stages */
} calc_stage_parts;

/** Cost of all parts of a layout. */
void calc_stage_parts_of(const calc_cost_context *context, calc_stage_parts *out);

/** One pass over a stage for one micro-batch, by what its time is spent on [s]. */
typedef struct calc_stage_time {
    double fw_s, agrad_s, wgrad_s; /**< all included: what the schedule sees */
    double kernel_fw_s, kernel_bw_s, kernel_re_s, ends_s;
    double tensor_s, context_s, expert_s, repeated_s, sharded_s, host_s, message_s;
} calc_stage_time;

/** What a stage holds [bytes]. */
typedef struct calc_stage_memory {
    double weight, grad, optimizer, activation, working, ends, framework;
    double in_flight; /**< micro-batches */
    double total;
} calc_stage_memory;

/** Micro-batches whose activations a stage holds at the peak. */
double calc_stage_in_flight(calc_pipeline_schedule schedule, double position, double stages,
                            double chunks, double microbatches);

/** Memory of a stage of a class. */
calc_stage_memory calc_stage_memory_of(const calc_cost_context *context,
                                       const calc_stage_parts *parts, const calc_stages *stages,
                                       size_t index);

/** Elements on one rank of a stage that data parallelism reduces, dense and expert. */
typedef struct calc_stage_weights {
    double dense, expert;
} calc_stage_weights;

calc_stage_weights calc_stage_weights_of(const calc_stage_parts *parts, const calc_stages *stages,
                                         const calc_shape *shape, size_t index);

/** Communication of data parallelism. */
typedef struct calc_stage_reduction {
    double reduce_s, gather_s; /**< of a step, on the link */
    double exposed_s;          /**< of a step */
} calc_stage_reduction;

/** The times of one stage of a class. */
calc_stage_time calc_stage_time_of(const calc_cost_context *context, const calc_stage_parts *parts,
                                   const calc_stages *stages, size_t index);

/** Reduction of gradients and gathering of weights of a step, behind the passes of `time`. */
calc_stage_reduction calc_stage_reduction_of(const calc_cost_context *context,
                                             const calc_stage_parts *parts,
                                             const calc_stages *stages, size_t index,
                                             const calc_stage_time *time);

/** Time of the optimizer's step on a stage [s]. */
double calc_stage_optimizer_s(const calc_cost_context *context, const calc_stage_weights *weights);

/** Bytes of one number of each kind of state. */
typedef struct calc_state_bytes {
    double weight, grad, reduced, master, moment;
} calc_state_bytes;

calc_state_bytes calc_state_bytes_of(const calc_exec *exec, const calc_shape *shape);

/** What data parallelism shards: 0 to 3. */
int64_t calc_zero_stage(const calc_exec *exec);

#endif
