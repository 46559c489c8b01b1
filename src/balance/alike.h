/** @file alike.h  The shortest division of a line where stages on one chip recompute the same
 * number of layers in full: branching over ranges of these numbers. */
#ifndef CALC_BALANCE_ALIKE_H
#define CALC_BALANCE_ALIKE_H

#include "balance/branch.h"

/** Search. Within a range every stage chooses its own number: that bounds the divisions where all
 *  have the same, and shows where to halve the range. The limits of the line are changed.
 *  @param least_s  as calc_balance_branch()
 *  @return CALC_OK or CALC_ERR_NOMEM */
calc_status calc_balance_alike(calc_balance_line *line, calc_balance_effort *effort,
                               calc_balance_best *best, double *least_s);

#endif
