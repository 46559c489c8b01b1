/** @file export_galvatron.h  `calc export` for Galvatron: `--to galvatron-profile` writes the six
 * files that its profilers would produce, `--to galvatron` the strategy file for its training. */
#ifndef CALC_CLI_FORMATS_EXPORT_GALVATRON_H
#define CALC_CLI_FORMATS_EXPORT_GALVATRON_H

#include "calc.h"
#include "galvatron/request.h"

/** Writes the six files of a model on a machine into a folder, which is created if needed: either
 *  all of them or none.
 *  @param request  its model, nodes, GPUs, precision and layers
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_export_profile(const calc_app *app, const calc_system *system,
                                              const calc_galvatron_request *request,
                                              const char *folder, calc_errors *errors);

/** Writes the strategy file of a layout. Settings that training will reject are reported on
 * standard error.
 *  @param path     of the file, "-" for standard output
 *  @param refused  set if such a file cannot express the layout; the reason is on standard error
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_export_strategies(const calc_app *app, const calc_exec *exec,
                                                 const char *path, bool *refused,
                                                 calc_errors *errors);

#endif
