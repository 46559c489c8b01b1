/** @file fits.h  The probability that a layout fits: its predicted need of the first memory tier,
 *  compared with the errors of predictions for similar measured runs (band.h). */
#ifndef CALC_VALIDATE_FITS_H
#define CALC_VALIDATE_FITS_H

#include "validate/band.h"

/** Where it is as good as sure: nine of ten fit. */
#define CALC_FITS_SURE CALC_BAND_LEVEL

/** Whether a share is as good as sure, or not known. */
static inline bool calc_fits_is_sure(double share)
{
    return !(share < CALC_FITS_SURE);
}

/** The question. All is borrowed. */
typedef struct calc_fits_query {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    const char *family; /**< of the machine: calc_fits_family() */
    double need_bytes;  /**< predicted, of the first tier */
} calc_fits_query;

/** The answer. */
typedef struct calc_fits {
    double share;      /**< of comparable runs that would fit, 0 to 1; NaN: none is known */
    double sure_bytes; /**< largest need with which nine of ten would fit; NaN: none is known */
} calc_fits;

/** The family of machines whose runs are comparable: the machine's own if it has runs, else that of
 *  the one whose runs its constants were fitted to; "" if it is not calibrated: any.
 *  @param calibrated  name of that machine, as the system's file has it; "": none */
const char *calc_fits_family(const calc_residuals *measured, const char *machine,
                             const char *calibrated);

/** calc_fits.share alone: sooner, for many layouts. */
double calc_fits_share(const calc_residuals *measured, const calc_fits_query *query);

/** The share of similar runs that would fit with this predicted need. There is no answer for
 *  serving and for a tier without limit. */
calc_fits calc_fits_of(const calc_residuals *measured, const calc_fits_query *query);

#endif
