/** @file build.h  A list of operators under construction: kernels and collectives that every part
 * of a transformer is made of. Sources: transformer.h. */
#ifndef CALC_MODEL_BUILD_H
#define CALC_MODEL_BUILD_H

#include "model/operators/operator.h"

/** Kinds of blocks of one model. */
typedef enum calc_block_kind { CALC_DENSE_BLOCK, CALC_MOE_BLOCK, CALC_BLOCK_KINDS } calc_block_kind;

/** The inputs of the operators of a block: its kind, the chip, the strategy. Borrows. */
typedef struct calc_recipe {
    calc_block_kind kind;
    const calc_shape *shape; /**< of the strategy */
    const calc_chip *chip;   /**< NULL where no time depends on it */
    const calc_strategy *strategy;
    double context_inner; /**< context-parallel ranks inside one node */
    bool adds;            /**< processors add up the data of tensor-parallel reductions */
    bool training;        /**< adapters are those of a trainer */
} calc_recipe;

/** Operators under construction, with their common data. */
typedef struct calc_build {
    const calc_shape *shape;
    const calc_chip *chip; /**< NULL where no time depends on it */
    const calc_strategy *strategy;
    double context_inner;
    calc_operator *out; /**< CALC_MAX_OPERATORS */
    size_t count;
    double tokens; /**< of a micro-batch, whole */
    double kept;   /**< tokens of the residual stream on one rank between communication steps */
    bool sequence_par;
    bool adds;
    bool training;
    int products;   /**< of the operators so far */
    double traffic; /**< of elementwise operations over fused ones */
    double reached; /**< experts, sent to each rank once: ranks that a token goes to */
} calc_build;

/** No operators yet. `out` has room for CALC_MAX_OPERATORS. */
calc_build calc_build_start(const calc_recipe *recipe, calc_operator *out);

/** Append an operator without work. `repeated_by`: bits of recompute_modules; full recomputation
 *  repeats every operator. The result stays valid as long as `out`. */
calc_operator *calc_build_next(calc_build *b, const char *name, calc_operator_kind kind,
                               unsigned repeated_by);

/** Add to the bytes an operator keeps for the backward pass. `dropped_by`: bits of
 *  recompute_modules that do not keep them; full recomputation never does. */
void calc_build_keep(calc_operator *o, double bytes, unsigned dropped_by);

/** Elements that exist in addition to the gradient of the residual stream while a pass runs an
 *  operator: gradients of its output and its input. */
void calc_build_pass(const calc_build *build, calc_operator *o, double elements);

/** The same for a column-parallel matrix, whose output has `elements`: all tokens' gradient of its
 *  input, and that input where it is gathered again. */
void calc_build_pass_open(const calc_build *build, calc_operator *o, double elements);

/** And for a row-parallel one, whose input has `elements`: its output's gradient is that of the
 *  residual stream, gathered with sequence parallelism. */
void calc_build_pass_close(const calc_build *build, calc_operator *o, double elements);

/** Append an elementwise kernel that moves the given bytes forward and backward. */
calc_operator *calc_build_vector(calc_build *b, const char *name, unsigned repeated_by,
                                 double elements, double fw_bytes, double bw_bytes);

/** Append (rows x inner) times (inner x columns), `copies` different weights of that size sharing
 *  the rows. Each pass reads its operands in the narrow format and writes wide; narrowing an
 * operand costs quantize_bytes per element; the weight gradient is read, added to and written back.
 */
calc_operator *calc_build_matrix(calc_build *b, const char *name, calc_operator_kind kind,
                                 unsigned repeated_by, double rows, double inner, double columns,
                                 double copies);

/** A matrix stands for several multiplications whose results have these widths. selective_op saves
 *  every second one of a block, from the first one on; without a call a matrix is one, in the order
 *  of the list. Source: TorchTitan, distributed/activation_checkpoint.py.
 *  @param first  place among the multiplications of the block, from 0 */
void calc_build_products(calc_build *b, calc_operator *o, int first, int count,
                         const double *width);

/** The rest of a matrix's weights: its bias, if the model has biases, with the whole width where
 *  it is not split. */
void calc_build_bias(const calc_build *b, calc_operator *o, double width);

/** Append a collective that runs once in each pass. `bytes`: the whole buffer. */
calc_operator *calc_build_collective(calc_build *b, const char *name, unsigned repeated_by,
                                     calc_operator_group group, double bytes, calc_collective_op fw,
                                     calc_collective_op bw);

/** Before a column-parallel matrix, which must follow: identity forward and all-reduce backward;
 * with sequence parallelism all-gather, and reduce-scatter, and the gathered input once more for
 * the weight gradient unless it is kept; in tiles it is never kept whole. Nothing (NULL) with one
 *  tensor-parallel rank. */
calc_operator *calc_build_open_tensor_par(calc_build *b, const char *name, unsigned repeated_by,
                                          double width);

/** After a row-parallel matrix, which must come before: the partial sums are added up. Nothing
 * (NULL) with one rank. */
calc_operator *calc_build_close_tensor_par(calc_build *b, const char *name, unsigned repeated_by);

/** The input that `matrix` reads in `pass` comes from `gather` (NULL: it does not): with sequence
 * parallelism every rank narrows its share of the tokens to 8 or 4 bits before they are sent, so
 * that fewer bytes travel, and half of the traffic of narrowing, all but the transposed copy, is
 * shared by the ranks. Nothing where matrices are not narrow. Source: Transformer Engine, whose
 * linear layers gather quantized tensors. */
void calc_build_narrow_gather(const calc_build *b, calc_operator *gather, calc_operator *matrix,
                              calc_pass pass);

/** Keep the input of a column-parallel matrix: the rank's share where it is gathered again, which
 *  the norm before it brings back, else all tokens. */
void calc_build_keep_input(const calc_build *b, calc_operator *o, double width);

#endif
