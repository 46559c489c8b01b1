/** @file calibrate_files.h  Writes the files of calibrated machines. */
#ifndef CALC_CLI_CALIBRATE_CALIBRATE_FILES_H
#define CALC_CLI_CALIBRATE_CALIBRATE_FILES_H

#include "calibrate/calibration.h"

/** Writes the file of each machine with its calibrated values to calc_calibrate_out_path().
 *  @param date  for the sentence about the calibration
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_calibrate_files_write(const calc_calibration *family,
                                                     size_t families, const char *out,
                                                     const char *date, calc_errors *errors);

#endif
