/** @file sweep_more.h  The gain from 10 % more of each resource of the machines, for the best
 * layout as it is and with the layout that is then the best. And where there is none: the layout
 * that needs the least memory, more processors with which one fits, or why a space has no layout at
 * all. */
#ifndef CALC_PLAN_SWEEP_MORE_H
#define CALC_PLAN_SWEEP_MORE_H

#include "plan/study.h"
#include "plan/sweep_found.h"
#include "plan/why.h"

enum { CALC_SWEEP_MORE_LONGEST_S = 5 /**< sweeps that take longer are not repeated */ };

/** One resource. */
typedef struct calc_sweep_more_item {
    char text[CALC_RESOURCE_TEXT];
    calc_stats same; /**< the best layout of the sweep on the larger machine */
    bool found;      /**< swept again: `best` */
    calc_found best; /**< of the larger machine */
    calc_stats stats;
} calc_sweep_more_item;

/** All resources of the best layout's machine. */
typedef struct calc_sweep_more {
    size_t count;
    calc_sweep_more_item item[CALC_RESOURCES];
} calc_sweep_more;

/** Compute the gains; none if the sweep found nothing. All machines of the study get more at once.
 *  @param result  of the whole sweep
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_sweep_more_find(calc_sweep_more *out, const calc_sweep_study *study,
                                               const calc_sweep_result *result,
                                               calc_errors *errors);

enum { CALC_SWEEP_NEED_TIMES = 64 /**< at most this many times the processors are tried */ };

/** A layout that does not fit, and one on more processors that does. */
typedef struct calc_sweep_need {
    bool known;               /**< a layout would run with a larger first tier */
    calc_sweep_found least;   /**< the layout that needs the smallest one */
    bool spares;              /**< one fits if axes that nobody chose take values that were not
                                   searched: recomputation, and offload to the second tier */
    calc_sweep_found sparing; /**< the best of these */
    int64_t num_procs;        /**< the first of 2, 4, ... times the largest number of processors on
                                   which a layout fits; 0: none of them */
    calc_sweep_found larger;  /**< the best on these */
} calc_sweep_need;

/** The axes of `sparing`; 0 ends them. */
extern const calc_axis calc_sweep_need_axes[];

/** Whether the space has the value that `sparing` has of an axis. */
bool calc_sweep_need_has(const calc_sweep_need *need, const calc_space *space, calc_axis axis);

/** Find it. `known` stays false for serving, whose cache takes all memory that is left, for sweeps
 *  with conditions, and for sweeps that took longer than CALC_SWEEP_MORE_LONGEST_S.
 *  @param result  of the whole sweep, without a layout
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_sweep_need_find(calc_sweep_need *out, const calc_sweep_study *study,
                                               const calc_sweep_result *result,
                                               calc_errors *errors);

/** The complaints of calc_check() about a layout that has the first value of every axis. Fields
 *  that an execution may leave to calc are left to it, and a largest batch is rounded down to a
 *  multiple of its replicas. Where nobody chose tensor and pipeline parallelism, powers of two are
 *  tried and those with the fewest complaints taken.
 *  @return whether there are any, which are then in *errors */
bool calc_sweep_empty(const calc_sweep_study *study, calc_errors *errors);

#endif
