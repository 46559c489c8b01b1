#include "model/cost/cost_tiles.h"

#include "model/cost/cost_kernel.h"
#include "model/operators/processor.h"

bool calc_cost_tiles_has(const calc_cost_context *c, const calc_operator *o)
{
    /* Shared experts hide the exchange of experts or tiles: not both. */
    bool exchange = c->strategy->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED;
    return o->kind == CALC_OPERATOR_COLLECTIVE && o->beside != 0 &&
           calc_operator_tiled(c->strategy) && !(o->shared_expert && exchange) &&
           o[o->beside].kind == CALC_OPERATOR_MATRIX && c->shape->tensor_par > 1;
}

const calc_operator *calc_cost_tiles_beside(const calc_cost_context *c, const calc_operator *list,
                                            size_t count, size_t i)
{
    if (i > 0 && list[i - 1].beside == 1 && calc_cost_tiles_has(c, &list[i - 1])) {
        return &list[i - 1];
    }
    return i + 1 < count && list[i + 1].beside == -1 && calc_cost_tiles_has(c, &list[i + 1])
               ? &list[i + 1]
               : NULL;
}

/* A matrix in tiles; its pass takes flop_s, mem_s and all_s alone. */
static calc_cost_tiles tiles_of(const calc_cost_context *c, double flop_s, double mem_s,
                                double all_s, double link_s)
{
    calc_cost_tiles out = {all_s, 0};
    if (link_s == 0) {
        return out;
    }
    bool theirs = calc_compat_has(c->compat, CALC_COMPAT_TILES);
    bool pipe = c->strategy->tensor_par_overlap == CALC_TENSOR_PAR_OVERLAP_PIPE;
    double tiles = c->shape->tensor_par;
    double slowed_flop_s = flop_s / (1 - c->usage);
    calc_processing_mode mode = c->chip->processing_mode;
    double slowed_s = all_s + (calc_processing_s(mode, slowed_flop_s, mem_s) -
                               calc_processing_s(mode, flop_s, mem_s));
    double link_tile_s = link_s / tiles;
    double tile_s = all_s / tiles;
    double excess_s = link_tile_s - (theirs ? slowed_flop_s : slowed_s) / tiles;
    if (excess_s > 0) {
        out.time_s = tile_s + (tiles - 1) * (slowed_s / tiles);
        out.exposed_s = (tiles - 1) * excess_s;
    } else {
        /* While it communicates its arithmetic is slower; continuous with the case above. */
        double share = theirs ? c->usage : slowed_s > 0 ? 1 - all_s / slowed_s : 0;
        out.time_s = tile_s + (tiles - 1) * tile_s + (tiles - 1) * link_tile_s * share;
    }
    out.exposed_s += pipe ? link_tile_s : 0;
    if (theirs) {
        out.time_s += pipe ? link_tile_s : 0;
        return out;
    }
    double fused = calc_share_or(c->chip->overlap.tensor_par_fused, CALC_COST_TENSOR_PAR_FUSED);
    out.exposed_s = calc_max(out.exposed_s, link_s * (1 - fused));
    return out;
}

calc_cost_tiles calc_cost_tiles_of(const calc_cost_context *c, const calc_operator *matrix,
                                   calc_pass pass, double link_s)
{
    calc_kernel_source source;
    calc_cost_kernel k = calc_cost_kernel_of(c, matrix, pass, &source);
    return tiles_of(c, k.flop_s, k.mem_s, k.all_s, link_s);
}

calc_cost_tiles calc_cost_tiles_timed(const calc_cost_context *c, const calc_operator *matrix,
                                      const calc_cost_times *t, calc_pass pass, double link_s)
{
    const calc_cost_work *w = &t->work[pass];
    return calc_operator_runs(matrix, pass)
               ? tiles_of(c, w->flop_s, w->mem_s, t->all_s[pass], link_s)
               : calc_cost_tiles_of(c, matrix, pass, link_s);
}
