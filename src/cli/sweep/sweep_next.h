/** @file sweep_next.h  What a sweep did not search, and what it would give to the layout to start
 *  with: changes that `calc why` finds outside the space, and narrower number formats. */
#ifndef CALC_CLI_SWEEP_SWEEP_NEXT_H
#define CALC_CLI_SWEEP_SWEEP_NEXT_H

#include "io/output.h"
#include "plan/study.h"
#include "plan/sweep_found.h"

/** Write a line for each of the two, if there is something: single fields with a value outside the
 *  space that make the layout at least 1 % better, fit, and run in the frameworks of the sweep
 *  (calc_sweep_options.runs); formats of matrix multiplications that the machine has and the space
 *  does not name. For trained layouts of a sweep without rules of Calculon.
 *  @param layout  the one to start with
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_sweep_next_write(calc_output *out, const calc_sweep_study *study,
                                                const calc_found *layout);

/* Explains why no layout of a sweep can run, and gives advice. */

/** Write it to standard error. Layouts that bounds skipped are swept once more without bounds to
 *  find their reason, unless there are millions. */
void calc_sweep_infeasible(const calc_sweep_study *study, const calc_sweep_result *result);

#endif
