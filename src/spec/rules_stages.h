/** @file rules_stages.h  Rules of stages that are listed (calc_exec.stages). */
#ifndef CALC_SPEC_RULES_STAGES_H
#define CALC_SPEC_RULES_STAGES_H

#include "calc.h"

/** Check a list, including the rules of every system and recomputation in it; violations are added
 *  to `errors`. The rest of the execution must have passed the other rules. */
void calc_rules_stages(const calc_app *app, const calc_system *system, const calc_exec *exec,
                       calc_errors *errors);

#endif
