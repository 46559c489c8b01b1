/* OpenMP for one thread: a browser gives a module no more. */
#ifndef CALC_WASM_OMP_H
#define CALC_WASM_OMP_H

#include <time.h>

static inline int omp_get_num_procs(void)
{
    return 1;
}

static inline int omp_get_thread_num(void)
{
    return 0;
}

static inline double omp_get_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
