/* What follows the pipeline of a step, and what a stage holds. */
#include "model/memory.h"
#include "model/timeline.h"

static calc_timeline_end extended_end(const calc_timeline *t, int64_t stage)
{
    const calc_stage_class *c = calc_timeline_class(t, stage);
    const calc_exec *e = t->exec;
    double exposed = calc_stage_exposed_messages(&t->terms, e);
    calc_stage_weights w = calc_stage_weights_sum(&t->terms, c);
    calc_stage_pass pass = calc_stage_pass_of(&t->terms, &t->links, c, t->stages.chunks, exposed);
    calc_stage_reduction r =
        calc_stage_reduction_sum(&t->terms, &t->links, &w, &pass, t->stages.chunks);
    bool end = stage == 0 || stage == t->shape.stages - 1;
    return (calc_timeline_end){
        .reduce_link_s = r.reduce_s,
        .reduce_s = e->data_par_overlap ? r.reduce_beside_s : r.reduce_s,
        .gather_link_s = r.gather_s,
        .gather_s = calc_stage_gathers_beside(e) ? r.gather_beside_s : r.gather_s,
        .tied_s = end ? t->links.tied_s : 0,
        .optimizer_s = calc_stage_optimizer_sum(&t->terms, &w),
        .scatters = calc_zero_stage(e) >= 1,
    };
}

calc_timeline_end calc_timeline_end_of(const calc_timeline *t, const calc_stats *s, int64_t stage)
{
    if (t->extended) {
        return extended_end(t, stage);
    }
    return (calc_timeline_end){
        .reduce_link_s = s->dp_comm_link_time,
        .reduce_s = s->dp_comm_exposed_time,
        .optimizer_s = s->optim_step_time,
        .scatters = t->exec->optimizer_sharding,
    };
}

calc_timeline_memory calc_timeline_memory_of(const calc_timeline *t, int64_t stage)
{
    if (!t->extended) {
        const calc_classic_chunk *c = &t->chunk;
        calc_memory_need need =
            calc_memory_need_of(t->exec, &c->block, &c->optimizer, c->pipeline.blocks_per_proc);
        return (calc_timeline_memory){need.tier1.fixed, need.tier1.per_flight};
    }
    calc_stage_class c = *calc_timeline_class(t, stage);
    c.position = (double)stage;
    calc_stage_weights w = calc_stage_weights_sum(&t->terms, &c);
    calc_stage_memory m =
        calc_stage_memory_sum(&t->terms, &c, &w, t->exec->pipeline_schedule, t->stages.chunks);
    double used = t->terms.used_share;
    return (calc_timeline_memory){
        .fixed_bytes = (m.total - m.activation) * used + t->terms.reserved_bytes,
        .flight_bytes = m.in_flight > 0 ? m.activation / m.in_flight * used : 0,
    };
}
