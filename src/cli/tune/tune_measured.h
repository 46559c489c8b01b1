/** @file tune_measured.h  Reads the measurements in the state and finds their layouts. */
#ifndef CALC_CLI_TUNE_TUNE_MEASURED_H
#define CALC_CLI_TUNE_TUNE_MEASURED_H

#include "cli/tune/tune_task.h"

/** Read the file of --measured, if there is one, and open it for more with --command. Layouts that
 *  are not among the candidates become ones: those of a file, and those that were written into the
 *  folder before. All errors are collected.
 *  @param task  with its candidates
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_tune_measured_read(calc_tune_task *task, calc_errors *errors);

#endif
