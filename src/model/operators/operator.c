#include "model/operators/operator.h"

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
    case CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP:
        return always | CALC_RECOMPUTE_OP;
    case CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY:
        return always | 1U << CALC_RECOMPUTE_MODULES_CORE_ATTN;
    case CALC_ACTIVATION_RECOMPUTE_MODULES:
        return always | (unsigned)strategy->recompute_modules;
    default:
        return always;
    }
}
