/** @file sweep_plan.h  Writes the space of a sweep and the amount of work, for people. */
#ifndef CALC_CLI_SWEEP_SWEEP_PLAN_H
#define CALC_CLI_SWEEP_SWEEP_PLAN_H

#include "cli/sweep/sweep_study.h"
#include "io/output.h"

/** Write models, machines, sizes, and the axes that were asked for. */
void calc_sweep_plan_brief(calc_output *out, const calc_sweep_study *study);

/** Write models, machines and all axes. */
void calc_sweep_plan_axes(calc_output *out, const calc_sweep_study *study);

/** Write the number of layouts, the factors it is the product of, and the approximate duration.
 *  @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_plan_work(calc_output *out, const calc_sweep_study *study,
                                               calc_errors *errors);

#endif
