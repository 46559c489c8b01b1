/* Which kernels this machine can run. */
#include "kernel.h"
#include "kernel_lane.h"

size_t calc_kernel_levels(calc_kernel_level out[4])
{
    size_t count = 0;
    out[count++] = (calc_kernel_level){"generic", calc_kernel_generic};
#ifdef CALC_KERNEL_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma")) {
        out[count++] = (calc_kernel_level){"x86-64-v3", calc_kernel_v3};
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd")) {
        out[count++] = (calc_kernel_level){"x86-64-v4", calc_kernel_v4};
    }
#endif
    return count;
}

calc_stage_step calc_kernel_lane_step(const calc_kernel_tile *tile, size_t lane)
{
    return calc_kernel_step_of(tile->terms, tile->schedule, tile->lanes->classes, true, tile, lane,
                               false);
}

calc_stage_step calc_kernel_lane_least(const calc_kernel_tile *tile, size_t lane)
{
    return calc_kernel_step_of(tile->terms, tile->schedule, tile->lanes->classes, true, tile, lane,
                               true);
}
