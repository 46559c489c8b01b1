/** @file calibrate_operators.h  `calc calibrate --operators`: calibrates machines to measured
 *  kernels and collectives. */
#ifndef CALC_CLI_CALIBRATE_CALIBRATE_OPERATORS_H
#define CALC_CLI_CALIBRATE_CALIBRATE_OPERATORS_H

#include "cli/shell/command.h"

/** The request. Borrowed. */
typedef struct calc_calibrate_operators_task {
    const char *operators;      /**< the file */
    const char *rows;           /**< names of machines in it; NULL: the only one */
    const char *const *machine; /**< names of systems, each calibrated separately */
    size_t machines;
    const char *out, *json; /**< paths, or NULL */
    const char *date;
} calc_calibrate_operators_task;

/** Calibrates the systems and writes the report. */
calc_exit calc_calibrate_operators(const calc_calibrate_operators_task *task);

#endif
