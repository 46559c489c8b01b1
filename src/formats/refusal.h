/** @file refusal.h  Explains why a framework cannot run a layout: the checks of its arguments
 *  refuse the combination, or its settings lack a field without which it is another layout. A
 *  layout can be legal for calc and still not start. */
#ifndef CALC_FORMATS_REFUSAL_H
#define CALC_FORMATS_REFUSAL_H

#include "formats/framework.h"

/* Each answers CALC_OK, or CALC_ERR_NOMEM: without memory nothing is said of a layout. */

/** Calls `tell` with each reason for which the framework cannot run this layout, a sentence that
 *  uses our field names. Depends on the arguments only.
 *  @param count  set to the number of reasons; 0: the framework starts with the settings of
 *  calc_export() */
CALC_MUST_USE calc_status calc_export_refused(const calc_framework *framework, const calc_app *app,
                                              const calc_exec *exec,
                                              void (*tell)(void *context, const char *reason),
                                              void *context, size_t *count);

/** Whether a framework can train or serve a layout on all of its systems.
 *  @param system  for parts of the layout that name no other; NULL: any
 *  @param runs    set */
CALC_MUST_USE calc_status calc_export_runs(const calc_framework *framework, const calc_app *app,
                                           const calc_system *system, const calc_exec *exec,
                                           bool *runs);

/** The first framework that can train or serve a layout on all of its systems, as a value of `calc
 *  export --to`.
 *  @param system  for parts of the layout that name no other
 *  @param name    set; NULL if there is none */
CALC_MUST_USE calc_status calc_export_starter(const calc_app *app, const calc_system *system,
                                              const calc_exec *exec, const char **name);

/** Whether a framework for the system has a setting of such a form: CALC_HOW_RECOMPUTED for the
 *  number of recomputed blocks of each stage, CALC_HOW_STAGES for their blocks, even if an end of
 *  the model stands alone. */
bool calc_export_says(const calc_system *system, calc_how how);

/** Whether there is one. Where no framework known here trains, or serves, on the platform of the
 *  system at all, or a part of the weights is frozen, nobody's rules refuse the layout: true. */
CALC_MUST_USE calc_status calc_export_starts(const calc_app *app, const calc_system *system,
                                             const calc_exec *exec, bool *starts);

#endif
