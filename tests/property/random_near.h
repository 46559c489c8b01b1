/** @file random_near.h  Random layouts near those that are shipped. */
#ifndef CALC_TESTS_RANDOM_NEAR_H
#define CALC_TESTS_RANDOM_NEAR_H

#include "random_layout.h"

/** Fill *out: a shipped layout with one to four fields of its documents changed, of all that there
 *  are, such that calc_check() accepts it. The verdict may be any. */
void calc_random_near_make(calc_rng *rng, calc_random_layout *out);

#endif
