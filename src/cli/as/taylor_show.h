/** @file taylor_show.h  A division of layers, for people. */
#ifndef CALC_CLI_AS_TAYLOR_SHOW_H
#define CALC_CLI_AS_TAYLOR_SHOW_H

#include "cli/as/taylor_solve.h"
#include "io/output.h"

/** What calc_taylor_solve() has found: each stage, the step and the lists; or why nothing fits. */
void calc_taylor_show(const calc_taylor_job *job, calc_output *out);

/** The lists as the configuration has them. */
void calc_taylor_show_lists(const calc_taylor_ask *ask, const calc_balance_share *share,
                            calc_output *out);

#endif
