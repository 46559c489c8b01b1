/** @file search.h  Finds the strategies of an AIAK task with the highest throughput: sizes, chips
 *  along the pipeline, layers of each stage, and recomputation of each kind of chip.
 *
 *  The search covers all sizes whose tensor-parallel ranks are in one node and divide the heads,
 *  with at least as many micro-batches as stages. It covers all orders of the chips. Each chip has
 *  up to as many stages as its limit allows, in whole nodes if the job has a full node. A
 *  lower bound on each candidate's step is known before it is balanced. Candidates are balanced
 *  from the lowest bound on, so that most are never balanced. */
#ifndef CALC_AIAK_SEARCH_H
#define CALC_AIAK_SEARCH_H

#include "aiak/pipeline.h"
#include "balance/solve.h"

typedef struct calc_aiak_strategy {
    calc_aiak_sizes sizes;
    calc_aiak_chain chain;
    int layers[CALC_BALANCE_STAGES];
    int again[CALC_AIAK_CHIPS]; /**< layers that recompute in full on each stage of a kind of chips,
                                 *  by order in the chain; all layers of a stage that has fewer */
    bool all_again[CALC_AIAK_CHIPS]; /**< every layer on them recomputes in full */
    calc_balance_share share[CALC_BALANCE_STAGES];
    double most_bytes[CALC_AIAK_CHIPS]; /**< of the fullest stage of a kind of chips */
    calc_balance_step step;
    double tokens_per_s; /**< of the whole job */
} calc_aiak_strategy;

typedef struct calc_aiak_found {
    int count;
    int64_t sizes;      /**< number of sizes tried; 0: none is legal */
    int64_t candidates; /**< number of chains of chips, with their recomputation */
    int64_t balanced;   /**< candidates balanced; the others are too large, or cannot be among the
                         *  best */
    bool cut;           /**< there were too many, and the rest was skipped */
} calc_aiak_found;

/** Searches.
 *  @param best  [top] filled, in order of throughput; ties are broken by fewer stages, fewer
 *  tensor-parallel ranks, smaller micro-batches and less memory, in this order
 *  @return CALC_OK, also if nothing fits; CALC_ERR_NOMEM */
calc_status calc_aiak_search(const calc_aiak_task *task, int top, calc_aiak_strategy *best,
                             calc_aiak_found *found);

#endif
