/** @file screening.h  What a worker screens by: the screen of each group (screen.h) follows its
 *  front, where the objectives are a rate or a time and needs of memory. */
#ifndef CALC_SWEEP_SCREENING_H
#define CALC_SWEEP_SCREENING_H

#include "worker.h"

/** Make the screens of a worker that begins a design. */
void calc_screening_begin(calc_worker *worker);

/** Look at the cell and the group at hand: sets what of worker->job is about screening. */
void calc_screening_cell(calc_worker *worker);

/** No longer step of the cell at hand matters, whatever it needs [s]: its group is at hand. */
double calc_screening_longest_s(calc_worker *worker);

/** A layout was entered into the group at hand. */
void calc_screening_enter(calc_worker *worker, const double *objective);

#endif
