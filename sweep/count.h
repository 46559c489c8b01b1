/** @file count.h  Every layout that does not meet a condition, counted: for --no-prune with
 *  conditions. Vectorized, except for steps whose bounds do not decide. */
#ifndef CALC_SWEEP_COUNT_H
#define CALC_SWEEP_COUNT_H

#include "tile.h"

/** Whether lanes are asked for that meet conditions: to be counted, or on memory. */
bool calc_count_asks(const calc_worker *worker);

/** Which lanes of the current panel meet the conditions on rows, choices and cells:
 * worker->fields_met.
 */
void calc_count_panel(calc_worker *worker);

/** Which of them, with the current chunking, also fit and meet the conditions on memory:
 *  worker->met. */
void calc_count_needs(calc_worker *worker);

/** Count the layouts of a chunking and a pair of networks that do not meet the conditions.
 *  @return whether some lanes may meet them */
bool calc_count_pair(calc_worker *worker, calc_tile_place at);

#endif
