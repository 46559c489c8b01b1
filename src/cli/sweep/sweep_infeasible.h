/** @file sweep_infeasible.h  Explains why no layout of a sweep can run, and gives advice. */
#ifndef CALC_CLI_SWEEP_SWEEP_INFEASIBLE_H
#define CALC_CLI_SWEEP_SWEEP_INFEASIBLE_H

#include "plan/study.h"

/** Write it to standard error. Layouts that bounds skipped are swept once more without bounds to
 *  find their reason, unless there are millions. */
void calc_sweep_infeasible(const calc_sweep_study *study, const calc_sweep_result *result);

#endif
