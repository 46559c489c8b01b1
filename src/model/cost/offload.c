#include "model/cost/offload.h"

enum {
    CORE_ATTN = 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN,
    /* These drop an output after the operators behind it have saved it: copied like the others. */
    DROPPED_LATE = 1 << CALC_RECOMPUTE_MODULES_LAYERNORM | 1 << CALC_RECOMPUTE_MODULES_MLA_UP_PROJ
};

calc_offload calc_offload_of(const calc_strategy *strategy, const calc_operator *operators,
                             size_t count, unsigned recompute)
{
    unsigned modules = (unsigned)strategy->offload_modules;
    calc_offload sum = {0, 0};
    if (recompute & CALC_RECOMPUTE_ALL) {
        modules = 0;
    } else if (recompute & CORE_ATTN) {
        /* Attention that runs again saves its inputs outside the module. */
        modules &= ~(1U << CALC_OFFLOAD_MODULES_CORE_ATTN);
    }
    for (size_t i = 0; i < count && modules; i++) {
        const calc_operator *o = &operators[i];
        if (o->moved_by & modules) {
            unsigned drops = o->dropped_by & recompute;
            double share = calc_operator_share(o);
            sum.away_bytes += share * (o->kept_bytes - (drops ? o->dropped_bytes : 0));
            sum.copied_bytes += share * (o->copied_bytes + o->kept_bytes -
                                         (drops & ~(unsigned)DROPPED_LATE ? o->dropped_bytes : 0));
        }
    }
    return sum;
}
