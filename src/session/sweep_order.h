/** @file sweep_order.h  How sure it is that the best layout of a sweep is faster than another one,
 *  and which of them is the one to start with. Both predictions have errors, which are the more
 *  alike the more the layouts are (tune/model.h); whether one fits is what measured runs like it
 *  say (validate/residuals.h). */
#ifndef CALC_SESSION_SWEEP_ORDER_H
#define CALC_SESSION_SWEEP_ORDER_H

#include "plan/sweep_more.h"
#include "tune/model.h"
#include "validate/residuals.h"

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
    double objective; /**< of the best, as lists have it: less is better */
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

/** A layout of a table. */
typedef struct calc_sweep_row {
    const calc_found *layout; /**< borrowed from the result */
    size_t number;            /**< its index in the whole list */
    size_t alike;             /**< layouts after it that the row stands for */
    double share;             /**< of the best: calc_sweep_order_share(); 0 on a front, of groups */
    double sure;              /**< that the best is faster: calc_sweep_order_sure(), likewise */
    bool equal;               /**< not the fastest, and calc_sweep_order_equal() to it */
    double worth;             /**< calc_sweep_order_weigh(), calc_sweep_order_mark() */
    bool starts;              /**< a framework can run it: calc_export_starts() */
    bool spread;    /**< trains, with experts over several domains of the fastest network */
    calc_fits fits; /**< fits in memory, as far as measured runs tell */
} calc_sweep_row;

/** The machine whose runs the constants of a system of the study were fitted to; "": none. */
const char *calc_sweep_order_calibrated(const calc_sweep_study *study, const char *machine);

/** How sure it is that a layout fits. @param measured  NULL: nothing is known */
calc_fits calc_sweep_order_fits(const calc_residuals *measured, const calc_sweep_study *study,
                                const calc_found *layout);

/** Determine how a row's layout compares with the best: its `share`, whether its experts are
 *  `spread`, and what it is worth as far as that goes: the share, less 13 % if they are. */
void calc_sweep_order_weigh(const calc_sweep_order *order, calc_sweep_row *row);

/** Determine whether a row can be started, and how sure it is that it fits. It is worth as much of
 *  what it was as the probability that it fits over CALC_FITS_SURE, at most all, and nothing if no
 *  framework runs it; under Calculon's rules all.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_sweep_order_mark(calc_sweep_row *row, const calc_residuals *measured,
                                                const calc_sweep_study *study);

/** Three layouts to choose from, often one and the same: rows with their index among the best, 0:
 *  not among them. Nothing fits: {0}. */
typedef struct calc_sweep_advice {
    calc_status status;     /**< CALC_OK or CALC_ERR_NOMEM: there is no advice */
    calc_sweep_row start;   /**< the one to start with */
    calc_sweep_row fastest; /**< the best by --top-by */
    calc_sweep_row safe;    /**< the best that is as good as sure to fit (CALC_FITS_SURE) and that a
                             *   framework runs; {0}: none that is not far behind */
} calc_sweep_advice;

/** Choose them among the best and, if these do not settle it, the front. The start is the simplest
 *  (calc_sweep_found_simpler()) of those that are worth (calc_sweep_row) at most 2 % less than the
 *  most; of several, and of training by another objective than time (calc_sweep_order), the one
 * that is worth most. If no framework runs any, with several groups, or under Calculon's rules, the
 *  start is the best. Examines all layouts kept, so call it before lists are cut. */
calc_sweep_advice calc_sweep_order_advise(const calc_residuals *measured,
                                          const calc_sweep_study *study,
                                          const calc_sweep_result *result);

#endif
