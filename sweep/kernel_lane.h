/** @file kernel_lane.h  One lane of a tile: how the model's functions are put together for it. */
#ifndef CALC_SWEEP_KERNEL_LANE_H
#define CALC_SWEEP_KERNEL_LANE_H

#include "kernel.h"
#include "model/data_par.h"
#include "model/step.h"

/** The step without gradients, and its backward pass. */
typedef struct calc_kernel_partial {
    double partial_s;
    calc_step_pass bw;
} calc_kernel_partial;

static inline calc_kernel_partial calc_kernel_partial_of(const calc_kernel_tile *t,
                                                         double base_blocks, double rounds,
                                                         double fw_message_s, double bw_message_s,
                                                         double uncharged_s)
{
    const calc_step_block *b = &t->block;
    calc_step_pass fw = calc_step_pass_of(b->fw_base_s, b->fw_edge_s, b->fw_mem_s, fw_message_s,
                                          t->fw_offload_s, base_blocks);
    calc_step_pass bw = calc_step_pass_of(b->bw_base_s, b->bw_edge_s, b->bw_mem_s, bw_message_s,
                                          t->bw_offload_s, base_blocks);
    double missing_s = calc_step_missing_s(&fw, &bw, t->missing_blocks, base_blocks);
    return (calc_kernel_partial){
        calc_step_partial_s(&fw, &bw, rounds, missing_s, t->optimizer_s, uncharged_s), bw};
}

/** Exposed time of an overlapped reduction [s]. */
static inline double calc_kernel_exposed_s(const calc_kernel_tile *t,
                                           const calc_kernel_reduction *r, const calc_step_pass *bw,
                                           double base_blocks, double chunks, double message_s,
                                           double collides)
{
    calc_data_par_overlap overlap = {
        .block_s = r->block_s,
        .usage = r->usage,
        .collides = collides,
        .base_bw_s = bw->base_s,
        .edge_bw_s = bw->edge_s,
        .chunk_bw_s = bw->chunk_s,
        .window_s = calc_data_par_window_s(bw->chunk_s, base_blocks, t->block.busy_s,
                                           r->link_base_s, r->link_edge_s, t->optimizer_window_s),
        .compute_s = t->compute_s,
        .message_s = message_s,
        .optimizer_window_s = t->optimizer_window_s,
        .stages = t->stages,
        .chunks = chunks,
        .base_blocks = base_blocks,
        .last_round = t->last_round,
    };
    return calc_data_par_overlapped(&overlap).exposed_s;
}

#endif
