/** @file choice.h  Recomputation chosen for the layers of a chunk: with one chunk per stage every
 *  stage chooses by itself, since a shorter backward pass never makes a step longer. */
#ifndef CALC_BALANCE_CHOICE_H
#define CALC_BALANCE_CHOICE_H

#include "balance/problem.h"

/** How many layers of a place may recompute in full; if it has fewer, all do. */
typedef struct calc_balance_range {
    int least, most;
} calc_balance_range;

/** Any number. */
#define CALC_BALANCE_ANY ((calc_balance_range){0, CALC_BALANCE_MOST_LAYERS})

/** A choice for given layers. */
typedef struct calc_balance_choice {
    bool fits;
    calc_balance_share share;
    calc_schedule_pass pass;
    double bytes;
} calc_balance_choice;

/** Memory that a stage with one chunk needs. @param flight  micro-batches in flight at most */
double calc_balance_stage_bytes(const calc_balance_problem *problem, int stage, double flight,
                                const calc_balance_share *share);

/** The choice with the shortest backward pass that fits on a stage with one chunk; among equals the
 *  one that needs least. If none fits: one with the least need.
 *  @param dense, moe  layers of kind 0 and 1
 *  @param flight      micro-batches in flight at most
 *  @param more_bytes  added to the limit of the stage */
calc_balance_choice calc_balance_choose(const calc_balance_problem *problem, int stage, int dense,
                                        int moe, double flight, calc_balance_range full,
                                        double more_bytes);

#endif
