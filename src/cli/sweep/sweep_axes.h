/** @file sweep_axes.h  Sets the axes of a sweep that the command line names: --procs, --batch,
 *  --axis, --set. */
#ifndef CALC_CLI_SWEEP_SWEEP_AXES_H
#define CALC_CLI_SWEEP_SWEEP_AXES_H

#include "cli/shell/opt.h"
#include "plan/study.h"

/** Set them in a study that has its models, its machines and the axes of its file. Errors name
 *  their options. */
void calc_sweep_axes_options(calc_sweep_study *study, const calc_args *args, calc_errors *errors);

/** Read the software that a space names, if it names one, and set the axes that nobody asked for as
 * it has them. After calc_defaults_set(). */
void calc_sweep_axes_software(calc_space *space, calc_errors *errors);

#endif
