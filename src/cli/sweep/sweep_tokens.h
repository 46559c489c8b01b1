/** @file sweep_tokens.h  Options of a sweep about a training with limited time and a price:
 *  --tokens 15T --days 60. */
#ifndef CALC_CLI_SWEEP_SWEEP_TOKENS_H
#define CALC_CLI_SWEEP_SWEEP_TOKENS_H

#include "cli/shell/opt.h"
#include "io/output.h"
#include "plan/study.h"

/** Check --tokens and --days. @return the mistake; NULL if there is none */
const char *calc_sweep_tokens_complaint(const calc_args *args);

/** Write the days and the price of the training of --tokens with the best layout of each group;
 *  nothing without it. */
void calc_sweep_tokens_write(calc_output *out, const calc_sweep_study *study,
                             const calc_sweep_result *result, const calc_args *args);

#endif
