/** @file bound.h  What no layout of a tile of stages can do better than. */
#ifndef CALC_SWEEP_BOUND_H
#define CALC_SWEEP_BOUND_H

#include "cell.h"
#include "point.h"

/** No step of the lanes is shorter, none needs less memory: it is no shorter than all blocks and
 *  ends on equal stages without messages, and a first stage holds no less than with the
 * interleaving that has the fewest micro-batches in flight.
 *  @param terms  of the cell */
calc_point calc_bound(calc_cell *cell, const calc_stage_terms *terms,
                      calc_pipeline_schedule schedule);

#endif
