/** @file run_dates.h  When a table of runs was published, by the source that its rows name: so that
 *  predictions can be made with earlier knowledge only (calc calibrate --hold-out). */
#ifndef CALC_VALIDATE_RUN_DATES_H
#define CALC_VALIDATE_RUN_DATES_H

#include "validate/runs.h"

/** The month, "2025-07", in which a release, paper or report appeared; "" if it is not known. */
const char *calc_run_published(const calc_runs_row *row);

/** Whether a text is a month: "2025-07". */
bool calc_run_is_month(const char *text);

/** The number of a month; later ones have larger numbers. @param text  a month */
int calc_run_month_number(const char *text);

#endif
