/** @file branch.h  The shortest division of a line: bounds, moves of a few layers, and branching
 *  over stages where these leave a gap. */
#ifndef CALC_BALANCE_BRANCH_H
#define CALC_BALANCE_BRANCH_H

#include "balance/bound.h"
#include "balance/effort.h"

/** The best division so far. */
typedef struct calc_balance_best {
    bool any;
    int layers[CALC_BALANCE_STAGES];
    calc_balance_range full[CALC_BALANCE_CHIPS]; /**< limits under which it was found */
    double step_s, most_bytes;
} calc_balance_best;

/** Search under the limits of the line, for divisions better than `best`.
 *  @param least_s  written: no division under these limits takes less, unless it is as long as the
 *                  best; INFINITY if none fits
 *  @return CALC_OK or CALC_ERR_NOMEM */
calc_status calc_balance_branch(calc_balance_line *line, calc_balance_effort *effort,
                                calc_balance_best *best, double *least_s);

/** A lower bound of all divisions under the limits of the line that may be shorter than the best.
 *  @param layers  [stages], written: a division that has this bound or is close to it
 *  @return CALC_OK or CALC_ERR_NOMEM; *least_s is INFINITY if there is none */
calc_status calc_balance_branch_bound(calc_balance_line *line, const calc_balance_best *best,
                                      int *layers, double *least_s);

/** Take a division if it is better. @return whether it is */
bool calc_balance_best_try(calc_balance_best *best, calc_balance_line *line,
                           calc_balance_effort *effort, const int *layers);

#endif
