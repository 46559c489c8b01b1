/** @file operators.h  Operator times with their uncertainty. For each type of operator, a Gaussian
 *  process over the logarithms of the shapes models the relative error of kernels in a training
 *  step against kernels that ran alone. The time alone is measured (below) or comes from calc's
 *  model. */
#ifndef CALC_MINDSPEED_OPERATORS_H
#define CALC_MINDSPEED_OPERATORS_H

#include "calc.h"
#include "gauss/process.h"
#include "mindspeed/arguments.h"
#include "model/operators/collective.h"

/** Types with modelled errors. */
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

/** Name of a type: "MatMul", "FlashAttentionScoreGrad". */
const char *calc_mindspeed_shape_type_name(calc_mindspeed_type type);

/** Reads "4096,4096;11008,4096" and "4096,11008": semicolons separate tensors and commas separate
 *  sizes; quotes are allowed. Transposed operands are recognized by the output and turned back.
 *  Attention is accepted if queries, keys and values have the same shape. Texts of up to 4 bytes
 *  are ignored. */
calc_mindspeed_shape_kind calc_mindspeed_shape_read(calc_mindspeed_type type, const char *inputs,
                                                    const char *outputs, calc_mindspeed_shape *out);

bool calc_mindspeed_shape_equal(const calc_mindspeed_shape *a, const calc_mindspeed_shape *b);

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

/** Time of a shape alone [s]; 0 if it was not timed. */
double calc_mindspeed_cache_s(const calc_mindspeed_times *cache, const calc_mindspeed_shape *shape);

/** How errors are drawn: jointly for all shapes. MindSpeed draws each shape independently. */
typedef struct calc_mindspeed_sampling {
    size_t samples; /**< 100 in MindSpeed */
    uint64_t seed;
    double prior_sd; /**< standard deviation for a type without kernels; 0 in MindSpeed */
} calc_mindspeed_sampling;

/** Start with calc_mindspeed_operators_start(). Owns its processes; borrows the rest. Must not be
 *  moved. */
typedef struct calc_mindspeed_operators {
    const calc_mindspeed_job *job;
    const calc_app *app;
    const calc_system *system;
    const calc_mindspeed_times *cache; /**< NULL: nothing was timed alone */
    calc_mindspeed_sampling sampling;
    calc_process process[CALC_MINDSPEED_TYPES];
    calc_process_path path[CALC_MINDSPEED_TYPES]; /**< this round's draws */
    uint64_t round;
    size_t kernels; /**< number of kernels in the fit */
    size_t clamped; /**< draws that would have made a time negative */
} calc_mindspeed_operators;

/** Starts without kernels: mean error 0, with the spread of the prior. */
void calc_mindspeed_operators_start(calc_mindspeed_operators *operators,
                                    const calc_mindspeed_job *job, const calc_app *app,
                                    const calc_system *system, const calc_mindspeed_times *cache,
                                    const calc_mindspeed_sampling *sampling);

/** Frees its processes. */
void calc_mindspeed_operators_free(calc_mindspeed_operators *operators);

/** Adds the errors of kernels, weighted by the number of kernels of each shape. They take effect
 *  with calc_mindspeed_operators_fit().
 *  @return CALC_OK; CALC_ERR_RANGE for more shapes of a type than CALC_PROCESS_DATA;
 *  CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_operators_learn(calc_mindspeed_operators *operators,
                                                         const calc_mindspeed_timed *kernels,
                                                         size_t count, calc_errors *errors);

/** Fits the processes to the added errors, discards all draws, and starts a new round.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_mindspeed_operators_fit(calc_mindspeed_operators *operators,
                                                       calc_errors *errors);

/** Time of an operator alone by calc's model [s]. Multiplications are timed as in a forward pass;
 *  attention has heads of the job's size. */
double calc_mindspeed_operators_model_s(const calc_mindspeed_operators *operators,
                                        const calc_mindspeed_shape *shape);

/** Time of an operator alone, measured if possible, else by calc's model [s]. Errors are relative
 *  to it. */
double calc_mindspeed_operators_alone_s(const calc_mindspeed_operators *operators,
                                        const calc_mindspeed_shape *shape);

/** This round's draws of the relative error of a shape; repeated calls return the same draws.
 *  @return `sampling.samples` numbers, valid until the round ends; NULL if out of memory */
CALC_MUST_USE const double *calc_mindspeed_operators_draws(calc_mindspeed_operators *operators,
                                                           const calc_mindspeed_shape *shape);

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
    size_t missing_count, missing_capacity;
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
