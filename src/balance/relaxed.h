/** @file relaxed.h  The least that a step can take with several chunks per stage.
 *
 *  A stage does all micro-batches of all its chunks, whatever their order: m c of the stage. It
 *  begins when the first chunk of the stages before is through once, and with 1F1B these have to go
 *  back through theirs when it is done. Its layers are counted together, those of a kind in any
 *  chunk, and their activations as if all were in flight as few times as those of the least chunk
 *  where that is most. The least over all layers of stages is a search for a threshold. Nor does
 *  a step take less than one micro-batch through the model, or than all work divided evenly; with
 *  DualPipe that is all. */
#ifndef CALC_BALANCE_RELAXED_H
#define CALC_BALANCE_RELAXED_H

#include "balance/flight.h"

/** @param below_s  a step that some division takes, or INFINITY
 *  @param least_s  written: no division takes less; INFINITY if none fits
 *  @param layers   [stages], written: layers of a stage at that threshold, all chunks together
 *  @return CALC_OK or CALC_ERR_NOMEM */
calc_status calc_balance_relaxed(const calc_balance_problem *problem,
                                 const calc_balance_flights *flights, double below_s,
                                 double *least_s, int *layers);

#endif
