#include "calc.h"
#include "model/cost/block_memory.h"
#include "model/operators/processor.h"
#include "model/stages/placed.h"
#include "spec/rules.h"

/* calc_each_stage(): the statistics of each stage of the pipeline. */

static void put_stage_time(const calc_placed *p, const calc_placed_stage *at, calc_stage_stats *out)
{
    calc_stage_spent t = calc_placed_spent(p, at);
    calc_stage_pass pass = calc_placed_pass(p, at);
    out->fw_time = pass.fw_s;
    out->bw_time = pass.agrad_s + pass.wgrad_s;
    out->wgrad_time = pass.wgrad_s;
    out->head_time = calc_spent_s(&t, CALC_SPENT_ENDS);
    out->host_time = calc_spent_s(&t, CALC_SPENT_HOST);
    out->comm_exposed_time =
        calc_spent_s(&t, CALC_SPENT_REPEATED) + calc_spent_s(&t, CALC_SPENT_MESSAGE);
    for (int i = CALC_SPENT_RESHARD; i <= CALC_SPENT_SHARDED; i++) {
        out->comm_exposed_time += calc_spent_s(&t, (calc_spent_part)i);
    }
}

/* By rule the parts are counted block by block; for offloaded parts, the rest that stays. */
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

/* Time of a stage and the split of its state do not depend on its position, and are the same for
 * all stages of a class. */
static calc_stage_stats row_of(const calc_placed *p, const calc_placed_stage *at)
{
    calc_stage_state state = calc_placed_state(p, at);
    calc_stage_stats row = {
        .blocks = at->class.dense + at->class.moe,
        .moe_blocks = at->class.moe,
        .weight_space = state.weight,
        .weight_grad_space = state.grad,
        .optimizer_space = state.optimizer,
    };
    put_stage_time(p, at, &row);
    return row;
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
    calc_placed p;
    calc_placed_stage at;
    calc_stage_stats row = {0};
    calc_placed_of(app, system, exec, compat, NULL, NULL, &p);
    for (size_t i = 0; i < count && i < capacity; i++) {
        calc_placed_stage_of(&p, (int64_t)i, &at);
        row = p.listed || at.class.position == (double)i ? row_of(&p, &at) : row;
        at.class.position = (double)i;
        row.stage = (int64_t)i;
        calc_stage_memory m = calc_placed_memory(&p, &at);
        row.in_flight = m.in_flight;
        row.act_space = m.activation;
        row.working_space = m.working;
        row.head_space = m.ends;
        row.framework_space = m.framework;
        row.mem_tier1 = m.total * at.terms.used_share + at.terms.reserved_bytes;
        row.mem_overhead = row.mem_tier1 - m.total;
        if (calc_stage_rule(&at.terms, CALC_COMPAT_BLOCK_MEMORY)) {
            put_parts_by_rule(at.layout, &row);
        }
        out[i] = row;
    }
    return count;
}
