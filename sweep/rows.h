/** @file rows.h  The table of block profiles: one row per combination of what a block depends on,
 *  for one tensor parallelism and micro-batch size. Everything else of a layout is cells (cell.h)
 *  and lanes (kernel.h). */
#ifndef CALC_SWEEP_ROWS_H
#define CALC_SWEEP_ROWS_H

#include "calc.h"
#include "model/block.h"
#include "model/layer.h"
#include "model/step.h"
#include "space.h"

/** One block profile and the execution it was made for; of that, only tensor parallelism,
 *  micro-batch, datatype, attention, fusion, recomputation, tensor-parallel communication and
 *  training are meant. */
typedef struct calc_row {
    calc_exec exec;
    calc_block block;
    calc_step_block step;
    size_t weights;       /**< index of its layers in calc_rows.weights */
    size_t network;       /**< position of tensor_par_net in calc_rows.networks */
    bool full;            /**< full recomputation: nothing to offload but checkpoints */
    double message_bytes; /**< between pipeline stages, if there are any */
} calc_row;

/** Layers of a block: what the optimizer needs of them does not depend on the rest of a row. */
typedef struct calc_row_weights {
    calc_layer layer[CALC_MAX_LAYERS];
    size_t count;
} calc_row_weights;

/** The table. Reused from one (tensor_par, microbatch_size) to the next. */
typedef struct calc_rows {
    size_t count, capacity;
    calc_row *row;
    calc_row_weights weights[2]; /**< without and with tensor-parallel overlap */
    size_t networks_count;
    int64_t networks[CALC_MAX_NETWORKS]; /**< of tensor parallelism */
} calc_rows;

/** Fill the table for `base`, which gives tensor_par, microbatch_size, datatype, attention_type
 *  and training.
 *  @param profile  false: only which rows there are, not their profiles
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_rows_fill(calc_rows *rows, const calc_space *space,
                                         const calc_app *app, const calc_system *system,
                                         const calc_exec *base, calc_compat compat, bool profile);

/** Free what the table owns. */
void calc_rows_free(calc_rows *rows);

#endif
