/** @file stage_rules.h  Terms of a block for Calculon's rules: offload, overlap, optimizer, memory.
 */
#ifndef CALC_MODEL_STAGE_RULES_H
#define CALC_MODEL_STAGE_RULES_H

#include "model/cost/block_memory.h"
#include "model/cost/optimizer.h"
#include "model/stages/stages.h"

/** Fill terms->rule; nothing without a rule. Depends on the fields of a row of a sweep, and on
 *  shards.
 *  @param dense_shards  ranks that share a state: does not matter where none is sharded
 *  @param optimizer     calc_stage_rules_optimizer() of each kind; NULL: it is computed */
void calc_stage_rules_of(const calc_cost_context *context, const calc_strategy *strategy,
                         const calc_stage_parts *parts, double dense_shards,
                         const calc_optimizer_step *optimizer, calc_stage_terms *terms);

/** The optimizer's step of a block of a kind. */
calc_optimizer_step calc_stage_rules_optimizer(const calc_cost_context *context,
                                               const calc_strategy *strategy,
                                               const calc_stage_parts *parts, calc_block_kind kind,
                                               double shards);

/** Bytes that travel to or from the second tier while a block runs, forward and backward: weights
 *  come while activations go, the link is duplex; backward all of them and the optimizer's state.
 */
typedef struct calc_stage_travel {
    double fw_bytes, bw_bytes;
} calc_stage_travel;

calc_stage_travel calc_stage_rules_travel(const calc_strategy *strategy, bool training,
                                          const calc_block_memory *block);

#endif
