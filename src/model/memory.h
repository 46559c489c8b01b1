/** @file memory.h  What one processor has to hold, in each memory tier.
 *  Source: Korthikanti et al. 2022, arXiv 2205.05198 (activations, 1F1B and interleaving);
 *  Rajbhandari et al. 2020, arXiv 1910.02054 (model states). */
#ifndef CALC_MODEL_MEMORY_H
#define CALC_MODEL_MEMORY_H

#include "calc.h"
#include "model/block.h"
#include "model/optimizer.h"

/** Bytes by what they are for. */
typedef struct calc_memory_parts {
    double weight, activation, checkpoint, activation_grad, weight_grad, optimizer;
} calc_memory_parts;

/** Need of a tier as a line over the micro-batches in flight [bytes]. */
typedef struct calc_memory_line {
    double fixed;
    double per_flight;
} calc_memory_line;

/** Need of both tiers. */
typedef struct calc_memory_need {
    calc_memory_line tier1, tier2;
} calc_memory_need;

/** Everything a processor holds, wherever it is.
 *  @param blocks     per processor
 *  @param in_flight  micro-batches whose activations it holds: calc_pipeline.in_flight */
calc_memory_parts calc_memory_whole(const calc_exec *exec, const calc_block *block,
                                    const calc_optimizer_block *optimizer, double blocks,
                                    double in_flight);

/** What of each part must stay in tier 1 if it is offloaded: the block at hand and the next. */
calc_memory_parts calc_memory_offloaded(const calc_exec *exec, const calc_block *block,
                                        const calc_optimizer_block *optimizer);

/** Need of a layout. Depends on the offload flags, training and activation_recompute, the block,
 *  the optimizer and the blocks per processor. */
calc_memory_need calc_memory_need_of(const calc_exec *exec, const calc_block *block,
                                     const calc_optimizer_block *optimizer, double blocks);

/** Need of a tier [bytes]. */
static inline double calc_memory_tier_bytes(const calc_memory_line *line, double in_flight)
{
    return line->fixed + line->per_flight * in_flight;
}

#endif
