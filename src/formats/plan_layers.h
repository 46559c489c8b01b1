/** @file plan_layers.h  Layers that differ, in the terms of frameworks: one list of 0 and 1 per
 *  property of a block, as Megatron's GPT model takes them, or a letter per part, as its hybrid
 *  model does; and the way back to the layers of a model (spec/stack.h). */
#ifndef CALC_FORMATS_PLAN_LAYERS_H
#define CALC_FORMATS_PLAN_LAYERS_H

#include "formats/plan.h"

/** Gives a model that lists its layers the fields of its parts: of attention those of the first
 *  part that is plain, and so on. The model is resolved before, and no number but these changes. */
void calc_plan_layers_represent(calc_app *app);

/** The first part of a type that layers have, if there is one the first without a window, with
 *  positions and keys of its own; NULL: there is none. */
const calc_part *calc_plan_layers_part(const calc_stack *stack, calc_part_type type);

/** Whether every layer is a block of Megatron's GPT model: attention or the gated delta rule, and
 *  behind it one feed-forward part; and multi-token prediction repeats the last one. */
bool calc_plan_layers_are_blocks(const calc_stack *stack);

/** Whether layers differ in the width of their feed-forward part, or lack a part, and in nothing
 *  else: Megatron's GPT model reads such layers from the config.json of the model. */
bool calc_plan_layers_are_sized(const calc_app *app);

/** Adds the layers to a plan that is otherwise finished.
 *  @param app  resolved */
void calc_plan_layers_from(calc_plan *plan, const calc_app *app, const calc_exec *exec);

/** Fills the members that follow from a list of letters: blocks, stages, depths of multi-token
 *  prediction.
 *  @return CALC_OK, or CALC_ERR_RULE with an error added */
CALC_MUST_USE calc_status calc_plan_layers_join(calc_plan *plan, calc_errors *errors);

/** The inverse of calc_plan_layers_from(): adds the layers to a model that is otherwise finished.
 *  @return CALC_OK, or CALC_ERR_RULE with an error added */
CALC_MUST_USE calc_status calc_plan_layers_apply(const calc_plan *plan, calc_app *app,
                                                 calc_errors *errors);

/** Whether text lists layers by the letters of Megatron's hybrid model: M * - E G D +, with | at
 *  the ends of stages and, after /, the layers of a depth of multi-token prediction. */
bool calc_plan_layers_letters(const char *text);

/** Reports the parts of a model's layers that another model does not have, where either lists its
 *  layers. Both are resolved.
 *  @param elsewhere  fields that are not reported: calc_framework.elsewhere */
void calc_plan_layers_lost(const calc_app *app, const calc_app *back, const char *elsewhere,
                           calc_tell_lost *tell, void *context);

#endif
