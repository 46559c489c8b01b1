/** @file sweep_tokens.h  Reads the options of a sweep that count tokens: the batch (--batch
 *  4Mtokens), and a training with limited time and a price (--tokens 15T --days 60). */
#ifndef CALC_CLI_SWEEP_SWEEP_TOKENS_H
#define CALC_CLI_SWEEP_SWEEP_TOKENS_H

#include "cli/shell/opt.h"
#include "io/output.h"
#include "plan/study.h"

enum { CALC_SWEEP_TOKENS_ITEM = 32 };

/** Check --tokens and --days. @return the mistake; NULL if there is none */
const char *calc_sweep_tokens_complaint(const calc_args *args);

/** The batch in sequences. A number without a unit is taken as it is; a number of tokens must be
 *  whole sequences of the one length that all layouts have.
 *  @param study  with its models, machines and axes, except the batch
 *  @param item   filled: the argument of calc_axis_set()
 *  @return CALC_OK; CALC_ERR_RANGE or CALC_ERR_TYPE with an error that has no place */
CALC_MUST_USE calc_status calc_sweep_tokens_batch(const calc_sweep_study *study, const char *text,
                                                  char item[CALC_SWEEP_TOKENS_ITEM],
                                                  calc_errors *errors);

/** Add the condition of --days, if it is given. @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_tokens_limit(calc_sweep_study *study, const calc_args *args,
                                                  calc_errors *errors);

/** Write the days and the price of the training of --tokens with the best layout of each group;
 *  nothing without it. */
void calc_sweep_tokens_write(calc_output *out, const calc_sweep_study *study,
                             const calc_sweep_result *result, const calc_args *args);

#endif
