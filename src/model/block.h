/** @file block.h  The transformer block: its layers, and their sum for one micro-batch on one
 *  processor. */
#ifndef CALC_MODEL_BLOCK_H
#define CALC_MODEL_BLOCK_H

#include "calc.h"
#include "model/layer.h"
#include "model/tensor_par.h"

/** Arithmetic and memory traffic of one pass, with the time of each alone and of both. */
typedef struct calc_block_work {
    double flop, flop_s;
    double bytes, mem_s;
    double time_s;
} calc_block_work;

/** Tensor-parallel communication of one pass. */
typedef struct calc_block_comm {
    double bytes;     /**< messages */
    double link_s;    /**< time on the link */
    double exposed_s; /**< part of it that is not hidden */
} calc_block_comm;

/** One block, one micro-batch, one processor. Depends on tensor_par, microbatch_size, datatype,
 *  fused_activation, attention_type, activation_recompute, tensor_par_comm_type,
 *  tensor_par_overlap, seq_par_ag_redo, tensor_par_net and training, and on nothing else. */
typedef struct calc_block {
    calc_block_work fw, recompute, agrad, wgrad;
    calc_block_comm fw_comm[CALC_BLOCK_PLACES];
    calc_block_comm agrad_comm[CALC_BLOCK_PLACES];
    calc_block_comm recomm[CALC_BLOCK_PLACES];
    double required_bytes_per_s; /**< bandwidth that would hide all overlapped messages */
    double weight_bytes;
    double weight_grad_bytes;        /**< before reduction and sharding, 4 bytes each */
    double activation_working_bytes; /**< while the block is computed */
    double activation_storage_bytes; /**< kept for the backward pass */
    double checkpoint_bytes;         /**< input kept for full recomputation */
    double activation_grad_bytes;
} calc_block;

/** Fill the layers of a block, in order of the forward pass.
 *  @param out  at least CALC_MAX_LAYERS
 *  @return their number */
size_t calc_block_layers(const calc_app *app, const calc_exec *exec, calc_layer *out);

/** Sum the layers. With `compat` calculon the recompute totals add, for every recomputed layer,
 *  all forward work up to it, as Calculon does (docs/calculon.md). */
void calc_block_profile(const calc_app *app, const calc_system *system, const calc_exec *exec,
                        calc_compat compat, const calc_layer *layers, size_t count,
                        calc_block *out);

#endif
