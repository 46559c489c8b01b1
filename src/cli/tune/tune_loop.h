/** @file tune_loop.h  Decides and measures, until it is time to stop. */
#ifndef CALC_CLI_TUNE_TUNE_LOOP_H
#define CALC_CLI_TUNE_TUNE_LOOP_H

#include "cli/tune/tune_task.h"

/** Why there are no more measurements. */
typedef enum calc_tune_pause {
    CALC_TUNE_PAUSE_ASKED, /**< others measure */
    CALC_TUNE_PAUSE_STOP,  /**< the decision says so */
    CALC_TUNE_PAUSE_MOST,  /**< --most */
    CALC_TUNE_PAUSE_SIGNAL /**< Ctrl-C */
} calc_tune_pause;

/** Decide; with --command and --simulate, measure and decide again.
 *  @param decision  filled with the last decision; freed by the caller in any case
 *  @return CALC_OK; what calc_tune_decide() returns; CALC_ERR_IO for files and programs */
CALC_MUST_USE calc_status calc_tune_loop(calc_tune_task *task, calc_tune_decision *decision,
                                         calc_tune_pause *pause, calc_errors *errors);

/** Write the execution of a layout into the folder. @param path  filled, CALC_FIND_PATH_MAX bytes
 *  @return CALC_OK or CALC_ERR_IO */
CALC_MUST_USE calc_status calc_tune_loop_write(const calc_tune_task *task, size_t candidate,
                                               char *path, calc_errors *errors);

/** Its path, whether it is written or not. @return path */
char *calc_tune_loop_path(const calc_tune_task *task, size_t candidate, char *path);

#endif
