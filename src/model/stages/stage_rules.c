#include "model/stages/stage_rules.h"

#include "model/cost/state.h"
#include "model/operators/processor.h"

calc_optimizer_step calc_stage_rules_optimizer(const calc_cost_context *c, const calc_strategy *s,
                                               const calc_stage_parts *p, calc_block_kind kind,
                                               double shards)
{
    calc_state_bytes b = calc_state_bytes_of(s, c->shape, c->training);
    calc_optimizer_step none = {0};
    return c->training ? calc_optimizer_block(c, calc_state_optimizer_bytes(&b), p->weights[kind],
                                              p->layers[kind], shards)
                       : none;
}

calc_stage_travel calc_stage_rules_travel(const calc_strategy *s, bool training,
                                          const calc_block_memory *m)
{
    double weight = s->weight_offload ? m->weight : 0;
    double activation = s->activations_offload ? calc_block_memory_kept(s, m) : 0;
    double optimizer = s->optimizer_offload ? m->optimizer : 0;
    return (calc_stage_travel){
        .fw_bytes = calc_max(weight, activation),
        .bw_bytes = training ? weight + activation + optimizer : 0,
    };
}

static void set_times(const calc_cost *b, calc_rule_part *out)
{
    const calc_cost_comm *t = &b->tensor;
    const calc_cost_comm *x = &b->edge;
    const calc_cost_work *agrad = &b->work[CALC_PASS_AGRAD];
    const calc_cost_work *wgrad = &b->work[CALC_PASS_WGRAD];
    out->edge_fw_s = x->fw_exposed_s - t->fw_exposed_s;
    out->edge_bw_s = x->bw_exposed_s - t->bw_exposed_s + (x->re_exposed_s - t->re_exposed_s);
    out->fw_mem_s = b->work[CALC_PASS_FW].mem_s;
    out->bw_mem_s = agrad->mem_s + wgrad->mem_s;
    out->busy_s = agrad->mem_s + wgrad->mem_s + b->re.mem_s;
    out->compute_s = agrad->flop_s + wgrad->flop_s + b->re.flop_s;
    out->link_s = t->re_link_s + t->bw_link_s;
    out->edge_link_s = x->re_link_s + x->bw_link_s;
}

void calc_stage_rules_of(const calc_cost_context *c, const calc_strategy *strategy,
                         const calc_stage_parts *p, double dense_shards,
                         const calc_optimizer_step *optimizer, calc_stage_terms *t)
{
    bool sharded = calc_zero_stage(strategy) >= 1;
    double shards = sharded ? dense_shards : 1;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS && t->compat; kind++) {
        calc_rule_part *out = &t->rule[kind];
        const calc_cost *b = &p->block[kind];
        if (b->dense_weights + b->expert_weights <= 0) {
            continue; /* there are no such blocks */
        }
        calc_block_memory m = calc_block_memory_of(c, strategy, b, shards);
        set_times(b, out);
        if (calc_compat_has(t->compat, CALC_COMPAT_OPTIMIZER_ROOFLINE)) {
            /* Unless it is sharded, and so waits for all gradients, it starts block by block. */
            calc_optimizer_step s = optimizer
                                        ? optimizer[kind]
                                        : calc_stage_rules_optimizer(c, strategy, p, kind, shards);
            out->optimizer_s = s.step_s;
            out->optimizer_window_s = sharded ? 0 : s.step_s - s.mem_s;
            out->compute_s += sharded ? 0 : s.flop_s;
        }
        if (calc_compat_has(t->compat, CALC_COMPAT_OFFLOAD_EACH)) {
            calc_stage_travel travel = calc_stage_rules_travel(strategy, c->training, &m);
            out->fw_away_s = calc_memory_tier_s(&c->chip->mem2, travel.fw_bytes);
            out->bw_away_s = calc_memory_tier_s(&c->chip->mem2, travel.bw_bytes);
        }
        calc_block_memory_lines(strategy, c->training, &m, out);
    }
}
