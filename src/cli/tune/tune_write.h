/** @file tune_write.h  The files that `calc tune` writes: --json, --csv. */
#ifndef CALC_CLI_TUNE_TUNE_WRITE_H
#define CALC_CLI_TUNE_TUNE_WRITE_H

#include "cli/tune/tune_loop.h"

/** Write those that are asked for. Every one is tried.
 *  @return CALC_OK, or the status of the first error */
CALC_MUST_USE calc_status calc_tune_write(const calc_tune_task *task,
                                          const calc_tune_decision *decision, calc_errors *errors);

#endif
