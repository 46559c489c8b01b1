/** @file plan_write.h  Writes the files of `calc plan`: --out, --csv, --save-best, --html. */
#ifndef CALC_CLI_PLAN_PLAN_WRITE_H
#define CALC_CLI_PLAN_PLAN_WRITE_H

#include "cli/plan/plan_task.h"

/** Checks their names. @return the mistake; NULL if there is none */
const char *calc_plan_write_complaint(const calc_args *args);

/** Whether one of them is standard output, so that the table is not. */
bool calc_plan_write_takes_stdout(const calc_args *args);

/** Write those that are asked for. Every one is tried.
 *  @param result  with one layout at least
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_plan_write(const calc_plan_task *task,
                                          const calc_planner_result *result, calc_errors *errors);

#endif
