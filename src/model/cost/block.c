#include "model/cost/block.h"

#include "model/operators/calculon.h"

/* Calculon's list has no experts: their blocks are the transformer's in any case. */
static bool listed(const calc_cost_context *c, calc_block_kind kind)
{
    return calc_compat_has(c->compat, CALC_COMPAT_LAYERS) && kind == CALC_DENSE_BLOCK;
}

size_t calc_block_operators(const calc_cost_context *c, calc_block_kind kind, calc_operator *out)
{
    return listed(c, kind)
               ? calc_calculon_block(c->shape, c->system, c->exec, c->compat, out)
               : calc_transformer_block(c->shape, c->system, c->exec, c->compat, kind, out);
}

size_t calc_block_embedding(const calc_cost_context *c, calc_operator *out)
{
    return listed(c, CALC_DENSE_BLOCK) ? 0 : calc_transformer_embedding(c->shape, c->exec, out);
}

size_t calc_block_head(const calc_cost_context *c, calc_operator *out)
{
    return listed(c, CALC_DENSE_BLOCK) ? 0 : calc_transformer_head(c->shape, c->exec, out);
}
