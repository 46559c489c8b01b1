/** @file sweep_infeasible.h  Why no layout of a sweep can run, and what would help. */
#ifndef CALC_CLI_SWEEP_SWEEP_INFEASIBLE_H
#define CALC_CLI_SWEEP_SWEEP_INFEASIBLE_H

#include "plan/study.h"

/** Say it on standard error. What bounds skipped is swept once more without them, to have its
 * reason, unless there are millions. */
void calc_sweep_infeasible(const calc_sweep_study *study, const calc_sweep_result *result);

#endif
