/** @file sweep_table.h  What a sweep found, for people. */
#ifndef CALC_CLI_SWEEP_TABLE_H
#define CALC_CLI_SWEEP_TABLE_H

#include "cli/sweep_found.h"
#include "io/output.h"

/** How many layouts became what, and how fast. */
void calc_sweep_table_counts(calc_output *out, const calc_sweep_result *result);

/** Front and best; with groups (--per) the best of each. */
void calc_sweep_table_found(calc_output *out, const calc_sweep_study *study,
                            const calc_sweep_result *result);

#endif
