/** @file unseen.h  Residuals of measured runs against predictions that have not seen them, for the
 *  bands of predictions (validate/band.h). */
#ifndef CALC_CALIBRATE_UNSEEN_H
#define CALC_CALIBRATE_UNSEEN_H

#include "calibrate/calibration.h"
#include "validate/residuals.h"

/** Write the residuals of the scored measurements on machines of calibrated families. Times are
 *  those of cross-validation by width and by source. Memory depends on no constant of a machine, so
 *  that no fit uses it: both its residuals equal the prediction's.
 *  @param results  of runs->runs, under the calibrated values
 *  @return CALC_OK, CALC_ERR_NOMEM or CALC_ERR_RULE */
CALC_MUST_USE calc_status calc_unseen_write(calc_output *out, calc_calibration *family,
                                            size_t families, const calc_calibration_runs *runs,
                                            const calc_results *results, calc_errors *errors);

#endif
