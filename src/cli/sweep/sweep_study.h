/** @file sweep_study.h  Builds the study of `calc sweep` (its space, its axes and its settings)
 *  from the default study, a space file and the command line; later sources override earlier
 *  ones. */
#ifndef CALC_CLI_SWEEP_SWEEP_STUDY_H
#define CALC_CLI_SWEEP_SWEEP_STUDY_H

#include "cli/shell/inputs.h"
#include "plan/study.h"
#include "session/study_load.h"

/** Fill a study. All errors are collected, each with its option or its place in the file.
 *  @param args  of the command `sweep`; must live as long as the study
 *  @param read  NULL, or the model and the machine to sweep, which args then do not name
 *  @return CALC_OK, or the status of the first error; *study must be freed with calc_study_free()
 * in any case */
CALC_MUST_USE calc_status calc_sweep_study_load(calc_sweep_study *study, const calc_args *args,
                                                const calc_inputs *read, calc_errors *errors);

#endif
