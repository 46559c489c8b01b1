/** @file refusal.h  Why a framework cannot run a layout: its own checks of its arguments refuse the
 *  combination, or it cannot be told a field that makes another layout of it. A layout can be legal
 *  for calc and still not start. */
#ifndef CALC_FORMATS_REFUSAL_H
#define CALC_FORMATS_REFUSAL_H

#include "formats/framework.h"

/** Call `tell` with each reason for which the framework cannot run this layout, a sentence in the
 *  names of our fields. Depends on the arguments only.
 *  @return how many there are; 0: the framework starts with what calc_export() gives */
size_t calc_export_refused(const calc_framework *framework, const calc_app *app,
                           const calc_exec *exec, void (*tell)(void *context, const char *reason),
                           void *context);

/** The first framework that runs a layout, trains or serves it, on all of its systems: what `calc
 *  export --to` takes; NULL if none does. @param system  of what the layout gives no other */
const char *calc_export_starter(const calc_app *app, const calc_system *system,
                                const calc_exec *exec);

/** Whether one that runs on a system can be told how many blocks each stage recomputes. */
bool calc_export_recomputes_by_stage(const calc_system *system);

/** Whether there is one. */
static inline bool calc_export_starts(const calc_app *app, const calc_system *system,
                                      const calc_exec *exec)
{
    return calc_export_starter(app, system, exec) != NULL;
}

#endif
