/** @file taylor_show.h  Shows a division of layers to people. */
#ifndef CALC_CLI_AS_TAYLOR_SHOW_H
#define CALC_CLI_AS_TAYLOR_SHOW_H

#include "cli/as/taylor_solve.h"
#include "io/output.h"

/** Shows the result of calc_taylor_solve(): each stage, the step and the lists, or why nothing
 *  fits. */
void calc_taylor_show(const calc_taylor_job *job, calc_output *out);

/** Shows the lists in the form of the configuration. */
void calc_taylor_show_lists(const calc_taylor_ask *ask, const calc_balance_share *share,
                            calc_output *out);

#endif
