/** @file random_layout.h  Random models, systems and layouts that calc_check() accepts. */
#ifndef CALC_TESTS_RANDOM_LAYOUT_H
#define CALC_TESTS_RANDOM_LAYOUT_H

#include "base/rng.h"
#include "calc.h"

/** The three inputs of calc_run(). */
typedef struct calc_random_layout {
    calc_app app;
    calc_system system;
    calc_exec exec;
} calc_random_layout;

/** Fill *out. Networks and memories are larger than any layout needs, and interleaving and offload
 *  fit the blocks, so that the verdict is always CALC_VERDICT_OK. Every choice of every field comes
 *  up; half of the layouts train without recomputation. */
void calc_random_layout_make(calc_rng *rng, calc_random_layout *out);

#endif
