#include "mindspeed/compose.h"

#include "model/cost/block.h"
#include "model/run.h"

/* Lists of operators: the kinds of blocks, then the ends. */
enum { EMBEDDING = CALC_BLOCK_KINDS, HEAD, LISTS };

static calc_cost *cost_of(calc_stage_parts *parts, int list)
{
    return list == EMBEDDING ? &parts->embedding
           : list == HEAD    ? &parts->head
                             : &parts->block[list];
}

static size_t operators_of(const calc_layout *l, int list, calc_operator *out)
{
    if ((list == CALC_MOE_BLOCK && l->shape.experts == 0) ||
        (list == CALC_DENSE_BLOCK && l->shape.moe_blocks >= l->shape.blocks)) {
        return 0;
    }
    return list == EMBEDDING ? calc_block_embedding(&l->context, out)
           : list == HEAD    ? calc_block_head(&l->context, out)
                             : calc_block_operators(&l->context, (calc_block_kind)list, out);
}

static calc_group group_of(const calc_layout *l, const calc_operator *o)
{
    const calc_groups *g = &l->context.groups;
    const calc_group *const groups[CALC_OPERATOR_GROUPS] = {&g->tensor, &g->context, &g->expert,
                                                            &g->expert_tensor};
    calc_group group = *groups[o->group];
    if (o->sub_ranks > 0) {
        group.ranks = o->sub_ranks;
        group.stride *= o->sub_stride;
    }
    return group;
}

/* Measured time of the collectives of a pass minus calc's time [s]; 0 without a measurement.
 * Node-limited dispatch sends tokens once per node and not once per expert; no measured collective
 * corresponds to it. */
static double beyond_s(const calc_layout *l, const calc_operator *o, calc_pass pass,
                       calc_mindspeed_comm *comm)
{
    calc_group group = group_of(l, o);
    double bytes = calc_operator_message_bytes(o, pass);
    bool limited = o->group == CALC_IN_EXPERT &&
                   l->context.strategy->dispatch_type == CALC_DISPATCH_TYPE_NODE_LIMITED;
    if (o->op[pass] == CALC_OP_NONE || o->times[pass] <= 0 || group.ranks <= 1 || limited) {
        return 0;
    }
    const calc_mindspeed_message message = {o->op[pass], (int64_t)group.ranks, bytes};
    double measured_s = calc_mindspeed_comm_s(comm, &message);
    return measured_s > 0
               ? (measured_s - calc_collective_s(l->system, o->op[pass], &group, bytes)) *
                     o->times[pass]
               : 0;
}

/* Adds time to a link and keeps its exposed share. */
static void add_link(double *link_s, double *exposed_s, double more_s)
{
    double share = *link_s > 0 ? *exposed_s / *link_s : 1;
    *link_s += more_s;
    *exposed_s += share * more_s;
}

static void add_sent(const calc_layout *l, const calc_operator *o, unsigned recompute,
                     calc_mindspeed_comm *comm, calc_cost *cost)
{
    calc_cost_comm *x = o->group == CALC_IN_TENSOR    ? &cost->tensor
                        : o->group == CALC_IN_CONTEXT ? &cost->context
                                                      : &cost->expert;
    double fw_s = beyond_s(l, o, CALC_PASS_FW, comm);
    add_link(&x->fw_link_s, &x->fw_exposed_s, fw_s);
    cost->ring_fw_s += o->hidden_by_attention ? fw_s : 0;
    if (!l->context.training) {
        return;
    }
    double again_s = beyond_s(l, o, CALC_PASS_WGRAD, comm);
    double bw_s = beyond_s(l, o, CALC_PASS_AGRAD, comm) + (o->repeats ? 0 : again_s);
    add_link(&x->bw_link_s, &x->bw_exposed_s, bw_s);
    cost->ring_bw_s += o->hidden_by_attention ? bw_s : 0;
    if (calc_operator_again(o, recompute) > 0) {
        double re_s = o->repeats ? again_s : fw_s;
        add_link(&x->re_link_s, &x->re_exposed_s, re_s);
        cost->ring_re_s += o->hidden_by_attention ? re_s : 0;
    }
}

/* Applies the measured times of collectives to the costs of a layout's blocks and ends.
 * Collectives of data parallelism and between stages keep calc's times. */
static void mindspeed_parts_sent(calc_layout *l, calc_mindspeed_comm *comm)
{
    calc_operator item[CALC_MAX_OPERATORS];
    for (int list = 0; list < LISTS; list++) {
        size_t count = operators_of(l, list, item);
        unsigned recompute = calc_operator_recompute(l->context.strategy, l->context.training);
        for (size_t i = 0; i < count; i++) {
            if (item[i].kind == CALC_OPERATOR_COLLECTIVE) {
                add_sent(l, &item[i], list < CALC_BLOCK_KINDS ? recompute : 0, comm,
                         cost_of(&l->parts, list));
            }
        }
    }
    for (int kind = 0; kind < CALC_BLOCK_KINDS; kind++) {
        calc_cost_hide_context(&l->parts.block[kind]);
    }
    calc_stage_terms_of(&l->context, l->exec, &l->parts, &l->lines, &l->terms, &l->links);
}

double calc_mindspeed_compose_s(const calc_mindspeed_layout *layout, calc_mindspeed_comm *comm)
{
    calc_placed p;
    calc_step step;
    calc_placed_of(layout->app, layout->system, layout->exec, CALC_COMPAT_NONE, NULL, NULL, &p);
    mindspeed_parts_sent(&p.recipe[0], comm);
    calc_step_of(&p, &step);
    return step.total_s;
}

static void set_part(calc_stage_part *part, double fw_s, double backward)
{
    part->fw_s = fw_s;
    part->agrad_s = fw_s * backward;
    part->wgrad_s = part->spared_s = 0;
}

double calc_mindspeed_compose_modules_s(const calc_mindspeed_layout *layout,
                                        const calc_mindspeed_module_times *m)
{
    calc_placed p;
    calc_step step;
    calc_placed_of(layout->app, layout->system, layout->exec, CALC_COMPAT_NONE, NULL, NULL, &p);
    calc_stage_terms *t = &p.recipe[0].terms;
    for (int kind = 0; kind < CALC_STAGE_KINDS; kind++) {
        set_part(&t->block[kind], m->layer_s, m->backward);
    }
    set_part(&t->embedding, m->embedding_s, m->backward);
    set_part(&t->head, m->norm_s + m->head_s + m->loss_s, m->backward);
    calc_step_of(&p, &step);
    return step.total_s;
}
