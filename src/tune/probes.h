/** @file probes.h  Which layouts to measure so that memory is known best: a grey box. What a
 *  processor needs is a sum of parts of which calc knows the size and measurements tell the factor,
 *  so that layouts are wanted whose parts differ: of which the normal matrix of the regression has
 *  the smallest condition number, as MindSpeed chooses the probes of its memory model. */
#ifndef CALC_TUNE_PROBES_H
#define CALC_TUNE_PROBES_H

#include "tune/candidate.h"

enum { CALC_TUNE_PROBES = 5 };

/** Choose probes among layouts that need at most 80 % of the memory.
 *  @param probe      filled
 *  @param condition  set to the condition number; infinite if no choice determines all factors
 *  @return how many there are: fewer than CALC_TUNE_PROBES if there are no more such layouts */
size_t calc_tune_probes(const calc_tune_candidate *candidate, size_t count,
                        size_t probe[CALC_TUNE_PROBES], double *condition);

#endif
