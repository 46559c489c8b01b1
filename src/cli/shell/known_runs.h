/** @file known_runs.h  How far measured runs were from predictions that had not seen them,
 * forecasts among them: the files of a data directory that bands and the chance to fit are made of.
 */
#ifndef CALC_CLI_SHELL_KNOWN_RUNS_H
#define CALC_CLI_SHELL_KNOWN_RUNS_H

#include "validate/residuals.h"

/** Read them.
 *  @return CALC_OK, or what calc_find_data(), calc_residuals_read() and calc_forecasts_read()
 *  return; *out must be freed in any case */
CALC_MUST_USE calc_status calc_known_runs_read(calc_residuals *out, calc_errors *errors);

/** The same where it is no reason to fail if they are not there. @return out, or NULL */
const calc_residuals *calc_known_runs_try(calc_residuals *out);

#endif
