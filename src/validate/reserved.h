/** @file reserved.h  Memory that PyTorch's allocator has taken from the device at the peak of a
 * step, which some publications print ("max_reserved"): more than tensors occupy
 * ("max_memory_allocated"), less than the processor needs, as contexts and communication buffers
 * are outside of it.
 *
 *  The allocator gives nothing back, and free memory lies in pieces between used memory. So tensors
 *  of different times add up where they do not fit into the free pieces:
 *  - those that the current blocks need forward, in many small pieces, and the logits that follow;
 *  - the logits' narrow copy, freed before the gradients of the wide ones come, which are larger;
 *  - with a split vocabulary, the probabilities, a third wide copy beside two gradients
 *    (torch/distributed/tensor/parallel/loss.py).
 *
 *  FSDP2 under the stages of torch.distributed.pipelining (stage.py) holds, besides, the shards of
 *  gradients that are still whole, and a buffer per micro-batch of a step for the input and for the
 *  gradient of the output of each chunk. */
#ifndef CALC_VALIDATE_RESERVED_H
#define CALC_VALIDATE_RESERVED_H

#include "validate/run_map.h"

/** It, on the fullest stage [bytes]; NaN: the layout cannot be evaluated. */
double calc_reserved_of(const calc_run_map *map, const calc_system *system);

#endif
