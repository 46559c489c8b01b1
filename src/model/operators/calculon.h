/** @file calculon.h  Calculon's list of the layers of a block (rule `layers`): what a GPT of 2022
 *  runs one kernel at a time, with forks, dropouts and residuals of their own, and without
 *  embedding, head and loss. Source: Isaev et al., "Calculon: a Methodology and Tool for High-Level
 *  Codesign of Systems and Large Language Models", SC'23. */
#ifndef CALC_MODEL_CALCULON_H
#define CALC_MODEL_CALCULON_H

#include "model/operators/build.h"

/** Layers of a block, in order of the forward pass; the collective of a layer in tiles comes before
 *  or after its matrix, without a name.
 *  @param out  at least CALC_MAX_OPERATORS
 *  @return their number */
size_t calc_calculon_block(const calc_recipe *recipe, calc_operator *out);

/** What a layout has that the list cannot say: "app.num_experts = 8", in static text; NULL if it
 * can say everything. Depends on what fields resolve to, not on how they are written. */
const char *calc_calculon_lacks(const calc_app *app, const calc_strategy *strategy);

#endif
