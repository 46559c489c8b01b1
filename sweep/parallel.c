#include "parallel.h"

#include <omp.h>

void calc_parallel_for(int threads, size_t count, void (*body)(void *context, size_t i),
                       void *context)
{
#pragma omp parallel for schedule(dynamic, 1)                                                      \
    num_threads(threads > 0 ? threads : omp_get_num_procs())
    for (size_t i = 0; i < count; i++) {
        body(context, i);
    }
}
