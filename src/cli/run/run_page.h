/** @file run_page.h  A run as a page for a browser. */
#ifndef CALC_CLI_RUN_RUN_PAGE_H
#define CALC_CLI_RUN_RUN_PAGE_H

#include "cli/run/run_outcome.h"

/** Write the page: the output of `calc run --json`, plus all layers and stages, the parts of time
 *  and memory, the pipeline, and the effect of raising each rate.
 *  @param o     evaluated, with its stages listed
 *  @param json  output of `calc run --json` for it, written before; NULL: it is written now
 *  @param plan  output of `calc plan --out` if the run is the best layout of a plan; else NULL
 *  @return CALC_OK, or the status of an error that was added: CALC_ERR_NOMEM, CALC_ERR_IO */
CALC_MUST_USE calc_status calc_run_page_write(const char *path, const calc_run_outcome *o,
                                              const calc_text *json, const calc_text *plan,
                                              calc_errors *errors);

#endif
