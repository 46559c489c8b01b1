/** @file random_space.h  Small random sweeps: an application, a machine and a space that go
 *  together, with few enough layouts to look at each. */
#ifndef CALC_TEST_RANDOM_SPACE_H
#define CALC_TEST_RANDOM_SPACE_H

#include <stdio.h>

#include "base/rng.h"
#include "calc.h"
#include "sweep.h"

enum { RANDOM_DESIGNS = 2 };

/** One random sweep. The designs point into it: it must stay where it is. */
typedef struct random_space {
    uint64_t seed;
    calc_space space;
    calc_app app[RANDOM_DESIGNS];
    calc_system system[RANDOM_DESIGNS];
    calc_designs designs;
    calc_sweep_counts counts; /**< of the space, by calc_sweep_count() without rules */
} random_space;

/** Make the sweep of a seed, with 1 to `most` layouts. Free with random_space_free(). */
void random_space_make(random_space *out, uint64_t seed, uint64_t most);

/** The same with models, machines and executions that have fields beyond Calculon's: all of them,
 *  or models and machines without such fields in spaces that mix both. */
void random_space_make_modern(random_space *out, uint64_t seed, uint64_t most);
void random_space_free(random_space *s);

/** Count a space under rules of Calculon's: it may be empty then. */
void random_space_count(random_space *space, calc_compat compat);

/** None of them, all, all but its defects, or any. */
calc_compat random_compat(calc_rng *rng);

/** Random objectives (of the kernel's kinds), number of best, and grouping. */
calc_sweep_options random_options(calc_rng *rng);

/** Print the axes of a space, to repeat a failure. */
void random_space_print(const random_space *s, FILE *out);

#endif
