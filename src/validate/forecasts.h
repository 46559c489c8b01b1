/** @file forecasts.h  How far measured runs were from forecasts: predictions by constants that were
 *  fitted to runs published before a month only, of runs published since. A run has one for each
 *  month that it was published in or after. The file measured/forecasts.csv, which `scripts/refit`
 *  makes of `calc calibrate --hold-out`. */
#ifndef CALC_VALIDATE_FORECASTS_H
#define CALC_VALIDATE_FORECASTS_H

#include "io/text.h"
#include "validate/results.h"

/** The step of one run. Texts are borrowed from the file. */
typedef struct calc_forecast {
    const char *id;
    const char *before; /**< the month, "2026-02": results published then or later were not seen */
    double value;       /**< log(measured / predicted) */
} calc_forecast;

/** All of a file. Owns everything. Start with {0}. */
typedef struct calc_forecasts {
    calc_forecast *item; /**< by run, then by month */
    size_t count;
    calc_text text;
} calc_forecasts;

/** Whether a text is a month: "2025-07". */
bool calc_is_month(const char *text);

/** The number of a month; later ones have larger numbers. @param text  a month */
int calc_month_number(const char *text);

/** Read a file.
 *  @return as calc_residuals_read(); also CALC_ERR_TYPE for text that is no month. *out must be
 *  freed in any case. */
CALC_MUST_USE calc_status calc_forecasts_read(calc_forecasts *out, const char *path,
                                              calc_errors *errors);

/** The same from a text, which the forecasts own from now on; `name` is its name in errors. */
CALC_MUST_USE calc_status calc_forecasts_parse(calc_forecasts *out, calc_text text,
                                               const char *name, calc_errors *errors);

/** That of a run by the fit to what was published before `before`; NULL if there is none. */
const calc_forecast *calc_forecasts_at(const calc_forecasts *forecasts, const char *id,
                                       const char *before);

/** That of a run by the last of these fits; NULL if there is none. */
const calc_forecast *calc_forecasts_find(const calc_forecasts *forecasts, const char *id);

/** The first month after `month` that a fit was made at, of the whole file; "" is before them all.
 *  NULL: there is none. */
const char *calc_forecasts_next(const calc_forecasts *forecasts, const char *month);

/** Free what they own; fine on {0}. */
void calc_forecasts_free(calc_forecasts *forecasts);

#endif
