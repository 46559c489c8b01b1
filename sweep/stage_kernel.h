/** @file stage_kernel.h  The hot loop for layouts that are lists of stages (model/stages.h): the
 * step of many layouts that share their terms. The arithmetic is that of model/stage_step.h,
 * called, not repeated. */
#ifndef CALC_SWEEP_STAGE_KERNEL_H
#define CALC_SWEEP_STAGE_KERNEL_H

#include "kernel.h"
#include "model/stage_step.h"

/** Longer than any step, for what is not allowed; finite, as the kernel is compiled without
 *  infinities. */
#define CALC_STAGE_NEVER_S 1e300

enum {
    /** Most lanes of a tile; a multiple of every vector length, and of no large power of two: else
     *  the arrays below would meet in the same lines of a cache. */
    CALC_STAGE_LANES = 1064
};

#define CALC_X(member) _Alignas(CALC_KERNEL_ALIGN) double member[CALC_STAGE_LANES];

/** Classes of stages of every lane. */
typedef struct calc_stage_lane_class {
    CALC_STAGE_CLASS_LIST(CALC_X)
} calc_stage_lane_class;

/** Links of every lane. */
typedef struct calc_stage_lane_links {
    CALC_STAGE_LINK_LIST(CALC_X)
} calc_stage_lane_links;

#undef CALC_X

/** Lanes of a cell: each pair of networks with each chunking, an interleaving with or without
 * overlap of pipeline messages; chunkings fastest. */
typedef struct calc_stage_lanes {
    size_t count; /**< up to the next whole vector the entries are harmless */
    int classes;  /**< of every lane: calc_stage_step_of() */
    _Alignas(CALC_KERNEL_ALIGN) double chunks[CALC_STAGE_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double overlapped[CALC_STAGE_LANES]; /**< 1: messages overlap */
    calc_stage_lane_class item[CALC_MAX_STAGE_CLASSES];
} calc_stage_lanes;

/** One tile: terms, and the lanes of a cell. Borrows. */
typedef struct calc_stage_tile {
    const calc_stage_terms *terms;
    const calc_stage_lanes *lanes;
    const calc_stage_lane_links *links;
    size_t chunkings;    /**< of the cell */
    size_t first, count; /**< of the lanes: whole pairs of networks */
    calc_pipeline_schedule schedule;
    bool allowed[2][2]; /**< [gradients overlap][weights overlap] */
    double tier1_capacity_bytes, tier2_capacity_bytes;
} calc_stage_tile;

/** What a tile gives. */
typedef struct calc_stage_out {
    size_t feasible;                             /**< lanes whose memory fits */
    size_t over_tier1;                           /**< the first tier is too small */
    size_t over_tier2;                           /**< only the second is */
    double least_s;                              /**< of the feasible ones, each for itself; */
    double least_tier1_bytes, least_tier2_bytes; /**< CALC_STAGE_NEVER_S if there are none */
    /** Per chunking: what the fullest stage needs of each tier. */
    _Alignas(CALC_KERNEL_ALIGN) double tier1_bytes[CALC_STAGE_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double tier2_bytes[CALC_STAGE_LANES];
    /** Per lane: the shortest step of the allowed ones, and what keeps those out that do not fit.
     */
    _Alignas(CALC_KERNEL_ALIGN) double best_s[CALC_STAGE_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double skip_s[CALC_STAGE_LANES];
} calc_stage_out;

/** Evaluate a tile. */
typedef void calc_stage_kernel(const calc_stage_tile *tile, calc_stage_out *out);

/** At each CPU level, as calc_kernel. */
calc_stage_kernel calc_stage_kernel_generic;
calc_stage_kernel calc_stage_kernel_v3;
calc_stage_kernel calc_stage_kernel_v4;

/** The stage kernel of the level whose other kernel is `kernel`. */
calc_stage_kernel *calc_stage_kernel_beside(calc_kernel *kernel);

/** The step of one lane: what the kernel minimises over. */
calc_stage_step calc_stage_lane_step(const calc_stage_tile *tile, size_t lane);

#endif
