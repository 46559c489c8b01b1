/** @file conditions.h  Sweeps with random conditions find what looking at every layout finds. */
#ifndef CALC_TEST_CONDITIONS_H
#define CALC_TEST_CONDITIONS_H

#include "oracle.h"

/** Sweep with conditions on fields, time, memory and other statistics, several at a time, whose
 * limits are values of layouts. Fail unless front, best and, without pruning, counts are the
 * oracle's. */
void assert_conditions_filter(const random_space *space, const oracle *all,
                              const calc_sweep_options *options);

#endif
