/** @file calibrate_engines.h  `calc calibrate` with serving runs: fits the traits of engines. */
#ifndef CALC_CLI_CALIBRATE_CALIBRATE_ENGINES_H
#define CALC_CLI_CALIBRATE_CALIBRATE_ENGINES_H

#include "calibrate/engine_calibration.h"
#include "cli/validate/measured.h"

/** The request. Texts are borrowed. */
typedef struct calc_calibrate_engines_task {
    calc_measured *measured;
    calc_engine_plan plan;
    const char *out, *json; /**< NULL: not written */
    bool quiet;             /**< standard output carries something else */
} calc_calibrate_engines_task;

/** Calibrates the engines of the runs, reports the errors before and after, and writes their
 *  traits. */
CALC_MUST_USE calc_status calc_calibrate_engines(const calc_calibrate_engines_task *task,
                                                 calc_errors *errors);

#endif
