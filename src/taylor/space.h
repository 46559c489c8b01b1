/** @file space.h  The layouts that Taylor enumerates, and the experts' filters over them:
 * quadruples (dp, tp, cp, pp) whose product is the world, with every ep, optimizer shard, number of
 * chunks, micro-batch and switch of sequence parallelism. Nothing is listed: loops count, and call
 * back. */
#ifndef CALC_TAYLOR_SPACE_H
#define CALC_TAYLOR_SPACE_H

#include "calc.h"

/** What is enumerated, and which layouts are kept; calc_taylor_space_preset() has the defaults that
 *  Taylor is shipped with. */
typedef struct calc_taylor_space {
    int64_t world, batch;
    int64_t layers, prediction; /**< num_layers, and mtp_depth beside them */
    /** Expert parallelism is at most that; 0: without this bound; 1: there are no experts, of whose
     *  replicas a shard of the optimizer would have to hold whole groups. */
    int64_t experts;
    int64_t heads; /**< tensor parallelism divides that; 0: need not */
    int64_t most_context, most_tensor, most_expert, fewest_stages, most_stages;
    int64_t sequence_from;      /**< world from which sequence parallelism is on */
    int64_t tensor_indivisible; /**< tensor parallelism is no multiple of that; 0: may be */
    bool fills;                 /**< at least as many micro-batches and layers as stages */
    bool divides;               /**< replicas divide the batch */
} calc_taylor_space;

typedef struct calc_taylor_layout {
    int64_t data, tensor, context, pipeline;
} calc_taylor_layout;

/** Candidates: all, those that are kept, and the quadruples that these have. */
typedef struct calc_taylor_counts {
    int64_t total, kept, layouts;
} calc_taylor_counts;

enum { CALC_TAYLOR_MICROBATCH_MOST = 4 /**< 1, 2 and 4 are tried */ };

/** The bounds as shipped: cp 1, tp and ep at most 64, 2 to 32 stages, tp no multiple of 3, sequence
 *  parallelism from 1000 processors. Sizes of model and world stay 0. */
calc_taylor_space calc_taylor_space_preset(void);

/** Count, and call `visit` with each quadruple that is kept, in ascending order of dp, tp, cp. A
 *  space has from 1 to 10^6 processors. */
calc_taylor_counts calc_taylor_space_walk(const calc_taylor_space *space,
                                          void (*visit)(void *context,
                                                        const calc_taylor_layout *layout),
                                          void *context);

#endif
