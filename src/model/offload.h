/** @file offload.h  Weights, activations and optimizer state kept in tier 2: bytes that travel
 *  while a block is computed, and the part of that time that is not hidden. */
#ifndef CALC_MODEL_OFFLOAD_H
#define CALC_MODEL_OFFLOAD_H

#include "calc.h"
#include "model/block.h"
#include "model/optimizer.h"
#include "model/processor.h"

/** Bytes that travel to or from tier 2 per block and micro-batch. */
typedef struct calc_offload {
    double fw_bytes; /**< during the forward pass: weights in, or activations out */
    double bw_bytes; /**< during the backward pass: all of them; 0 in inference */
} calc_offload;

/** Bytes a layout offloads. */
calc_offload calc_offload_of(const calc_exec *exec, const calc_block *block,
                             const calc_optimizer_block *optimizer);

/** Activations of one block that can be offloaded [bytes]: what is stored, or the checkpoint. */
static inline double calc_offload_activation_bytes(const calc_exec *exec, const calc_block *block)
{
    return exec->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL
               ? block->checkpoint_bytes
               : block->activation_storage_bytes;
}

/** Bandwidths that would hide offload [bytes/s]; infinite where there is no time to hide in. */
typedef struct calc_offload_bandwidths {
    double activation, weight, optimizer; /**< each alone */
    double layout;                        /**< what the layout offloads */
} calc_offload_bandwidths;

/** @param fw_window_s, bw_window_s  time of a block that its own memory traffic leaves free, the
 *                                   smaller of base and edge block */
calc_offload_bandwidths calc_offload_required(const calc_exec *exec, const calc_block *block,
                                              const calc_optimizer_block *optimizer,
                                              double fw_window_s, double bw_window_s);

#endif
