#include "model/run_stages.h"

#include <math.h>
#include <string.h>

#include "model/inference.h"
#include "model/parameters.h"
#include "model/processor.h"
#include "model/stage_step.h"
#include "model/verdict.h"

/* Everything computed on the way, for the statistics. */
typedef struct run {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    calc_shape shape;
    calc_cost_context context;
    calc_stages stages;
    calc_stage_parts parts;
    calc_stage_time time[CALC_MAX_STAGE_CLASSES];
    calc_stage_memory memory[CALC_MAX_STAGE_CLASSES];
    size_t slowest, fullest; /* classes */
    calc_stage_reduction reduction;
    double optimizer_s;
    double pipeline_s, straggler_s, total_s;
} run;

static double stage_s(const calc_stage_time *t)
{
    return t->fw_s + t->agrad_s + t->wgrad_s;
}

static void run_classes(run *r)
{
    calc_stage_pass pass[CALC_MAX_STAGE_CLASSES];
    const calc_stages *s = &r->stages;
    for (size_t i = 0; i < s->count; i++) {
        r->time[i] = calc_stage_time_of(&r->context, &r->parts, s, i);
        r->memory[i] = calc_stage_memory_of(&r->context, &r->parts, s, i);
        pass[i] = (calc_stage_pass){s->item[i].stages, r->time[i].fw_s, r->time[i].agrad_s,
                                    r->time[i].wgrad_s};
        r->slowest = stage_s(&r->time[i]) > stage_s(&r->time[r->slowest]) ? i : r->slowest;
        r->fullest = r->memory[i].total > r->memory[r->fullest].total ? i : r->fullest;
        calc_stage_reduction reduction =
            calc_stage_reduction_of(&r->context, &r->parts, s, i, &r->time[i]);
        if (i == 0 || reduction.exposed_s > r->reduction.exposed_s) {
            r->reduction = reduction;
        }
        calc_stage_weights w = calc_stage_weights_of(&r->parts, s, &r->shape, i);
        r->optimizer_s = calc_max(r->optimizer_s, calc_stage_optimizer_s(&r->context, &w));
    }
    r->pipeline_s = calc_stage_pipeline_s(r->exec->pipeline_schedule, r->exec->training, pass,
                                          s->count, s->stages, s->chunks, s->microbatches);
}

/* Waiting for the slowest of many nodes. */
static double straggler_s(const run *r)
{
    double node = r->system->ranks_per_node > 0 ? (double)r->system->ranks_per_node
                                                : (double)r->system->networks[0].size;
    double nodes = (double)r->exec->num_procs / calc_max(1, node);
    return nodes > 1 ? r->pipeline_s * r->system->straggler_growth * log2(nodes) : 0;
}

static void run_all(run *r)
{
    r->shape = calc_shape_of(r->app, r->exec);
    r->context = calc_cost_context_of(r->system, r->exec, &r->shape);
    r->stages = calc_stages_split(&r->shape, r->exec);
    calc_stage_parts_of(&r->context, &r->parts);
    run_classes(r);
    r->straggler_s = straggler_s(r);
    r->total_s = r->pipeline_s + r->straggler_s + r->reduction.exposed_s + r->optimizer_s +
                 r->system->step_overhead_s;
    if (!r->stages.fit) {
        r->total_s = NAN;
    }
}

/* ---- Feasibility ----------------------------------------------------------------------------- */

calc_verdict calc_run_verdict(const calc_system *s, const calc_exec *exec, bool stages_fit,
                              double tier1_bytes)
{
    bool placed = exec->rank_order != CALC_RANK_ORDER_NETWORKS;
    for (int64_t i = 0; i < s->networks_count && !placed; i++) {
        calc_verdict verdict =
            calc_verdict_network(&s->networks[i], calc_verdict_network_ranks(exec, i));
        if (verdict != CALC_VERDICT_OK) {
            return verdict;
        }
    }
    if (placed && exec->num_procs > s->networks[s->networks_count - 1].size) {
        return CALC_VERDICT_NETWORK_SIZE;
    }
    if (!stages_fit) {
        return CALC_VERDICT_INTERLEAVING;
    }
    return tier1_bytes > s->mem1.capacity_bytes ? CALC_VERDICT_MEM1_CAPACITY : CALC_VERDICT_OK;
}

/* ---- Statistics ------------------------------------------------------------------------------ */

/* Of the kind of block most stages are made of. */
static void put_block(const run *r, calc_stats *s)
{
    bool moe = calc_shape_moe_blocks(&r->shape) * 2 > r->shape.blocks;
    const calc_cost *b = &r->parts.block[moe ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK];
    s->block_fw_flops = b->flop[CALC_STAGE_FW];
    s->block_fw_mem_accessed = b->bytes[CALC_STAGE_FW];
    s->block_fw_time = b->fw_s;
    s->block_re_flops = b->re_flop;
    s->block_re_time = b->re_s;
    s->block_agrad_flops = b->flop[CALC_STAGE_AGRAD];
    s->block_agrad_mem_accessed = b->bytes[CALC_STAGE_AGRAD];
    s->block_agrad_time = b->agrad_s;
    s->block_wgrad_flops = b->flop[CALC_STAGE_WGRAD];
    s->block_wgrad_mem_accessed = b->bytes[CALC_STAGE_WGRAD];
    s->block_wgrad_time = b->wgrad_s;
    s->baseblock_fw_tp_time = b->tensor.fw_link_s;
    s->edgeblock_fw_tp_time = b->tensor.fw_link_s;
    s->baseblock_fw_tp_time_exposed = b->tensor.fw_exposed_s;
    s->edgeblock_fw_tp_time_exposed = b->tensor.fw_exposed_s;
    s->baseblock_agrad_tp_time = b->tensor.bw_link_s;
    s->edgeblock_agrad_tp_time = b->tensor.bw_link_s;
    s->baseblock_agrad_tp_time_exposed = b->tensor.bw_exposed_s;
    s->edgeblock_agrad_tp_time_exposed = b->tensor.bw_exposed_s;
    s->baseblock_recomm_time = b->tensor.re_link_s;
    s->edgeblock_recomm_time = b->tensor.re_link_s;
    s->baseblock_recomm_time_exposed = b->tensor.re_exposed_s;
    s->edgeblock_recomm_time_exposed = b->tensor.re_exposed_s;
    s->block_fw_pp_size = r->parts.message_bytes;
    s->block_bw_pp_size = r->exec->training ? r->parts.message_bytes : 0;
    s->block_weight_space = (b->dense_weights + b->expert_weights) * r->shape.weight_bytes;
    s->block_act_working_space = b->kept_whole_bytes;
    s->block_act_storage_space = r->exec->training ? b->kept_bytes : 0;
    s->useful_flops =
        b->flop[CALC_STAGE_FW] + b->flop[CALC_STAGE_AGRAD] + b->flop[CALC_STAGE_WGRAD];
}

static void put_memory(const run *r, calc_stats *s)
{
    const calc_stage_memory *m = &r->memory[r->fullest];
    s->weight_space = m->weight;
    s->weight_grad_space = m->grad;
    s->optimizer_space = m->optimizer;
    s->act_space = m->activation;
    s->act_grad_space = m->working;
    s->head_space = m->ends;
    s->framework_space = m->framework;
    s->mem_allocated = m->total;
    s->mem_overhead = m->total * r->system->mem_fragmentation + r->system->mem_reserved_bytes;
    s->proc_mem_tier1_cap_req = m->total + s->mem_overhead;
    s->peak_stage = r->stages.item[r->fullest].position;
}

static void put_time(const run *r, calc_stats *s)
{
    const calc_stage_time *t = &r->time[r->slowest];
    const calc_stage_class *class = &r->stages.item[r->slowest];
    const calc_cost *dense = &r->parts.block[CALC_DENSE_BLOCK];
    const calc_cost *moe = &r->parts.block[CALC_MOE_BLOCK];
    double m = r->stages.microbatches;
    double speed = 1 / calc_share_or(r->exec->software_efficiency, 1);
    s->fw_time = m * t->kernel_fw_s;
    s->bw_time = m * t->kernel_bw_s;
    s->recompute_time = m * t->kernel_re_s;
    s->recomm_exposed_time = m * t->repeated_s;
    s->recomm_link_time =
        m * speed *
        (class->dense * (dense->tensor.re_link_s + dense->context.re_link_s) +
         class->moe * (moe->tensor.re_link_s + moe->context.re_link_s + moe->expert.re_link_s));
    s->tp_comm_exposed_time = m * t->tensor_s;
    s->tp_comm_link_time = m * speed *
                           (class->dense * (dense->tensor.fw_link_s + dense->tensor.bw_link_s) +
                            class->moe * (moe->tensor.fw_link_s + moe->tensor.bw_link_s));
    s->cp_comm_exposed_time = m * t->context_s;
    s->cp_comm_link_time = m * speed *
                           (class->dense * (dense->context.fw_link_s + dense->context.bw_link_s) +
                            class->moe * (moe->context.fw_link_s + moe->context.bw_link_s));
    s->ep_comm_exposed_time = m * t->expert_s;
    s->ep_comm_link_time = m * speed * class->moe * (moe->expert.fw_link_s + moe->expert.bw_link_s);
    s->pp_comm_exposed_time = m * t->message_s;
    s->pp_comm_link_time = m * r->stages.chunks * (r->exec->training ? 2 : 1) *
                           calc_collective_s(r->system, CALC_OP_P2P, &r->context.groups.pipeline,
                                             r->parts.message_bytes);
    s->dp_comm_exposed_time = r->reduction.exposed_s + m * t->sharded_s;
    s->dp_comm_link_time = r->reduction.reduce_s + r->reduction.gather_s;
    s->head_time = m * t->ends_s;
    s->host_time = m * t->host_s;
    s->bubble_time = r->pipeline_s - m * stage_s(t);
    s->optim_step_time = r->optimizer_s;
    s->straggler_time = r->straggler_s;
    s->overhead_time = r->system->step_overhead_s;
    s->total_time = r->total_s;
    s->slowest_stage = class->position;
}

/* Arithmetic of matrices of a step on all processors. */
static double hardware_flop(const run *r)
{
    const calc_cost *dense = &r->parts.block[CALC_DENSE_BLOCK];
    const calc_cost *moe = &r->parts.block[CALC_MOE_BLOCK];
    const calc_cost *head = &r->parts.head;
    double sum = 0;
    double dense_flop = dense->re_flop;
    double moe_flop = moe->re_flop;
    double head_flop = 0;
    for (int stage = 0; stage < CALC_STAGE_COUNT; stage++) {
        dense_flop += dense->flop[stage];
        moe_flop += moe->flop[stage];
        head_flop += head->flop[stage];
    }
    for (size_t i = 0; i < r->stages.count; i++) {
        const calc_stage_class *c = &r->stages.item[i];
        sum += c->stages * (c->dense * dense_flop + c->moe * moe_flop);
    }
    sum += head_flop;
    return sum * r->stages.microbatches * r->shape.tensor_par * r->shape.context_par *
           (double)r->exec->data_par;
}

void calc_run_rates(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_stats *s)
{
    double peak = system->matrix[exec->datatype].flop_per_s;
    double procs = (double)exec->num_procs;
    double seq = (double)(exec->seq_size > 0 ? exec->seq_size : app->seq_size);
    double tokens = (double)exec->batch_size * seq;
    double could = s->total_time * peak * procs;
    double trillion_s = 1e12 / tokens * s->total_time;
    s->sample_rate = (double)exec->batch_size / s->total_time;
    s->tokens_per_s = tokens / s->total_time;
    s->tokens_per_s_per_proc = s->tokens_per_s / procs;
    s->model_flops_utilization = s->model_flops / could;
    s->model_flops_utilization_square = s->model_flops_square / could;
    s->hardware_flops_utilization = s->hardware_flops / could;
    s->days_per_trillion_tokens = trillion_s / 86400;
    s->proc_hours_per_trillion_tokens = trillion_s / 3600 * procs;
    s->usd_per_trillion_tokens =
        system->usd_per_hour > 0 ? s->proc_hours_per_trillion_tokens * system->usd_per_hour : NAN;
    s->energy_per_token = system->watts > 0 ? system->watts * procs * s->total_time / tokens : NAN;
}

static void put_rates(const run *r, calc_stats *s)
{
    double compute_s = s->fw_time + s->bw_time + s->optim_step_time;
    double peak = r->system->matrix[r->exec->datatype].flop_per_s;
    s->model_flops = calc_parameters_step_flop(&r->shape, r->exec, false);
    s->model_flops_square = calc_parameters_step_flop(&r->shape, r->exec, true);
    s->hardware_flops = hardware_flop(r);
    double perfect_s = s->model_flops / (peak * (double)r->exec->num_procs);
    s->compute_efficiency = perfect_s / compute_s;
    s->system_efficiency = compute_s / s->total_time;
    s->total_efficiency = perfect_s / s->total_time;
    calc_run_rates(r->app, r->system, r->exec, s);
}

calc_verdict calc_run_stages(const calc_app *app, const calc_system *system, const calc_exec *exec,
                             calc_stats *stats)
{
    run r = {.app = app, .system = system, .exec = exec};
    memset(stats, 0, sizeof *stats);
    run_all(&r);
    put_block(&r, stats);
    put_memory(&r, stats);
    put_time(&r, stats);
    put_rates(&r, stats);
    stats->num_microbatches = r.stages.microbatches;
    stats->blocks_per_proc = r.stages.most_blocks;
    stats->blocks_per_chunk = r.stages.most_blocks / r.stages.chunks;
    stats->mem_tier1_capacity = system->mem1.capacity_bytes;
    stats->mem_tier2_capacity = system->mem2.capacity_bytes;
    calc_inference_none(stats);
    stats->verdict = calc_run_verdict(system, exec, r.stages.fit, stats->proc_mem_tier1_cap_req);
    return stats->verdict;
}
