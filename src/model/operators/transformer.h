/** @file transformer.h  The operators of modern transformers: grouped-query and latent attention,
 *  gated feed-forward, mixture of experts, embedding, head and loss, under tensor, sequence,
 *  context and expert parallelism. Sources: Shoeybi et al. 2019 (arXiv 1909.08053), Korthikanti et
 *  al. 2022 (2205.05198), Dao 2022 (2205.14135), DeepSeek-V2/V3 (2405.04434, 2412.19437), Liu et
 * al. 2023 (2310.01889, ring attention), Jacobs et al. 2023 (2309.14509, Ulysses). */
#ifndef CALC_MODEL_TRANSFORMER_H
#define CALC_MODEL_TRANSFORMER_H

#include "model/operators/build.h"

/** Operators of a block, in order of the forward pass.
 *  @param out  at least CALC_MAX_OPERATORS
 *  @return their number */
size_t calc_transformer_block(const calc_recipe *recipe, calc_operator *out);

/** The same in three steps: attention and the norm behind it, which all kinds of blocks begin with;
 *  with experts, router and shared experts, which do not depend on the spread of experts over
 *  ranks; and all that follows.
 *  @param begun  operators that the step before returned; they are in `out`
 *  @return the number of all so far */
size_t calc_transformer_begin(const calc_recipe *recipe, calc_operator *out);
size_t calc_transformer_router(const calc_recipe *recipe, size_t begun, calc_operator *out);
size_t calc_transformer_rest(const calc_recipe *recipe, size_t begun, calc_operator *out);

/** Operators of the embedding, on the first stage. */
size_t calc_transformer_embedding(const calc_shape *shape, const calc_strategy *strategy,
                                  calc_operator *out);

/** Operators of the final norm, the head and the loss, on the last stage. */
size_t calc_transformer_head(const calc_shape *shape, const calc_strategy *strategy, bool training,
                             calc_operator *out);

/** Operators that one depth of multi-token prediction adds to its layers and its head: norms and
 * the projection of two streams to one. */
size_t calc_transformer_mtp(const calc_shape *shape, const calc_strategy *strategy,
                            calc_operator *out);

/** Append the layers of a depth to them, of a model that lists its layers; a block of the model
 * stands for those of any other.
 *  @param begun  operators that are in `out` @return the number of all */
size_t calc_transformer_mtp_layers(const calc_recipe *recipe, size_t begun, calc_operator *out);

/** Append a norm of the residual stream.
 *  @param moved_by  bits of offload_modules that move what it keeps */
void calc_transformer_norm(calc_build *b, const char *name, unsigned moved_by);

/** Tokens a rank routes, of one micro-batch: tensor-parallel ranks split them. */
static inline double calc_transformer_routed_tokens(const calc_shape *shape)
{
    return shape->tokens / shape->tensor_par;
}

/** Append a dense feed-forward layer, split over the tensor-parallel ranks. */
void calc_feedforward_dense(calc_build *b);

/** Append router and shared experts. */
void calc_feedforward_router(calc_build *b);

/** Append the operators that follow: exchange of tokens, routed experts and the way back. */
void calc_feedforward_experts(calc_build *b);

/** Numbers per token that the projection of a linear mixer's input gives, all heads: what its
 *  convolution, its recurrence and its gate read. */
double calc_linear_projection(const calc_shape *shape);

/** Of them, those that the causal convolution runs over. */
double calc_linear_channels(const calc_shape *shape);

/** Numbers of its state, of one sequence and layer, all heads; 0 for short convolutions. */
double calc_linear_state(const calc_shape *shape);

/** Arithmetic per token of the recurrence as published counts have it, and of the convolution,
 *  forward [FLOP]: 7 per number of the state for Mamba-2, 9 for Mamba-1, 8 for delta rules, 4 for
 *  lightning attention; none of chunks. */
double calc_linear_flop(const calc_shape *shape);

/** Append the operators of a mixer between the norm of its layer and the residual sum.
 *  @param b  whose shape is that of the part */
void calc_linear_mixer(calc_build *b);

/** Layers of a block, in order of the forward pass; the collective of a layer in tiles comes before
 *  or after its matrix, without a name.
 *  @param out  at least CALC_MAX_OPERATORS
 *  @return their number */
size_t calc_calculon_block(const calc_recipe *recipe, calc_operator *out);

/** A property of a layout that the list cannot represent: "app.num_experts = 8", in static text;
 *  NULL if there is none. Depends on the resolved values of fields, not on how they are written. */
const char *calc_calculon_lacks(const calc_app *app, const calc_strategy *strategy);

#endif
