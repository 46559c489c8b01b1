/** @file kernel.h  The hot loop: times of many layouts that share a block profile.
 *
 *  A tile is one row of the profile table (rows.h) with one set of offload and sharding flags in
 *  one cell (cell.h). Its lanes are the pipeline interleavings times the networks of the pipeline;
 *  every lane stands for one layout per network of data parallelism and data_par_overlap. The
 *  arithmetic is that of model/step.h and model/data_par.h, called, not repeated. */
#ifndef CALC_SWEEP_KERNEL_H
#define CALC_SWEEP_KERNEL_H

#include "calc.h"
#include "model/step.h"

enum {
    CALC_KERNEL_LANES = 1024, /**< most lanes of a tile; a multiple of every vector length */
    CALC_KERNEL_ALIGN = 64    /**< bytes that lane arrays are aligned to */
};

/** The reduction of gradients on one network. */
typedef struct calc_kernel_reduction {
    double block_s;                  /**< of one block */
    double plain_s;                  /**< exposed in a step without overlap */
    double usage;                    /**< processor_usage of the network */
    double link_base_s, link_edge_s; /**< tensor-parallel communication on the same network */
    const double *collides;          /**< per lane: 1 if pipeline messages use it too */
    const double *mask_s; /**< per lane: 0, or infinity if the networks do not allow it */
} calc_kernel_reduction;

/** Inputs of a tile. Borrows. Arrays have `count` entries, rounded up to whole vectors. */
typedef struct calc_kernel_tile {
    size_t count;
    calc_step_block block;
    double fw_offload_s, bw_offload_s; /**< of a block */
    double optimizer_s;                /**< of all blocks of a processor */
    double optimizer_window_s;         /**< of one block; 0 if sharded */
    double compute_s;                  /**< backward arithmetic that gradients slow down */
    double missing_blocks, stages, last_round;
    const double *base_blocks, *chunks, *rounds;             /**< per lane: calc_pipeline */
    const double *fw_message_s, *bw_message_s, *uncharged_s; /**< per lane */
    bool plain, overlapped; /**< values of data_par_overlap in the space */
    size_t reductions;
    calc_kernel_reduction reduction[CALC_MAX_NETWORKS];
} calc_kernel_tile;

/** Outputs per lane, and what the passes hand on to each other. */
typedef struct calc_kernel_out {
    _Alignas(CALC_KERNEL_ALIGN) double best_s[CALC_KERNEL_LANES];    /**< shortest step */
    _Alignas(CALC_KERNEL_ALIGN) double partial_s[CALC_KERNEL_LANES]; /**< without gradients */
    _Alignas(CALC_KERNEL_ALIGN) double base_bw_s[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double edge_bw_s[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double chunk_bw_s[CALC_KERNEL_LANES];
} calc_kernel_out;

/** Evaluate a tile; best_s is the minimum over its reductions and overlaps. */
typedef void calc_kernel(const calc_kernel_tile *tile, calc_kernel_out *out);

/** The kernel at each CPU level; of the last two only on x86-64. Ask calc_kernel_levels() which
 * this machine can run. */
calc_kernel calc_kernel_generic;
calc_kernel calc_kernel_v3;
calc_kernel calc_kernel_v4;

/** Step time of one lane with one reduction: what the kernel minimises over [s]. */
double calc_kernel_lane_s(const calc_kernel_tile *tile, size_t lane, size_t reduction,
                          bool overlapped);

/** One kernel per CPU level; the best that this machine has, or that CALC_CPU names
 *  ("x86-64", "x86-64-v3", "x86-64-v4"). */
typedef struct calc_kernel_level {
    const char *name;
    calc_kernel *run;
} calc_kernel_level;

/** Levels that this machine can run, lowest first.
 *  @return their number, at least 1 */
size_t calc_kernel_levels(calc_kernel_level out[4]);

#endif
