/** @file run.h  A layout evaluated: the results of calc_run(), and its statistics. */
#ifndef CALC_MODEL_RUN_H
#define CALC_MODEL_RUN_H

#include "model/stages/placed.h"

/** A step of a layout: of stages that differ, what is most or least of each. */
typedef struct calc_step {
    const calc_placed *placed;
    calc_placed_stage busiest[2]; /**< stages whose work the time of a step is reported by: the
                                       slowest; with DualPipe two that face each other */
    int busiest_count;
    double slowest_stage;
    calc_placed_stage fullest;      /**< least room in tier 1; .class.position is that stage */
    calc_stage_memory memory;       /**< of that stage */
    calc_stage_tier2 away;          /**< of the stage that keeps most in the second tier */
    calc_stage_reduction reduction; /**< of the stage that exposes most */
    double most_blocks, fewest_blocks;
    double growth, overhead_s, tied_s, optimizer_s, reduction_exposed_s;
    double pipeline_s, bubble_s, total_s; /**< NaN: the blocks do not fit */
    calc_verdict verdict;                 /**< on memory */
} calc_step;

/** Idle time of a stage in a pipeline [s]; rounding counts as none.
 *  @param busy_s  of the stage */
double calc_run_bubble_s(double pipeline_s, double busy_s);

/** Evaluate a layout that trains, or runs forward. */
void calc_step_of(const calc_placed *placed, calc_step *out);

/** All statistics null, those of layouts that do not exist. */
void calc_stats_none(calc_stats *stats);

/** The statistics of a step, verdict included.
 *  @return stats->verdict */
calc_verdict calc_step_stats(const calc_step *step, calc_stats *stats);

/** calc_run() with measured kernels that are looked up before the model is asked. Reduction of
 *  gradients, messages between stages and the optimizer are the model's in any case. */
calc_verdict calc_run_measured(const calc_app *app, const calc_system *system,
                               const calc_exec *exec, const calc_kernel_table *measured,
                               calc_stats *stats);

/** The parts that layouts have in common. Start with {0}. */
typedef struct calc_run_parts {
    bool known;
    calc_stage_parts of;
} calc_run_parts;

/** calc_run() of one of several layouts.
 *  @param parts  taken from it, or left in it for the next whose parts are the same; NULL: none */
calc_verdict calc_run_alike(const calc_app *app, const calc_system *system, const calc_exec *exec,
                            calc_compat compat, calc_run_parts *parts, calc_stats *stats);

/** Properties of the processors of a layout that rates need: means over them. */
typedef struct calc_run_chips {
    double flop_per_s; /**< peak of matrices in the layout's datatype */
    double usd_per_hour, watts;
} calc_run_chips;

calc_run_chips calc_run_chips_of(const calc_system *system, const calc_exec *exec);

/** Rates, utilization, cost and energy of a step whose time and model arithmetic are known. */
void calc_run_rates(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_stats *stats);

#endif
