/** @file export_strategies.h  `calc export --to galvatron`: writes the strategy file for
 *  Galvatron's training. */
#ifndef CALC_CLI_FORMATS_EXPORT_STRATEGIES_H
#define CALC_CLI_FORMATS_EXPORT_STRATEGIES_H

#include "calc.h"

/** Writes the file. Settings that training will reject are reported on standard error.
 *  @param path     of the file, "-" for standard output
 *  @param refused  set if such a file cannot express the layout; the reason is on standard error
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_export_strategies(const calc_app *app, const calc_exec *exec,
                                                 const char *path, bool *refused,
                                                 calc_errors *errors);

#endif
