/** @file operator.h  One kernel or one collective of a transformer on one processor, for one
 *  micro-batch: arithmetic, memory traffic, launches, weights, what it keeps for the backward pass,
 *  and which recomputation drops or repeats it. Times are not here: cost.h. */
#ifndef CALC_MODEL_OPERATOR_H
#define CALC_MODEL_OPERATOR_H

#include "calc.h"
#include "model/collective.h"
#include "model/layer.h"
#include "model/shape.h"

/** What an operator runs on. */
typedef enum calc_operator_kind {
    CALC_OPERATOR_VECTOR,    /**< elementwise: bound by memory */
    CALC_OPERATOR_MATRIX,    /**< matrix multiplication in matrix_datatype */
    CALC_OPERATOR_HEAD,      /**< the same in datatype: head and router are never narrow */
    CALC_OPERATOR_GROUPED,   /**< one multiplication per local expert */
    CALC_OPERATOR_ATTENTION, /**< flash attention */
    CALC_OPERATOR_SCORES,    /**< attention with stored scores */
    CALC_OPERATOR_PERMUTE,   /**< sorting tokens by expert */
    CALC_OPERATOR_COLLECTIVE
} calc_operator_kind;

/** Groups an operator may communicate in. */
typedef enum calc_operator_group {
    CALC_IN_TENSOR,
    CALC_IN_CONTEXT,
    CALC_IN_EXPERT,
    CALC_IN_EXPERT_TENSOR,
    CALC_OPERATOR_GROUPS
} calc_operator_group;

enum {
    /** Bit of full recomputation, beside the bits of recompute_modules. */
    CALC_RECOMPUTE_ALL = 1 << CALC_RECOMPUTE_MODULES_COUNT,
    /** Operators of one block at most. */
    CALC_MAX_OPERATORS = 48
};

/** One operator. Plain value; `name` is static text. */
typedef struct calc_operator {
    const char *name;
    calc_operator_kind kind;
    double inputs, outputs;            /**< elements of the forward pass */
    double flop[CALC_STAGE_COUNT];     /**< arithmetic */
    double bytes[CALC_STAGE_COUNT];    /**< memory traffic */
    double launches[CALC_STAGE_COUNT]; /**< kernels */
    double work[CALC_STAGE_COUNT];     /**< attention: arithmetic that time is charged for, with the
                                            exponentials; otherwise as flop */
    double weights;                    /**< trainable elements on this rank */
    bool expert;          /**< split by expert parallelism, not by tensor parallelism */
    double kept_bytes;    /**< from forward for backward */
    unsigned dropped_by;  /**< recomputation that does not keep them */
    double passing_bytes; /**< beside what is kept, while a pass runs it: gradients of its output,
                               its input and the residual stream; tokens on their way */
    unsigned repeated_by; /**< recomputation that runs forward again */
    calc_operator_group group; /**< COLLECTIVE: the ranks */
    calc_collective_op
        op[CALC_STAGE_COUNT]; /**< COLLECTIVE: of forward; of backward; gathered again */
    double message_bytes;     /**< COLLECTIVE: whole buffer of one operation */
    double
        narrowed[CALC_STAGE_COUNT]; /**< COLLECTIVE: share of them that sending 8 or 4 bits saves */
    double times[CALC_STAGE_COUNT]; /**< COLLECTIVE: how often each runs */
    double sub_ranks, sub_stride;   /**< COLLECTIVE: of every so many ranks of the group, so many;
                                         0: the whole group */
    bool shared_expert;             /**< part of the shared experts */
    bool hidden_by_attention;       /**< COLLECTIVE: runs beside the attention kernel (ring) */
} calc_operator;

/** Bytes of one of a collective's operations of a pass. */
static inline double calc_operator_message_bytes(const calc_operator *o, calc_stage stage)
{
    return o->message_bytes * (1 - o->narrowed[stage]);
}

#endif
