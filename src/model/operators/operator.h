/** @file operator.h  One kernel or one collective of a transformer on one processor, for one
 *  micro-batch: arithmetic, memory traffic, launches, weights, what it keeps for the backward pass,
 *  and which recomputation drops or repeats it. Times are not here: cost.h. */
#ifndef CALC_MODEL_OPERATOR_H
#define CALC_MODEL_OPERATOR_H

#include "calc.h"
#include "model/operators/collective.h"
#include "model/operators/shape.h"

/** The three passes over an operator. */
typedef enum calc_pass {
    CALC_PASS_FW,    /**< forward */
    CALC_PASS_AGRAD, /**< backward, gradients of activations */
    CALC_PASS_WGRAD, /**< backward, gradients of weights */
    CALC_PASS_COUNT
} calc_pass;

/** The unit that an operator runs on. */
typedef enum calc_operator_kind {
    CALC_OPERATOR_VECTOR,    /**< elementwise: bound by memory */
    CALC_OPERATOR_MATRIX,    /**< matrix multiplication in matrix_datatype */
    CALC_OPERATOR_HEAD,      /**< the same in datatype: head and router are never narrow */
    CALC_OPERATOR_GROUPED,   /**< one multiplication per local expert */
    CALC_OPERATOR_ATTENTION, /**< flash attention */
    CALC_OPERATOR_SCORES,    /**< attention with stored scores */
    CALC_OPERATOR_SCAN,      /**< convolution and recurrence of a linear mixer */
    CALC_OPERATOR_PERMUTE,   /**< sorting tokens by expert */
    CALC_OPERATOR_LAYER,     /**< elementwise layer of Calculon's: obeys processing_mode, and has a
                                  weight-gradient pass if it has weights */
    CALC_OPERATOR_COLLECTIVE
} calc_operator_kind;

/** Which side of a matrix the ranks that split it have a share of. */
typedef enum calc_operator_split {
    CALC_SPLIT_NONE,
    CALC_SPLIT_INNER,
    CALC_SPLIT_COLUMNS
} calc_operator_split;

/** Groups an operator may communicate in. */
typedef enum calc_operator_group {
    CALC_IN_TENSOR,
    CALC_IN_CONTEXT,
    CALC_IN_EXPERT,
    CALC_IN_EXPERT_TENSOR,
    CALC_OPERATOR_GROUPS
} calc_operator_group;

enum {
    /** Bits in addition to those of recompute_modules: full recomputation; inputs that are gathered
     *  again; training, which drops data that another operator holds already; recomputation but for
     *  saved_share. */
    CALC_RECOMPUTE_ALL = 1 << CALC_RECOMPUTE_MODULES_COUNT,
    CALC_RECOMPUTE_GATHER = CALC_RECOMPUTE_ALL << 1,
    CALC_RECOMPUTE_HELD = CALC_RECOMPUTE_ALL << 2,
    CALC_RECOMPUTE_OP = CALC_RECOMPUTE_ALL << 3,
    CALC_RECOMPUTE_BLOCK = CALC_RECOMPUTE_ALL | CALC_RECOMPUTE_OP, /**< either, of a block */
    CALC_MAX_WEIGHTS = 48 /**< of them with weights, of Calculon's list */
};

/** One operator. Plain value; `name` is static text. */
typedef struct calc_operator {
    const char *name; /**< NULL: a collective in tiles, part of the matrix that it runs with */
    calc_operator_kind kind;
    double without;   /**< share of the blocks of its kind that do not have it, where the model
                           lists its layers: a mean block has 1 - without of it */
    const char *part; /**< name of the part of a layer that it belongs to, borrowed; NULL: layers
                           are not listed */
    double inputs, outputs;           /**< elements of the forward pass */
    double flop[CALC_PASS_COUNT];     /**< arithmetic */
    double bytes[CALC_PASS_COUNT];    /**< memory traffic */
    double launches[CALC_PASS_COUNT]; /**< kernels */
    double work[CALC_PASS_COUNT];     /**< attention: arithmetic that time is charged for, with the
                                            exponentials; SCAN: that of the vector engine; otherwise
                                            as flop */
    double steps[CALC_PASS_COUNT];    /**< SCAN: chunks of a sequence, each of which waits for the
                                            one before it */
    double converted_bytes; /**< of the forward pass's traffic, converting inputs to 8 or 4 bits */
    double cached;          /**< ATTENTION that decodes: tokens whose keys are read; otherwise 0 */
    bool chooses;        /**< ATTENTION: scores of an indexer, which chooses what is attended to */
    double weights;      /**< trained elements on this rank */
    double read_weights; /**< MATRIX, GROUPED, HEAD: of them, those among the bytes: no biases */
    double frozen_bytes; /**< of elements on this rank that are not trained */
    double untouched;    /**< share of the blocks of its kind that have it and that no backward pass
                              runs through: no trained weight lies before */
    bool adapter;        /**< a factor of an adapter */
    double pairs;        /**< and how many such factors it stands for */
    bool adapted;        /**< an adapter reads the input that it keeps */
    bool shares_input;   /**< another operator's backward pass reads that, too */
    calc_operator_split split; /**< MATRIX, GROUPED */
    bool expert;               /**< split by expert parallelism, not by tensor parallelism */
    double loops;         /**< times that its kernels are launched, once for each expert; 0: 1 */
    double kept_bytes;    /**< from forward for backward */
    double dropped_bytes; /**< of them, not kept with recomputation */
    double working_bytes; /**< held while the block is computed */
    double grad_bytes;    /**< gradients of its output, where a list counts them */
    double passing_bytes; /**< in addition while a pass runs it: gradients of its output, its input
                               and the residual stream; tokens in transit */
    unsigned dropped_by;  /**< recomputation that does not keep them */
    unsigned moved_by;    /**< bits of offload_modules that keep kept_bytes in the second tier */
    double copied_bytes;  /**< in addition copied there by them, for another operator keeps them */
    unsigned repeated_by; /**< recomputation that runs forward again */
    int products;         /**< multiplications that a MATRIX stands for, as models of PyTorch have
                               them: queries, keys and values are three */
    double saved_share;   /**< of it that CALC_RECOMPUTE_OP saves the results of, */
    double saved_bytes;   /**< and these results */
    calc_operator_group group; /**< COLLECTIVE: the ranks */
    calc_collective_op
        op[CALC_PASS_COUNT]; /**< COLLECTIVE: of forward; of backward; gathered again */
    calc_collective_op edge_op[CALC_PASS_COUNT]; /**< the same in the last block of a chunk, whose
                                                      output may stay scattered; has_edge */
    bool has_edge;
    bool repeats;         /**< COLLECTIVE: the third operation is the first one, where recomputation
                               repeats it; else it is one of the backward pass */
    double message_bytes; /**< COLLECTIVE: whole buffer of one operation */
    double narrowed[CALC_PASS_COUNT]; /**< COLLECTIVE: share of them that 8 or 4 bits save */
    double times[CALC_PASS_COUNT];    /**< COLLECTIVE: how often each runs */
    double sub_ranks, sub_stride;     /**< COLLECTIVE: ranks that take part, and their distance, in
                                           the group; 0: the whole group */
    int beside;               /**< COLLECTIVE: offset in the list to the matrix that its tiles
                                   overlap with: 1 or -1; 0: none */
    bool shared_expert;       /**< part of the shared experts */
    bool hidden_by_attention; /**< COLLECTIVE: runs at the same time as the attention kernel
                                   (ring) */
} calc_operator;

/** Set two passes of an array of them: forward, and the gradients of activations. */
static inline void calc_operator_passes(double of[CALC_PASS_COUNT], double fw, double agrad)
{
    of[CALC_PASS_FW] = fw;
    of[CALC_PASS_AGRAD] = agrad;
}

/** Bytes of one of a collective's operations of a pass. */
static inline double calc_operator_message_bytes(const calc_operator *o, calc_pass pass)
{
    return o->message_bytes * (1 - o->narrowed[pass]);
}

/** Whether matrix_datatype is the format of its multiplications. */
static inline bool calc_operator_narrowed(const calc_operator *o)
{
    return o->kind == CALC_OPERATOR_MATRIX || o->kind == CALC_OPERATOR_GROUPED;
}

/** How many of an operator a mean block has, (0, 1]; of an encoder's, how many its blocks have. */
static inline double calc_operator_share(const calc_operator *o)
{
    return 1 - o->without;
}

/** Bytes that a pass communicates in a mean block; 0 for a pass without an operation.
 *  @param edge  in the last block of a chunk */
static inline double calc_operator_sent_bytes(const calc_operator *o, calc_pass pass, bool edge)
{
    calc_collective_op op = edge && o->has_edge ? o->edge_op[pass] : o->op[pass];
    bool none = o->kind != CALC_OPERATOR_COLLECTIVE || op == CALC_OP_NONE;
    double share = calc_operator_share(o) * (pass == CALC_PASS_FW ? 1 : 1 - o->untouched);
    return none ? 0 : calc_operator_message_bytes(o, pass) * o->times[pass] * share;
}

/** Share of an operator's forward pass that recomputation runs again, 0 to 1, in blocks that a
 *  backward pass runs through.
 *  @param recompute  bits of calc_operator_recompute() */
static inline double calc_operator_again(const calc_operator *o, unsigned recompute)
{
    bool again = o->repeated_by & recompute;
    double share = recompute & CALC_RECOMPUTE_OP ? 1 - o->saved_share : 1;
    return again ? share * (1 - o->untouched) : 0;
}

/** Whether a pass has a kernel: elementwise operators have no weight pass of their own. */
static inline bool calc_operator_runs(const calc_operator *o, calc_pass pass)
{
    return pass != CALC_PASS_WGRAD || o->kind == CALC_OPERATOR_COLLECTIVE ||
           (o->weights > 0 && o->kind != CALC_OPERATOR_VECTOR);
}

/** Whether tensor-parallel communication overlaps with the matrices in tiles, of which a rank holds
 *  one at a time: it never has a gathered input whole. */
static inline bool calc_operator_streamed(const calc_strategy *strategy)
{
    return strategy->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_RING ||
           strategy->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_PIPE;
}

/** Whether it overlaps with the matrices in tiles, whatever a rank holds. */
static inline bool calc_operator_tiled(const calc_strategy *strategy)
{
    return calc_operator_streamed(strategy) ||
           strategy->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_FUSED;
}

/** Recomputation of a strategy in training: bits of recompute_modules, CALC_RECOMPUTE_ALL, and the
 *  bits beside it; 0 without. */
unsigned calc_operator_recompute(const calc_strategy *strategy, bool training);

#endif
