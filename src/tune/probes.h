/** @file probes.h  Which layouts to measure in order to learn memory best: a grey box. The memory
 *  of a processor is a sum of parts; calc predicts the size of each, and measurements determine its
 *  factor. That takes layouts with different proportions of the parts: those whose regression has
 *  the normal matrix with the smallest condition number, as MindSpeed chooses the probes of its
 *  memory model. */
#ifndef CALC_TUNE_PROBES_H
#define CALC_TUNE_PROBES_H

#include "tune/candidate.h"

enum { CALC_TUNE_PROBES = 5 };

/** Choose probes among layouts that need at most 80 % of the memory.
 *  @param probe      filled
 *  @param condition  set to the condition number; infinite if no choice determines all factors
 *  @return how many there are: fewer than CALC_TUNE_PROBES if there are not enough such layouts */
size_t calc_tune_probes(const calc_tune_candidate *candidate, size_t count,
                        size_t probe[CALC_TUNE_PROBES], double *condition);

#endif
