/** @file sweep_found.h  The layouts a sweep found, with all their numbers. */
#ifndef CALC_PLAN_SWEEP_FOUND_H
#define CALC_PLAN_SWEEP_FOUND_H

#include "plan/study.h"

/** A layout and its statistics. */
typedef struct calc_sweep_found {
    uint64_t design;
    calc_exec exec;
    calc_stats stats;
} calc_sweep_found;

/** Give the layouts of a result the systems that the space names: results that were saved, or come
 *  from other ranks, have none. */
void calc_sweep_found_systems(const calc_sweep_study *study, calc_sweep_result *result);

/** Evaluate a layout with calc_run(). */
void calc_sweep_found_run(const calc_sweep_study *study, const calc_found *found,
                          calc_sweep_found *out);

/** Sweep a study for its best layout alone.
 *  @param no_prune  skip nothing, so that the counts of verdicts are whole
 *  @param counts    filled with the counts of verdicts, if not NULL
 *  @param found     whether there is one; then *best is filled
 *  @return as calc_sweep() */
CALC_MUST_USE calc_status calc_sweep_found_search(const calc_sweep_study *study, bool no_prune,
                                                  calc_sweep_counts *counts, bool *found,
                                                  calc_found *best, calc_errors *errors);

/** Whether a layout has fewer parts that move than another. Compared are, one after the other: the
 *  processors that the model is split over, by tensor, pipeline and context parallelism and sharded
 *  weights; those that split matrices; those that experts are spread over; the chunks of a stage;
 *  how many of recomputation and the three offloads are on. The size of a micro-batch is no such
 *  part: of measured layouts that it alone tells apart, the one predicted to be faster is.
 *  @return negative: `a` is simpler; positive: `b` is; 0: they are alike in that */
int calc_sweep_found_simpler(const calc_exec *a, const calc_exec *b);

/** Whether calc_run() accepts every layout and gives it the objectives that the sweep found, to the
 *  bit. If not, that is a bug in calc, or a part of a sweep that it was read from is forged. */
bool calc_sweep_found_agree(const calc_sweep_study *study, const calc_sweep_result *result);

/** The best layout of a group: the first of its list or, without one, of its front; NULL if there
 *  is none. */
const calc_found *calc_sweep_found_best(const calc_sweep_group *group);

/** The best of all groups; the first of equals. NULL if there is none. */
const calc_found *calc_sweep_found_best_of_all(const calc_sweep_result *result);

#endif
