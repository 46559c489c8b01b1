/* calc_each_stage(): the statistics of each stage of the pipeline. */
#include "calc.h"
#include "model/classic_chunk.h"
#include "model/stage_spent.h"
#include "spec/extended.h"

/* ---- Calculon's stages: all alike ------------------------------------------------------------ */

/* Memory of a stage as calc_run() gives it: tier 1 only, of what is offloaded the part that stays.
 */
static void put_classic_memory(const calc_exec *e, const calc_stats *s, calc_stage_stats *out)
{
    bool checkpoints = e->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    double checkpoint = !e->activations_offload ? s->act_checkpoint_size
                        : checkpoints           ? s->act_checkpoint_size_with_offload
                                                : 0;
    out->weight_space = e->weight_offload ? s->weight_space_with_offload : s->weight_space;
    out->weight_grad_space =
        e->optimizer_offload ? s->weight_grad_space_with_offload : s->weight_grad_space;
    out->optimizer_space =
        e->optimizer_offload ? s->optimizer_space_with_offload : s->optimizer_space;
    out->act_space =
        (e->activations_offload ? s->act_space_with_offload : s->act_space) + checkpoint;
    out->working_space = s->act_grad_space;
    out->mem_tier1 = s->proc_mem_tier1_cap_req;
}

static calc_stage_stats classic_stage(const calc_app *app, const calc_system *system,
                                      const calc_exec *e)
{
    calc_classic_chunk chunk;
    calc_stats stats;
    calc_stage_stats out = {0};
    calc_classic_chunk_of(app, system, e, &chunk);
    const calc_pipeline *p = &chunk.pipeline;
    calc_run(app, system, e, CALC_COMPAT_NONE, &stats);
    double messages_s = p->chunks * (chunk.fw_message_s + chunk.bw_message_s);
    out.blocks = p->blocks_per_proc;
    out.fw_time = p->chunks * chunk.fw.chunk_s;
    out.bw_time = p->chunks * chunk.bw.chunk_s;
    out.wgrad_time = p->blocks_per_proc * chunk.block.wgrad.time_s;
    out.comm_exposed_time =
        (stats.tp_comm_exposed_time + stats.recomm_exposed_time) / p->microbatches + messages_s;
    out.in_flight = p->in_flight;
    put_classic_memory(e, &stats, &out);
    return out;
}

/* ---- Stages of an extended layout ------------------------------------------------------------ */

/* Everything about an extended layout. */
typedef struct layout {
    calc_cost_context context;
    calc_stages stages;
    calc_stage_parts parts;
    calc_stage_lines lines;
    calc_stage_terms terms;
} layout;

static void put_time(const layout *l, const calc_stage_class *class, calc_stage_stats *out)
{
    double chunks = l->stages.chunks;
    calc_stage_spent t =
        calc_stage_spent_of(&l->context, &l->parts, &l->lines, &l->terms, class, chunks);
    calc_stage_pass pass = calc_stage_pass_of(
        &l->terms, class, chunks, calc_stage_exposed_messages(&l->terms, l->context.exec));
    out->fw_time = pass.fw_s;
    out->bw_time = pass.agrad_s + pass.wgrad_s;
    out->wgrad_time = pass.wgrad_s;
    out->head_time = t.ends_s;
    out->comm_exposed_time =
        t.tensor_s + t.context_s + t.expert_s + t.repeated_s + t.sharded_s + t.message_s;
    out->host_time = t.host_s;
}

static void put_memory(const layout *l, const calc_stage_class *class, calc_stage_stats *out)
{
    calc_stage_weights w = calc_stage_weights_sum(&l->terms, class);
    calc_stage_memory m = calc_stage_memory_sum(
        &l->terms, class, &w, l->context.exec->pipeline_schedule, l->stages.chunks);
    out->in_flight = m.in_flight;
    out->act_space = m.activation;
    out->working_space = m.working;
    out->head_space = m.ends;
    out->framework_space = m.framework;
    out->mem_tier1 = m.total * l->terms.used_share + l->terms.reserved_bytes;
    out->mem_overhead = out->mem_tier1 - m.total;
}

/* Rows of all stages of a class; what they hold depends on their position, what they take not. */
static void put_class(const layout *l, size_t index, calc_stage_stats *out, size_t capacity)
{
    calc_stage_class class = l->stages.item[index];
    calc_stage_state state = calc_stage_state_of(&l->context, &l->terms, &l->stages, index);
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
        out[i] = row;
    }
}

size_t calc_each_stage(const calc_app *app, const calc_system *system, const calc_exec *exec,
                       calc_stage_stats *out, size_t capacity)
{
    calc_shape shape = calc_shape_of(app, exec);
    layout l = {.stages = calc_stages_split(&shape, exec)};
    bool served = exec->inference.phase != CALC_INFERENCE_PHASE_NONE;
    bool extended = calc_extended(app, system, exec);
    bool empty = extended ? l.stages.fewest_blocks < 1 : exec->pipeline_par > app->num_blocks;
    size_t count = served || empty ? 0 : (size_t)exec->pipeline_par;
    if (capacity == 0 || count == 0) {
        return count;
    }
    if (!extended) {
        calc_stage_stats one = classic_stage(app, system, exec);
        for (size_t i = 0; i < count && i < capacity; i++) {
            out[i] = one;
            out[i].stage = (int64_t)i;
        }
        return count;
    }
    l.context = calc_cost_context_of(system, exec, &shape);
    calc_stage_parts_of(&l.context, &l.parts);
    l.lines =
        calc_stage_lines_of(system, exec, &l.context.groups, calc_stage_message_bytes(&shape));
    calc_stage_terms_of(&l.context, exec, &l.parts, &l.lines, &l.terms);
    for (size_t i = 0; i < l.stages.count; i++) {
        put_class(&l, i, out, capacity);
    }
    return count;
}
