/** @file screening.h  The screens of a worker: the screen of each group (bound.h) follows its
 *  front, where the objectives are a rate or a time and needs of memory. */
#ifndef CALC_SWEEP_SCREENING_H
#define CALC_SWEEP_SCREENING_H

#include "worker.h"

/** Make the screens of a worker that begins a design. */
void calc_screening_begin(calc_worker *worker);

/** Set the members of worker->job for screening in the current cell and group. */
void calc_screening_cell(calc_worker *worker);

/** The longest step of the current cell that may matter, whatever its memory [s]. Its group must be
 *  the current one. */
double calc_screening_longest_s(calc_worker *worker);

/** Called when a layout was entered into the current group. */
void calc_screening_enter(calc_worker *worker, const double *objective);

#endif
