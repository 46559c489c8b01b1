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

enum { CALC_STAGE_LANES = CALC_KERNEL_LANES /**< most lanes of a tile */ };

/** Classes of stages of every lane. */
typedef struct calc_stage_lane_class {
    _Alignas(CALC_KERNEL_ALIGN) double stages[CALC_STAGE_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double position[CALC_STAGE_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double dense[CALC_STAGE_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double moe[CALC_STAGE_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double first[CALC_STAGE_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double last[CALC_STAGE_LANES];
} calc_stage_lane_class;

/** Lanes of a cell: interleavings, with and without overlap of pipeline messages. */
typedef struct calc_stage_lanes {
    size_t count; /**< up to the next whole vector the entries are harmless */
    _Alignas(CALC_KERNEL_ALIGN) double chunks[CALC_STAGE_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double overlapped[CALC_STAGE_LANES]; /**< 1: messages overlap */
    calc_stage_lane_class item[CALC_MAX_STAGE_CLASSES];
} calc_stage_lanes;

/** One tile: terms, and the lanes of a cell. Borrows. */
typedef struct calc_stage_tile {
    const calc_stage_terms *terms;
    const calc_stage_lanes *lanes;
    calc_pipeline_schedule schedule;
    bool allowed[2][2]; /**< [gradients overlap][weights overlap] */
} calc_stage_tile;

/** Per lane: the shortest step of the allowed ones, and the memory. With chunks, and with schedules
 *  beside 1F1B, the step is a lower bound: whoever wants the time asks calc_stage_lane_step(). */
typedef struct calc_stage_out {
    _Alignas(CALC_KERNEL_ALIGN) double best_s[CALC_STAGE_LANES];
    _Alignas(CALC_KERNEL_ALIGN) double tier1_bytes[CALC_STAGE_LANES];
} calc_stage_out;

/** Evaluate a tile. */
typedef void calc_stage_kernel(const calc_stage_tile *tile, calc_stage_out *out);

/** At each CPU level, as calc_kernel. */
calc_stage_kernel calc_stage_kernel_generic;
calc_stage_kernel calc_stage_kernel_v3;
calc_stage_kernel calc_stage_kernel_v4;

/** The stage kernel of the level whose other kernel is `kernel`. */
calc_stage_kernel *calc_stage_kernel_beside(calc_kernel *kernel);

/** The step of one lane: what the kernel minimises over, or a bound of. */
calc_stage_step calc_stage_lane_step(const calc_stage_tile *tile, size_t lane);

#endif
