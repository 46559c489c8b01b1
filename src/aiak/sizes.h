/** @file sizes.h  Which sizes a task's layouts can have, and what any division of their layers
 *  takes at least. */
#ifndef CALC_AIAK_SIZES_H
#define CALC_AIAK_SIZES_H

#include "aiak/pipeline.h"

enum { CALC_AIAK_MOST_MICROBATCH = 64 };

/** Sizes with what is known of them before they are balanced. */
typedef struct calc_aiak_bound {
    calc_aiak_sizes sizes;
    /** A layer and micro-batch on each chip, nothing recomputed; its forward pass. */
    double layer_s[CALC_AIAK_CHIPS], forward_s[CALC_AIAK_CHIPS];
    double growth;  /**< of the pipeline, at least */
    double after_s; /**< what follows the pipeline, at least */
    double least_s; /**< the step of the best choice of chips, at least */
} calc_aiak_bound;

/** List them: powers of two for tensor parallelism and micro-batches, stages and replicas that
 *  divide the rest.
 *  @param out  [capacity], or NULL to count
 *  @return how many there are */
size_t calc_aiak_sizes_list(const calc_aiak_task *task, calc_aiak_sizes *out, size_t capacity);

/** Stages of a chip that its limit allows, whole nodes where a node is full; at most all.
 *  @param step  filled: their number is a multiple of this, unless it is all that there are */
int calc_aiak_most_stages(const calc_aiak_task *task, const calc_aiak_sizes *sizes, int chip,
                          int *step);

/** What no division of the layers over these chips can undercut [s], in whatever order these are:
 *  layers alone, which may be divided. The slowest stage is busy with all micro-batches; or as in
 *  calc_aiak_bound_s().
 *  @param stages  of each chip of the task */
double calc_aiak_least_s(const calc_aiak_task *task, const calc_aiak_bound *bound,
                         const int stages[CALC_AIAK_CHIPS]);

/** The fastest chips, as many stages of each as there may be, which nothing undercuts.
 *  @param stages  filled
 *  @return whether there are enough chips */
bool calc_aiak_fastest(const calc_aiak_task *task, const calc_aiak_bound *bound,
                       int stages[CALC_AIAK_CHIPS]);

/** Fill the bound of sizes from their layouts. least_s is infinite if the chips do not suffice. */
void calc_aiak_bound_of(const calc_aiak_task *task, const calc_aiak_sizes *sizes,
                        const calc_aiak_layouts *layouts, calc_aiak_bound *out);

#endif
