/** @file sweep_empty.h  Why a space has no layout at all. */
#ifndef CALC_PLAN_SWEEP_EMPTY_H
#define CALC_PLAN_SWEEP_EMPTY_H

#include "plan/study.h"

/** What calc_check() says of a layout that has the first value of every axis: what an execution may
 *  leave to calc is left to it, a largest batch is rounded down to what its replicas share, and of
 *  powers of two for tensor and pipeline parallelism, where nobody chose them, those are taken of
 *  which it says least.
 *  @return whether it says anything, which is then in *errors */
bool calc_sweep_empty(const calc_sweep_study *study, calc_errors *errors);

#endif
