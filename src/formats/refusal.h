/** @file refusal.h  Explains why a framework cannot run a layout: the checks of its arguments
 *  refuse the combination, or its settings lack a field without which it is another layout. A
 *  layout can be legal for calc and still not start. */
#ifndef CALC_FORMATS_REFUSAL_H
#define CALC_FORMATS_REFUSAL_H

#include "formats/framework.h"

/** Calls `tell` with each reason for which the framework cannot run this layout, a sentence that
 *  uses our field names. Depends on the arguments only.
 *  @return the number of reasons; 0: the framework starts with the settings of calc_export() */
size_t calc_export_refused(const calc_framework *framework, const calc_app *app,
                           const calc_exec *exec, void (*tell)(void *context, const char *reason),
                           void *context);

/** Whether a framework can train or serve a layout on all of its systems.
 *  @param system  for parts of the layout that name no other; NULL: any */
bool calc_export_runs(const calc_framework *framework, const calc_app *app,
                      const calc_system *system, const calc_exec *exec);

/** The first framework that can train or serve a layout on all of its systems, as a value of `calc
 *  export --to`; NULL if there is none.
 *  @param system  for parts of the layout that name no other */
const char *calc_export_starter(const calc_app *app, const calc_system *system,
                                const calc_exec *exec);

/** Whether a framework for the system has a setting for the number of recomputed blocks of each
 *  stage. */
bool calc_export_recomputes_by_stage(const calc_system *system);

/** Whether there is one. Where no framework known here trains, or serves, on the platform of the
 *  system at all, nobody's rules refuse the layout: true. */
bool calc_export_starts(const calc_app *app, const calc_system *system, const calc_exec *exec);

#endif
