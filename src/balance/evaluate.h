/** @file evaluate.h  The step and the memory of given shares: exact for the schedule's order of
 *  operations, whatever the times of the stages. */
#ifndef CALC_BALANCE_EVALUATE_H
#define CALC_BALANCE_EVALUATE_H

#include "balance/problem.h"

typedef struct calc_balance_answer {
    double step_s; /**< from the first forward to the last operation */
    double peak_bytes[CALC_BALANCE_STAGES];
    double most_bytes;  /**< of the stage with the largest need */
    bool fits;          /**< every stage within its limit */
    int worst_stage;    /**< that exceeds its limit by most, or has least left */
    double lacks_bytes; /**< by how much it exceeds it; 0 if all fit */
} calc_balance_answer;

/** Simulate a step. Time is the longest path through the operations; messages count as part of the
 *  places only. With many micro-batches a few are simulated and the rest is extrapolated, exactly
 *  up to rounding. 1F1B with chunks follows parts.h.
 *
 *  The memory of a stage is the maximum over all prefixes of its order: its fixed bytes, those held
 *  by its layers, and the activations of each chunk from the start of a forward to the end of the
 *  weight gradient. A stage of DualPipe holds its own part and a copy of the opposite stage's.
 *  @param problem  of a shape that calc_schedule_check() accepts
 *  @param share    [stages * chunks] in the order of places
 *  @return CALC_OK; CALC_ERR_NOMEM; CALC_ERR_RULE if the schedule cannot run on the shape */
calc_status calc_balance_evaluate(const calc_balance_problem *problem,
                                  const calc_balance_share *share, calc_balance_answer *out);

/** A workspace that grows: start with zero, free `bytes` at the end. */
typedef struct calc_balance_room {
    void *bytes;
    size_t size;
} calc_balance_room;

/** The step alone [s]; negative if there is no memory to simulate it. */
double calc_balance_step_s(const calc_balance_problem *problem, const calc_balance_share *share,
                           calc_balance_room *room);

#endif
