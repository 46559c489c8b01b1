/** @file sweep_columns.h  Lists the columns that a table of a sweep may have. */
#ifndef CALC_CLI_SWEEP_SWEEP_COLUMNS_H
#define CALC_CLI_SWEEP_SWEEP_COLUMNS_H

#include "cli/sweep/sweep_cell.h"

enum { CALC_SWEEP_COLUMNS = 192 };

/** All columns of a table. Start with calc_sweep_columns_list(). */
typedef struct calc_sweep_columns {
    size_t count;
    calc_sweep_column column[CALC_SWEEP_COLUMNS];
    bool chosen; /**< chosen by --columns: in that order, all of them shown */
} calc_sweep_columns;

/** List the columns that a table of this study may have; if `names` is not NULL, only those it
 *  names (--columns): heads, statistics and fields.
 *  @return CALC_OK, or CALC_ERR_FIELD with an error for an unknown name */
CALC_MUST_USE calc_status calc_sweep_columns_list(calc_sweep_columns *columns,
                                                  const calc_sweep_study *study, const char *names,
                                                  calc_errors *errors);

#endif
