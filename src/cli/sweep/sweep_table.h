/** @file sweep_table.h  Writes the results of a sweep as tables for people. */
#ifndef CALC_CLI_SWEEP_SWEEP_TABLE_H
#define CALC_CLI_SWEEP_SWEEP_TABLE_H

#include "cli/sweep/sweep_columns.h"
#include "io/output.h"

/** Parts of the results to show, and how. */
typedef struct calc_sweep_view {
    const char *columns; /**< --columns; NULL: columns that vary */
    bool front;
    int width;                       /**< characters per line */
    const calc_sweep_rows *best;     /**< calc_sweep_rows_best(); with groups without rows */
    const calc_sweep_advice *advice; /**< calc_sweep_rows_advise() */
    const char *saved;               /**< the file that the start was written to; NULL: none */
} calc_sweep_view;

/** Write how many layouts were feasible, rejected, ..., and the speed of the sweep.
 *  @param conditions  there are some: layouts that cannot meet them were skipped */
void calc_sweep_table_counts(calc_output *out, const calc_sweep_result *result, bool conditions);

/** Write the best, and the front if it is asked for; with groups (--per) the best of each.
 *  @return CALC_OK; CALC_ERR_NOMEM or CALC_ERR_FIELD with an error */
CALC_MUST_USE calc_status calc_sweep_table_found(calc_output *out, const calc_sweep_study *study,
                                                 const calc_sweep_result *result,
                                                 const calc_sweep_view *view, calc_errors *errors);

#endif
