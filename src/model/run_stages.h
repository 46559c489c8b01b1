/** @file run_stages.h  calc_run() for layouts that use more than Calculon's fields. */
#ifndef CALC_MODEL_RUN_STAGES_H
#define CALC_MODEL_RUN_STAGES_H

#include "model/kernel_table.h"
#include "model/stages.h"

/** Evaluate an extended layout (calc_shape_extended()).
 *  @return stats->verdict */
calc_verdict calc_run_stages(const calc_app *app, const calc_system *system, const calc_exec *exec,
                             calc_stats *stats);

/** The same, with measured kernels that are looked up before the model is asked. Reduction of
 *  gradients, messages between stages and the optimizer are the model's in any case.
 *  @param measured  NULL: none */
calc_verdict calc_run_stages_measured(const calc_app *app, const calc_system *system,
                                      const calc_exec *exec, const calc_kernel_table *measured,
                                      calc_stats *stats);

/** Rates, utilization, cost and energy of a step whose time and model arithmetic are known. */
void calc_run_rates(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_stats *stats);

/** Idle time of a stage in a pipeline [s]: what is rounding counts as none.
 *  @param busy_s  of the stage */
double calc_run_bubble_s(double pipeline_s, double busy_s);

/** First reason why an extended layout cannot run: its networks, its stages, its memory. */
calc_verdict calc_run_verdict(const calc_system *system, const calc_exec *exec, bool stages_fit,
                              double tier1_bytes, double tier2_bytes);

#endif
