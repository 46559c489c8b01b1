/* The work after the pipeline of a step, and the memory of a stage. */
#include "model/timeline.h"

#include <math.h>
#include <string.h>

#include "model/operators/processor.h"

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

void calc_timeline_after(const calc_timeline *t, int64_t stage, double pipeline_s,
                         double straggler_s, calc_timeline_slice out[CALC_TIMELINE_AFTER])
{
    calc_timeline_end end = calc_timeline_end_of(t, stage);
    double hidden_s = calc_max(0, end.gather_link_s - end.gather_s);
    calc_stage_deferred deferred = calc_placed_deferred(&t->placed);
    bool head = deferred.any && stage == t->shape.stages - 1;
    double drained_s = pipeline_s + t->deferred_s;
    double head_s = head ? pipeline_s - t->drain_s : drained_s;
    double at_s = drained_s + straggler_s;
    double reduced_s = at_s + end.reduce_s;
    double start_s = fmin(at_s, calc_max(hidden_s, reduced_s - end.reduce_link_s));
    double tied_s = reduced_s + end.tied_s;
    double updated_s = tied_s + end.optimizer_s;
    const char *reduction = end.scatters ? "reduce-scatter gradients" : "all-reduce gradients";
    const calc_timeline_slice slices[CALC_TIMELINE_AFTER] = {
        {"all-gather weights, hidden", "data parallel", true, 0, fmin(hidden_s, at_s)},
        {"weight gradients of the head", "embedding, head", false, head_s,
         head ? head_s + deferred.all_s : drained_s},
        {"stragglers", "wait", false, drained_s, at_s},
        {reduction, "data parallel", true, fmin(start_s, reduced_s), reduced_s},
        {"all-reduce shared embedding", "data parallel", true, reduced_s, tied_s},
        {"optimizer", "optimizer", false, tied_s, updated_s},
        {"all-gather weights", "data parallel", true, updated_s, updated_s + end.gather_s},
    };
    memcpy(out, slices, sizeof slices);
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
