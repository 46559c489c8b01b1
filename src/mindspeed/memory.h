/** @file memory.h  Memory of a configuration as MindSpeed's planner of January 2025 computes it
 *  (memory_model.py), without a measurement: its "white box". Bytes of the first stage, which has
 *  the embedding and keeps the most micro-batches. */
#ifndef CALC_MINDSPEED_MEMORY_H
#define CALC_MINDSPEED_MEMORY_H

#include "mindspeed/config.h"

/** What a device of the first stage needs. */
typedef struct calc_mindspeed_memory {
    double parameters; /**< of the device; a count */
    double weight_bytes, grad_bytes, optimizer_bytes;
    double activation_bytes; /**< of all micro-batches in flight */
    double peak_bytes;       /**< their sum, and 4.5 GiB of runtime */
} calc_mindspeed_memory;

/** More than this share of a device's memory is not tried: measurements are to say more. */
#define CALC_MINDSPEED_MEMORY_PRUNE 1.2

/** An answer needs less than this share. */
#define CALC_MINDSPEED_MEMORY_FINAL 0.95

/** All of it. */
calc_mindspeed_memory calc_mindspeed_memory_of(const calc_mindspeed_job *job,
                                               const calc_mindspeed_config *config);

/** Activations of one layer and one micro-batch, nothing recomputed but the activation function and
 *  what is swapped out. Bytes. */
double calc_mindspeed_memory_layer_bytes(const calc_mindspeed_job *job,
                                         const calc_mindspeed_config *config);

#endif
