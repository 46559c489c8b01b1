/** @file rules_parallel.h  Rules of context and expert parallelism, of pipeline schedules and of
 *  sharding. */
#ifndef CALC_SPEC_RULES_PARALLEL_H
#define CALC_SPEC_RULES_PARALLEL_H

#include "calc.h"

/** Check them; violations are added to `errors`. The sizes must be 1 or more, except those that may
 *  be left out. */
void calc_rules_parallel(const calc_app *app, const calc_exec *exec, calc_errors *errors);

#endif
