/* What follows the pipeline of a step, and what a stage holds. */
#include "model/timeline.h"

calc_timeline_end calc_timeline_end_of(const calc_timeline *t, int64_t stage)
{
    const calc_placed *p = &t->placed;
    const calc_strategy *s = &p->exec->strategy;
    calc_placed_stage at;
    calc_placed_stage_of(p, stage, &at);
    calc_stage_pass pass = calc_placed_pass(p, &at);
    calc_stage_reduction r = calc_placed_reduction(p, &at, &pass);
    bool end = stage == 0 || stage == t->shape.stages - 1;
    return (calc_timeline_end){
        .reduce_link_s = r.reduce_s,
        .reduce_s = s->data_par_overlap ? r.reduce_beside_s : r.reduce_s,
        .gather_link_s = r.gather_s,
        .gather_s = calc_stage_gathers_beside(s) ? r.gather_beside_s : r.gather_s,
        .tied_s = end ? at.links.tied_s : 0,
        .optimizer_s = calc_placed_optimizer_s(p, &at),
        .scatters = calc_zero_stage(&at.layout->exec->strategy) >= 1,
    };
}

calc_timeline_memory calc_timeline_memory_of(const calc_timeline *t, int64_t stage)
{
    calc_placed_stage at;
    calc_placed_stage_of(&t->placed, stage, &at);
    at.class.position = (double)stage;
    calc_stage_memory m = calc_placed_memory(&t->placed, &at);
    double used = at.terms.used_share;
    return (calc_timeline_memory){
        .fixed_bytes = (m.total - m.activation) * used + at.terms.reserved_bytes,
        .flight_bytes = m.in_flight > 0 ? m.activation / m.in_flight * used : 0,
    };
}
