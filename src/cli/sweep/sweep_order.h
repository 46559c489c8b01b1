/** @file sweep_order.h  Computes how sure it is that the best layout of a sweep is faster than
 *  another one. Both predictions have errors, which are the more alike the more the layouts are
 *  (tune/model.h). */
#ifndef CALC_CLI_SWEEP_SWEEP_ORDER_H
#define CALC_CLI_SWEEP_SWEEP_ORDER_H

#include "plan/sweep_found.h"
#include "tune/prior.h"

/** A layout less sure to be slower than this counts as equal to the best: the odds are below three
 *  to one. */
#define CALC_SWEEP_ORDER_SURE 0.75

/** The best of a sweep, for comparison with others. */
typedef struct calc_sweep_order {
    const calc_sweep_study *study;
    bool known; /**< the objective is a time or a rate of training */
    calc_tune_prior prior;
    calc_tune_candidate best;
    calc_stats stats;
    uint64_t design;
} calc_sweep_order;

/** Fill it. @param best  NULL: nothing is known */
calc_sweep_order calc_sweep_order_of(const calc_sweep_study *study, const calc_found *best);

/** The probability that the best is better than this layout; a member of calc_sweep_data; at least
 * 0.5 if the prediction says so.
 *  @return NaN: not known */
double calc_sweep_order_sure(const void *order, uint64_t design, const calc_exec *exec,
                             const calc_stats *stats);

/** Whether a layout counts as equal to the best; where nothing is known, if it is within 1 % of it.
 *  @param sure  calc_sweep_order_sure() of it */
bool calc_sweep_order_equal(const calc_sweep_order *order, double sure, const calc_stats *stats);

/** How good a layout is by the objective, as a share of the best: a rate over the best one, or the
 *  best time over its time; 0 if they cannot be compared. */
double calc_sweep_order_share(const calc_sweep_order *order, const calc_stats *stats);

#endif
