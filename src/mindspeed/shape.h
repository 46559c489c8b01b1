/** @file shape.h  Operators as MindSpeed tells one from another: their type, and the sizes that a
 *  profiler's text of shapes comes to. */
#ifndef CALC_MINDSPEED_SHAPE_H
#define CALC_MINDSPEED_SHAPE_H

#include "calc.h"

/** Types whose errors are modelled. */
typedef enum calc_mindspeed_type {
    CALC_MINDSPEED_MATMUL, /**< of batches, too */
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
 *  of their input. Attention: those of its queries, sequence, batch, width. What is left is 1. */
typedef struct calc_mindspeed_shape {
    calc_mindspeed_type type;
    double size[CALC_MINDSPEED_SIZES];
} calc_mindspeed_shape;

/** What one of a shape took. */
typedef struct calc_mindspeed_timed {
    calc_mindspeed_shape shape;
    double time_s; /**< > 0 */
} calc_mindspeed_timed;

/** What a text of shapes comes to. */
typedef enum calc_mindspeed_shape_kind {
    CALC_MINDSPEED_SHAPE_GOOD,
    CALC_MINDSPEED_SHAPE_OTHER, /**< shapes, but not those that the type's errors are modelled of */
    CALC_MINDSPEED_SHAPE_WRONG  /**< no shapes */
} calc_mindspeed_shape_kind;

/** The type that a profiler's name means, "MatMulV2"; CALC_MINDSPEED_TYPES for any other. */
calc_mindspeed_type calc_mindspeed_shape_type(const char *name);

/** "MatMul", "FlashAttentionScoreGrad". */
const char *calc_mindspeed_shape_type_name(calc_mindspeed_type type);

/** The gradient's type of a norm or attention; CALC_MINDSPEED_TYPES where gradients are of the type
 *  itself. */
calc_mindspeed_type calc_mindspeed_shape_gradient(calc_mindspeed_type type);

/** Read "4096,4096;11008,4096" and "4096,11008": tensors between semicolons, sizes between commas,
 *  perhaps in quotes. Transposed operands are turned back by the output. Attention counts where
 *  queries, keys and values are alike. Texts of up to 4 bytes are no shapes of interest. */
calc_mindspeed_shape_kind calc_mindspeed_shape_read(calc_mindspeed_type type, const char *inputs,
                                                    const char *outputs, calc_mindspeed_shape *out);

bool calc_mindspeed_shape_equal(const calc_mindspeed_shape *a, const calc_mindspeed_shape *b);

#endif
