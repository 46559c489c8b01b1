/** @file baseline.h  Errors of an earlier version, from the CSV that `calc validate --csv` wrote.
 */
#ifndef CALC_VALIDATE_BASELINE_H
#define CALC_VALIDATE_BASELINE_H

#include "validate/error_groups.h"

/** The error of each result in the baseline. Owns the list. Start with {0}. */
typedef struct calc_baseline {
    double *error;  /**< by index of the result; NaN: it has none */
    size_t missing; /**< scored then, not predicted now */
} calc_baseline;

/** Read a baseline for these results. Its columns id, quantity, status and error count.
 *  @return CALC_OK, CALC_ERR_FIELD, CALC_ERR_TYPE, CALC_ERR_SYNTAX, CALC_ERR_NOMEM, or what
 *  calc_text_read() returns; *out must be freed in any case */
CALC_MUST_USE calc_status calc_baseline_read(calc_baseline *out, const char *path,
                                             const calc_results *results, calc_errors *errors);

/** Whether the mean error of a group grew by more than `tolerance`, a fraction. */
bool calc_baseline_is_worse(const calc_error_group *group, double tolerance);

/** Free what it owns; fine on {0}. */
void calc_baseline_free(calc_baseline *baseline);

#endif
