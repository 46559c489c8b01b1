/** @file why_script.h  A script beside what it could be: changes of its layout as its own options
 * say them, and the layout with which a sweep would start. */
#ifndef CALC_CLI_EXPLAIN_WHY_SCRIPT_H
#define CALC_CLI_EXPLAIN_WHY_SCRIPT_H

#include "cli/shell/inputs.h"
#include "formats/framework.h"
#include "io/json_put.h"

/** The framework of the script that is APP, if calc export writes its files; else NULL. */
const calc_framework *calc_why_script_of(const calc_inputs *inputs);

/** The layout with which calc sweep would start, of those that the framework of the script runs:
 *  on as many processors, with the script's batch, number formats, optimizer and software.
 *  @return whether there is one, and inputs are a script that trains */
bool calc_why_script_start(const calc_inputs *inputs, calc_exec *start);

/** Write the options of the script that make its layout another, on lines of their own. */
void calc_why_script_write(calc_output *out, const calc_inputs *inputs, const calc_exec *other);

/** ... as the member "settings", an object of their new values; null: it is left out. */
void calc_why_script_put(calc_put *put, const calc_inputs *inputs, const calc_exec *other);

#endif
