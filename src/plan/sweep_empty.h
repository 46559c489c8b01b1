/** @file sweep_empty.h  Why a space has no layout at all. */
#ifndef CALC_PLAN_SWEEP_EMPTY_H
#define CALC_PLAN_SWEEP_EMPTY_H

#include "plan/study.h"

/** The complaints of calc_check() about a layout that has the first value of every axis. Fields
 *  that an execution may leave to calc are left to it, and a largest batch is rounded down to a
 *  multiple of its replicas. Where nobody chose tensor and pipeline parallelism, powers of two are
 *  tried and those with the fewest complaints taken.
 *  @return whether there are any, which are then in *errors */
bool calc_sweep_empty(const calc_sweep_study *study, calc_errors *errors);

#endif
