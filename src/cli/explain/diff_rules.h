/** @file diff_rules.h  `calc diff --compat`: the effect of each Calculon rule on a layout. */
#ifndef CALC_CLI_DIFF_RULES_H
#define CALC_CLI_DIFF_RULES_H

#include "cli/shell/inputs.h"
#include "io/output.h"

/** Writes a table of the rules with the step time and the memory of the layout: with each rule
 *  alone, and with the rules added one by one, so that their effects sum to the difference between
 *  calc and Calculon. A rule that the layout cannot follow is left out and named. */
void calc_diff_rules_write(calc_output *out, const calc_inputs *inputs);

#endif
