/** @file condition.h  Conditions of a sweep (--where) where the point is known: those on fields
 * before anything is computed, those on time and memory with the kernel's numbers, the rest by
 * calc_run(). */
#ifndef CALC_SWEEP_CONDITION_H
#define CALC_SWEEP_CONDITION_H

#include "calc.h"
#include "kernel.h"
#include "objective.h"
#include "sweep.h"

/** Whether a sweep has conditions that need calc_run(). */
bool calc_condition_needs_run(const calc_sweep_options *options);

/** The state of the conditions of a sweep at a worker's position: filter.h. */
typedef struct calc_conditions {
    bool any[CALC_CONDITION_KINDS];
    calc_kernel_range steps; /**< of the cell: by rounding or for other relations than less and more
                                  some are open */
    bool flag_met[6]; /**< of the cell: values of data_par_overlap times param_gather_overlap */
    size_t flags_met; /**< of the flags at hand */
    double most_tier1_bytes, most_tier2_bytes; /**< no larger need meets those on memory */
} calc_conditions;

void calc_conditions_init(calc_conditions *conditions, const calc_sweep_options *options);

/** Whether an execution meets all conditions of a kind that fields decide: TILE, LANE or FLAG. */
bool calc_condition_fields_met(const calc_sweep_options *options, calc_condition_kind kind,
                               const calc_exec *exec);

/** The conditions on time for the layouts of a cell. @param exec  of the cell */
calc_kernel_range calc_condition_steps_of(const calc_sweep_options *options, const calc_app *app,
                                          const calc_system *system, const calc_exec *exec);

/** Which lanes' needs of the tiers meet the conditions on them.
 *  @param met  changed to false where they do not */
void calc_condition_memory_met(const calc_sweep_options *options, const double *tier1_bytes,
                               const double *tier2_bytes, size_t count, bool *met);

/** Whether a layout with this time meets the conditions on time, to the bit of calc_run(). */
bool calc_condition_time_met(const calc_sweep_options *options, const calc_app *app,
                             const calc_system *system, const calc_exec *exec, double total_s);

/** Whether it meets the other conditions: runs it. */
bool calc_condition_other_met(const calc_sweep_options *options, const calc_app *app,
                              const calc_system *system, const calc_exec *exec);

#endif
