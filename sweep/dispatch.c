/* Which kernels this machine can run. */
#include "kernel.h"

size_t calc_kernel_levels(calc_kernel_level out[4])
{
    size_t count = 0;
    out[count++] = (calc_kernel_level){"generic", &calc_kernel_generic};
#ifdef CALC_KERNEL_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("fma")) {
        out[count++] = (calc_kernel_level){"x86-64-v3", &calc_kernel_v3};
    }
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512cd")) {
        out[count++] = (calc_kernel_level){"x86-64-v4", &calc_kernel_v4};
    }
#endif
    return count;
}

calc_stage_step calc_kernel_lane_step(const calc_kernel_job *job,
                                      const calc_kernel_chunking *chunking,
                                      const calc_stage_links *links, size_t lane, bool least)
{
    const calc_stage_terms *shared = job->shared;
    calc_stage_terms t = {0};
    calc_panel_terms(job->panel, shared, shared->compat, shared->training, lane, &t);
    double exposed = chunking->overlapped > 0 ? 1 - t.message_hidden : 1;
    return calc_stage_step_or_less(&t, links, job->schedule, chunking->classes, chunking->item,
                                   chunking->chunks, exposed, least);
}
