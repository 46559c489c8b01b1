/** @file known_runs.h  Reads the errors of predictions made without the measured runs, forecasts
 *  among them: the data files from which bands and the chance to fit are computed. */
#ifndef CALC_CLI_SHELL_KNOWN_RUNS_H
#define CALC_CLI_SHELL_KNOWN_RUNS_H

#include "validate/residuals.h"

/** Read them.
 *  @return CALC_OK, or the status of calc_find_data(), calc_residuals_read() or
 *  calc_forecasts_read(); *out must be freed in any case */
CALC_MUST_USE calc_status calc_known_runs_read(calc_residuals *out, calc_errors *errors);

/** The same for callers that can do without the files. @return out, or NULL */
const calc_residuals *calc_known_runs_try(calc_residuals *out);

#endif
