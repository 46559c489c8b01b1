/* calc_each_stage(): the statistics of each stage of the pipeline. */
#include "calc.h"
#include "model/cost/block_memory.h"
#include "model/stages/layout.h"
#include "model/stages/stage_spent.h"

static void put_time(const calc_layout *l, const calc_stage_class *class, calc_stage_stats *out)
{
    double chunks = l->stages.chunks;
    calc_stage_spent t = calc_stage_spent_of(&l->context, l->exec, &l->parts, &l->lines, &l->terms,
                                             &l->links, class, chunks);
    calc_stage_pass pass = calc_stage_pass_of(&l->terms, &l->links, class, chunks, l->exposed);
    out->fw_time = pass.fw_s;
    out->bw_time = pass.agrad_s + pass.wgrad_s;
    out->wgrad_time = pass.wgrad_s;
    out->head_time = t.ends_s;
    out->comm_exposed_time =
        t.tensor_s + t.context_s + t.expert_s + t.repeated_s + t.sharded_s + t.message_s;
    out->host_time = t.host_s;
}

static void put_memory(const calc_layout *l, const calc_stage_class *class, calc_stage_stats *out)
{
    calc_stage_weights w = calc_stage_weights_sum(&l->terms, class);
    calc_stage_memory m =
        calc_stage_memory_sum(&l->terms, class, &w, l->exec->pipeline_schedule, l->stages.chunks);
    out->in_flight = m.in_flight;
    out->act_space = m.activation;
    out->working_space = m.working;
    out->head_space = m.ends;
    out->framework_space = m.framework;
    out->mem_tier1 = m.total * l->terms.used_share + l->terms.reserved_bytes;
    out->mem_overhead = out->mem_tier1 - m.total;
}

/* By rule the parts are counted block by block; of what is offloaded, what stays. */
static void put_parts_by_rule(const calc_layout *l, calc_stage_stats *out)
{
    const calc_exec *e = l->exec;
    double shards = calc_zero_stage(&e->strategy) >= 1 ? l->lines.dense_shards : 1;
    calc_block_memory b =
        calc_block_memory_of(&l->context, &e->strategy, calc_layout_block(l), shards);
    calc_block_memory all =
        calc_block_memory_whole(&e->strategy, e->training, &b, out->blocks, out->in_flight);
    calc_block_memory kept = calc_block_memory_offloaded(e->training, &b);
    const calc_block_memory *activations = e->strategy.activations_offload ? &kept : &all;
    out->weight_space = e->strategy.weight_offload ? kept.weight : all.weight;
    out->weight_grad_space = e->strategy.optimizer_offload ? kept.grad : all.grad;
    out->optimizer_space = e->strategy.optimizer_offload ? kept.optimizer : all.optimizer;
    out->act_space = activations->stored + activations->checkpoint;
    out->working_space = all.activation_grad;
}

/* Rows of all stages of a class; what they hold depends on their position, what they take not. */
static void put_class(const calc_layout *l, size_t index, calc_stage_stats *out, size_t capacity)
{
    calc_stage_class class = l->stages.item[index];
    calc_stage_state state =
        calc_stage_state_of(&l->context, l->exec, &l->terms, &l->stages, index);
    calc_stage_stats row = {
        .blocks = class.dense + class.moe,
        .moe_blocks = class.moe,
        .weight_space = state.weight,
        .weight_grad_space = state.grad,
        .optimizer_space = state.optimizer,
    };
    put_time(l, &class, &row);
    size_t first = (size_t) class.position;
    size_t end = first + (size_t) class.stages;
    for (size_t i = first; i < end && i < capacity; i++) {
        class.position = (double)i;
        row.stage = (int64_t)i;
        put_memory(l, &class, &row);
        if (calc_stage_rule(&l->terms, CALC_COMPAT_BLOCK_MEMORY)) {
            put_parts_by_rule(l, &row);
        }
        out[i] = row;
    }
}

size_t calc_each_stage(const calc_app *app, const calc_system *system, const calc_exec *exec,
                       calc_compat compat, calc_stage_stats *out, size_t capacity)
{
    calc_shape shape = calc_shape_of(app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    calc_stages stages = calc_stages_split(&shape, exec, compat);
    bool served = exec->inference.phase != CALC_INFERENCE_PHASE_NONE;
    bool empty = stages.fewest_blocks < 1 || stages.stages > shape.blocks;
    size_t count = served || empty ? 0 : (size_t)exec->pipeline_par;
    if (capacity == 0 || count == 0) {
        return count;
    }
    calc_layout l;
    calc_layout_of(app, system, exec, compat, NULL, &l);
    for (size_t i = 0; i < l.stages.count; i++) {
        put_class(&l, i, out, capacity);
    }
    return count;
}
