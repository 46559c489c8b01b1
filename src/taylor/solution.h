/** @file solution.h  A division of layers as a text: a variable and its value on a line, as solvers
 *  write solutions.
 *
 *      objective 57
 *      layers_1_0_0 4       (kind 0: dense, 1: other; stage; chunk)
 *      selective_1_0_0 0
 *      full_1_0_0 2 */
#ifndef CALC_TAYLOR_SOLUTION_H
#define CALC_TAYLOR_SOLUTION_H

#include "io/output.h"
#include "taylor/pipeline.h"

/** Writes it. */
void calc_taylor_solution_write(const calc_taylor_ask *ask, const calc_balance_share *share,
                                double objective, calc_output *out);

/** Reads it. The lines determine the sizes. Missing variables are 0, and other names are skipped.
 *  @param ask    filled with stages, chunks and layers
 *  @param share  [CALC_BALANCE_PLACES], in the order of chunks, then stages
 *  @return CALC_OK, or CALC_ERR_SYNTAX, _RANGE or _FIELD (no layers) with line and column */
CALC_MUST_USE calc_status calc_taylor_solution_parse(const char *text, size_t length,
                                                     const char *name, calc_taylor_ask *ask,
                                                     calc_balance_share *share, double *objective,
                                                     calc_errors *errors);

#endif
