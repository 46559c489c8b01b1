/** @file evaluate.h  The lanes of a cell, evaluated: those that are legal, then those that bounds
 *  leave, with every chunking and every pair of networks. */
#ifndef CALC_SWEEP_EVALUATE_H
#define CALC_SWEEP_EVALUATE_H

#include "worker.h"

/** Evaluate the lanes of all sheets in the worker's cell, which some chunking fits, and count them.
 *  @param first, last  of the rows from the one to before the other */
void calc_evaluate_cell(calc_worker *worker, size_t first, size_t last);

#endif
