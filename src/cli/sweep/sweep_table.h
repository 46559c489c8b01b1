/** @file sweep_table.h  What a sweep found, for people. */
#ifndef CALC_CLI_SWEEP_SWEEP_TABLE_H
#define CALC_CLI_SWEEP_SWEEP_TABLE_H

#include "io/output.h"
#include "plan/sweep_found.h"

/** Rows shown at most. */
enum { CALC_SWEEP_TABLE_FRONT = 20, CALC_SWEEP_TABLE_GROUPS = 64 };

/** The i-th of `shown` rows that are spread evenly over `count`, the first and the last included.
 */
size_t calc_sweep_table_row(size_t i, size_t shown, size_t count);

/** How many layouts became what, and how fast. */
void calc_sweep_table_counts(calc_output *out, const calc_sweep_result *result);

/** Front and best; with groups (--per) the best of each. */
void calc_sweep_table_found(calc_output *out, const calc_sweep_study *study,
                            const calc_sweep_result *result);

#endif
