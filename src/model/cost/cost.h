/** @file cost.h  Time of a list of operators on a machine, for one micro-batch on one processor,
 *  with its weights and stored activations. A kernel takes its arithmetic and its memory traffic
 *  (their sum or the larger, by the system's processing_mode) and its launch; a collective takes
 *  the time of its networks, less the part that its class of overlap hides. */
#ifndef CALC_MODEL_COST_H
#define CALC_MODEL_COST_H

#include "model/cost/kernel_table.h"
#include "model/operators/operator.h"

/** Activations of a block and a micro-batch [bytes]. */
typedef struct calc_offload {
    double away_bytes;   /**< of those that are kept, in the second tier */
    double copied_bytes; /**< copied there in the forward pass, and back in the backward pass */
} calc_offload;

/** @param recompute  bits of calc_operator_recompute() */
calc_offload calc_offload_of(const calc_strategy *strategy, const calc_operator *operators,
                             size_t count, unsigned recompute);

/** The context of times, in addition to operators. Borrows. */
typedef struct calc_cost_context {
    const calc_system *system; /**< for its networks */
    const calc_chip *chip;
    const calc_strategy *strategy;
    const calc_shape *shape; /**< of the strategy */
    bool training;
    calc_compat compat; /**< rules of Calculon's that apply */
    calc_groups groups;
    const calc_engine *matrix; /**< in matrix_datatype */
    const calc_engine *vector; /**< in datatype */
    double matrix_rate;        /**< sustained rate and block scales, as a factor on the engine */
    double usage; /**< share of the processor that tensor-parallel communication takes */
    const calc_kernel_table
        *measured; /**< kernels to look up before anything is computed, or NULL */
    const calc_serving_rates *serving; /**< of a pass of serving; NULL: as in training */
} calc_cost_context;

/** Fill the context of layers with a strategy on a chip: the networks are those of the system, the
 *  ranks, stages and passes those of the execution. */
calc_cost_context calc_cost_context_for(const calc_system *system, const calc_chip *chip,
                                        const calc_exec *exec, const calc_strategy *strategy,
                                        const calc_shape *shape, calc_compat compat);

/** The same for the chip of the system and the strategy of the execution. */
calc_cost_context calc_cost_context_of(const calc_system *system, const calc_exec *exec,
                                       const calc_shape *shape, calc_compat compat);

/** Communication of one group in the passes of a micro-batch: messages [bytes] and times [s]. */
typedef struct calc_cost_comm {
    double fw_bytes, bw_bytes, re_bytes;             /**< sent */
    double fw_link_s, bw_link_s, re_link_s;          /**< on the link */
    double fw_exposed_s, bw_exposed_s, re_exposed_s; /**< part that is not hidden */
} calc_cost_comm;

/** Arithmetic and memory traffic of one pass, with the time of each alone. */
typedef struct calc_cost_work {
    double flop, flop_s;
    double bytes, mem_s;
} calc_cost_work;

/** Add work that is done so many times. */
static inline void calc_cost_add_work(calc_cost_work *sum, const calc_cost_work *x, double times)
{
    sum->flop += x->flop * times;
    sum->flop_s += x->flop_s * times;
    sum->bytes += x->bytes * times;
    sum->mem_s += x->mem_s * times;
}

/** One list of operators. */
typedef struct calc_cost {
    double fw_s, agrad_s, wgrad_s, re_s;  /**< kernels: forward, both backward passes, repeated */
    calc_cost_work work[CALC_PASS_COUNT]; /**< arithmetic is that of matrices and attention, and of
                                                Calculon's layers */
    calc_cost_work re;
    /* Kernels that can hide communication, in the same pass: with recomputation, only the repeated
     * ones. */
    double attention_fw_s, attention_bw_s, attention_re_s;
    double shared_fw_s, shared_bw_s, shared_re_s; /**< shared experts */
    double expert_wgrad_s;                        /**< weight gradients of experts */
    double ring_fw_s, ring_bw_s, ring_re_s;       /**< of context: sent around while attention
                                                       runs */
    calc_cost_comm tensor, context, expert; /**< expert includes the ranks that split an expert */
    calc_cost_comm edge;                    /**< tensor, in the last block of a chunk */
    double required_bytes_per_s;            /**< bandwidth at which tiles hide all communication */
    double dense_weights, expert_weights;   /**< trained elements on one rank */
    double matrix_weights;                  /**< of them, in matrices that may be narrowed */
    double dense_frozen_bytes, expert_frozen_bytes; /**< of those that are not trained */
    double kept_bytes;                              /**< stored, with recomputation */
    double kept_whole_bytes;                        /**< stored without */
    calc_offload offload; /**< of single operators: of blocks of a stage only */
    double working_bytes; /**< held while the block is computed */
    double grad_bytes;    /**< gradients of activations that a list counts */
    double passing_bytes; /**< most that exists beside them in a pass: gradients,
                               less stored data already freed by the backward
                               pass */
} calc_cost;

/** Sum a list.
 *  @param recompute  bits of calc_operator_recompute() */
void calc_cost_sum(const calc_cost_context *context, const calc_operator *operators, size_t count,
                   unsigned recompute, calc_cost *out);

/** A collective in the passes of a block; its exposed times are those before classes of overlap
 * hide any of them (context and expert parallelism).
 *  @param edge  of the last block of a chunk; tiles expose as much there as in the others */
calc_cost_comm calc_cost_passes_of(const calc_cost_context *context, const calc_operator *op,
                                   unsigned recompute, bool edge);

/** Forward, with exposed communication [s]. */
static inline double calc_cost_fw_s(const calc_cost *c)
{
    return c->fw_s + c->tensor.fw_exposed_s + c->context.fw_exposed_s + c->expert.fw_exposed_s;
}

/** Repeated and exposed time of recomputation [s]. */
static inline double calc_cost_repeated_s(const calc_cost *c)
{
    return c->tensor.re_exposed_s + c->context.re_exposed_s + c->expert.re_exposed_s;
}

/** Backward by activations, with recomputation and exposed communication [s]. */
static inline double calc_cost_agrad_s(const calc_cost *c)
{
    return c->agrad_s + c->re_s + c->tensor.bw_exposed_s + c->context.bw_exposed_s +
           c->expert.bw_exposed_s + c->tensor.re_exposed_s + c->context.re_exposed_s +
           c->expert.re_exposed_s;
}

/** A share that may be absent. */
static inline double calc_share_or(double share, double otherwise)
{
    return share > 0 ? share : otherwise;
}

struct calc_cost_times;

/** calc_cost_sum() of operators that were timed.
 *  @param times  of a context that may differ in activation_recompute, recompute_modules, and in
 *                tensor_par_overlap as long as the operators are the same */
void calc_cost_times_sum(const calc_cost_context *context, const calc_operator *operators,
                         const struct calc_cost_times *times, size_t count, unsigned recompute,
                         calc_cost *out);

/** The same in steps, for lists that begin alike: operators from `first` to before `end`, none of
 *  which has tiles beside one that follows. Start with {0}. */
void calc_cost_times_add(const calc_cost_context *context, const calc_operator *operators,
                         const struct calc_cost_times *times, size_t first, size_t end,
                         unsigned recompute, calc_cost *sum);

/** Exposed times of context parallelism: the messages of a ring run beside the attention. */
void calc_cost_hide_context(calc_cost *cost);

/** All `count` operators are added. */
void calc_cost_times_end(const calc_cost_context *context, const calc_operator *operators,
                         size_t count, calc_cost *sum);

#endif
