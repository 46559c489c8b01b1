/** @file sampled.h  How many of a large number of alike cases are looked at: of random spaces,
 *  layouts and searches one in CALC_SAMPLE, if the environment says so: builds that are slow find
 *  in a part what they would find in all. */
#ifndef CALC_TESTS_SAMPLED_H
#define CALC_TESTS_SAMPLED_H

#include <stdlib.h>

/** One in how many; 1: all. */
static inline int sample_step(void)
{
    const char *text = getenv("CALC_SAMPLE");
    int step = text ? atoi(text) : 1;
    return step > 1 ? step : 1;
}

/** How many of `count`, at least one. */
static inline int sample_of(int count)
{
    return (count + sample_step() - 1) / sample_step();
}

#endif
