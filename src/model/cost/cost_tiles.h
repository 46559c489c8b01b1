/** @file cost_tiles.h  Tensor-parallel communication in tiles beside a matrix. Source: Isaev et al.
 *  2023 (SC'23). */
#ifndef CALC_MODEL_COST_TILES_H
#define CALC_MODEL_COST_TILES_H

#include "model/cost/cost_times.h"

/** The value of an absent tensor_par_fused, as documented in overlap_shares.fields.h. */
#define CALC_COST_TENSOR_PAR_FUSED 0.8

/** Whether a collective, one of a list, runs in tiles. */
bool calc_cost_tiles_has(const calc_cost_context *context, const calc_operator *op);

/** The collective in the list whose tiles run beside matrix i; NULL if there is none. */
const calc_operator *calc_cost_tiles_beside(const calc_cost_context *context,
                                            const calc_operator *list, size_t count, size_t i);

/** A pass over a matrix with its communication at the same time, in as many tiles as ranks. */
typedef struct calc_cost_tiles {
    double time_s;    /**< of the matrix: driving the network takes its share of the processor */
    double exposed_s; /**< communication that is not hidden */
} calc_cost_tiles;

/** The first tile is there already; the others travel beside the tiles before them. A pipe waits
 *  for one tile more than a ring, and hides at most as much as measured kernels do
 *  (overlap.tensor_par_fused).
 *  @param link_s  of the whole communication */
calc_cost_tiles calc_cost_tiles_of(const calc_cost_context *context, const calc_operator *matrix,
                                   calc_pass pass, double link_s);

/** The same of a matrix that was timed. */
calc_cost_tiles calc_cost_tiles_timed(const calc_cost_context *context, const calc_operator *matrix,
                                      const calc_cost_times *times, calc_pass pass, double link_s);

#endif
