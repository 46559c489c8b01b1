#include "model/cost/block.h"

#include "model/operators/adapter.h"
#include "model/operators/encoder.h"
#include "model/operators/transformer.h"

/* Calculon's list has no experts: their blocks are the transformer's in any case. */
static bool listed(const calc_cost_context *c, calc_block_kind kind)
{
    return calc_compat_has(c->compat, CALC_COMPAT_LAYERS) && kind == CALC_DENSE_BLOCK;
}

calc_recipe calc_block_recipe(const calc_cost_context *c, calc_block_kind kind)
{
    return (calc_recipe){
        .kind = kind,
        .shape = c->shape,
        .chip = c->chip,
        .strategy = c->strategy,
        .context_inner = calc_collective_inner_ranks(c->system, &c->groups.context),
        .adds = calc_collective_adds(c->system, &c->groups.tensor, c->compat),
        .training = c->training,
    };
}

/* A list of which the operators from `first` to before `end` are new. */
static size_t frozen(const calc_cost_context *c, calc_frozen_list list, calc_operator *operators,
                     size_t first, size_t end)
{
    calc_adapter_freeze(c->shape, c->strategy, c->training, list, operators, first, end);
    return end;
}

size_t calc_block_begin(const calc_cost_context *c, calc_block_kind kind, calc_operator *out)
{
    calc_recipe recipe = calc_block_recipe(c, kind);
    size_t end = listed(c, kind) ? 0 : calc_transformer_begin(&recipe, out);
    return frozen(c, CALC_FROZEN_BLOCK, out, 0, end);
}

size_t calc_block_router(const calc_cost_context *c, calc_block_kind kind, size_t begun,
                         calc_operator *out)
{
    calc_recipe recipe = calc_block_recipe(c, kind);
    size_t end = listed(c, kind) ? begun : calc_transformer_router(&recipe, begun, out);
    return frozen(c, CALC_FROZEN_BLOCK, out, begun, end);
}

size_t calc_block_rest(const calc_cost_context *c, calc_block_kind kind, size_t begun,
                       calc_operator *out)
{
    calc_recipe recipe = calc_block_recipe(c, kind);
    size_t end = listed(c, kind) ? calc_calculon_block(&recipe, out)
                                 : calc_transformer_rest(&recipe, begun, out);
    return frozen(c, CALC_FROZEN_BLOCK, out, begun, end);
}

size_t calc_block_operators(const calc_cost_context *c, calc_block_kind kind, calc_operator *out)
{
    size_t begun = calc_block_begin(c, kind, out);
    return calc_block_rest(c, kind, calc_block_router(c, kind, begun, out), out);
}

size_t calc_block_embedding(const calc_cost_context *c, calc_operator *out)
{
    size_t end =
        listed(c, CALC_DENSE_BLOCK) ? 0 : calc_transformer_embedding(c->shape, c->strategy, out);
    const calc_recipe recipe = calc_block_recipe(c, CALC_DENSE_BLOCK);
    return calc_encoder_list(&recipe, frozen(c, CALC_FROZEN_EMBEDDING, out, 0, end), out);
}

size_t calc_block_head(const calc_cost_context *c, calc_operator *out)
{
    size_t end = listed(c, CALC_DENSE_BLOCK)
                     ? 0
                     : calc_transformer_head(c->shape, c->strategy, c->training, out);
    return frozen(c, CALC_FROZEN_HEAD, out, 0, end);
}

size_t calc_block_mtp(const calc_cost_context *c, bool layers, calc_operator *out)
{
    if (c->shape->mtp_blocks <= 0) {
        return 0;
    }
    size_t end = calc_transformer_mtp(c->shape, c->strategy, out);
    if (layers && calc_shape_lists_mtp(c->shape)) {
        const calc_recipe recipe = calc_block_recipe(c, CALC_MOE_BLOCK);
        end = calc_transformer_mtp_layers(&recipe, end, out);
    }
    return frozen(c, CALC_FROZEN_BLOCK, out, 0, end);
}
