/* Which kernels this machine can run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "kernel_lane.h"
#include "stage_kernel_lane.h"

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

double calc_kernel_lane_s(const calc_kernel_tile *t, size_t lane, size_t reduction, bool overlapped)
{
    const calc_kernel_reduction *r = &t->reduction[reduction];
    calc_kernel_partial p =
        calc_kernel_partial_of(t, t->base_blocks[lane], t->rounds[lane], t->fw_message_s[lane],
                               t->bw_message_s[lane], t->uncharged_s[lane]);
    double exposed_s = r->plain_s;
    if (overlapped) {
        exposed_s = calc_kernel_exposed_s(t, r, &p.bw, t->base_blocks[lane], t->chunks[lane],
                                          t->bw_message_s[lane], r->collides[lane]);
    }
    return p.partial_s + exposed_s + r->mask_s[lane];
}

calc_stage_kernel *calc_stage_kernel_beside(calc_kernel *kernel)
{
#ifdef CALC_KERNEL_X86
    if (kernel == calc_kernel_v4) {
        return calc_stage_kernel_v4;
    }
    if (kernel == calc_kernel_v3) {
        return calc_stage_kernel_v3;
    }
#endif
    (void)kernel;
    return calc_stage_kernel_generic;
}

calc_stage_step calc_stage_lane_step(const calc_stage_tile *tile, size_t lane)
{
    return calc_stage_kernel_step(tile->terms, tile->schedule, tile->lanes, lane, false);
}
