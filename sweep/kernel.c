/* The hot loop. Compiled once per CPU level; CALC_KERNEL_NAME is the function's name at that level.
 * Loops are elementwise, so that every compiler turns them into vector code. */
#include "kernel.h"

#include <math.h>

#include "kernel_lane.h"

#ifndef CALC_KERNEL_NAME
#define CALC_KERNEL_NAME calc_kernel_generic
#endif

/* The step without gradients. */
static void partial_pass(const calc_kernel_tile *restrict t, calc_kernel_out *restrict out)
{
    const double *restrict base_blocks =
        __builtin_assume_aligned(t->base_blocks, CALC_KERNEL_ALIGN);
    const double *restrict rounds = __builtin_assume_aligned(t->rounds, CALC_KERNEL_ALIGN);
    const double *restrict fw_message_s =
        __builtin_assume_aligned(t->fw_message_s, CALC_KERNEL_ALIGN);
    const double *restrict bw_message_s =
        __builtin_assume_aligned(t->bw_message_s, CALC_KERNEL_ALIGN);
    const double *restrict uncharged_s =
        __builtin_assume_aligned(t->uncharged_s, CALC_KERNEL_ALIGN);
    size_t count = t->count;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        calc_kernel_partial p = calc_kernel_partial_of(
            t, base_blocks[i], rounds[i], fw_message_s[i], bw_message_s[i], uncharged_s[i]);
        out->partial_s[i] = p.partial_s;
        out->base_bw_s[i] = p.bw.base_s;
        out->edge_bw_s[i] = p.bw.edge_s;
        out->chunk_bw_s[i] = p.bw.chunk_s;
        out->best_s[i] = INFINITY;
    }
}

/* The best so far with one reduction, not overlapped. */
static void plain_pass(const calc_kernel_tile *restrict tile,
                       const calc_kernel_reduction *restrict r, calc_kernel_out *restrict out)
{
    const double *restrict mask_s = __builtin_assume_aligned(r->mask_s, CALC_KERNEL_ALIGN);
    double plain_s = r->plain_s;
    size_t count = tile->count;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        double total_s = out->partial_s[i] + plain_s + mask_s[i];
        out->best_s[i] = total_s < out->best_s[i] ? total_s : out->best_s[i];
    }
}

/* The same, overlapped with the backward pass. */
static void overlapped_pass(const calc_kernel_tile *restrict t,
                            const calc_kernel_reduction *restrict r, calc_kernel_out *restrict out)
{
    const double *restrict base_blocks =
        __builtin_assume_aligned(t->base_blocks, CALC_KERNEL_ALIGN);
    const double *restrict chunks = __builtin_assume_aligned(t->chunks, CALC_KERNEL_ALIGN);
    const double *restrict message_s = __builtin_assume_aligned(t->bw_message_s, CALC_KERNEL_ALIGN);
    const double *restrict collides = __builtin_assume_aligned(r->collides, CALC_KERNEL_ALIGN);
    const double *restrict mask_s = __builtin_assume_aligned(r->mask_s, CALC_KERNEL_ALIGN);
    size_t count = t->count;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        calc_step_pass bw = {out->base_bw_s[i], out->edge_bw_s[i], out->chunk_bw_s[i]};
        double exposed_s =
            calc_kernel_exposed_s(t, r, &bw, base_blocks[i], chunks[i], message_s[i], collides[i]);
        double total_s = out->partial_s[i] + exposed_s + mask_s[i];
        out->best_s[i] = total_s < out->best_s[i] ? total_s : out->best_s[i];
    }
}

/* All of it at once, for the usual case: so many networks of data parallelism, and both with and
 * without overlap. What the passes hand on stays in registers. */
static inline __attribute__((always_inline)) void
fused_pass(const calc_kernel_tile *restrict t, calc_kernel_out *restrict out, size_t reductions)
{
    const double *restrict base_blocks =
        __builtin_assume_aligned(t->base_blocks, CALC_KERNEL_ALIGN);
    const double *restrict chunks = __builtin_assume_aligned(t->chunks, CALC_KERNEL_ALIGN);
    const double *restrict rounds = __builtin_assume_aligned(t->rounds, CALC_KERNEL_ALIGN);
    const double *restrict fw_message_s =
        __builtin_assume_aligned(t->fw_message_s, CALC_KERNEL_ALIGN);
    const double *restrict bw_message_s =
        __builtin_assume_aligned(t->bw_message_s, CALC_KERNEL_ALIGN);
    const double *restrict uncharged_s =
        __builtin_assume_aligned(t->uncharged_s, CALC_KERNEL_ALIGN);
    size_t count = t->count;
#pragma omp simd
    for (size_t i = 0; i < count; i++) {
        calc_kernel_partial p = calc_kernel_partial_of(
            t, base_blocks[i], rounds[i], fw_message_s[i], bw_message_s[i], uncharged_s[i]);
        double best_s = INFINITY;
        for (size_t d = 0; d < reductions; d++) {
            const calc_kernel_reduction *r = &t->reduction[d];
            double plain_s = p.partial_s + r->plain_s + r->mask_s[i];
            double overlapped_s = p.partial_s +
                                  calc_kernel_exposed_s(t, r, &p.bw, base_blocks[i], chunks[i],
                                                        bw_message_s[i], r->collides[i]) +
                                  r->mask_s[i];
            best_s = plain_s < best_s ? plain_s : best_s;
            best_s = overlapped_s < best_s ? overlapped_s : best_s;
        }
        out->best_s[i] = best_s;
    }
}

void CALC_KERNEL_NAME(const calc_kernel_tile *tile, calc_kernel_out *out)
{
    bool both = tile->plain && tile->overlapped;
    if (both && tile->reductions == 1) {
        fused_pass(tile, out, 1);
        return;
    }
    if (both && tile->reductions == 2) {
        fused_pass(tile, out, 2);
        return;
    }
    partial_pass(tile, out);
    for (size_t d = 0; d < tile->reductions; d++) {
        if (tile->plain) {
            plain_pass(tile, &tile->reduction[d], out);
        }
        if (tile->overlapped) {
            overlapped_pass(tile, &tile->reduction[d], out);
        }
    }
}
