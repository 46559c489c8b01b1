/** @file calibration.h  The calibration of a family of machines: which constants the runs
 * determine, their values, and how well these predict runs outside the fit.
 *
 *  1. All constants are fitted together. Among constants that the runs neither determine nor
 *     contradict, the least important one returns to its assumed value, and the others are fitted
 *     again, until no such constant is left and their number is as small as wanted.
 *  2. Layouts whose micro-batch was not published are searched anew, and the rest is fitted again.
 *  3. Values are rounded to three digits. One that is out of its constant's range ends it, with
 *     the run that pulls it there.
 *  4. Cross-validation: the constants that are left are fitted without one fold at a time, and
 *     predict that fold. */
#ifndef CALC_CALIBRATE_CALIBRATION_H
#define CALC_CALIBRATE_CALIBRATION_H

#include "calibrate/fit.h"
#include "io/output.h"
#include "io/text.h"
#include "validate/residuals.h"
#include "validate/results.h"

/** What is wanted. */
typedef struct calc_calibration_plan {
    const char *const *fields;          /**< names of constants, NULL at the end; NULL: all */
    const calc_constant_starts *starts; /**< of calc_unknowns_make() */
    bool all;                           /**< give up none */
    size_t most;                        /**< constants to change at most */
    calc_cross cross;
    const char *const *held_out; /**< sources, publishers or months (fit.h) that are predicted,
                                    but not fitted to; NULL at the end; NULL: none */
} calc_calibration_plan;

/** Runs of one source that were used. */
typedef struct calc_calibration_source {
    const char *name;
    size_t count;
} calc_calibration_source;

enum { CALC_CALIBRATION_SOURCES = 32 };

/** A calibration. */
typedef struct calc_calibration {
    calc_family family;
    calc_unknowns unknowns;
    calc_calibration_source source[CALC_CALIBRATION_SOURCES];
    size_t sources, runs;
    calc_influence outside;    /**< .constant: one that ended where no machine is; NULL: none */
    const calc_runs_row *pull; /**< the run that pulls it there */
} calc_calibration;

/** Name the machines of a family and take their files' values from runs->systems.
 *  @return CALC_OK; CALC_ERR_NOT_FOUND for a machine that cannot be read; CALC_ERR_RANGE for too
 *  many */
CALC_MUST_USE calc_status calc_calibration_start(calc_calibration *out, const char *const *machine,
                                                 size_t machines, const calc_measured_runs *runs,
                                                 calc_errors *errors);

/** Calibrate.
 *  @param before  by index of result, NaN at first: the prediction with assumed constants [s]
 *  @param unseen  likewise, by a fit without the fold of the run; may be NULL without folds
 *  @return CALC_OK, CALC_ERR_RULE if there are no runs on these machines, or what
 *  calc_results_make() returns */
CALC_MUST_USE calc_status calc_calibrate(calc_calibration *c, const calc_calibration_plan *plan,
                                         const calc_measured_runs *runs, double *before,
                                         double *unseen, calc_errors *errors);

/** Predict the runs of a finished calibration by fits without one fold at a time.
 *  @param unseen  by index of result; only those of its machines are filled [s]
 *  @param fold    likewise: the number of the fold; may be NULL
 *  @return CALC_OK or CALC_ERR_RULE */
CALC_MUST_USE calc_status calc_calibration_cross(calc_calibration *c, calc_cross by,
                                                 const calc_measured_runs *runs, double *unseen,
                                                 int *fold, calc_errors *errors);

/* Residuals of measured runs against predictions that have not seen them, for the
 * bands of predictions (validate/residuals.h). */

/** Write the residuals of the scored measurements on machines of calibrated families. Times are
 *  those of cross-validation by width and by source. Memory depends on no constant of a machine, so
 *  that no fit uses it: both its residuals equal the prediction's.
 *  @param results  of runs->runs, under the calibrated values
 *  @return CALC_OK or CALC_ERR_RULE */
CALC_MUST_USE calc_status calc_unseen_write(calc_output *out, calc_calibration *family,
                                            size_t families, const calc_measured_runs *runs,
                                            const calc_results *results, calc_errors *errors);

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

/* The file of a calibrated machine: its new numbers, the names of the old file, and a source that
 * says which of the numbers were fitted, to which runs, and when. */

/** The beginning of a calibration's text in the source. */
#define CALC_SYSTEM_TEXT_MARKER "Calibrated on "

/** Write it.
 *  @param old      the text that the machine was read from
 *  @param machine  index in the family, whose systems have the new numbers
 *  @param date     "2026-11-21" */
void calc_system_text_write(calc_output *out, const calc_text *old,
                            const calc_calibration *calibration, size_t machine, const char *date);

/** Writes what a source says of a calibration. */
typedef void (*calc_system_text_says)(calc_output *out, const void *of);

/** Write the file of a machine. Its source is that of `old` up to the words `until`, and what
 *  `says` writes. */
void calc_system_text_save(calc_output *out, const calc_system *system, const calc_text *old,
                           const char *until, calc_system_text_says says, const void *of);

#endif
