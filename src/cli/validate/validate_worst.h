/** @file validate_worst.h  Where the predicted time of the worst measurements goes. */
#ifndef CALC_CLI_VALIDATE_VALIDATE_WORST_H
#define CALC_CLI_VALIDATE_VALIDATE_WORST_H

#include "io/json_put.h"
#include "validate/error_groups.h"

/** The member "worst": an array of the scored step times with the largest errors, largest first:
 * the index of the row, its predicted time and the parts of it [s]. */
void calc_validate_worst_put(calc_put *put, const calc_results *results, calc_systems *systems);

#endif
