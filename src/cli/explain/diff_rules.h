/** @file diff_rules.h  calc diff --compat: what each of Calculon's rules is worth on a layout. */
#ifndef CALC_CLI_DIFF_RULES_H
#define CALC_CLI_DIFF_RULES_H

#include "cli/shell/inputs.h"
#include "io/output.h"

/** Write a table of the rules: the step and the memory of the layout with each of them alone, and
 *  with one after the other, so that their shares add up to the difference between calc and
 * Calculon. A rule that the layout cannot follow is left out, and said. */
void calc_diff_rules_write(calc_output *out, const calc_inputs *inputs);

#endif
