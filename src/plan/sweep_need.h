/** @file sweep_need.h  Ways out where no layout of a sweep fits the memory: the layout that needs
 *  the least of it, and more processors. */
#ifndef CALC_PLAN_SWEEP_NEED_H
#define CALC_PLAN_SWEEP_NEED_H

#include "plan/sweep_found.h"

enum { CALC_SWEEP_NEED_TIMES = 64 /**< at most this many times the processors are tried */ };

/** A layout that does not fit, and one on more processors that does. */
typedef struct calc_sweep_need {
    bool known;              /**< a layout would run with a larger first tier */
    calc_sweep_found least;  /**< the layout that needs the smallest one */
    int64_t num_procs;       /**< the first of 2, 4, ... times the largest number of processors on
                                  which a layout fits; 0: none of them */
    calc_sweep_found larger; /**< the best on these */
} calc_sweep_need;

/** Find it. `known` stays false for serving, whose cache takes all memory that is left, for sweeps
 *  with conditions, and for sweeps that took longer than CALC_SWEEP_MORE_LONGEST_S.
 *  @param result  of the whole sweep, without a layout
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_sweep_need_find(calc_sweep_need *out, const calc_sweep_study *study,
                                               const calc_sweep_result *result,
                                               calc_errors *errors);

#endif
