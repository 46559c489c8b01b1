/** @file kernel.h  The hot loop: the step of many layouts that share their terms. A tile is one row
 * of the table (rows.h) with one choice of state and offload in one cell (cell.h). Its lanes are
 *  chunkings times pairs of networks; every lane stands for the values of data_par_overlap and
 *  param_gather_overlap. The arithmetic is that of model/stages/stage_step.h, called, not repeated.
 */
#ifndef CALC_SWEEP_KERNEL_H
#define CALC_SWEEP_KERNEL_H

#include "model/stages/stage_step.h"

/** Longer than any step, for what is not allowed; finite, as the kernel is compiled without
 *  infinities. */
#define CALC_KERNEL_NEVER_S 1e300

enum {
    CALC_KERNEL_ALIGN = 64, /**< bytes that lane arrays are aligned to */
    /** Most lanes of a tile; a multiple of every vector length, and of no large power of two: else
     *  the arrays below would meet in the same lines of a cache. */
    CALC_KERNEL_LANES = 1064
};

#define CALC_X(member) _Alignas(CALC_KERNEL_ALIGN) double member[CALC_KERNEL_LANES];

/** Classes of stages of every lane. */
typedef struct calc_kernel_class {
    CALC_STAGE_CLASS_LIST(CALC_X)
} calc_kernel_class;

/** Links of every lane. */
typedef struct calc_kernel_links {
    CALC_STAGE_LINK_LIST(CALC_X)
} calc_kernel_links;

#undef CALC_X

/** Lanes of a cell: each pair of networks with each chunking, an interleaving with or without
 * overlap of pipeline messages; chunkings fastest. */
typedef struct calc_kernel_lanes {
    size_t count; /**< up to the next whole vector the entries are harmless */
    int classes;  /**< of every lane: calc_stage_step_of() */
    bool experts; /**< some blocks have them */
    _Alignas(CALC_KERNEL_ALIGN) double chunks[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double overlapped[CALC_KERNEL_LANES]; /**< 1: messages overlap */
    calc_kernel_class item[CALC_MAX_STAGE_CLASSES];
} calc_kernel_lanes;

/** One tile: terms, and the lanes of a cell. Borrows. */
typedef struct calc_kernel_tile {
    const calc_stage_terms *terms;
    const calc_kernel_lanes *lanes;
    const calc_kernel_links *links;
    size_t chunkings;    /**< of the cell */
    size_t first, count; /**< of the lanes: whole pairs of networks */
    calc_pipeline_schedule schedule;
    bool allowed[2][2]; /**< [gradients overlap][weights overlap] */
    double tier1_capacity_bytes, tier2_capacity_bytes;
} calc_kernel_tile;

/** What a tile gives. */
typedef struct calc_kernel_out {
    size_t feasible;                             /**< lanes whose memory fits */
    size_t over_tier1;                           /**< the first tier is too small */
    size_t over_tier2;                           /**< only the second is */
    double least_s;                              /**< of the feasible ones, each for itself; */
    double least_tier1_bytes, least_tier2_bytes; /**< CALC_KERNEL_NEVER_S if there are none */
    /** Per chunking: what the fullest stage needs of each tier, and 0, or CALC_KERNEL_NEVER_S where
     *  that does not fit. */
    _Alignas(CALC_KERNEL_ALIGN) double tier1_bytes[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double tier2_bytes[CALC_KERNEL_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double skip_s[CALC_KERNEL_LANES];
    /** Per lane, if any of them fits: the shortest step of the allowed ones; a lower bound of it
     *  with chunks, and with schedules beside 1F1B. */
    _Alignas(CALC_KERNEL_ALIGN) double best_s[CALC_KERNEL_LANES];
} calc_kernel_out;

/** Evaluate a tile. */
typedef void calc_kernel(const calc_kernel_tile *tile, calc_kernel_out *out);

/** The kernel at each CPU level; of the last two only on x86-64. Ask calc_kernel_levels() which
 * this machine can run. */
calc_kernel calc_kernel_generic;
calc_kernel calc_kernel_v3;
calc_kernel calc_kernel_v4;

/** The step of one lane. */
calc_stage_step calc_kernel_lane_step(const calc_kernel_tile *tile, size_t lane);

/** What the kernel minimises over: the same, or a lower bound (calc_stage_step_or_less()). */
calc_stage_step calc_kernel_lane_least(const calc_kernel_tile *tile, size_t lane);

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
