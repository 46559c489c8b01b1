/** @file random_modern.h  Random parts of models and machines that Calculon does not have, and
 *  random values of the fields of executions that go with them. */
#ifndef CALC_TEST_RANDOM_MODERN_H
#define CALC_TEST_RANDOM_MODERN_H

#include "base/rng.h"
#include "calc.h"
#include "space.h"

/** Grouped or latent attention, gates, vocabulary, experts: some of them. */
void random_modern_app(calc_rng *rng, calc_app *app);

/** Rates of attention, launches, hosts, overlaps, networks: some of them. */
void random_modern_system(calc_rng *rng, calc_system *system);

/** One or two values, or every one, of some of the optional fields; of the required ones those
 *  values that Calculon does not have. */
void random_modern_axes(calc_rng *rng, calc_space *space);

/** Values of Calculon and others beside them, in one to four axes. */
void random_mixed_axes(calc_rng *rng, calc_space *space);

#endif
