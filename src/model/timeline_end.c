/* What follows the pipeline of a step, and what a stage holds. */
#include "model/timeline.h"

calc_timeline_end calc_timeline_end_of(const calc_timeline *t, int64_t stage)
{
    const calc_stage_class *c = calc_timeline_class(t, stage);
    const calc_exec *e = t->layout.exec;
    calc_stage_weights w = calc_stage_weights_sum(&t->layout.terms, c);
    calc_stage_pass pass = calc_stage_pass_of(&t->layout.terms, &t->layout.links, c,
                                              t->layout.stages.chunks, t->layout.exposed);
    calc_stage_reduction r = calc_stage_reduction_sum(&t->layout.terms, &t->layout.links, c, &w,
                                                      &pass, t->layout.stages.chunks);
    bool end = stage == 0 || stage == t->shape.stages - 1;
    return (calc_timeline_end){
        .reduce_link_s = r.reduce_s,
        .reduce_s = e->strategy.data_par_overlap ? r.reduce_beside_s : r.reduce_s,
        .gather_link_s = r.gather_s,
        .gather_s = calc_stage_gathers_beside(&e->strategy) ? r.gather_beside_s : r.gather_s,
        .tied_s = end ? t->layout.links.tied_s : 0,
        .optimizer_s = calc_stage_optimizer_sum(&t->layout.terms, c, &w),
        .scatters = calc_zero_stage(&e->strategy) >= 1,
    };
}

calc_timeline_memory calc_timeline_memory_of(const calc_timeline *t, int64_t stage)
{
    calc_stage_class c = *calc_timeline_class(t, stage);
    c.position = (double)stage;
    calc_stage_weights w = calc_stage_weights_sum(&t->layout.terms, &c);
    calc_stage_memory m = calc_stage_memory_sum(
        &t->layout.terms, &c, &w, t->layout.exec->pipeline_schedule, t->layout.stages.chunks);
    double used = t->layout.terms.used_share;
    return (calc_timeline_memory){
        .fixed_bytes = (m.total - m.activation) * used + t->layout.terms.reserved_bytes,
        .flight_bytes = m.in_flight > 0 ? m.activation / m.in_flight * used : 0,
    };
}
