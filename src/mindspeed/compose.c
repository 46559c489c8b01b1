#include "mindspeed/compose.h"

#include <string.h>

#include "model/cost/block.h"
#include "model/cost/cost_kernel.h"
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

static unsigned recompute_of(const calc_layout *l, int list)
{
    return list < CALC_BLOCK_KINDS
               ? calc_operator_recompute(l->context.strategy, l->context.training)
               : 0;
}

/* (rows x inner) times (inner x columns), as a pass multiplies them; experts form a batch. */
static bool multiplication(const calc_layout *l, const calc_operator *o, calc_pass pass,
                           calc_mindspeed_shape *out)
{
    double flop = o->flop[CALC_PASS_FW];
    double inner = flop / (2 * o->outputs), columns = flop / (2 * o->inputs);
    double rows = o->inputs / inner, batch = 1;
    if (o->kind == CALC_OPERATOR_GROUPED) {
        batch = l->shape.experts / l->shape.expert_par;
        rows /= batch;
    }
    double m = pass == CALC_PASS_WGRAD ? columns : rows;
    double k = pass == CALC_PASS_FW ? inner : pass == CALC_PASS_AGRAD ? columns : rows;
    double n = pass == CALC_PASS_FW ? columns : inner;
    *out = (calc_mindspeed_shape){CALC_MINDSPEED_MATMUL, {batch, m, k, n}};
    return flop > 0 && rows > 0 && inner > 0 && columns > 0;
}

/* Sequence, batch and width of an input. */
static void input(const calc_mindspeed_layout *layout, const calc_layout *l, const calc_operator *o,
                  calc_pass pass, calc_mindspeed_shape *out)
{
    const calc_mindspeed_config *c = layout->config;
    const calc_shape *s = &l->shape;
    bool gradient = pass == CALC_PASS_AGRAD;
    if (o->kind == CALC_OPERATOR_ATTENTION) {
        *out = (calc_mindspeed_shape){
            gradient ? CALC_MINDSPEED_FLASH_GRAD : CALC_MINDSPEED_FLASH,
            {s->seq / c->cp, s->microbatch, s->local_heads * s->qk_size / c->up, 1}};
        return;
    }
    *out = (calc_mindspeed_shape){
        s->rms ? (gradient ? CALC_MINDSPEED_RMS_NORM_GRAD : CALC_MINDSPEED_RMS_NORM)
               : (gradient ? CALC_MINDSPEED_LAYER_NORM_GRAD : CALC_MINDSPEED_LAYER_NORM),
        {s->seq / s->context_par / s->tensor_par, s->microbatch, s->hidden, 1}};
}

/* @return false for other types */
static bool shape_of(const calc_mindspeed_layout *layout, const calc_layout *l,
                     const calc_operator *o, calc_pass pass, calc_mindspeed_shape *out)
{
    static const char *const norms[] = {"attention norm", "feed-forward norm", "final norm"};
    bool known = o->kind == CALC_OPERATOR_ATTENTION;
    if (o->kind == CALC_OPERATOR_MATRIX || o->kind == CALC_OPERATOR_HEAD ||
        o->kind == CALC_OPERATOR_GROUPED) {
        return multiplication(l, o, pass, out);
    }
    for (int i = 0; i < 3 && o->name && o->kind == CALC_OPERATOR_VECTOR; i++) {
        known = known || strcmp(o->name, norms[i]) == 0;
    }
    if (known) {
        input(layout, l, o, pass, out);
    }
    return known && pass != CALC_PASS_WGRAD;
}

/* Ring attention runs one kernel per rank, so the time of one kernel alone is not the time of
 * all. */
static double alone_s(const calc_mindspeed_operators *operators, const calc_operator *o,
                      const calc_mindspeed_shape *shape, double model_s)
{
    bool once = o->kind != CALC_OPERATOR_ATTENTION || o->launches[CALC_PASS_FW] <= 1;
    double timed_s = operators->cache && once ? calc_mindspeed_cache_s(operators->cache, shape) : 0;
    return timed_s > 0 ? timed_s : model_s;
}

static calc_status add_kernel(calc_mindspeed_parts *out, const calc_mindspeed_layout *layout,
                              const calc_layout *l, calc_mindspeed_operators *operators, int list,
                              const calc_operator *o)
{
    int passes = l->context.training ? CALC_PASS_COUNT : CALC_PASS_AGRAD;
    for (int pass = 0; pass < passes; pass++) {
        calc_mindspeed_shape shape;
        if (!calc_operator_runs(o, (calc_pass)pass) ||
            !shape_of(layout, l, o, (calc_pass)pass, &shape) ||
            out->count == CALC_MINDSPEED_PARTS) {
            continue;
        }
        double model_s = calc_cost_kernel_s(&l->context, o, (calc_pass)pass);
        const double *errors = calc_mindspeed_operators_draws(operators, &shape);
        if (!errors) {
            return CALC_ERR_NOMEM;
        }
        out->item[out->count++] = (calc_mindspeed_part){
            .shape = shape,
            .list = list,
            .pass = pass,
            .attention = o->kind == CALC_OPERATOR_ATTENTION,
            .shared = o->shared_expert,
            .repeated = pass == CALC_PASS_FW && calc_operator_again(o, recompute_of(l, list)) > 0,
            .model_s = model_s,
            .alone_s = alone_s(operators, o, &shape, model_s),
            .errors = errors};
    }
    return CALC_OK;
}

calc_status calc_mindspeed_parts_of(calc_mindspeed_parts *out, const calc_mindspeed_layout *layout,
                                    const calc_layout *l, calc_mindspeed_operators *operators)
{
    calc_operator item[CALC_MAX_OPERATORS];
    out->count = 0;
    for (int list = 0; list < LISTS; list++) {
        size_t count = operators_of(l, list, item);
        for (size_t i = 0; i < count; i++) {
            calc_status status = add_kernel(out, layout, l, operators, list, &item[i]);
            if (status != CALC_OK) {
                return status;
            }
        }
    }
    return CALC_OK;
}

static void add_time(calc_cost *cost, const calc_mindspeed_part *part, double more_s)
{
    double attention_s = part->attention ? more_s : 0, shared_s = part->shared ? more_s : 0;
    bool fw = part->pass == CALC_PASS_FW;
    cost->fw_s += fw ? more_s : 0;
    cost->agrad_s += part->pass == CALC_PASS_AGRAD ? more_s : 0;
    cost->wgrad_s += part->pass == CALC_PASS_WGRAD ? more_s : 0;
    cost->re_s += part->repeated ? more_s : 0;
    cost->attention_fw_s += fw ? attention_s : 0;
    cost->attention_bw_s += fw ? 0 : attention_s;
    cost->attention_re_s += part->repeated ? attention_s : 0;
    cost->shared_fw_s += fw ? shared_s : 0;
    cost->shared_bw_s += fw ? 0 : shared_s;
    cost->shared_re_s += part->repeated ? shared_s : 0;
}

/* Applies the i-th draws to the costs. The exposed time of a ring is relative to the drawn
 * attention.
 * @param clamped  counts times that would have been negative and are set to 0 */
static void mindspeed_parts_draw(const calc_mindspeed_parts *parts, size_t i,
                                 calc_stage_parts *costs, size_t *clamped)
{
    for (size_t k = 0; k < parts->count; k++) {
        const calc_mindspeed_part *part = &parts->item[k];
        double time_s = part->alone_s * (1 + part->errors[i]);
        *clamped += time_s < 0;
        add_time(cost_of(costs, part->list), part, calc_max(0, time_s) - part->model_s);
    }
    for (int kind = 0; kind < CALC_BLOCK_KINDS; kind++) {
        calc_cost_hide_context(&costs->block[kind]);
    }
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
        for (size_t i = 0; i < count; i++) {
            if (item[i].kind == CALC_OPERATOR_COLLECTIVE) {
                add_sent(l, &item[i], recompute_of(l, list), comm, cost_of(&l->parts, list));
            }
        }
    }
    for (int kind = 0; kind < CALC_BLOCK_KINDS; kind++) {
        calc_cost_hide_context(&l->parts.block[kind]);
    }
    calc_stage_terms_of(&l->context, l->exec, &l->parts, &l->lines, &l->terms, &l->links);
}

/* Recomputes the step of a layout after its parts have changed [s]. */
static double step_s(calc_layout *l)
{
    calc_step step;
    calc_stage_terms_of(&l->context, l->exec, &l->parts, &l->lines, &l->terms, &l->links);
    calc_step_of(l, &step);
    return step.total_s;
}

calc_status calc_mindspeed_compose(const calc_mindspeed_layout *layout,
                                   calc_mindspeed_operators *operators, calc_mindspeed_comm *comm,
                                   double *samples_s, size_t count)
{
    calc_layout l;
    calc_mindspeed_parts parts;
    calc_layout_of(layout->app, layout->system, layout->exec, CALC_COMPAT_NONE, NULL, NULL, &l);
    if (comm) {
        mindspeed_parts_sent(&l, comm);
    }
    calc_status status = CALC_OK;
    if (operators) {
        status = calc_mindspeed_parts_of(&parts, layout, &l, operators);
    }
    const calc_stage_parts before = l.parts;
    for (size_t i = 0; i < count && status == CALC_OK; i++) {
        if (operators) {
            l.parts = before;
            mindspeed_parts_draw(&parts, i, &l.parts, &operators->clamped);
        }
        samples_s[i] = operators || i == 0 ? step_s(&l) : samples_s[0];
    }
    return status;
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
    calc_layout l;
    calc_step step;
    calc_layout_of(layout->app, layout->system, layout->exec, CALC_COMPAT_NONE, NULL, NULL, &l);
    for (int kind = 0; kind < CALC_STAGE_KINDS; kind++) {
        set_part(&l.terms.block[kind], m->layer_s, m->backward);
    }
    set_part(&l.terms.embedding, m->embedding_s, m->backward);
    set_part(&l.terms.head, m->norm_s + m->head_s + m->loss_s, m->backward);
    calc_step_of(&l, &step);
    return step.total_s;
}
