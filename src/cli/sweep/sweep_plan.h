/** @file sweep_plan.h  What is swept, and how much work that is, for people. */
#ifndef CALC_CLI_SWEEP_SWEEP_PLAN_H
#define CALC_CLI_SWEEP_SWEEP_PLAN_H

#include "cli/sweep/sweep_study.h"
#include "io/output.h"

/** Write models, machines, sizes, and the axes that were asked for. */
void calc_sweep_plan_brief(calc_output *out, const calc_sweep_study *study);

/** Write models, machines and all axes. */
void calc_sweep_plan_axes(calc_output *out, const calc_sweep_study *study);

/** Write how many layouts there are, what they are made of, and about how long it takes.
 *  @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_plan_work(calc_output *out, const calc_sweep_study *study,
                                               calc_errors *errors);

#endif
