/** @file layer.h  One operator of the transformer block on one processor, for one micro-batch:
 *  arithmetic, memory traffic, weights, activations and gradients. Times are not here: they need
 *  the system (processor.h, tensor_par.h, optimizer.h). */
#ifndef CALC_MODEL_LAYER_H
#define CALC_MODEL_LAYER_H

#include "calc.h"

/** The three passes over a layer. */
typedef enum calc_stage {
    CALC_STAGE_FW,
    CALC_STAGE_AGRAD,
    CALC_STAGE_WGRAD,
    CALC_STAGE_COUNT
} calc_stage;

/** What communication a layer contains. */
typedef enum calc_layer_comm {
    CALC_LAYER_COMM_NONE,
    CALC_LAYER_COMM_ALONE,     /**< the layer is a communication step of tensor parallelism */
    CALC_LAYER_COMM_OVERLAPPED /**< a matrix multiplication in tiles, overlapped with its own */
} calc_layer_comm;

/** What a layout does with a layer. */
typedef enum calc_layer_flags {
    CALC_LAYER_RECOMPUTE = 1,             /**< forward is repeated in the backward pass */
    CALC_LAYER_RECOMM = 2,                /**< so is its communication */
    CALC_LAYER_ACTIVATION_REUSED = 4,     /**< another layer already holds the activation */
    CALC_LAYER_ACTIVATION_RECOMPUTED = 8, /**< the activation is not kept */
    CALC_LAYER_OUTPUT_RECOMPUTED = 16     /**< the output is not kept */
} calc_layer_flags;

/** One layer. Plain value; `name` is static text. */
typedef struct calc_layer {
    const char *name;
    double inputs, outputs;         /**< elements read and written by the forward pass */
    double flop[CALC_STAGE_COUNT];  /**< arithmetic */
    double bytes[CALC_STAGE_COUNT]; /**< memory traffic */
    double weights;                 /**< trainable elements */
    double weight_bytes;            /**< weights in the datatype */
    double activation_bytes;        /**< kept from forward for backward */
    double activation_grad_bytes;   /**< gradient of the output */
    double output_bytes;            /**< what CALC_LAYER_OUTPUT_RECOMPUTED saves */
    double comm_bytes;              /**< message of tensor parallelism, whole, when there is one */
    calc_layer_comm comm;
    bool conjugate; /**< comm: reduces in forward and gathers in backward, instead of the reverse */
    bool matrix;    /**< runs on the matrix engine */
    unsigned flags; /**< calc_layer_flags */
} calc_layer;

/** What every constructor needs. */
typedef struct calc_layer_shape {
    double element_bytes; /**< bytes per element of the datatype: 1, 2 or 4 */
    double ranks;         /**< tensor parallelism, >= 1 */
    calc_tensor_par_comm_type type;
} calc_layer_shape;

/** Bytes per element of a datatype. */
double calc_datatype_bytes(calc_datatype datatype);

/* Constructors fill *out. `name` is static text, `flags` are calc_layer_flags. */

/** (rows x inner) times (inner x columns), with weights: 2 * rows * inner * columns FLOP in each
 *  of the three passes. */
void calc_layer_linear(calc_layer *out, const calc_layer_shape *shape, const char *name,
                       unsigned flags, double rows, double inner, double columns);

/** The same split over the ranks and cut in as many tiles as ranks, so that the communication of
 *  one tile hides behind the arithmetic of another. `inner` and `columns` are those before the
 *  split: a conjugate layer splits `inner`, another `columns`. */
void calc_layer_linear_overlapped(calc_layer *out, const calc_layer_shape *shape, const char *name,
                                  unsigned flags, bool conjugate, double rows, double inner,
                                  double columns);

/** `batch` products (rows x inner) times (inner x columns) of two activations. */
void calc_layer_batch_matmul(calc_layer *out, const calc_layer_shape *shape, const char *name,
                             unsigned flags, double batch, double rows, double inner,
                             double columns);

/** Layer norm of `elements` with 2 * hidden weights: 9, 14 and 7 FLOP per element. */
void calc_layer_norm(calc_layer *out, const calc_layer_shape *shape, const char *name,
                     unsigned flags, double elements, double hidden);

/** Dropout; the mask takes one byte per element and is all that is kept. */
void calc_layer_dropout(calc_layer *out, const calc_layer_shape *shape, const char *name,
                        unsigned flags, double elements);

/** GeLU: 8 and 13 FLOP per element; fused, it keeps nothing. */
void calc_layer_gelu(calc_layer *out, const calc_layer_shape *shape, const char *name,
                     unsigned flags, double elements, bool fused);

/** Softmax: 5 and 8 FLOP per element. */
void calc_layer_softmax(calc_layer *out, const calc_layer_shape *shape, const char *name,
                        unsigned flags, double elements);

/** Sum of two activations of `elements` each (a residual connection). */
void calc_layer_residual(calc_layer *out, const calc_layer_shape *shape, const char *name,
                         unsigned flags, double elements);

/** One activation used `users` times: free in forward, a sum of gradients in backward. */
void calc_layer_fork(calc_layer *out, const calc_layer_shape *shape, const char *name,
                     unsigned flags, double elements, double users);

/** Communication step of tensor parallelism on `elements`, alone. Not conjugate: identity or
 *  all-gather in forward, all-reduce or reduce-scatter in backward; conjugate: the reverse. */
void calc_layer_tensor_par_comm(calc_layer *out, const calc_layer_shape *shape, const char *name,
                                unsigned flags, bool conjugate, double elements);

#endif
