/** @file sizes.h  Lists the sizes of a task's layouts, and gives lower bounds for all divisions of
 *  their layers. */
#ifndef CALC_AIAK_SIZES_H
#define CALC_AIAK_SIZES_H

#include "aiak/pipeline.h"

enum { CALC_AIAK_MOST_MICROBATCH = 64 };

/** Sizes with the bounds known before balancing. */
typedef struct calc_aiak_bound {
    calc_aiak_sizes sizes;
    /** Time [s] of one layer and micro-batch on each chip without recomputation, and of its forward
     *  pass. */
    double layer_s[CALC_AIAK_CHIPS], forward_s[CALC_AIAK_CHIPS];
    double growth;  /**< lower bound on the growth of the pipeline */
    double after_s; /**< lower bound on the time after the pipeline */
    double least_s; /**< lower bound on the step with the best choice of chips */
} calc_aiak_bound;

/** Lists the sizes: powers of two for tensor parallelism and micro-batches; stages and replicas
 *  that divide the rest.
 *  @param out  [capacity], or NULL to count
 *  @return how many there are */
size_t calc_aiak_sizes_list(const calc_aiak_task *task, calc_aiak_sizes *out, size_t capacity);

/** Most stages of a chip that its limit allows, in whole nodes if the job has a full node;
 *  at most all stages.
 *  @param step  filled: the number of stages must be a multiple of this, unless the chip has all
 *  stages */
int calc_aiak_most_stages(const calc_aiak_task *task, const calc_aiak_sizes *sizes, int chip,
                          int *step);

/** Lower bound [s] for all divisions of the layers over these chips in any order, from fractional
 *  layers alone. The slowest stage is busy with all micro-batches, or the bound is as in
 *  calc_aiak_bound_s().
 *  @param stages  number of stages on each chip of the task */
double calc_aiak_least_s(const calc_aiak_task *task, const calc_aiak_bound *bound,
                         const int stages[CALC_AIAK_CHIPS]);

/** Chooses the fastest chips with as many stages on each as allowed; no other choice has a lower
 *  bound.
 *  @param stages  filled
 *  @return whether there are enough chips */
bool calc_aiak_fastest(const calc_aiak_task *task, const calc_aiak_bound *bound,
                       int stages[CALC_AIAK_CHIPS]);

/** Fills the bounds of sizes from their layouts. least_s is infinite if there are too few chips. */
void calc_aiak_bound_of(const calc_aiak_task *task, const calc_aiak_sizes *sizes,
                        const calc_aiak_layouts *layouts, calc_aiak_bound *out);

#endif
