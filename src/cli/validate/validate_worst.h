/** @file validate_worst.h  Writes the measurements with the largest errors, and the parts of their
 *  predictions. */
#ifndef CALC_CLI_VALIDATE_VALIDATE_WORST_H
#define CALC_CLI_VALIDATE_VALIDATE_WORST_H

#include "io/json_put.h"
#include "validate/results.h"

/** The scored result with the largest error after `last` (NULL: the largest of all), the first of
 *  equals; NULL if there is none.
 *  @param times  only times of steps */
const calc_result *calc_validate_next_worst(const calc_results *results, const calc_result *last,
                                            bool times);

/** Write one line with the parts of the predicted time or memory, in percent, if above half a
 *  percent. Memory is that of the fullest stage. */
void calc_validate_worst_parts(calc_output *out, const calc_result *result, calc_systems *systems);

/** Write the member "worst": an array of the step times with the largest errors, largest first: the
 *  index of the row, its predicted time and the parts of this time [s]. */
void calc_validate_worst_put(calc_put *put, const calc_results *results, calc_systems *systems);

#endif
