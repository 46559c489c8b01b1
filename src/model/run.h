/** @file run.h  A layout evaluated: the results of calc_run(), and its statistics. */
#ifndef CALC_MODEL_RUN_H
#define CALC_MODEL_RUN_H

#include "model/stages/layout.h"

/** A step of a layout. */
typedef struct calc_step {
    const calc_layout *layout;
    calc_stage_pass pass[CALC_MAX_STAGE_CLASSES]; /**< by class */
    size_t slowest, fullest;                      /**< classes */
    size_t busiest[2];              /**< stages whose work the time of a step is reported by */
    double peak_stage;              /**< of the fullest class */
    calc_stage_memory memory;       /**< of that stage */
    calc_stage_tier2 away;          /**< of the stage that keeps most in the second tier */
    calc_stage_reduction reduction; /**< of the class that exposes most */
    calc_stage_step step;
    double reduction_exposed_s, optimizer_s, bubble_s, total_s;
} calc_step;

/** Idle time of a stage in a pipeline [s]; rounding counts as none.
 *  @param busy_s  of the stage */
double calc_run_bubble_s(double pipeline_s, double busy_s);

/** Evaluate a layout that trains, or runs forward: its stages are not listed. */
void calc_step_of(const calc_layout *layout, calc_step *out);

/** The statistics of a layout whose stages are listed. Inputs as calc_run().
 *  @return stats->verdict */
calc_verdict calc_run_placed(const calc_app *app, const calc_system *system, const calc_exec *exec,
                             const calc_kernel_table *measured, calc_stats *stats);

/** All statistics null, those of layouts that do not exist. */
void calc_stats_none(calc_stats *stats);

/** The statistics of a step, verdict included.
 *  @return stats->verdict */
calc_verdict calc_step_stats(const calc_step *step, calc_stats *stats);

/** Parts of them: breakdown of the step's time by its slowest stages, with the numbers of one
 *  block; and the memory of its fullest stage. */
void calc_step_put_time(const calc_step *step, calc_stats *stats);
void calc_step_put_memory(const calc_step *step, calc_stats *stats);

/** Add the breakdown of the passes of another layout's step. Reduction, optimizer and pipeline are
 *  common to both and not added. */
void calc_step_add_time(const calc_step *step, calc_stats *stats);

/** Arithmetic of matrices in a pass through a block and back [FLOP].
 *  @param again  share of such blocks that recompute */
double calc_step_block_flop(const calc_cost *block, double again);

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

/** All of a step's rates.
 *  @param perfect_s  time of its arithmetic at the peak */
void calc_step_put_rates(const calc_app *app, const calc_system *system, const calc_exec *exec,
                         double perfect_s, calc_stats *stats);

#endif
