/** @file space.h  The layouts that Taylor enumerates, and its filters for experts: quadruples (dp,
 *  tp, cp, pp) whose product is the world, with every ep, optimizer shard, number of chunks,
 *  micro-batch and setting of sequence parallelism. No list is built: loops count, and call
 *  back. */
#ifndef CALC_TAYLOR_SPACE_H
#define CALC_TAYLOR_SPACE_H

#include "calc.h"

/** Bounds of the enumeration and its filters; calc_taylor_space_preset() has Taylor's defaults. */
typedef struct calc_taylor_space {
    int64_t world, batch;
    int64_t layers, prediction; /**< num_layers, and mtp_depth in addition */
    /** Upper bound of expert parallelism; 0: no bound; 1: there are no experts, and optimizer
     *  shards need not contain whole groups of an expert's replicas. */
    int64_t experts;
    int64_t heads; /**< tensor parallelism must divide it; 0: any */
    int64_t most_context, most_tensor, most_expert, fewest_stages, most_stages;
    int64_t sequence_from;      /**< smallest world with sequence parallelism */
    int64_t tensor_indivisible; /**< tensor parallelism must not be a multiple of it; 0: any */
    bool fills;                 /**< requires at least as many micro-batches and layers as stages */
    bool divides;               /**< replicas must divide the batch */
} calc_taylor_space;

typedef struct calc_taylor_layout {
    int64_t data, tensor, context, pipeline;
} calc_taylor_layout;

/** Numbers of candidates: all, those kept, and the quadruples of those kept. */
typedef struct calc_taylor_counts {
    int64_t total, kept, layouts;
} calc_taylor_counts;

enum { CALC_TAYLOR_MICROBATCH_MOST = 4 /**< 1, 2 and 4 are tried */ };

/** Taylor's default bounds: cp 1, tp and ep at most 64, 2 to 32 stages, tp no multiple of 3,
 *  sequence parallelism from 1000 processors. Sizes of model and world stay 0. */
calc_taylor_space calc_taylor_space_preset(void);

/** Counts the candidates, and calls `visit` with each quadruple that is kept, in ascending order of
 *  dp, tp, cp. The world must have 1 to 10^6 processors. */
calc_taylor_counts calc_taylor_space_walk(const calc_taylor_space *space,
                                          void (*visit)(void *context,
                                                        const calc_taylor_layout *layout),
                                          void *context);

#endif
