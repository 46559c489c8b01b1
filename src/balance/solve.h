/** @file solve.h  The division of layers and recomputation with the shortest step. */
#ifndef CALC_BALANCE_SOLVE_H
#define CALC_BALANCE_SOLVE_H

#include "balance/evaluate.h"

typedef struct calc_balance_options {
    double time_limit_s; /**< 0: none */
    double gap;          /**< stop when proven within this share of the step; 0: the optimum */
    /** Number of divisions simulated at most; 0: a default. The result depends on this number, and
     *  never on the clock unless a time limit is hit. */
    int64_t evaluations;
    bool (*stop)(void *context); /**< asked now and then; true ends the search; NULL: never */
    void *context;
} calc_balance_options;

typedef struct calc_balance_solution {
    bool feasible;
    bool proven; /**< no division is shorter by more than the gap asked for; or none fits */
    calc_balance_share share[CALC_BALANCE_PLACES];
    calc_balance_answer answer;
    double bound_s; /**< no division takes less */
    int64_t evaluations;
    /** If none is feasible: the stage that lacks most memory in the division that lacks least, and
     *  its need; -1 if the layers cannot be divided with any memory. */
    int stage;
    double needs_bytes;
} calc_balance_solution;

/** Search. Deterministic. Among steps equal up to rounding the search takes the smallest
 *  most_bytes, then the fewest layers on the first place, the second, and so on, as far as it meets
 *  them.
 *  @return CALC_OK, also if nothing fits; CALC_ERR_NOMEM; CALC_ERR_RULE if the schedule cannot run
 *          on the shape */
calc_status calc_balance_solve(const calc_balance_problem *problem,
                               const calc_balance_options *options, calc_balance_solution *out);

#endif
