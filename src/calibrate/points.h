/** @file points.h  Measured operators: the rows of a CSV file. docs/operators.md has the layout. */
#ifndef CALC_CALIBRATE_POINTS_H
#define CALC_CALIBRATE_POINTS_H

#include "calc.h"
#include "io/text.h"
#include "model/cost/kernel_table.h"
#include "model/operators/operator.h"
#include "validate/runs.h"

/* A measured operator: one kernel, one collective or one block, of one shape, on
 * one machine. */

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

/** Columns that are read, in any order; others are ignored: X(member of calc_point, name, other
 *  name, optional). Numbers are 0 or more. */
#define CALC_POINTS_COLUMN_LIST(X)                                                                 \
    X(system, "system", "hardware", true)                                                          \
    X(op, "op", NULL, false)                                                                       \
    X(dtype, "dtype", NULL, false)                                                                 \
    X(shape, "shape", NULL, false)                                                                 \
    X(metric, "metric", NULL, false)                                                               \
    X(value, "value", NULL, false)                                                                 \
    X(unit, "unit", NULL, true)

/** The rows of one file. Owns everything. Start with {0}. */
typedef struct calc_points {
    calc_point *item;
    size_t count;
    calc_text text;
    const char *name; /**< name of the file in errors; borrowed */
} calc_points;

/** Read a file, or standard input if path is "-"; names ending in .gz are decompressed. Rows that
 *  cannot be used say why in `reason`.
 *  @return CALC_OK; CALC_ERR_FIELD for a missing column or cell, CALC_ERR_TYPE for a value that is
 *  no number, CALC_ERR_SYNTAX, or what calc_text_read() returns. Errors name file, line and column.
 *  *out must be freed in any case. */
CALC_MUST_USE calc_status calc_points_read(calc_points *out, const char *path, calc_errors *errors);

/** The same from a text, which the points own from now on; `name` is its name in errors. */
CALC_MUST_USE calc_status calc_points_parse(calc_points *out, calc_text text, const char *name,
                                            calc_errors *errors);

/** Free what they own; fine on {0}. */
void calc_points_free(calc_points *points);

/** Refuse the points of other machines than those named, and those that a machine cannot run.
 *  @param rows  names of the column `system`, separated by commas; NULL: all, if they agree
 *  @return CALC_OK; CALC_ERR_FIELD if they do not agree, or if no row has one of the names */
CALC_MUST_USE calc_status calc_points_select(calc_points *points, const char *rows,
                                             const calc_system *system, calc_errors *errors);

/* Measured operators as a table that the model looks kernels up in. */

/** A table. Owns its points. */
typedef struct calc_point_table {
    calc_kernel_table table;
    calc_kernel_point *owned;
} calc_point_table;

/** The key of a point that is used, on its machine. */
calc_kernel_key calc_point_key(const calc_point *point, const calc_system *system);

/** Make a table for a machine.
 *  @param skip  by index of point: not to be in it; NULL: none
 *  @return CALC_OK or CALC_ERR_NOMEM; *out must be freed in any case */
CALC_MUST_USE calc_status calc_point_table_make(calc_point_table *out, const calc_point *points,
                                                size_t count, const bool *skip,
                                                const calc_system *system, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_point_table_free(calc_point_table *table);

/** The tables of several machines, made as they are asked for. Owns them and the points. Start with
 *  {0} and calc_points_read(). */
typedef struct calc_point_tables {
    calc_points points;
    calc_point_table table[CALC_SYSTEMS_MAX];
    size_t count;
    calc_errors errors; /**< why the last machine that was asked for has no table */
} calc_point_tables;

/** The table of a machine: of the rows whose column `system` has its name, and of those without.
 *  @param tables  a calc_point_tables
 *  @return NULL: no row can be used */
const calc_kernel_table *calc_point_tables_of(void *tables, const char *machine,
                                              const calc_system *system);

/** Free what they own; fine on {0}. */
void calc_point_tables_free(calc_point_tables *tables);

#endif
