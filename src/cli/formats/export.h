/** @file export.h  What `calc export` writes for others: the table of a framework's keys, and
 *  the six files that Galvatron's profilers would produce. */
#ifndef CALC_CLI_FORMATS_EXPORT_H
#define CALC_CLI_FORMATS_EXPORT_H

#include "cli/shell/opt.h"
#include "formats/framework.h"
#include "galvatron/cost.h"

/** Writes the keys and the fields that they stand for, as Markdown.
 *  @param framework  NULL: complains that there is no table
 *  @param path       NULL: standard output */
calc_exit calc_keys_list(const calc_args *args, const calc_framework *framework, const char *path);

/** Writes the six files of a model on a machine into a folder, which is created if needed: either
 *  all of them or none.
 *  @param request  its model, nodes, GPUs, precision and layers
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_export_profile(const calc_app *app, const calc_system *system,
                                              const calc_galvatron_request *request,
                                              const char *folder, calc_errors *errors);

#endif
