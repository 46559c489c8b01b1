#include "model/stages/measured_block.h"

#include "base/hash.h"
#include "model/cost/block.h"
#include "model/stages/stage_types.h"
#include "spec/format.h"

static double passes_s(const calc_stage_source *b)
{
    return b->fw_s + b->agrad_s + b->wgrad_s;
}

double calc_measured_block_model_s(const calc_cost_context *c)
{
    calc_cost_context model = *c;
    calc_stage_parts parts;
    model.measured = NULL;
    calc_stage_parts_of(&model, &parts);
    calc_stage_source b = calc_stage_source_of(&parts, CALC_DENSE_BLOCK);
    return calc_stage_beside_host_s(passes_s(&b), b.host_s, c->strategy->launch_blocking);
}

/* ---- What tells blocks apart ----------------------------------------------------------------- */

static uint64_t mixed(uint64_t hash, double number)
{
    return calc_hash(hash, &number, sizeof number);
}

/* All but the sizes: kinds of its operators, which of them are repeated, and what these do not
 * show. Gradients may be added up in any format, and on any number of replicas. */
static int structure_of(const calc_cost_context *c)
{
    const calc_shape *s = c->shape;
    const calc_strategy *t = c->strategy;
    const double traits[] = {s->gated,
                             s->rms,
                             s->rope,
                             s->bias,
                             s->dropout,
                             s->causal,
                             s->qk_norm,
                             s->flash,
                             s->latent,
                             s->q_rank,
                             s->kv_rank,
                             s->rope_size,
                             s->latent ? s->v_size : 0,
                             s->window,
                             s->global_every,
                             s->context_par,
                             s->element_bytes,
                             t->tensor_par_overlap,
                             t->attention_kernel,
                             t->attention_datatype,
                             t->scaling,
                             t->trained,
                             t->launch_blocking,
                             t->cuda_graph,
                             (double)calc_collective_top_network(c->system, &c->groups.tensor)};
    calc_operator operators[CALC_MAX_OPERATORS];
    size_t count = calc_block_operators(c, CALC_DENSE_BLOCK, operators);
    unsigned recompute = calc_operator_recompute(t, c->training);
    uint64_t hash = CALC_HASH_START;
    for (size_t i = 0; i < sizeof traits / sizeof *traits; i++) {
        hash = mixed(hash, traits[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const calc_operator *o = &operators[i];
        hash = mixed(hash, o->kind);
        hash = mixed(hash, calc_operator_again(o, recompute));
        for (int pass = 0; pass < CALC_PASS_COUNT; pass++) {
            hash = mixed(hash, o->op[pass]);
        }
    }
    return (int)(hash & INT32_MAX);
}

calc_kernel_key calc_measured_block_key(const calc_cost_context *c)
{
    const calc_shape *s = c->shape;
    const double sizes[] = {s->microbatch, s->seq,      s->hidden,  s->feedforward,
                            s->heads,      s->kv_heads, s->qk_size, s->tensor_par};
    calc_kernel_key key = {
        .kind = CALC_KERNEL_BLOCK,
        .datatype = (int)calc_format_datatype(c->strategy->matrix_datatype, c->strategy->datatype),
        .variant = structure_of(c)
    };
    _Static_assert(sizeof sizes / sizeof *sizes <= CALC_KERNEL_SIZES, "room for the sizes");
    calc_kernel_key_sizes(&key, sizes, (int)(sizeof sizes / sizeof *sizes));
    return key;
}

/* ---- Its time -------------------------------------------------------------------------------- */

static bool has_blocks(const calc_kernel_table *table)
{
    for (size_t i = 0; table && i < table->count; i++) {
        if (table->point[i].key.kind == CALC_KERNEL_BLOCK) {
            return true;
        }
    }
    return false;
}

calc_measured_block calc_measured_block_of(const calc_cost_context *c)
{
    calc_measured_block b = {0, 0, CALC_KERNEL_ROOFLINE, false};
    bool dense = !c->shape->stack && c->shape->moe_blocks < c->shape->blocks;
    if (dense && c->training && has_blocks(c->measured)) {
        calc_kernel_key key = calc_measured_block_key(c);
        b.model_s = calc_measured_block_model_s(c);
        b.time_s = calc_kernel_table_s(c->measured, &key, b.model_s, &b.source);
        b.measured = b.source >= CALC_KERNEL_INTERPOLATED;
    }
    return b;
}

void calc_measured_block_put(const calc_cost_context *c, double speed, calc_stage_parts *parts)
{
    calc_measured_block found = calc_measured_block_of(c);
    if (!found.measured) {
        return;
    }
    calc_cost *b = &parts->block[CALC_DENSE_BLOCK];
    calc_stage_source source = calc_stage_source_of(parts, CALC_DENSE_BLOCK);
    double factor = found.time_s / (passes_s(&source) * speed);
    calc_cost_comm *const comm[] = {&b->tensor, &b->context, &b->expert, &b->edge};
    for (size_t i = 0; i < sizeof comm / sizeof *comm; i++) {
        comm[i]->fw_link_s *= factor;
        comm[i]->bw_link_s *= factor;
        comm[i]->re_link_s *= factor;
        comm[i]->fw_exposed_s *= factor;
        comm[i]->bw_exposed_s *= factor;
        comm[i]->re_exposed_s *= factor;
    }
    b->fw_s *= factor;
    b->agrad_s *= factor;
    b->wgrad_s *= factor;
    b->re_s *= factor;
    parts->host_s[CALC_DENSE_BLOCK] = parts->host_once_s[CALC_DENSE_BLOCK] = 0;
}
