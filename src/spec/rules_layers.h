/** @file rules_layers.h  Rules of lists of layers (calc_exec.layers). */
#ifndef CALC_SPEC_RULES_LAYERS_H
#define CALC_SPEC_RULES_LAYERS_H

#include "calc.h"

/** Recipes that a layout may have: pairs of a system and how its layers are split, sharded and
 *  recomputed; those of the ends among them. */
enum { CALC_MAX_LAYER_RECIPES = 24 };

/** Check the list, if there is one, and every strategy in it; violations are added to `errors`. The
 *  execution itself is checked only for members that its layers do not set themselves. */
void calc_rules_layers(const calc_app *app, const calc_system *system, const calc_exec *exec,
                       calc_errors *errors);

#endif
