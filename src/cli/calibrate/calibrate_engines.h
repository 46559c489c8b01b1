/** @file calibrate_engines.h  calc calibrate with runs of serving: traits of engines. */
#ifndef CALC_CLI_CALIBRATE_CALIBRATE_ENGINES_H
#define CALC_CLI_CALIBRATE_CALIBRATE_ENGINES_H

#include "calibrate/engine_calibration.h"
#include "cli/validate/measured.h"

/** What is asked. Texts are borrowed. */
typedef struct calc_calibrate_engines_task {
    calc_measured *measured;
    calc_engine_plan plan;
    const char *out, *json; /**< NULL: nowhere */
    bool quiet;             /**< standard output has other work */
} calc_calibrate_engines_task;

/** Calibrate the engines of the runs, say how far off they were and are, and write their traits. */
CALC_MUST_USE calc_status calc_calibrate_engines(const calc_calibrate_engines_task *task,
                                                 calc_errors *errors);

#endif
