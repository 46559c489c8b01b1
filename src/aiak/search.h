/** @file search.h  The strategies of an AIAK task with the highest throughput: sizes, chips along
 *  the pipeline, layers of each stage and recomputation of each kind of chip.
 *
 *  All sizes are tried whose tensor-parallel ranks are in a node and divide the heads, and whose
 *  micro-batches are as many as the stages at least; chips in every order, as many stages of each
 *  as its limit allows, whole nodes of them where a node is full. What a candidate takes at least
 *  is known before it is balanced, and the best go first, so that most are never balanced. */
#ifndef CALC_AIAK_SEARCH_H
#define CALC_AIAK_SEARCH_H

#include "aiak/pipeline.h"
#include "balance/solve.h"

typedef struct calc_aiak_strategy {
    calc_aiak_sizes sizes;
    calc_aiak_chain chain;
    int layers[CALC_BALANCE_STAGES];
    int again[CALC_AIAK_CHIPS]; /**< layers of each stage of a kind of chips that recompute in full,
                                     by order in the chain; all of a stage that has fewer */
    bool all_again[CALC_AIAK_CHIPS]; /**< every layer on them does */
    calc_balance_share share[CALC_BALANCE_STAGES];
    double most_bytes[CALC_AIAK_CHIPS]; /**< of a stage of a kind of chips */
    calc_balance_step step;
    double tokens_per_s; /**< of the whole job */
} calc_aiak_strategy;

typedef struct calc_aiak_found {
    int count;
    int64_t sizes;      /**< that were tried: 0: none is legal */
    int64_t candidates; /**< chains of chips on them, and what these recompute */
    int64_t balanced;   /**< of them: the others are too large, or cannot be among the best */
    bool cut;           /**< there were too many, and the rest of them was not looked at */
} calc_aiak_found;

/** Search.
 *  @param best  [top] filled, in order of throughput; of equal ones fewer stages, fewer
 *               tensor-parallel ranks, smaller micro-batches, less memory come first
 *  @return CALC_OK, also if nothing fits; CALC_ERR_NOMEM */
calc_status calc_aiak_search(const calc_aiak_task *task, int top, calc_aiak_strategy *best,
                             calc_aiak_found *found);

#endif
