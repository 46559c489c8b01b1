/** @file plan_judge.h  Divides the best layout's layers by a solver of mixed-integer programs. */
#ifndef CALC_CLI_PLAN_PLAN_JUDGE_H
#define CALC_CLI_PLAN_PLAN_JUDGE_H

#include "cli/plan/plan_task.h"
#include "io/output.h"

/** --mps: write the program and its names. Nothing without the option. */
CALC_MUST_USE calc_status calc_plan_judge_mps(const calc_plan_task *task,
                                              const calc_planner_found *found, calc_errors *errors);

/** --solver: solve it, and report the result beside the result of the search. */
CALC_MUST_USE calc_status calc_plan_judge_write(calc_output *out, const calc_plan_task *task,
                                                const calc_planner_found *found,
                                                calc_errors *errors);

#endif
