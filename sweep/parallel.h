/** @file parallel.h  Independent pieces of work on all threads, for work beside a sweep. */
#ifndef CALC_SWEEP_PARALLEL_H
#define CALC_SWEEP_PARALLEL_H

#include <stddef.h>

/** Call body(context, i) for every i below count, in any order, from several threads at once.
 *  @param threads  0: as many as the machine has */
void calc_parallel_for(int threads, size_t count, void (*body)(void *context, size_t i),
                       void *context);

#endif
