/** @file operators.h  Reads measured times of operators: kernels of a step, operators alone,
 *  collectives. */
#ifndef CALC_MINDSPEED_OPERATORS_H
#define CALC_MINDSPEED_OPERATORS_H

#include "calc.h"
#include "calibrate/points.h"
#include "mindspeed/arguments.h"
#include "model/operators/collective.h"

/** Types of operators whose measured times are used. */
typedef enum calc_mindspeed_type {
    CALC_MINDSPEED_MATMUL, /**< batched ones, too */
    CALC_MINDSPEED_RMS_NORM,
    CALC_MINDSPEED_RMS_NORM_GRAD,
    CALC_MINDSPEED_LAYER_NORM,
    CALC_MINDSPEED_LAYER_NORM_GRAD,
    CALC_MINDSPEED_FLASH,
    CALC_MINDSPEED_FLASH_GRAD,
    CALC_MINDSPEED_TYPES
} calc_mindspeed_type;

enum { CALC_MINDSPEED_SIZES = 4 };

/** A type and its sizes. Multiplications: batch, m, k, n of (m x k) times (k x n). Norms: the three
 *  sizes of their input. Attention: sequence, batch and width of its queries. Unused sizes are
 *  1. */
typedef struct calc_mindspeed_shape {
    calc_mindspeed_type type;
    double size[CALC_MINDSPEED_SIZES];
} calc_mindspeed_shape;

/** The time of one operator of a shape. */
typedef struct calc_mindspeed_timed {
    calc_mindspeed_shape shape;
    double time_s; /**< > 0 */
} calc_mindspeed_timed;

/** Operators of modelled types. Owns its list; start with {0}. */
typedef struct calc_mindspeed_times {
    calc_mindspeed_timed *item;
    size_t count;
    size_t others; /**< rows of other types; of a cache, also of other shapes */
    size_t brief;  /**< kernels of modelled types that were too short */
    size_t odd;    /**< kernels of other shapes than the modelled ones, or half of a gradient */
} calc_mindspeed_times;

/** Frees the list; {0} is allowed. */
void calc_mindspeed_times_free(calc_mindspeed_times *times);

/** Result of reading a text of shapes. */
typedef enum calc_mindspeed_shape_kind {
    CALC_MINDSPEED_SHAPE_GOOD,
    CALC_MINDSPEED_SHAPE_OTHER, /**< shapes, but other ones than the type's errors are modelled
                                 *  for */
    CALC_MINDSPEED_SHAPE_WRONG  /**< not shapes */
} calc_mindspeed_shape_kind;

/** The type for a profiler's name, "MatMulV2"; CALC_MINDSPEED_TYPES for any other. */
calc_mindspeed_type calc_mindspeed_shape_type(const char *name);

/** Reads "4096,4096;11008,4096" and "4096,11008": semicolons separate tensors and commas separate
 *  sizes; quotes are allowed. Transposed operands are recognized by the output and turned back.
 *  Attention is accepted if queries, keys and values have the same shape. Texts of up to 4 bytes
 *  are ignored. */
calc_mindspeed_shape_kind calc_mindspeed_shape_read(calc_mindspeed_type type, const char *inputs,
                                                    const char *outputs, calc_mindspeed_shape *out);

/* Reads the kernels of a real training step from a profiler's
 * kernel_details.csv. */

/** Kernels shorter than this [us] are ignored. */
#define CALC_MINDSPEED_KERNEL_LEAST_US 5.0

/** Adds the kernels of the columns Type, Input Shapes, Output Shapes and Duration(us). Two
 *  successive rows for the gradient of a LayerNorm are one kernel.
 *  @return CALC_OK; CALC_ERR_TYPE for malformed shapes or durations, or the status of
 *  calc_csv_table_read(). Errors name file, line and column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_mindspeed_kernels_read(calc_mindspeed_times *out, const char *path,
                                                      calc_errors *errors);

/* Reads the operator cache: times of operators that ran alone, one shape each, in
 * columns Type, Input Shapes, Output Shapes, fwd_time and bwd_time in us. */

/** Adds a file. The backward time of a norm or of attention is recorded under its gradient's type.
 *  The backward time of a multiplication is skipped, because its gradients are multiplications with
 *  rows of their own. Repeated shapes are averaged. 0 or blank: not timed.
 *  @return CALC_OK; CALC_ERR_TYPE for malformed shapes or times, or the status of
 *  calc_csv_table_read(). Errors name file, line and column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_mindspeed_cache_read(calc_mindspeed_times *out, const char *path,
                                                    calc_errors *errors);

/** The measured kernels as a table for calc_tune_kernels_learn(): each shape once, with the mean of
 *  its times. A shape that ran in a step has the time that it took there, any other the time alone.
 *  Multiplications count as those of a forward pass; attention has heads of the job's size.
 *  @param kernels  of steps
 *  @param cache    of operators alone
 *  @param out      to be freed with calc_point_table_free() */
void calc_mindspeed_points(calc_point_table *out, const calc_mindspeed_times *kernels,
                           const calc_mindspeed_times *cache, const calc_mindspeed_job *job,
                           const calc_app *app, const calc_system *system);

/* Reads measured collectives: comm_prof.csv, columns type, domains, datasize and
 * time. */

/** A collective of a group on a buffer. */
typedef struct calc_mindspeed_message {
    calc_collective_op op;
    int64_t ranks; /**< column domains */
    double bytes;  /**< column datasize: the whole, unsharded buffer; for an all-to-all the bytes
                    *  that a rank sends */
} calc_mindspeed_message;

typedef struct calc_mindspeed_sent {
    calc_mindspeed_message message;
    double time_s;
} calc_mindspeed_sent;

/** Measured collectives. Owns its lists; start with {0}. */
typedef struct calc_mindspeed_comm {
    calc_mindspeed_sent *item; /**< one per message */
    size_t count;
    calc_mindspeed_message *missing; /**< messages that were requested and not found, each once */
    size_t missing_count;
    size_t found; /**< successful look-ups */
} calc_mindspeed_comm;

/** Reads a file. Time is in us. If a message has three or more rows, the shortest and the longest
 *  are left out; the others are averaged.
 *  @return CALC_OK; CALC_ERR_TYPE for a malformed collective, size or time, or the status of
 *  calc_csv_table_read(). Errors name file, line and column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_mindspeed_comm_read(calc_mindspeed_comm *out, const char *path,
                                                   calc_errors *errors);

/** Time [s] of a message that was measured with exactly this number of bytes; 0 for any other,
 *  which is noted. */
double calc_mindspeed_comm_s(calc_mindspeed_comm *comm, const calc_mindspeed_message *message);

/** Frees the lists; {0} is allowed. */
void calc_mindspeed_comm_free(calc_mindspeed_comm *comm);

#endif
