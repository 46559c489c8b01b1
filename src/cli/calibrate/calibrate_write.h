/** @file calibrate_write.h  A calibration for people and as JSON. */
#ifndef CALC_CLI_CALIBRATE_CALIBRATE_WRITE_H
#define CALC_CLI_CALIBRATE_CALIBRATE_WRITE_H

#include "calibrate/calibration.h"
#include "cli/shell/find.h"
#include "io/json_put.h"
#include "validate/error_groups.h"

/** Predictions of a calibration: what was assumed, what was fitted, and by fits that have not seen
 *  the run. */
enum { CALC_CALIBRATE_ASSUMED, CALC_CALIBRATE_FITTED, CALC_CALIBRATE_UNSEEN, CALC_CALIBRATE_VIEWS };

/** Calibrated families, and all measurements beside those predictions. Borrowed. */
typedef struct calc_calibrate_report {
    const calc_calibration *family;
    size_t families;
    bool unseen;                 /**< whether runs are predicted by fits without them */
    const char *const *held_out; /**< calc_calibration_plan's */
    size_t rows;                 /**< how many runs are shown one by one */
    const calc_results *results[CALC_CALIBRATE_VIEWS];
    const calc_error_groups *groups[CALC_CALIBRATE_VIEWS];
} calc_calibrate_report;

/** Where a calibrated machine is written: `out` itself if it ends in .json and is for one machine
 *  only, else NAME.json in that folder.
 *  @param path  filled, CALC_FIND_PATH_MAX bytes */
void calc_calibrate_out_path(const char *out, bool one, const char *machine, char *path);

/** Constants of each family, errors by published table, and runs one by one. */
void calc_calibrate_write_table(calc_output *out, const calc_calibrate_report *report);

/** The same, and every run. */
void calc_calibrate_write_json(calc_output *out, const calc_calibrate_report *report);

#endif
