/** @file filter.h  Conditions of a sweep (--where), and the loops of a worker in which they are
 * asked: those on fields before anything is computed, those on time and memory with the kernel's
 * numbers, the rest by calc_run(). Points that cannot meet them are skipped, unless --no-prune
 * wants all of them counted. */
#ifndef CALC_SWEEP_FILTER_H
#define CALC_SWEEP_FILTER_H

#include "point.h"
#include "worker.h"

void calc_conditions_init(calc_conditions *conditions, const calc_sweep_options *options);

/** Whether a point meets all conditions of a kind.
 *  @param stats  NULL: fields decide (TILE, LANE or FLAG) */
bool calc_conditions_met(const calc_sweep_options *options, calc_condition_kind kind,
                         const calc_exec *exec, const calc_stats *stats);

/** Which lanes' needs of the tiers meet the conditions on them.
 *  @param met  changed to false where they do not */
void calc_condition_memory_met(const calc_sweep_options *options, const double *tier1_bytes,
                               const double *tier2_bytes, size_t count, bool *met);

/** Find the flags and times that a new cell may have. */
void calc_filter_cell(calc_worker *worker);

/** Whether points of a row and a choice may meet the conditions. @param exec  theirs */
bool calc_filter_tile(const calc_worker *worker, const calc_exec *exec);

/** Whether the current flags may be evaluated: some of them meet the conditions. */
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

/** Make the screens of a worker that begins a design. */
void calc_screening_begin(calc_worker *worker);

/** Set the members of worker->job for screening in the current cell and group. */
void calc_screening_cell(calc_worker *worker);

/** Called when a layout was entered into the current group. */
void calc_screening_enter(calc_worker *worker, const double *objective);

#endif
