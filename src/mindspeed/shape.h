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

/** The gradient's type of a norm or attention; CALC_MINDSPEED_TYPES if gradients have the same
 *  type. */
calc_mindspeed_type calc_mindspeed_shape_gradient(calc_mindspeed_type type);

/** Reads "4096,4096;11008,4096" and "4096,11008": semicolons separate tensors and commas separate
 *  sizes; quotes are allowed. Transposed operands are recognized by the output and turned back.
 *  Attention is accepted if queries, keys and values have the same shape. Texts of up to 4 bytes
 *  are ignored. */
calc_mindspeed_shape_kind calc_mindspeed_shape_read(calc_mindspeed_type type, const char *inputs,
                                                    const char *outputs, calc_mindspeed_shape *out);

bool calc_mindspeed_shape_equal(const calc_mindspeed_shape *a, const calc_mindspeed_shape *b);

#endif
