/** @file extended.h  Whether a layout uses more than Calculon's fields. */
#ifndef CALC_SPEC_EXTENDED_H
#define CALC_SPEC_EXTENDED_H

#include "calc.h"

/** Whether anything beyond Calculon's fields is asked for: then the layout is a list of stages
 *  (model/stages.h); else Calculon's closed form holds (model/step.h), to the bit. */
bool calc_extended(const calc_app *app, const calc_system *system, const calc_exec *exec);

/** The same of the application alone. */
bool calc_extended_app(const calc_app *app);

#endif
