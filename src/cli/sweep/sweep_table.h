/** @file sweep_table.h  What a sweep found, for people. */
#ifndef CALC_CLI_SWEEP_SWEEP_TABLE_H
#define CALC_CLI_SWEEP_SWEEP_TABLE_H

#include "cli/sweep/sweep_columns.h"
#include "io/output.h"

/** What of it is shown, and how. */
typedef struct calc_sweep_view {
    const char *columns; /**< --columns; NULL: those that vary */
    bool front;
    int width;                      /**< characters of a line */
    const calc_sweep_rows *best;    /**< without groups: calc_sweep_rows_best() */
    const calc_sweep_row *start;    /**< calc_sweep_rows_start() */
    const char *saved;              /**< the file that has that one; NULL: none */
    const calc_residuals *measured; /**< runs that tell what fits; NULL: none */
} calc_sweep_view;

/** How many layouts became what, and how fast.
 *  @param conditions  there are some: what cannot meet them was skipped */
void calc_sweep_table_counts(calc_output *out, const calc_sweep_result *result, bool conditions);

/** The best, and the front if it is asked for; with groups (--per) the best of each.
 *  @return CALC_OK; CALC_ERR_NOMEM or CALC_ERR_FIELD with an error */
CALC_MUST_USE calc_status calc_sweep_table_found(calc_output *out, const calc_sweep_study *study,
                                                 const calc_sweep_result *result,
                                                 const calc_sweep_view *view, calc_errors *errors);

#endif
