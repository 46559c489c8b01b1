/** @file export_profile.h  `calc export --to galvatron-profile`: writes the six files that
 *  Galvatron's profilers would produce. */
#ifndef CALC_CLI_FORMATS_EXPORT_PROFILE_H
#define CALC_CLI_FORMATS_EXPORT_PROFILE_H

#include "calc.h"
#include "galvatron/request.h"

/** Writes the six files of a model on a machine into a folder, which is created if needed: either
 *  all of them or none.
 *  @param request  its model, nodes, GPUs, precision and layers
 *  @return CALC_OK, or the status of the first error that was added */
CALC_MUST_USE calc_status calc_export_profile(const calc_app *app, const calc_system *system,
                                              const calc_galvatron_request *request,
                                              const char *folder, calc_errors *errors);

#endif
