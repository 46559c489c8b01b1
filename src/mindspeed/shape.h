/** @file shape.h  Shapes of operators as MindSpeed distinguishes them: the type, and the sizes in a
 *  profiler's text. */
#ifndef CALC_MINDSPEED_SHAPE_H
#define CALC_MINDSPEED_SHAPE_H

#include "calc.h"

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

/** Kernels of modelled types. Owns its list; start with {0}. */
typedef struct calc_mindspeed_kernels {
    calc_mindspeed_timed *item;
    size_t count;
    size_t others; /**< rows of other types */
    size_t brief;  /**< rows of modelled types that were too short */
    size_t odd;    /**< rows with other shapes than the modelled ones, or with half of a gradient */
} calc_mindspeed_kernels;

/** Reads the columns Type, Input Shapes, Output Shapes and Duration(us). Two successive rows for
 *  the gradient of a LayerNorm are one kernel.
 *  @return CALC_OK; CALC_ERR_TYPE for malformed shapes or durations, or the status of
 *  calc_csv_table_read(). Errors name file, line and column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_mindspeed_kernels_read(calc_mindspeed_kernels *out, const char *path,
                                                      calc_errors *errors);

/** Frees the list; {0} is allowed. */
void calc_mindspeed_kernels_free(calc_mindspeed_kernels *kernels);

/* Reads the operator cache: times of operators that ran alone, one shape each, in
 * columns Type, Input Shapes, Output Shapes, fwd_time and bwd_time in us. */

/** Timed operators. Owns its list; start with {0}. */
typedef struct calc_mindspeed_cache {
    calc_mindspeed_timed *item;
    size_t count;
    size_t others; /**< rows of other types or shapes */
} calc_mindspeed_cache;

/** Reads a file. The backward time of a norm or of attention is recorded under its gradient's type.
 *  The backward time of a multiplication is skipped, because its gradients are multiplications with
 *  rows of their own. Repeated shapes are averaged. 0 or blank: not timed.
 *  @return CALC_OK; CALC_ERR_TYPE for malformed shapes or times, or the status of
 *  calc_csv_table_read(). Errors name file, line and column. *out must be freed in any case. */
CALC_MUST_USE calc_status calc_mindspeed_cache_read(calc_mindspeed_cache *out, const char *path,
                                                    calc_errors *errors);

/** Time of a shape alone [s]; 0 if it was not timed. */
double calc_mindspeed_cache_s(const calc_mindspeed_cache *cache, const calc_mindspeed_shape *shape);

/** Frees the list; {0} is allowed. */
void calc_mindspeed_cache_free(calc_mindspeed_cache *cache);

#endif
