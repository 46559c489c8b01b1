/** @file kernel_table.h  Measured kernels, collectives and blocks, looked up by shape. A measured
 *  shape gets its measured time; near measurements, the model's time is corrected by its errors at
 * the neighbours (inverse distance weights: Shepard 1968), with sizes in the logarithm. */
#ifndef CALC_MODEL_KERNEL_TABLE_H
#define CALC_MODEL_KERNEL_TABLE_H

#include "calc.h"

enum { CALC_KERNEL_SIZES = 8 };

/** Where a time comes from. */
typedef enum calc_kernel_source {
    CALC_KERNEL_ROOFLINE,     /**< the model; nothing of the kind was measured */
    CALC_KERNEL_CURVE,        /**< the model, whose rates were fitted; no measured neighbour */
    CALC_KERNEL_INTERPOLATED, /**< the model, corrected by its neighbours */
    CALC_KERNEL_EXACT,        /**< measured */
    CALC_KERNEL_SOURCES
} calc_kernel_source;

/** Kinds of kernels, with the sizes that tell one from another, in their order in a key. */
typedef enum calc_kernel_kind {
    CALC_KERNEL_MATRIX,     /**< m, k, n and batch of the multiplication that a pass is */
    CALC_KERNEL_GROUPED,    /**< groups, rows of each, columns and inner size of the forward pass */
    CALC_KERNEL_ATTENTION,  /**< batch, sequence, heads, key heads, widths of keys and values */
    CALC_KERNEL_MEMORY,     /**< bytes */
    CALC_KERNEL_COLLECTIVE, /**< bytes, ranks, stride; variant: the operation */
    CALC_KERNEL_BLOCK,      /**< a whole block: measured_block.h */
    CALC_KERNEL_SERVING     /**< measured in addition, in no step of training; variant: which */
} calc_kernel_kind;

/** The key that identifies a kernel. Two can be compared if all but the sizes are equal. */
typedef struct calc_kernel_key {
    calc_kernel_kind kind;
    int pass;     /**< a calc_pass */
    int datatype; /**< a calc_datatype; 0 where it does not matter */
    int variant;  /**< weight gradients: bytes of a number; attention: causal; blocks: structure */
    int sizes;
    double log2_size[CALC_KERNEL_SIZES];
} calc_kernel_key;

/** Fill the sizes of a key. */
void calc_kernel_key_sizes(calc_kernel_key *key, const double *size, int sizes);

/** One measurement. */
typedef struct calc_kernel_point {
    calc_kernel_key key;
    double measured_s;
    double log_ratio; /**< log(measured / model) */
} calc_kernel_point;

/** Many. Borrowed. */
typedef struct calc_kernel_table {
    const calc_kernel_point *point;
    size_t count;
} calc_kernel_table;

/** Largest distance of neighbours in size, in octaves: a factor of four in one of the sizes. */
#define CALC_KERNEL_NEAR 2.0

/** Time of a kernel [s].
 *  @param model_s  time by the model
 *  @param source   filled */
double calc_kernel_table_s(const calc_kernel_table *table, const calc_kernel_key *key,
                           double model_s, calc_kernel_source *source);

/** "roofline", "curve", "interpolated" or "exact". */
const char *calc_kernel_source_text(calc_kernel_source source);

#endif
