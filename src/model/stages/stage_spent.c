#include "model/stages/stage_spent.h"

static void add_some(const calc_cost_context *c, const calc_exec *exec, const calc_cost *b,
                     const calc_stage_lines *lines, double blocks, calc_stage_spent *t)
{
    if (blocks <= 0) {
        return;
    }
    double n = blocks / calc_share_or(exec->software_efficiency, 1);
    calc_stage_sharded s = calc_stage_sharded_of(c, &exec->strategy, b, lines);
    t->fw_s += n * b->fw_s;
    t->bw_s += n * (b->agrad_s + b->wgrad_s);
    t->re_s += n * b->re_s;
    t->repeated_s += n * calc_cost_repeated_s(b);
    t->tensor_s += n * (b->tensor.fw_exposed_s + b->tensor.bw_exposed_s);
    t->context_s += n * (b->context.fw_exposed_s + b->context.bw_exposed_s);
    t->expert_s += n * (b->expert.fw_exposed_s + b->expert.bw_exposed_s);
    calc_stage_offload o = calc_stage_offload_of(c, &exec->strategy, b, &s);
    t->sharded_s += n * (s.fw_s + s.bw_s);
    t->fw_offload_s += n * o.fw_s;
    t->bw_offload_s += n * o.bw_s;
}

/* Add blocks of a kind.
 * @param re  share of them that recompute */
static void add_blocks(const calc_cost_context *c, const calc_exec *exec, const calc_cost *b,
                       const calc_stage_lines *lines, double blocks, double re, calc_stage_spent *t)
{
    add_some(c, exec, b, lines, blocks * re, t);
    if (re < 1) {
        const calc_cost once = calc_stage_once(b);
        add_some(c, exec, &once, lines, blocks * (1 - re), t);
    }
}

/* By rule: how much longer blocks take that wait for the second memory tier. */
static void add_offload(const calc_stage_terms *x, const calc_stage_links *l,
                        const calc_stage_class *c, const calc_stage_pass *p, double chunks,
                        double exposed, calc_stage_spent *t)
{
    const calc_stage_part *d = &x->block[CALC_DENSE_BLOCK];
    const calc_stage_part *m = &x->block[CALC_MOE_BLOCK];
    const calc_rule_part *r = &x->rule[CALC_DENSE_BLOCK];
    double base_blocks = c->dense + c->moe - chunks;
    double fw_s = calc_stage_mean(c, d->fw_s, m->fw_s);
    double bw_s =
        calc_stage_mean(c, d->agrad_s, m->agrad_s) + calc_stage_mean(c, d->wgrad_s, m->wgrad_s);
    t->fw_offload_s += base_blocks * (p->base_fw_s - fw_s) +
                       chunks * (p->edge_fw_s - (fw_s + r->edge_fw_s + l->message_s * exposed));
    t->bw_offload_s +=
        base_blocks * (p->base_bw_s - bw_s) +
        chunks * (p->edge_bw_s - (bw_s + r->edge_bw_s + l->back_message_s * exposed));
}

calc_stage_spent calc_stage_spent_of(const calc_cost_context *context, const calc_exec *exec,
                                     const calc_stage_parts *parts, const calc_stage_lines *lines,
                                     const calc_stage_terms *x, const calc_stage_links *l,
                                     const calc_stage_class *c, double chunks)
{
    double exposed = calc_stage_exposed_messages(x, &exec->strategy);
    double re = 1 - calc_stage_rich(x, c);
    calc_stage_pass pass = calc_stage_pass_of(x, l, c, chunks, exposed);
    calc_stage_spent t = {.all_s = calc_stage_pass_s(&pass)};
    add_blocks(context, exec, &parts->block[CALC_DENSE_BLOCK], lines, c->dense, re, &t);
    add_blocks(context, exec, &parts->block[CALC_MOE_BLOCK], lines, c->moe, re, &t);
    /* Extra exposed time of the last block of each chunk. */
    const calc_cost_comm *edge = &parts->block[CALC_DENSE_BLOCK].edge;
    const calc_cost_comm *base = &parts->block[CALC_DENSE_BLOCK].tensor;
    t.tensor_s += chunks * (edge->fw_exposed_s - base->fw_exposed_s +
                            (edge->bw_exposed_s - base->bw_exposed_s));
    t.repeated_s += chunks * (edge->re_exposed_s - base->re_exposed_s);
    if (calc_stage_rule(x, CALC_COMPAT_OFFLOAD_EACH)) {
        add_offload(x, l, c, &pass, chunks, exposed, &t);
    }
    calc_stage_sharded_ends ends = calc_stage_sharded_ends_of(context, exec, parts, lines);
    double slowed = 1 / calc_share_or(exec->software_efficiency, 1);
    double sharded_s = (c->first * (ends.embedding.fw_s + ends.embedding.bw_s) +
                        c->last * (ends.head.fw_s + ends.head.bw_s)) *
                       slowed;
    t.sharded_s += sharded_s;
    t.ends_s = c->first * (x->embedding.fw_s + x->embedding.agrad_s + x->embedding.wgrad_s) +
               c->last * (x->head.fw_s + x->head.agrad_s + x->head.wgrad_s) - sharded_s;
    t.message_s = calc_stage_spent_message_s(x, l) * chunks * exposed;
    double unsent_s = calc_stage_unsent_s(x, l, chunks) / x->microbatches;
    double known_s = t.fw_s + t.bw_s + t.re_s + t.repeated_s + t.tensor_s + t.context_s +
                     t.expert_s + t.sharded_s + t.fw_offload_s + t.bw_offload_s + t.ends_s +
                     t.message_s + unsent_s;
    /* The remainder is the host's; a negative one is rounding. */
    t.host_s = t.all_s - known_s > 1e-12 * t.all_s ? t.all_s - known_s : 0;
    return t;
}

calc_stage_spent calc_stage_spent_sum(const calc_stage_spent *a, const calc_stage_spent *b,
                                      double share)
{
    calc_stage_spent sum = *a;
    double *of = (void *)&sum;
    calc_add_numbers(of, (const void *)b, sizeof sum / sizeof *of);
    for (size_t i = 0; i < sizeof sum / sizeof *of; i++) {
        of[i] *= share;
    }
    return sum;
}
