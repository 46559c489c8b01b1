/** @file random_modern.h  Random modern models and layouts that calc_check() accepts. */
#ifndef CALC_TESTS_RANDOM_MODERN_H
#define CALC_TESTS_RANDOM_MODERN_H

#include "random_layout.h"

/** Fill *out: grouped-query or latent attention, dense or with experts, on machines with all
 *  constants of modern systems. Memories are larger than any layout needs, and so are networks: the
 *  verdict is CALC_VERDICT_OK, or, for about one layout in twenty, CALC_VERDICT_INTERLEAVING. */
void calc_random_modern_make(calc_rng *rng, calc_random_layout *out);

#endif
