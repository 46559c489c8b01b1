/** @file fit.h  Recomputation that makes the layers of a stage with several parts fit: its chunks
 *  share its memory, so that no chunk can choose by itself. */
#ifndef CALC_BALANCE_FIT_H
#define CALC_BALANCE_FIT_H

#include "balance/flight.h"

/** Stages whose memory depends on the same places: one, or with DualPipe two opposite ones. */
typedef struct calc_balance_group {
    int stage[2];
    int stages;
    int place[CALC_BALANCE_PLACES];
    int places;
} calc_balance_group;

int calc_balance_groups(const calc_schedule_shape *shape);
calc_balance_group calc_balance_group_of(const calc_schedule_shape *shape, int index);

/** Bytes by which the stages of a group exceed their limits; 0: they fit.
 *  @param share  [places] */
double calc_balance_over_bytes(const calc_balance_problem *problem,
                               const calc_balance_flights *flights, const calc_balance_group *group,
                               const calc_balance_share *share);

/** Choose recomputation for the places of a group greedily: take the choice that saves most memory
 *  for its time until all fits, then take back excess choices. Their layers stay.
 *  @param share  [places], written
 *  @param full   [chips] layers that recompute in full where all stages of a chip have the same
 *               number; NULL: any
 *  @return calc_balance_over_bytes() of the result */
double calc_balance_fit(const calc_balance_problem *problem, const calc_balance_flights *flights,
                        const calc_balance_group *group, calc_balance_share *share,
                        const int *full);

/** Recompute in one layer more or less, if that is allowed.
 *  @param by  1 or -1
 *  @return false, and nothing changed, if it is not */
bool calc_balance_change(const calc_balance_problem *problem, calc_balance_share *share, int kind,
                         calc_balance_recompute what, int by);

#endif
