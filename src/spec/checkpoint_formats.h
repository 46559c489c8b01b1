/** @file checkpoint_formats.h  Number formats that a layout that serves has from the model's
 *  published weights (app.checkpoint). */
#ifndef CALC_SPEC_CHECKPOINT_FORMATS_H
#define CALC_SPEC_CHECKPOINT_FORMATS_H

#include "calc.h"

/** Give a layout that serves the formats that it does not say itself: of the cache, and, unless it
 *  has other weights, those of the weights with the matrices of attention that stay wide. They are
 *  multiplied in the checkpoint's format, with its scales, where every machine has it, and in the
 *  layout's datatype elsewhere. A layout that trains, or serves nothing, is left as it is. */
void calc_checkpoint_formats_take(const calc_app *app, const calc_system *system, calc_exec *exec);

#endif
