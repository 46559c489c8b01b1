/** @file standard_errors.h  How uncertain a prediction is because the fitted constants of its
 *  machine are: their standard errors, as the source of a calibrated machine states them. */
#ifndef CALC_CALIBRATE_STANDARD_ERRORS_H
#define CALC_CALIBRATE_STANDARD_ERRORS_H

#include "calibrate/calibration.h"
#include "calibrate/fit.h"
#include "io/output.h"
#include "io/text.h"

enum { CALC_STANDARD_ERRORS_MAX = 64, CALC_STANDARD_ERRORS_MACHINE = 64 };

/** A constant that was fitted. */
typedef struct calc_standard_error {
    const calc_constant *constant;
    double relative; /**< as a share of the value */
} calc_standard_error;

/** The calibration stated in the file of a machine. */
typedef struct calc_standard_errors {
    char
        machine[CALC_STANDARD_ERRORS_MACHINE]; /**< the first one that has runs; "": uncalibrated */
    calc_standard_error item[CALC_STANDARD_ERRORS_MAX];
    size_t count;
} calc_standard_errors;

/** Read them from the text of a system's file, as calc_system_text_write() wrote it. */
void calc_standard_errors_read(calc_standard_errors *out, const calc_text *text);

/** Those of a machine to which nothing was fitted: how far each constant that it gives may be from
 *  what is assumed, the spread of calibrations' priors. Its machine is "". */
void calc_standard_errors_assume(calc_standard_errors *out, const calc_system *system);

/** Standard deviation of the logarithm of the time of a step: the effects of the constants, each
 *  half the difference of the logarithms one standard error up and down, added as squares.
 *  Correlations between errors of constants that were fitted together are left out; with them the
 *  sum would usually be smaller.
 *  @return 0 without constants; NaN where the layout has no time */
double calc_standard_errors_of_time(const calc_standard_errors *errors, const calc_app *app,
                                    const calc_system *system, const calc_exec *exec);

/* The file of a calibrated machine: the old text with new numbers, and with a
 * source that says which of them were fitted, to which runs, and when. */

/** The beginning of a calibration's text in the source. */
#define CALC_SYSTEM_TEXT_MARKER "Calibrated on "

/** Write it.
 *  @param old      the text that the machine was read from
 *  @param machine  index in the family
 *  @param date     "2026-11-21"
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_system_text_write(calc_output *out, const calc_text *old,
                                                 const calc_calibration *calibration,
                                                 size_t machine, const char *date,
                                                 calc_errors *errors);

/** The source of a machine's file as its text has it, without quotes and still escaped, up to the
 *  words `until` and the spaces before them; `length` bytes. NULL if there is none. */
const char *calc_system_text_source(const calc_text *old, const char *until, size_t *length);

#endif
