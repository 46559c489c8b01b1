/** @file sweep_infeasible.h  Why no layout of a sweep can run, and what would help. */
#ifndef CALC_CLI_SWEEP_SWEEP_INFEASIBLE_H
#define CALC_CLI_SWEEP_SWEEP_INFEASIBLE_H

#include "plan/study.h"

/** Say it on standard error. Bounds skip what does not fit, so that they count as well. */
void calc_sweep_infeasible(const calc_sweep_study *study, const calc_sweep_counts *counts);

#endif
