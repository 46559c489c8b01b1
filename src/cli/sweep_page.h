/** @file sweep_page.h  What a sweep found, as a page for a browser. */
#ifndef CALC_CLI_SWEEP_PAGE_H
#define CALC_CLI_SWEEP_PAGE_H

#include "cli/sweep_found.h"
#include "io/output.h"

/** Write the page: the best and the front, a cloud of layouts, the best of every split and of every
 *  number of processors. Evaluates layouts again for that.
 *  @return CALC_OK, or the status of an error that was added */
CALC_MUST_USE calc_status calc_sweep_page_write(calc_output *out, const calc_sweep_study *study,
                                                const calc_sweep_result *result,
                                                calc_errors *errors);

#endif
