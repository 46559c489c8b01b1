/** @file calibrate_runs.h  The runs of a calibration, one by one; and those that a fit is refused
 * for. */
#ifndef CALC_CLI_CALIBRATE_CALIBRATE_RUNS_H
#define CALC_CLI_CALIBRATE_CALIBRATE_RUNS_H

#include "cli/calibrate/calibrate_write.h"
#include "cli/validate/measured.h"

/** How many runs are shown where nobody says: all, up to this. */
enum { CALC_CALIBRATE_RUNS_FEW = 20 };

/** The `rows` runs with the largest errors after the fit, with their predictions before and after;
 *  and one line if memory was measured, which no constant of a machine changes. */
void calc_calibrate_runs_write(calc_output *out, const calc_calibrate_report *report, size_t rows);

/** Runs that are predicted before and after. */
size_t calc_calibrate_runs_count(const calc_calibrate_report *report);

/** Say which constant of a family left the range of machines, and which run pulls it there, at its
 *  place.
 *  @param args  whose arguments are the files of `measured`
 *  @return whether one did */
bool calc_calibrate_runs_refuse(const calc_calibration *family, size_t families,
                                const calc_measured *measured, const calc_args *args,
                                calc_errors *errors);

#endif
