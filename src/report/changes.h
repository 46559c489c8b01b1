/** @file changes.h  Writes small changes of a layout and their effects (plan/why.h), for pages. */
#ifndef CALC_REPORT_CHANGES_H
#define CALC_REPORT_CHANGES_H

#include "calc.h"
#include "io/json_put.h"

/** The member `key` of the open object: the number of changes tried, and those that can run and
 *  have an effect, fastest first: in words, as assignments FIELD=VALUE, whether a framework can
 *  start the changed layout (if it can start the original), and the statistics that change.
 *  @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_changes_put(calc_put *put, const char *key, const calc_app *app,
                                           const calc_system *system, const calc_exec *exec,
                                           calc_errors *errors);

#endif
