/** @file cost.h  Time of a list of operators on a machine, for one micro-batch on one processor,
 * and what it weighs and keeps. A kernel takes its arithmetic and its memory traffic (their sum or
 * the larger, by the system's processing_mode) and its launch; a collective what its networks take,
 *  less what its class of overlap hides. */
#ifndef CALC_MODEL_COST_H
#define CALC_MODEL_COST_H

#include "model/kernel_table.h"
#include "model/operator.h"

/** What times need beside the operators. Borrows. */
typedef struct calc_cost_context {
    const calc_system *system;
    const calc_exec *exec;
    const calc_shape *shape;
    calc_groups groups;
    const calc_engine *matrix; /**< in matrix_datatype */
    const calc_engine *wide;   /**< matrix engine in datatype */
    const calc_engine *vector; /**< in datatype */
    double matrix_rate;        /**< sustained rate and block scales, as a factor on the engine */
    double sustained;
    const calc_kernel_table
        *measured; /**< kernels to look up before anything is computed, or NULL */
} calc_cost_context;

/** Fill the context of a layout. */
calc_cost_context calc_cost_context_of(const calc_system *system, const calc_exec *exec,
                                       const calc_shape *shape);

/** Communication of one group in the passes of a micro-batch [s]. */
typedef struct calc_cost_comm {
    double fw_link_s, bw_link_s, re_link_s;          /**< on the link */
    double fw_exposed_s, bw_exposed_s, re_exposed_s; /**< part that is not hidden */
} calc_cost_comm;

/** One list of operators. */
typedef struct calc_cost {
    double fw_s, agrad_s, wgrad_s, re_s; /**< kernels: forward, both backward passes, repeated */
    double flop[CALC_STAGE_COUNT];       /**< arithmetic of matrices and attention */
    double re_flop;
    double bytes[CALC_STAGE_COUNT]; /**< memory traffic */
    /* What hides communication, in the pass that it is in: repeated, only what is repeated. */
    double attention_fw_s, attention_bw_s, attention_re_s;
    double matrix_fw_s, matrix_bw_s, matrix_re_s; /**< matrix multiplications, by tiles */
    double shared_fw_s, shared_bw_s, shared_re_s; /**< shared experts */
    double ring_fw_s, ring_bw_s, ring_re_s;       /**< of context: passed on beside the attention */
    calc_cost_comm tensor, context, expert; /**< expert includes the ranks that split an expert */
    double dense_weights, expert_weights;   /**< elements on one rank */
    double kept_bytes;                      /**< stored, with recomputation */
    double kept_whole_bytes;                /**< stored without */
} calc_cost;

/** Sum a list.
 *  @param recompute  bits of calc_transformer_recompute() */
void calc_cost_sum(const calc_cost_context *context, const calc_operator *operators, size_t count,
                   unsigned recompute, calc_cost *out);

/** Time of one pass over an operator, without communication [s]. */
double calc_cost_kernel_s(const calc_cost_context *context, const calc_operator *op,
                          calc_stage stage);

/** Time of its communication in a pass, hidden or not [s]. */
double calc_cost_link_s(const calc_cost_context *context, const calc_operator *op,
                        calc_stage stage);

/** The same, with where the time comes from; of all that is not measured the model. */
double calc_cost_kernel_from(const calc_cost_context *context, const calc_operator *op,
                             calc_stage stage, calc_kernel_source *source);
double calc_cost_link_from(const calc_cost_context *context, const calc_operator *op,
                           calc_stage stage, calc_kernel_source *source);

/** Forward, with exposed communication [s]. */
static inline double calc_cost_fw_s(const calc_cost *c)
{
    return c->fw_s + c->tensor.fw_exposed_s + c->context.fw_exposed_s + c->expert.fw_exposed_s;
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

#endif
