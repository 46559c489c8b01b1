/** @file validate_table.h  Writes predictions beside measured runs as tables, for people. */
#ifndef CALC_CLI_VALIDATE_VALIDATE_TABLE_H
#define CALC_CLI_VALIDATE_VALIDATE_TABLE_H

#include "cli/validate/validation.h"
#include "io/json_put.h"
#include "io/output.h"
#include "validate/baseline.h"
#include "validate/results.h"

/* ---- The worst ------------------------------------------------------------------------------- */

/* Writes the measurements with the largest errors, and the parts of their predictions. */

/** Write the member "worst": an array of the step times with the largest errors, largest first: the
 *  index of the row, its predicted time and the parts of this time [s]. */
void calc_validate_worst_put(calc_put *put, const calc_results *results, calc_systems *systems);

/** Write the errors by published table, the effect of options on memory, the errors that others
 *  have published, the number of runs that count, why the others do not, and the rows with the
 *  largest errors. */
void calc_validate_table_write(calc_output *out, const calc_validation *validation);

/** Write the groups that got worse than a baseline by more than the tolerance, and how many of its
 *  measurements are no longer predicted. @return the number of lines that report something worse */
size_t calc_validate_table_baseline(calc_output *out, const calc_error_groups *groups,
                                    const calc_baseline *baseline, double tolerance);

#endif
