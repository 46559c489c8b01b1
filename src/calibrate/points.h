/** @file points.h  Measured operators: the rows of a CSV file. docs/operators.md has the layout. */
#ifndef CALC_CALIBRATE_POINTS_H
#define CALC_CALIBRATE_POINTS_H

#include "calc.h"
#include "calibrate/fit.h"
#include "io/output.h"
#include "io/text.h"
#include "model/cost/kernel_table.h"
#include "model/operators/collective.h"
#include "model/operators/operator.h"
#include "validate/runs.h"

/* A measured operator: one kernel, one collective or one block, of one shape, on
 * one machine. */

/** The types of measured points: X(NAME, name, names of operators in files that are around, what
 * one with "stage=serving" is, sizes that identify it...). Kernels of serving follow the others:
 * replayed as a graph, for which a machine has rates of their own. Halves and folds of a
 * calibration depend on the order: new ones go to the end. */
#define CALC_POINT_CLASS_LIST(X)                                                                   \
    X(MATRIX, "matrix", "|matmul|gemm|mm|linear|bmm|fp8_matmul|", SERVING_MATRIX, "m", "k", "n",   \
      "b")                                                                                         \
    X(GROUPED, "grouped",                                                                          \
      "|group_matmul|grouped_matmul|grouped_gemm|group_gemm|fp8_group_matmul|", SERVING_GROUPED,   \
      "ng", "m", "n", "k")                                                                         \
    X(ATTENTION_FW, "attention forward", "|sdp_fwd|attention_fwd|flash_attention_fwd|",            \
      SERVING_PREFILL, "batch", "seq_len", "head_num", "kv_head_num", "qk_head_dim", "v_head_dim") \
    X(ATTENTION_BW, "attention backward", "|sdp_bwd|attention_bwd|flash_attention_bwd|", CLASSES,  \
      "batch", "seq_len", "head_num", "kv_head_num", "qk_head_dim", "v_head_dim")                  \
    X(MEMORY, "memory", "|memory|copy|elementwise|", CLASSES, "bytes")                             \
    X(NORM, "norm", "|rms_norm|rmsnorm|layer_norm|layernorm|", CLASSES, "rows", "columns")         \
    X(ALL_REDUCE, "all_reduce", "|all_reduce|allreduce|", SERVING_ALL_REDUCE, "bytes", "ranks",    \
      "stride")                                                                                    \
    X(ALL_GATHER, "all_gather", "|all_gather|allgather|", CLASSES, "bytes", "ranks", "stride")     \
    X(REDUCE_SCATTER, "reduce_scatter", "|reduce_scatter|reducescatter|", CLASSES, "bytes",        \
      "ranks", "stride")                                                                           \
    X(ALL_TO_ALL, "all_to_all", "|all_to_all|alltoall|all2all|", CLASSES, "bytes", "ranks",        \
      "stride")                                                                                    \
    X(P2P, "p2p", "|p2p|sendrecv|", CLASSES, "bytes", "ranks", "stride")                           \
    X(SERVING_MATRIX, "serving matrix", "|", SERVING_MATRIX, "m", "k", "n", "b")                   \
    X(SERVING_GROUPED, "serving grouped", "|", SERVING_GROUPED, "ng", "m", "n", "k")               \
    X(SERVING_PREFILL, "serving attention", "|", SERVING_PREFILL, "batch", "seq_len", "head_num",  \
      "kv_head_num", "qk_head_dim", "v_head_dim")                                                  \
    X(SERVING_DECODE, "serving decode", "|attention_decode|decode_attention|", SERVING_DECODE,     \
      "batch", "kv_len", "head_num", "kv_head_num", "qk_head_dim", "v_head_dim")                   \
    X(SERVING_ALL_REDUCE, "serving all_reduce", "|", SERVING_ALL_REDUCE, "bytes", "ranks")         \
    X(BLOCK, "block", "|block|transformer_block|transformer_layer|", CLASSES, "microbatch_size",   \
      "seq_size", "hidden", "feedforward", "attn_heads", "tensor_par")

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
 *  @param skip  by index of point: not to be in it; NULL: none */
void calc_point_table_make(calc_point_table *out, const calc_point *points, size_t count,
                           const bool *skip, const calc_system *system);

/** Free what it owns; fine on {0}. */
void calc_point_table_free(calc_point_table *table);

/** The tables of several machines, made as they are asked for. Owns them and the points. Start with
 *  {0} and calc_points_read(). */
typedef struct calc_point_tables {
    calc_points points;
    calc_point_table table[CALC_DOCUMENTS_MAX];
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

/** A constant is determined if its relative standard error is below this; the points contradict
 *  the file if they moved it by more than so many standard errors. What is neither stays. */
#define CALC_POINT_DETERMINED 0.25
#define CALC_POINT_CONTRADICTED 3

enum { CALC_POINT_CONSTANTS = 64, CALC_POINT_PATH = 64 };

/** The outcome for a constant. */
typedef enum calc_point_standing {
    CALC_POINT_STAYS, /**< the points do not determine it */
    CALC_POINT_FITTED,
    CALC_POINT_ADJUSTED /**< they contradict the file, without saying much more */
} calc_point_standing;

/** One constant. Not to be copied: `constant` has its paths in `path`. */
typedef struct calc_point_constant {
    calc_constant constant;
    char path[CALC_CONSTANT_PATHS][CALC_POINT_PATH];
    calc_point_standing standing;
    double before; /**< in the file; 0: not given */
    double value;
    double relative_error; /**< standard error over the value; NaN if it stays */
} calc_point_constant;

/** All that have points. */
typedef struct calc_point_fit {
    calc_point_constant item[CALC_POINT_CONSTANTS];
    size_t count;
    bool curve[CALC_DATATYPE_COUNT]; /**< the matrix engine's efficiency became one of size */
    calc_system system;              /**< with their values, of four digits */
} calc_point_fit;

/** Fit.
 *  @param points  `count` of them; those that are not used are passed over
 *  @param skip    by index: passed over too; NULL: none
 *  @param before  the machine as its file says
 *  @return CALC_OK, or CALC_ERR_RULE if a point cannot be predicted */
CALC_MUST_USE calc_status calc_point_fit_make(calc_point_fit *out, const calc_point *points,
                                              size_t count, const bool *skip,
                                              const calc_system *before, calc_errors *errors);

/** A number with so many digits, as files have it. */
double calc_point_round(double value, int digits);

/* Time of a measured operator, or block of them, by the model. */

/** Predicted time [s] of a point that is used, by the functions that cost a step: operators are
 *  built as for a block, and timed by calc_cost_kernel_s() and calc_collective_s().
 */
double calc_point_time_s(const calc_point *point, const calc_system *system);

/** Memory traffic of a memory-bound kernel [bytes]; 0 of anything else. */
double calc_point_bytes(const calc_point *point);

/** The operation of a collective. */
calc_collective_op calc_point_op(calc_point_class class);

/** The network with the deciding constants: the highest that its ranks span.
 *  @return its index; -1 for a kernel, and where ranks of several networks have a part */
int64_t calc_point_network(const calc_point *point, const calc_system *system);

/** A model of one block, and a layout of one micro-batch on the ranks that share it. Every word of
 *  the point's shape sets a field of the two, as calc_set() does. Absent ones are as in a document,
 *  required ones 1, false or the first choice; heads share the width, and attention has the type
 *  that kv_heads implies.
 *  @param reason  filled if a word is of nothing that a block has
 *  @return whether none is */
bool calc_point_block_of(const calc_point *point, calc_app *app, calc_exec *exec,
                         char reason[CALC_POINT_REASON]);

/** Ask whether a machine can run it, by the rules of all layouts.
 *  @param reason  filled if not */
void calc_point_block_ask(const calc_point *point, const calc_system *system,
                          char reason[CALC_POINT_REASON]);

/** Its key on a machine. */
calc_kernel_key calc_point_block_key(const calc_point *point, const calc_system *system);

/** Predictions: by the file, by the calibrated machine, by one calibrated without the half of the
 *  shapes that the point is in, and by that with the other half to look up. */
typedef enum calc_point_view {
    CALC_POINT_FILE,
    CALC_POINT_CALIBRATED,
    CALC_POINT_UNSEEN,
    CALC_POINT_LOOKUP,
    CALC_POINT_VIEWS
} calc_point_view;

/** One machine. Owns the predictions. Start with {0}; large. */
typedef struct calc_point_calibration {
    const char *machine; /**< borrowed */
    calc_point_fit fit;
    double *predicted_s[CALC_POINT_VIEWS]; /**< by index of point; NaN for those not used */
    calc_kernel_source *source;            /**< by index of point: of CALC_POINT_LOOKUP */
} calc_point_calibration;

/** Calibrate.
 *  @return CALC_OK or CALC_ERR_RULE; *out must be freed in any case */
CALC_MUST_USE calc_status calc_point_calibrate(calc_point_calibration *out,
                                               const calc_points *points, const char *machine,
                                               const calc_system *system, calc_errors *errors);

/** Free what it owns; fine on {0}. */
void calc_point_calibration_free(calc_point_calibration *calibration);

/** Write the calibrated machine's file; its source states the fitted constants, their measurements
 *  and the date.
 *  @param old   the text that the machine was read from
 *  @param date  "2026-11-21" */
void calc_point_calibration_write(calc_output *out, const calc_point_calibration *calibration,
                                  const calc_points *points, const calc_text *old,
                                  const char *date);

/* Efficiency by size, from measured operators: for each point the efficiency
 * with which the model gives the measured time, averaged (in the logarithm) over octaves of size,
 * and made to rise with size by pooling neighbours that fall (isotonic regression: Ayer et al.
 * 1955). */

enum { CALC_POINT_CURVE_FOLDS = 5 };

/** Replace the efficiency of the matrix engine of a datatype in `system` by a curve, if that
 *  predicts points outside its own fit better than a single number does, on average and weighted by
 *  their arithmetic.
 *  @param points  `count` of them
 *  @param skip    by index: true for points to leave out; NULL: none
 *  @return whether it was */
bool calc_point_curve_matrix(calc_system *system, calc_datatype datatype, const calc_point *points,
                             size_t count, const bool *skip);

/** A number of 0 to 2^32 - 1 from the sizes of a point, the same for all passes over one shape, so
 *  that shapes can be kept apart. */
uint32_t calc_point_hash(const calc_point *point);

#endif
