/** @file verdict.h  Whether a layout can run, in Calculon's order of reasons. */
#ifndef CALC_MODEL_VERDICT_H
#define CALC_MODEL_VERDICT_H

#include "calc.h"

/** Ranks that a layout puts on network `index`: the product of the parallel sizes above 1 that
 *  use it; 1 if none does. */
double calc_verdict_network_ranks(const calc_exec *exec, int64_t index);

/** Verdict on one network: its size first, then whether it is filled. */
calc_verdict calc_verdict_network(const calc_network *network, double ranks);

/** Verdict on all networks of a layout: the first that is not fine. Where ranks are laid out over
 *  nodes (rank_order), only the number of processors is bounded. */
calc_verdict calc_verdict_networks(const calc_system *system, const calc_exec *exec);

/** Whether offload is asked for with too few blocks per processor to alternate between. */
bool calc_verdict_offload_blocks(const calc_exec *exec, double blocks_per_proc);

/** First reason of all: networks, stages, offload, memory.
 *  @param fit     whether blocks and chunks fit the stages: calc_stages.fit
 *  @param blocks  fewest of a stage
 *  @param tier1_bytes, tier2_bytes  need of each tier; not read if the chunks do not fit */
calc_verdict calc_verdict_of(const calc_system *system, const calc_exec *exec, bool fit,
                             double blocks, double tier1_bytes, double tier2_bytes);

#endif
