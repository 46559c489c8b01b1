/** @file calculon.h  Calculon's list of the layers of a block (rule `layers`): a GPT of 2022, one
 *  kernel at a time, with forks, dropouts and residuals as separate layers, and without embedding,
 *  head and loss. Source: Isaev et al., "Calculon: a Methodology and Tool for High-Level Codesign
 *  of Systems and Large Language Models", SC'23. */
#ifndef CALC_MODEL_CALCULON_H
#define CALC_MODEL_CALCULON_H

#include "model/operators/build.h"

/** Layers of a block, in order of the forward pass; the collective of a layer in tiles comes before
 *  or after its matrix, without a name.
 *  @param out  at least CALC_MAX_OPERATORS
 *  @return their number */
size_t calc_calculon_block(const calc_recipe *recipe, calc_operator *out);

/** A property of a layout that the list cannot represent: "app.num_experts = 8", in static text;
 *  NULL if there is none. Depends on the resolved values of fields, not on how they are written. */
const char *calc_calculon_lacks(const calc_app *app, const calc_strategy *strategy);

#endif
