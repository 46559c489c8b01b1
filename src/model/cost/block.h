/** @file block.h  The operators of a block: a present-day transformer's, or Calculon's with the
 *  rule `layers`. */
#ifndef CALC_MODEL_BLOCK_H
#define CALC_MODEL_BLOCK_H

#include "model/cost/cost.h"
#include "model/operators/transformer.h"

/** The inputs of the operators of a context's blocks of a kind. */
calc_recipe calc_block_recipe(const calc_cost_context *context, calc_block_kind kind);

/** Operators of a block of a kind, in order of the forward pass.
 *  @param out  at least CALC_MAX_OPERATORS
 *  @return their number */
size_t calc_block_operators(const calc_cost_context *context, calc_block_kind kind,
                            calc_operator *out);

/** The same in the steps of calc_transformer_block(). Calculon's list is all in the last. */
size_t calc_block_begin(const calc_cost_context *context, calc_block_kind kind, calc_operator *out);
size_t calc_block_router(const calc_cost_context *context, calc_block_kind kind, size_t begun,
                         calc_operator *out);
size_t calc_block_rest(const calc_cost_context *context, calc_block_kind kind, size_t begun,
                       calc_operator *out);

/** The same of the ends of the model: embedding, and final norm, head and loss. Calculon's list has
 *  none. */
size_t calc_block_embedding(const calc_cost_context *context, calc_operator *out);
size_t calc_block_head(const calc_cost_context *context, calc_operator *out);

/** And of a depth of multi-token prediction, if the model has any.
 *  @param layers  with those of its layers, where the model lists them */
size_t calc_block_mtp(const calc_cost_context *context, bool layers, calc_operator *out);

#endif
