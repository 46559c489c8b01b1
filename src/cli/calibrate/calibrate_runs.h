/** @file calibrate_runs.h  Shows the runs of a calibration one by one, and the runs that make a fit
 *  fail. */
#ifndef CALC_CLI_CALIBRATE_CALIBRATE_RUNS_H
#define CALC_CLI_CALIBRATE_CALIBRATE_RUNS_H

#include "cli/calibrate/calibrate_write.h"
#include "cli/validate/measured.h"

/** Most runs shown by default. */
enum { CALC_CALIBRATE_RUNS_FEW = 20 };

/** Writes the `rows` runs with the largest errors after the fit, with their predictions before and
 *  after, and a line if memory was measured, because no constant of a machine changes memory. */
void calc_calibrate_runs_write(calc_output *out, const calc_calibrate_report *report, size_t rows);

/** The runs predicted both before and after. */
size_t calc_calibrate_runs_count(const calc_calibrate_report *report);

/** Reports the constant of a family that left the range of machines, and the run that pulls it
 *  there, with the run's place.
 *  @param args  whose arguments are the files of `measured`
 *  @return whether a constant left its range */
bool calc_calibrate_runs_refuse(const calc_calibration *family, size_t families,
                                const calc_measured *measured, const calc_args *args,
                                calc_errors *errors);

#endif
