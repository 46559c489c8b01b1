/** @file rules_inference.h  Rules between the fields of an execution's inference and the others. */
#ifndef CALC_SPEC_RULES_INFERENCE_H
#define CALC_SPEC_RULES_INFERENCE_H

#include "calc.h"

/** Add what is wrong with exec->inference to `errors`. The other rules must hold. */
void calc_rules_inference(const calc_app *app, const calc_exec *exec, calc_errors *errors);

#endif
