/** @file chunks.h  Local search for a short division where stages have several chunks, or memory is
 *  shared otherwise: moves of layers and of recomputation from an even start, with exact
 *  simulation, and random kicks out of local optima. The bound comes from relaxed.h. */
#ifndef CALC_BALANCE_CHUNKS_H
#define CALC_BALANCE_CHUNKS_H

#include "balance/solve.h"

/** Search.
 *  @param below_s  calc_balance_options.below_s, or INFINITY
 *  @param out  feasible, share and bound_s are written, or stage and needs_bytes of the division
 *              that lacks least
 *  @return CALC_OK or CALC_ERR_NOMEM */
calc_status calc_balance_chunks(const calc_balance_problem *problem, calc_balance_effort *effort,
                                double below_s, calc_balance_solution *out);

#endif
