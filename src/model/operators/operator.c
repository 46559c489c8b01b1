#include "model/operators/operator.h"

double calc_operator_sent_bytes(const calc_operator *o, calc_pass pass, bool edge)
{
    calc_collective_op op = edge && o->has_edge ? o->edge_op[pass] : o->op[pass];
    bool none = o->kind != CALC_OPERATOR_COLLECTIVE || op == CALC_OP_NONE;
    return none ? 0 : calc_operator_message_bytes(o, pass) * o->times[pass];
}

unsigned calc_operator_recompute(const calc_strategy *strategy, bool training)
{
    unsigned always =
        (strategy->seq_par_ag_redo ? CALC_RECOMPUTE_GATHER : 0U) | CALC_RECOMPUTE_HELD;
    if (!training) {
        return 0; /* nothing is kept that could be dropped */
    }
    switch (strategy->activation_recompute) {
    case CALC_ACTIVATION_RECOMPUTE_FULL:
        return always | CALC_RECOMPUTE_ALL;
    case CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY:
        return always | 1U << CALC_RECOMPUTE_MODULES_CORE_ATTN;
    case CALC_ACTIVATION_RECOMPUTE_MODULES:
        return always | (unsigned)strategy->recompute_modules;
    default:
        return always;
    }
}
