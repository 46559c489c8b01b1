/** @file validate_forecast.h  How far off predictions were of runs published after a month, by
 *  constants fitted to what was published before it: one row a month, of runs of high confidence.
 */
#ifndef CALC_CLI_VALIDATE_VALIDATE_FORECAST_H
#define CALC_CLI_VALIDATE_VALIDATE_FORECAST_H

#include "io/json_put.h"
#include "io/output.h"
#include "validate/forecasts.h"

/** Write the table over months. Its last row has each run as of the last fit before it was
 *  published. */
void calc_validate_forecast_write(calc_output *out, const calc_results *results,
                                  const calc_forecasts *forecasts);

/** The same as the member "forecasts" of the object that is open. */
void calc_validate_forecast_put(calc_put *put, const calc_results *results,
                                const calc_forecasts *forecasts);

#endif
