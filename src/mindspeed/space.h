/** @file space.h  Enumerates the configurations that MindSpeed's planner chooses from, before
 *  memory is considered (mindspeed/core/auto_parallel of July 2024 and of January 2025). */
#ifndef CALC_MINDSPEED_SPACE_H
#define CALC_MINDSPEED_SPACE_H

#include "mindspeed/config.h"

/** Configurations in the order of their enumeration: stages outermost, then tensor, context and
 *  Ulysses parallelism, micro-batch, chunks, experts. Owns its list; start with {0}. */
typedef struct calc_mindspeed_space {
    calc_mindspeed_config *config;
    size_t count, capacity;
} calc_mindspeed_space;

/** Enumerates every configuration of the devices to plan for (calc_mindspeed_devices()). Sizes must
 *  divide devices, layers, heads, sequences and experts.
 *
 *  The first generation allows any micro-batch that divides the batch of a replica, and applies the
 *  requirements of both ring attention and Ulysses to every configuration. The second has
 *  micro-batches of 1 and 2; chunks if there are more than 2 stages and they divide the
 *  micro-batches; experts; and at least 4096 tokens on a rank if sequences are split.
 *
 *  Experts that are not spread over ranks are ep = 1, dense models ep = 0.
 *  @return CALC_OK, or CALC_ERR_NOMEM; *space must be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_space_list(const calc_mindspeed_job *job,
                                                    calc_mindspeed_generation generation,
                                                    calc_mindspeed_space *space);

/** Frees the list; {0} is allowed. */
void calc_mindspeed_space_free(calc_mindspeed_space *space);

#endif
