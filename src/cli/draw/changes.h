/** @file changes.h  Small changes of a layout and what each comes to (plan/why.h), for pages. */
#ifndef CALC_CLI_DRAW_CHANGES_H
#define CALC_CLI_DRAW_CHANGES_H

#include "calc.h"
#include "io/json_put.h"

/** The member `key` of the object that is open: how many changes were tried, and those that can
 *  run and differ, fastest first: in words, as assignments FIELD=VALUE, whether a framework starts
 *  what they make (if it starts the layout as it is), and the statistics that change.
 *  @return CALC_OK or CALC_ERR_NOMEM with an error */
CALC_MUST_USE calc_status calc_changes_put(calc_put *put, const char *key, const calc_app *app,
                                           const calc_system *system, const calc_exec *exec,
                                           calc_errors *errors);

#endif
