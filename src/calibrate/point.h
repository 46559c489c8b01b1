/** @file point.h  A measured operator: one kernel, one collective or one block, of one shape, on
 * one machine.
 */
#ifndef CALC_CALIBRATE_POINT_H
#define CALC_CALIBRATE_POINT_H

#include "calc.h"
#include "model/operators/operator.h"

/** The types of measured points, with the sizes that identify each: X(NAME, name, sizes...).
 * Kernels of serving follow the others: replayed as a graph, for which a machine has rates of their
 * own. Halves and folds of a calibration depend on the order: new ones go to the end. */
#define CALC_POINT_CLASS_LIST(X)                                                                   \
    X(MATRIX, "matrix", "m", "k", "n", "b")                                                        \
    X(GROUPED, "grouped", "ng", "m", "n", "k")                                                     \
    X(ATTENTION_FW, "attention forward", "batch", "seq_len", "head_num", "kv_head_num",            \
      "qk_head_dim", "v_head_dim")                                                                 \
    X(ATTENTION_BW, "attention backward", "batch", "seq_len", "head_num", "kv_head_num",           \
      "qk_head_dim", "v_head_dim")                                                                 \
    X(MEMORY, "memory", "bytes")                                                                   \
    X(NORM, "norm", "rows", "columns")                                                             \
    X(ALL_REDUCE, "all_reduce", "bytes", "ranks", "stride")                                        \
    X(ALL_GATHER, "all_gather", "bytes", "ranks", "stride")                                        \
    X(REDUCE_SCATTER, "reduce_scatter", "bytes", "ranks", "stride")                                \
    X(ALL_TO_ALL, "all_to_all", "bytes", "ranks", "stride")                                        \
    X(P2P, "p2p", "bytes", "ranks", "stride")                                                      \
    X(SERVING_MATRIX, "serving matrix", "m", "k", "n", "b")                                        \
    X(SERVING_GROUPED, "serving grouped", "ng", "m", "n", "k")                                     \
    X(SERVING_PREFILL, "serving attention", "batch", "seq_len", "head_num", "kv_head_num",         \
      "qk_head_dim", "v_head_dim")                                                                 \
    X(SERVING_DECODE, "serving decode", "batch", "kv_len", "head_num", "kv_head_num",              \
      "qk_head_dim", "v_head_dim")                                                                 \
    X(SERVING_ALL_REDUCE, "serving all_reduce", "bytes", "ranks")                                  \
    X(BLOCK, "block", "microbatch_size", "seq_size", "hidden", "feedforward", "attn_heads",        \
      "tensor_par")

typedef enum calc_point_class {
#define CALC_X(name, ...) CALC_POINT_##name,
    CALC_POINT_CLASS_LIST(CALC_X)
#undef CALC_X
        CALC_POINT_CLASSES
} calc_point_class;

enum { CALC_POINT_SIZES = 6, CALC_POINT_REASON = 192 };

/** One row. Texts are borrowed from the file. */
typedef struct calc_point {
    int line;                                /**< where it starts in its file */
    const char *system, *op, *dtype, *shape; /**< as printed; system "" if there is no column */
    const char *metric, *unit;               /**< likewise; unit "" if there is no column */
    double value;                            /**< >= 0 */
    char reason[CALC_POINT_REASON];          /**< why it is not used; "": it is */
    calc_point_class class;                  /**< from here on: only if it is used */
    calc_datatype datatype;                  /**< of the operands */
    calc_pass pass;                          /**< the pass it is part of */
    double result_bytes;                     /**< weight gradients: of one accumulated number */
    double cached_bytes;                     /**< serving: of a number in the cache */
    bool causal;                             /**< attention */
    bool rms;                                /**< norms */
    double size[CALC_POINT_SIZES];           /**< in the order of CALC_POINT_CLASS_LIST */
    double measured_s;                       /**< > 0 */
} calc_point;

/** Name of a class for people, "matrix". */
const char *calc_point_class_name(calc_point_class class);

/** Arithmetic of a multiplication; of the other classes 0. */
double calc_point_flop(const calc_point *point);

/** Names of its sizes, NULL at the end. */
const char *const *calc_point_size_names(calc_point_class class);

static inline bool calc_point_is_used(const calc_point *point)
{
    return point->reason[0] == '\0';
}

/** Whether it is a collective or a message. */
static inline bool calc_point_is_network(const calc_point *point)
{
    return point->class >= CALC_POINT_ALL_REDUCE && point->class <= CALC_POINT_P2P;
}

/** Whether it is a kernel of serving, or an all-reduce of an engine's own. */
static inline bool calc_point_is_serving(const calc_point *point)
{
    return point->class >= CALC_POINT_SERVING_MATRIX &&
           point->class <= CALC_POINT_SERVING_ALL_REDUCE;
}

#endif
