/** @file sweep_write.h  Writes the results of a sweep as files. Except for the summary, they
 *  contain nothing that depends on the machine, the clock or the number of threads. */
#ifndef CALC_CLI_SWEEP_SWEEP_WRITE_H
#define CALC_CLI_SWEEP_SWEEP_WRITE_H

#include "io/json_put.h"
#include "plan/sweep_found.h"

/** Front and best as one JSON object; with groups (--per) one of each per group. */
void calc_sweep_write_json(calc_output *out, const calc_sweep_study *study,
                           const calc_sweep_result *result);

/** Write model, machine and swept fields of a design as an object in one line. */
void calc_sweep_put_design(calc_put *put, const char *key, const calc_sweep_study *study,
                           uint64_t design);

/** Write the parts of the time of a step and of the memory of a processor [s, bytes]: members
 *  "time", "memory1", "memory2" of the open object. */
void calc_sweep_put_parts(calc_put *put, const calc_sweep_study *study,
                          const calc_sweep_found *found);

/** Write the question as members of the open object: version, models, machines, objectives. */
void calc_sweep_put_study(calc_put *put, const calc_sweep_study *study);

/** Write the counts of layouts, likewise: feasible, filtered, skipped, and rejected by reason. */
void calc_sweep_put_counts(calc_put *put, const calc_sweep_counts *counts);

/** Write the same as CSV: list, rank in its group, model, machine, swept fields, layout,
 *  statistics. */
void calc_sweep_write_csv(calc_output *out, const calc_sweep_study *study,
                          const calc_sweep_result *result);

/** Write counts, times and rates, as JSON. */
void calc_sweep_write_summary(calc_output *out, const calc_sweep_result *result);

/** Write the column names of a row of calc_sweep_write_row(); `first`: names of preceding columns,
 *  or NULL. */
void calc_sweep_write_header(calc_output *out, const calc_sweep_study *study, const char *first);

/** Write a layout as the end of a row of CSV, with the end of the line. @param is_first  the row is
 *  empty so far */
void calc_sweep_write_row(calc_output *out, const calc_sweep_study *study,
                          const calc_sweep_found *found, bool is_first);

/** Evaluations per second; 0 if no time has passed. */
double calc_sweep_write_rate(const calc_sweep_result *result);

#endif
