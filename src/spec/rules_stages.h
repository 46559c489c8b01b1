/** @file rules_stages.h  Rules of stages that are listed (calc_exec.stages). */
#ifndef CALC_SPEC_RULES_STAGES_H
#define CALC_SPEC_RULES_STAGES_H

#include "calc.h"

/** Add what is wrong with a list to `errors`, rules of every system and recomputation in it
 *  included. What it is beside has passed the other rules. */
void calc_rules_stages(const calc_app *app, const calc_system *system, const calc_exec *exec,
                       calc_errors *errors);

#endif
