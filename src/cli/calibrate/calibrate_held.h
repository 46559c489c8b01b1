/** @file calibrate_held.h  Sources that a calibration did not see, beside those it was fitted to.
 */
#ifndef CALC_CLI_CALIBRATE_CALIBRATE_HELD_H
#define CALC_CLI_CALIBRATE_CALIBRATE_HELD_H

#include "cli/calibrate/calibrate_write.h"

/** Mean absolute error before and after, by source: those fitted to, and those held out, with all
 *  of each; nothing if none is held out. */
void calc_calibrate_held_table(calc_output *out, const calc_calibrate_report *report);

/** The same as the member "halves" of the object that is open. */
void calc_calibrate_held_put(calc_put *put, const calc_calibrate_report *report);

#endif
