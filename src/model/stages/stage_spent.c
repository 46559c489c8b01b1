#include "model/stages/stage_spent.h"

static void add_some(const calc_cost_context *c, const calc_exec *exec, const calc_cost *b,
                     const calc_stage_lines *lines, double blocks, calc_stage_spent *out)
{
    if (blocks <= 0) {
        return;
    }
    double n = blocks / calc_share_or(exec->software_efficiency, 1);
    calc_stage_sharded s = calc_stage_sharded_of(c, &exec->strategy, b, lines);
    calc_stage_offload o = calc_stage_offload_of(c, &exec->strategy, b, &s);
    out->fw_s[CALC_SPENT_OFFLOAD] += n * o.fw_s;
    out->bw_s[CALC_SPENT_OFFLOAD] += n * o.bw_s;
    out->fw_s[CALC_SPENT_COMPUTE] += n * b->fw_s;
    out->fw_s[CALC_SPENT_TENSOR] += n * b->tensor.fw_exposed_s;
    out->fw_s[CALC_SPENT_CONTEXT] += n * b->context.fw_exposed_s;
    out->fw_s[CALC_SPENT_EXPERT] += n * b->expert.fw_exposed_s;
    out->fw_s[CALC_SPENT_SHARDED] += n * s.fw_s;
    out->bw_s[CALC_SPENT_RECOMPUTE] += n * b->re_s;
    out->bw_s[CALC_SPENT_REPEATED] += n * calc_cost_repeated_s(b);
    out->bw_s[CALC_SPENT_COMPUTE] += n * b->agrad_s;
    out->bw_s[CALC_SPENT_TENSOR] += n * b->tensor.bw_exposed_s;
    out->bw_s[CALC_SPENT_CONTEXT] += n * b->context.bw_exposed_s;
    out->bw_s[CALC_SPENT_EXPERT] += n * b->expert.bw_exposed_s;
    out->bw_s[CALC_SPENT_SHARDED] += n * s.bw_s;
    out->wgrad_s[CALC_SPENT_COMPUTE] += n * b->wgrad_s;
}

void calc_stage_spend(const calc_cost_context *context, const calc_exec *exec,
                      const calc_stage_parts *parts, const calc_stage_lines *lines,
                      const calc_stage_terms *x, const calc_stage_class *c, double again,
                      calc_stage_spent *out)
{
    const double blocks[CALC_BLOCK_KINDS] = {c->dense, c->moe};
    for (int kind = 0; kind < CALC_BLOCK_KINDS; kind++) {
        add_some(context, exec, &parts->block[kind], lines, blocks[kind] * again, out);
        if (again < 1) {
            calc_cost once = parts->block[kind]; /* a shorter backward pass, which hides less */
            once.re_s = once.tensor.re_exposed_s = 0;
            once.context.re_exposed_s = once.expert.re_exposed_s = 0;
            add_some(context, exec, &once, lines, blocks[kind] * (1 - again), out);
        }
    }
    calc_stage_sharded_ends s = calc_stage_sharded_ends_of(context, exec, parts, lines);
    double slowed = 1 / calc_share_or(exec->software_efficiency, 1);
    double fw_s = (c->first * s.embedding.fw_s + c->last * s.head.fw_s) * slowed;
    double bw_s = (c->first * s.embedding.bw_s + c->last * s.head.bw_s) * slowed;
    out->fw_s[CALC_SPENT_SHARDED] += fw_s;
    out->bw_s[CALC_SPENT_SHARDED] += bw_s;
    out->fw_s[CALC_SPENT_ENDS] += c->first * x->embedding.fw_s + c->last * x->head.fw_s - fw_s;
    out->bw_s[CALC_SPENT_ENDS] +=
        c->first * x->embedding.agrad_s + c->last * x->head.agrad_s - bw_s;
    out->wgrad_s[CALC_SPENT_ENDS] += c->first * x->embedding.wgrad_s + c->last * x->head.wgrad_s;
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
    t->fw_s[CALC_SPENT_OFFLOAD] +=
        base_blocks * (p->base_fw_s - fw_s) +
        chunks * (p->edge_fw_s - (fw_s + r->edge_fw_s + l->message_s * exposed));
    t->bw_s[CALC_SPENT_OFFLOAD] +=
        base_blocks * (p->base_bw_s - bw_s) +
        chunks * (p->edge_bw_s - (bw_s + r->edge_bw_s + l->back_message_s * exposed));
}

calc_stage_spent calc_stage_spent_of(const calc_cost_context *context, const calc_exec *exec,
                                     const calc_stage_parts *parts, const calc_stage_lines *lines,
                                     const calc_stage_terms *x, const calc_stage_links *l,
                                     const calc_stage_class *c, double chunks)
{
    double exposed = calc_stage_exposed_messages(x, &exec->strategy);
    calc_stage_pass pass = calc_stage_pass_of(x, l, c, chunks, exposed);
    calc_stage_spent t = {0};
    calc_stage_spend(context, exec, parts, lines, x, c, 1 - calc_stage_rich(x, c), &t);
    /* Extra exposed time of the last block of each chunk. */
    const calc_cost_comm *edge = &parts->block[CALC_DENSE_BLOCK].edge;
    const calc_cost_comm *base = &parts->block[CALC_DENSE_BLOCK].tensor;
    t.fw_s[CALC_SPENT_TENSOR] += chunks * (edge->fw_exposed_s - base->fw_exposed_s);
    t.bw_s[CALC_SPENT_TENSOR] += chunks * (edge->bw_exposed_s - base->bw_exposed_s);
    t.bw_s[CALC_SPENT_REPEATED] += chunks * (edge->re_exposed_s - base->re_exposed_s);
    if (calc_stage_rule(x, CALC_COMPAT_OFFLOAD_EACH)) {
        add_offload(x, l, c, &pass, chunks, exposed, &t);
    }
    t.fw_s[CALC_SPENT_MESSAGE] = calc_stage_spent_message_s(x, l) * chunks * exposed;
    double all_s = calc_stage_pass_s(&pass);
    double host_s = all_s - calc_stage_unsent_s(x, l, chunks) / x->microbatches;
    for (int part = 0; part < CALC_SPENT_PARTS; part++) {
        host_s -= calc_spent_s(&t, (calc_spent_part)part);
    }
    /* The remainder is the host's; a negative one is rounding. */
    t.fw_s[CALC_SPENT_HOST] = host_s > 1e-12 * all_s ? host_s : 0;
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
