/** @file sweep_write.h  Writes the results of a sweep as files. Except for the summary, they
 *  contain nothing that depends on the machine, the clock or the number of threads. */
#ifndef CALC_CLI_SWEEP_SWEEP_WRITE_H
#define CALC_CLI_SWEEP_SWEEP_WRITE_H

#include "report/sweep_data.h"

/** Front and best as one JSON object; with groups (--per) one of each per group. */
void calc_sweep_write_json(calc_output *out, const calc_sweep_study *study,
                           const calc_sweep_result *result);

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

#endif
