/** @file memory.h  Memory of a configuration as MindSpeed's planner of January 2025 computes it
 *  without measurements (memory_model.py, its "white box"). Bytes of the first stage, which has the
 *  embedding and keeps the most micro-batches. */
#ifndef CALC_MINDSPEED_MEMORY_H
#define CALC_MINDSPEED_MEMORY_H

#include "mindspeed/config.h"

/** Memory of a device of the first stage. */
typedef struct calc_mindspeed_memory {
    double parameters; /**< of the device; a count */
    double weight_bytes, grad_bytes, optimizer_bytes;
    double activation_bytes; /**< of all micro-batches in flight */
    double peak_bytes;       /**< their sum plus 4.5 GiB for the runtime */
} calc_mindspeed_memory;

/** Configurations above this share of a device's memory are not tried. The share is above 1 because
 *  a measurement may show less. */
#define CALC_MINDSPEED_MEMORY_PRUNE 1.2

/** An answer must need less than this share. */
#define CALC_MINDSPEED_MEMORY_FINAL 0.95

/** Computes all of it. */
calc_mindspeed_memory calc_mindspeed_memory_of(const calc_mindspeed_job *job,
                                               const calc_mindspeed_config *config);

/** Activations of one layer and one micro-batch [bytes], without swapped tensors. The activation
 *  function's is the only recomputation considered. */
double calc_mindspeed_memory_layer_bytes(const calc_mindspeed_job *job,
                                         const calc_mindspeed_config *config);

#endif
