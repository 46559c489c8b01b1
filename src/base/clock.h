/** @file clock.h  Seconds by the clocks of the machine. */
#ifndef CALC_BASE_CLOCK_H
#define CALC_BASE_CLOCK_H

#include <time.h>

/** Seconds that a clock shows, of what it counts from: CLOCK_MONOTONIC; or
 * CLOCK_THREAD_CPUTIME_ID, of which other load of the machine takes none. */
static inline double calc_clock_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
