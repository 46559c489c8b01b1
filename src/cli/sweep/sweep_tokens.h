/** @file sweep_tokens.h  What a sweep is told in tokens: the batch (--batch 4Mtokens), and a
 * training whose time is limited and whose price is wanted (--tokens 15T --days 60). */
#ifndef CALC_CLI_SWEEP_SWEEP_TOKENS_H
#define CALC_CLI_SWEEP_SWEEP_TOKENS_H

#include "cli/shell/opt.h"
#include "io/output.h"
#include "plan/study.h"

enum { CALC_SWEEP_TOKENS_ITEM = 32 };

/** What is wrong with --tokens and --days; NULL if nothing is. */
const char *calc_sweep_tokens_complaint(const calc_args *args);

/** The batch in sequences. A number without a unit is as it is; of tokens it must be whole
 *  sequences of the one length that all layouts have.
 *  @param study  with its models, machines and axes, but for the batch
 *  @param item   filled: what calc_axis_set() takes
 *  @return CALC_OK; CALC_ERR_RANGE or CALC_ERR_TYPE with an error that has no place */
CALC_MUST_USE calc_status calc_sweep_tokens_batch(const calc_sweep_study *study, const char *text,
                                                  char item[CALC_SWEEP_TOKENS_ITEM],
                                                  calc_errors *errors);

/** Add the condition of --days, if it is given. @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_sweep_tokens_limit(calc_sweep_study *study, const calc_args *args,
                                                  calc_errors *errors);

/** Write the days and the price of the training that --tokens means with the best layout of each
 *  group; nothing without it. */
void calc_sweep_tokens_write(calc_output *out, const calc_sweep_study *study,
                             const calc_sweep_result *result, const calc_args *args);

#endif
