/** @file validate_breakdown.h  What the predictions with the largest errors consist of. */
#ifndef CALC_CLI_VALIDATE_VALIDATE_BREAKDOWN_H
#define CALC_CLI_VALIDATE_VALIDATE_BREAKDOWN_H

#include "io/output.h"
#include "validate/results.h"

/** The scored result with the largest error after `last` (NULL: the largest of all), the first of
 *  equals; NULL if there is none. */
const calc_result *calc_validate_next_worst(const calc_results *results, const calc_result *last);

/** One line with the parts of the predicted time or memory, in percent; those above half a percent.
 * Memory is that of the fullest stage. */
void calc_validate_breakdown_line(calc_output *out, const calc_result *result,
                                  calc_systems *systems);

#endif
