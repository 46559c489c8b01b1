/** @file sweep_sample.h  Estimates properties of a space from random points (`calc sweep
 *  --sample`). */
#ifndef CALC_CLI_SWEEP_SWEEP_SAMPLE_H
#define CALC_CLI_SWEEP_SWEEP_SAMPLE_H

#include "cli/shell/opt.h"
#include "cli/sweep/sweep_study.h"
#include "io/output.h"

/** Check --sample and --seed. @return the mistake; NULL if there is none */
const char *calc_sweep_sample_complaint(const calc_args *args);

/** Draw the points that --sample asks for, evaluate them, and write the shares of the verdicts and
 *  the quantiles of --top-by over the feasible ones.
 *  @return CALC_OK; CALC_ERR_NOMEM or CALC_ERR_RANGE with an error */
CALC_MUST_USE calc_status calc_sweep_sample_write(calc_output *out, const calc_sweep_study *study,
                                                  const calc_args *args, calc_errors *errors);

#endif
