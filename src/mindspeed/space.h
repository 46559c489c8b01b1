/** @file space.h  The configurations between which MindSpeed's planner decides, before their memory
 *  is looked at (mindspeed/core/auto_parallel of July 2024 and of January 2025). */
#ifndef CALC_MINDSPEED_SPACE_H
#define CALC_MINDSPEED_SPACE_H

#include "mindspeed/config.h"

/** Configurations in the order in which they are made: stages outermost, then tensor, context and
 *  Ulysses parallelism, micro-batch, chunks, experts. Owns its list; start with {0}. */
typedef struct calc_mindspeed_space {
    calc_mindspeed_config *config;
    size_t count, capacity;
} calc_mindspeed_space;

/** Every configuration of the devices that are planned for (calc_mindspeed_devices()): sizes divide
 *  devices, layers, heads, sequences and experts.
 *
 *  The first generation has any micro-batch that divides the batch of a replica, and asks of every
 *  configuration what only one of ring attention and Ulysses needs. The second has micro-batches of
 *  1 and 2, chunks where there are more than 2 stages and these divide the micro-batches, experts,
 *  and at least 4096 tokens on a rank where sequences are split.
 *
 *  Experts that are not spread over ranks are ep = 1, dense models ep = 0.
 *  @return CALC_OK, or CALC_ERR_NOMEM; *space is to be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_space_list(const calc_mindspeed_job *job,
                                                    calc_mindspeed_generation generation,
                                                    calc_mindspeed_space *space);

/** Fine on {0}. */
void calc_mindspeed_space_free(calc_mindspeed_space *space);

#endif
