/** @file rules_inference.h  Rules between the fields of an execution's inference and the others,
 * and between a system's rates of serving. */
#ifndef CALC_SPEC_RULES_INFERENCE_H
#define CALC_SPEC_RULES_INFERENCE_H

#include "calc.h"

/** Check exec->inference; violations are added to `errors`. The other rules must hold. */
void calc_rules_inference(const calc_app *app, const calc_exec *exec, calc_errors *errors);

/** Check the rates of serving of a system, whatever is run; violations are added to `errors`. */
void calc_rules_serving(const calc_system *system, calc_errors *errors);

#endif
