/** @file refusal.h  Combinations of settings that a framework's own checks of its arguments refuse:
 *  a layout can be legal for calc, and written without loss, and still not start. */
#ifndef CALC_FORMATS_REFUSAL_H
#define CALC_FORMATS_REFUSAL_H

#include "formats/framework.h"

/** Call `tell` with each reason for which the framework would not start with this layout, a
 * sentence in the names of our fields.
 *  @return how many there are */
size_t calc_export_refused(const calc_framework *framework, const calc_app *app,
                           const calc_exec *exec, void (*tell)(void *context, const char *reason),
                           void *context);

#endif
