/** @file filter.h  The conditions of a sweep (condition.h) in the loops of a worker. Points that
 * cannot meet them are skipped, unless --no-prune wants all of them counted. */
#ifndef CALC_SWEEP_FILTER_H
#define CALC_SWEEP_FILTER_H

#include "point.h"
#include "worker.h"

/** Find the flags and times that a new cell may have. */
void calc_filter_cell(calc_worker *worker);

/** Whether points of a row and a choice may meet the conditions. @param exec  theirs */
bool calc_filter_tile(const calc_worker *worker, const calc_exec *exec);

/** The current flags: how many of them meet the conditions; whether they may be evaluated. */
void calc_filter_set_flags(calc_worker *worker);
bool calc_filter_flags(const calc_worker *worker);

/** Whether points of a chunking and a pair of networks may meet the conditions. */
bool calc_filter_place(const calc_worker *worker, size_t chunking, size_t pair);

/** Whether every point that does not meet them is to be counted. */
bool calc_filter_counts(const calc_worker *worker);

/** Whether a point meets the conditions that only it decides: on its time, and those that need
 *  calc_run(). */
bool calc_filter_point(const calc_worker *worker, const calc_exec *exec, double total_s);

/** Whether the fields of a point meet the conditions. */
bool calc_filter_fields(const calc_worker *worker, const calc_exec *exec);

#endif
