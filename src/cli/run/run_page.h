/** @file run_page.h  A run as a page for a browser. */
#ifndef CALC_CLI_RUN_RUN_PAGE_H
#define CALC_CLI_RUN_RUN_PAGE_H

#include "cli/run/run_outcome.h"

/** Write the page with everything, layers and stages too.
 *  @param o  evaluated, with its stages listed
 *  @return CALC_OK, or the status of an error that was added: CALC_ERR_NOMEM, CALC_ERR_IO */
CALC_MUST_USE calc_status calc_run_page_write(const char *path, const calc_run_outcome *o,
                                              calc_errors *errors);

#endif
