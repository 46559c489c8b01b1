/** @file sweep_page.h  Writes the results of a sweep as a page for a browser. */
#ifndef CALC_CLI_SWEEP_SWEEP_PAGE_H
#define CALC_CLI_SWEEP_SWEEP_PAGE_H

#include "cli/shell/opt.h"
#include "cli/sweep/sweep_rows.h"
#include "io/output.h"
#include "io/text.h"
#include "plan/sweep_found.h"
#include "validate/residuals.h"

/** Write the page: the best and the front, a cloud of layouts, the best of every split and of every
 *  number of processors. Evaluates layouts again for that.
 *  @param args      of the sweep
 *  @param start     the layout to start with: calc_sweep_rows_advise()
 *  @param measured  residuals for predicting what fits; NULL: not known
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_sweep_page_write(calc_output *out, const calc_sweep_study *study,
                                                const calc_sweep_result *result,
                                                const calc_args *args, const calc_sweep_row *start,
                                                const calc_residuals *measured,
                                                calc_errors *errors);

/** Write the page of a sweep's output as JSON (calc_sweep_write_json()), which has the front and
 *  the best only, and optionally of its counts (calc_sweep_write_summary()); NULL: no counts. */
void calc_sweep_page_write_written(calc_output *out, const calc_text *sweep,
                                   const calc_text *summary);

#endif
