/* calc_run(): call the terms, put them together, and say whether the layout fits. */
#include <math.h>

#include "calc.h"
#include "model/block.h"
#include "model/data_par.h"
#include "model/inference.h"
#include "model/memory.h"
#include "model/offload.h"
#include "model/optimizer.h"
#include "model/parameters.h"
#include "model/pipeline.h"
#include "model/run_stages.h"
#include "model/step.h"
#include "model/verdict.h"
#include "spec/extended.h"

/* Everything computed on the way, for the statistics. */
typedef struct run {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    calc_compat compat;
    calc_block block;
    calc_optimizer_block optimizer;
    calc_pipeline pipeline;
    calc_memory_parts whole, offloaded; /* memory */
    double tier1_bytes, tier2_bytes;
    double fw_message_bytes, bw_message_bytes;
    double fw_message_s, bw_message_s;
    double reduction_s; /* of the gradients of one block */
} run;

/* Times of one step [s]. */
typedef struct step {
    calc_step_pass fw, bw;
    double fw_offload_s, bw_offload_s; /* exposed */
    double fw_window_s, bw_window_s;   /* of a block, that its own memory traffic leaves free */
    double messages_s;
    double bubble_s;
    calc_data_par_times reduction;
    double total_s;
} step;

static void run_terms(run *r)
{
    const calc_exec *e = r->exec;
    calc_layer layers[CALC_MAX_LAYERS];
    size_t count = calc_block_layers(r->app, e, layers);
    calc_block_profile(r->app, r->system, e, r->compat, layers, count, &r->block);
    r->optimizer = (calc_optimizer_block){0};
    if (e->training) {
        calc_optimizer optimizer = calc_optimizer_of(r->system, e);
        calc_optimizer_profile(&optimizer, layers, count, &r->optimizer);
    }
    int64_t microbatches = e->batch_size / e->data_par / e->microbatch_size;
    r->pipeline = calc_pipeline_split(r->app->num_blocks, e->pipeline_par, e->pipeline_interleaving,
                                      microbatches);
    const calc_network *network = &r->system->networks[e->pipeline_par_net];
    double stages = r->pipeline.stages;
    r->fw_message_bytes = calc_pipeline_message_bytes(r->app, e);
    r->bw_message_bytes = e->training ? r->fw_message_bytes : 0;
    r->fw_message_s = calc_pipeline_message_s(network, r->fw_message_bytes, stages, r->compat);
    r->bw_message_s = calc_pipeline_message_s(network, r->bw_message_bytes, stages, r->compat);
    r->reduction_s = calc_data_par_block_s(r->system, e, r->block.weight_bytes);
    double blocks = r->pipeline.blocks_per_proc;
    double in_flight = r->pipeline.in_flight;
    calc_memory_need need = calc_memory_need_of(e, &r->block, &r->optimizer, blocks);
    r->whole = calc_memory_whole(e, &r->block, &r->optimizer, blocks, in_flight);
    r->offloaded = calc_memory_offloaded(e, &r->block, &r->optimizer);
    r->tier1_bytes = calc_memory_tier_bytes(&need.tier1, in_flight);
    r->tier2_bytes = calc_memory_tier_bytes(&need.tier2, in_flight);
}

/* Sum over all blocks and micro-batches of a step, from a base and an edge block. */
static double all_blocks(const calc_pipeline *p, double base, double edge)
{
    return p->microbatches * p->chunks * (p->base_blocks * base + edge);
}

/* Reduction of gradients in a step. */
static calc_data_par_times run_reduction(const run *r, const calc_step_block *block,
                                         const calc_step_pass *bw)
{
    const calc_exec *e = r->exec;
    const calc_pipeline *p = &r->pipeline;
    const calc_optimizer_block *o = &r->optimizer;
    if (!calc_data_par_reduces(e) || !e->data_par_overlap) {
        return (calc_data_par_times){.exposed_s = p->blocks_per_proc * r->reduction_s};
    }
    bool same_link = e->data_par_net == e->tensor_par_net;
    double optimizer_window_s = calc_optimizer_window_s(e, o);
    calc_data_par_overlap overlap = {
        .block_s = r->reduction_s,
        .usage = r->system->networks[e->data_par_net].processor_usage,
        .collides = e->data_par_net == e->pipeline_par_net,
        .base_bw_s = bw->base_s,
        .edge_bw_s = bw->edge_s,
        .chunk_bw_s = bw->chunk_s,
        .window_s = calc_data_par_window_s(bw->chunk_s, p->base_blocks, block->busy_s,
                                           same_link ? block->link_base_s : 0,
                                           same_link ? block->link_edge_s : 0, optimizer_window_s),
        .compute_s = calc_optimizer_slowed_s(e, o, block->compute_s),
        .message_s = r->bw_message_s,
        .optimizer_window_s = optimizer_window_s,
        .stages = p->stages,
        .chunks = p->chunks,
        .base_blocks = p->base_blocks,
        .last_round = p->last_round,
    };
    return calc_data_par_overlapped(&overlap);
}

static step run_step(const run *r)
{
    const calc_pipeline *p = &r->pipeline;
    calc_step_block b = calc_step_block_of(&r->block);
    calc_offload offload = calc_offload_of(r->exec, &r->block, &r->optimizer);
    double fw_offload_s = calc_memory_tier_s(&r->system->mem2, offload.fw_bytes);
    double bw_offload_s = calc_memory_tier_s(&r->system->mem2, offload.bw_bytes);
    double fw_edge_s = b.fw_edge_s + r->fw_message_s;
    double bw_edge_s = b.bw_edge_s + r->bw_message_s;
    double sent = p->microbatches * p->chunks;
    step s;

    s.fw = calc_step_pass_of(b.fw_base_s, b.fw_edge_s, b.fw_mem_s, r->fw_message_s, fw_offload_s,
                             p->base_blocks);
    s.bw = calc_step_pass_of(b.bw_base_s, b.bw_edge_s, b.bw_mem_s, r->bw_message_s, bw_offload_s,
                             p->base_blocks);
    s.fw_window_s = fmin(b.fw_base_s, fw_edge_s) - b.fw_mem_s;
    s.bw_window_s = fmin(b.bw_base_s, bw_edge_s) - b.bw_mem_s;
    s.fw_offload_s =
        all_blocks(p, calc_step_offload_overhead_s(b.fw_base_s, b.fw_mem_s, fw_offload_s),
                   calc_step_offload_overhead_s(fw_edge_s, b.fw_mem_s, fw_offload_s));
    s.bw_offload_s =
        all_blocks(p, calc_step_offload_overhead_s(b.bw_base_s, b.bw_mem_s, bw_offload_s),
                   calc_step_offload_overhead_s(bw_edge_s, b.bw_mem_s, bw_offload_s));

    /* Calculon counts messages in a chunk that are never sent; they are not charged here. */
    double fw_sent = p->stages > 1;
    double bw_sent = p->stages > 1 && r->exec->training;
    s.messages_s = sent * r->fw_message_s * fw_sent + sent * r->bw_message_s * bw_sent;
    double uncharged_s =
        calc_step_uncharged_s(sent, r->fw_message_s, fw_sent, r->bw_message_s, bw_sent);

    double missing_s = calc_step_missing_s(&s.fw, &s.bw, p->missing_blocks, p->base_blocks);
    s.bubble_s = calc_pipeline_bubble_s(p, s.fw.chunk_s + s.bw.chunk_s, missing_s);
    s.reduction = run_reduction(r, &b, &s.bw);
    s.total_s = calc_step_partial_s(&s.fw, &s.bw, p->rounds, missing_s,
                                    p->blocks_per_proc * r->optimizer.step_s, uncharged_s) +
                s.reduction.exposed_s;
    return s;
}

/* Statistics of one block. */
static void put_block(const run *r, calc_stats *s)
{
    const calc_block *b = &r->block;
    const calc_optimizer_block *o = &r->optimizer;
    const calc_block_comm *fw = b->fw_comm;
    const calc_block_comm *agrad = b->agrad_comm;
    const calc_block_comm *recomm = b->recomm;

    s->block_fw_flops = b->fw.flop;
    s->block_fw_flops_time = b->fw.flop_s;
    s->block_fw_mem_accessed = b->fw.bytes;
    s->block_fw_mem_time = b->fw.mem_s;
    s->block_fw_time = b->fw.time_s;
    s->block_re_flops = b->recompute.flop;
    s->block_re_flops_time = b->recompute.flop_s;
    s->block_re_mem_accessed = b->recompute.bytes;
    s->block_re_mem_time = b->recompute.mem_s;
    s->block_re_time = b->recompute.time_s;
    s->block_agrad_flops = b->agrad.flop;
    s->block_agrad_flops_time = b->agrad.flop_s;
    s->block_agrad_mem_accessed = b->agrad.bytes;
    s->block_agrad_mem_time = b->agrad.mem_s;
    s->block_agrad_time = b->agrad.time_s;
    s->block_wgrad_flops = b->wgrad.flop;
    s->block_wgrad_flops_time = b->wgrad.flop_s;
    s->block_wgrad_mem_accessed = b->wgrad.bytes;
    s->block_wgrad_mem_time = b->wgrad.mem_s;
    s->block_wgrad_time = b->wgrad.time_s;
    s->block_optim_flops = o->flop;
    s->block_optim_flops_time = o->flop_s;
    s->block_optim_mem_accessed = o->bytes;
    s->block_optim_mem_time = o->mem_s;
    s->block_optim_time = o->step_s;

    s->baseblock_fw_tp_time = fw[CALC_BASE_BLOCK].link_s;
    s->edgeblock_fw_tp_time = fw[CALC_EDGE_BLOCK].link_s;
    s->baseblock_fw_tp_time_exposed = fw[CALC_BASE_BLOCK].exposed_s;
    s->edgeblock_fw_tp_time_exposed = fw[CALC_EDGE_BLOCK].exposed_s;
    s->baseblock_agrad_tp_time = agrad[CALC_BASE_BLOCK].link_s;
    s->edgeblock_agrad_tp_time = agrad[CALC_EDGE_BLOCK].link_s;
    s->baseblock_agrad_tp_time_exposed = agrad[CALC_BASE_BLOCK].exposed_s;
    s->edgeblock_agrad_tp_time_exposed = agrad[CALC_EDGE_BLOCK].exposed_s;
    s->baseblock_recomm_time = recomm[CALC_BASE_BLOCK].link_s;
    s->edgeblock_recomm_time = recomm[CALC_EDGE_BLOCK].link_s;
    s->baseblock_recomm_time_exposed = recomm[CALC_BASE_BLOCK].exposed_s;
    s->edgeblock_recomm_time_exposed = recomm[CALC_EDGE_BLOCK].exposed_s;
    s->baseblock_fw_tp_size = fw[CALC_BASE_BLOCK].bytes;
    s->edgeblock_fw_tp_size = fw[CALC_EDGE_BLOCK].bytes;
    s->baseblock_bw_tp_size = agrad[CALC_BASE_BLOCK].bytes;
    s->edgeblock_bw_tp_size = agrad[CALC_EDGE_BLOCK].bytes;
    s->baseblock_recomm_size = recomm[CALC_BASE_BLOCK].bytes;
    s->edgeblock_recomm_size = recomm[CALC_EDGE_BLOCK].bytes;
    s->tp_bw_overlap_req = b->required_bytes_per_s;
    s->block_fw_pp_size = r->fw_message_bytes;
    s->block_bw_pp_size = r->bw_message_bytes;
    s->block_dp_size = calc_data_par_reduces(r->exec) ? b->weight_bytes : 0;

    s->block_weight_space = b->weight_bytes;
    s->block_act_working_space = b->activation_working_bytes;
    s->block_act_storage_space = b->activation_storage_bytes;
    s->block_act_checkpoint_size = b->checkpoint_bytes;
    s->block_weight_grad_space = o->grad_bytes;
    s->block_weight_grad_space_no_sharding = b->weight_grad_bytes;
    s->block_act_grad_space = b->activation_grad_bytes;
    s->block_optimizer_space = o->state_bytes;
    s->useful_flops = b->fw.flop + (b->agrad.flop + b->wgrad.flop + o->flop);
}

/* Statistics of one processor's memory. */
static void put_memory(const run *r, calc_stats *s)
{
    const calc_memory_parts *all = &r->whole;
    const calc_memory_parts *kept = &r->offloaded;

    s->weight_space_with_offload = kept->weight;
    s->act_space_with_offload = kept->activation;
    s->act_checkpoint_size_with_offload = r->exec->training ? kept->checkpoint : NAN;
    s->act_grad_space_with_offload = kept->activation_grad;
    s->weight_grad_space_with_offload = kept->weight_grad;
    s->optimizer_space_with_offload = kept->optimizer;
    s->weight_space = all->weight;
    s->act_space = all->activation;
    s->act_checkpoint_size = all->checkpoint;
    s->act_grad_space = all->activation_grad;
    s->weight_grad_space = all->weight_grad;
    s->optimizer_space = all->optimizer;
    s->proc_mem_tier1_cap_req = r->tier1_bytes;
    s->proc_mem_tier2_cap_req = r->tier2_bytes;
}

/* Statistics of one step's time. */
static void put_step(const run *r, const step *t, calc_stats *s)
{
    enum { BASE = CALC_BASE_BLOCK, EDGE = CALC_EDGE_BLOCK };
    const calc_block *b = &r->block;
    const calc_pipeline *p = &r->pipeline;
    double blocks = p->blocks_per_proc * p->microbatches;

    s->fw_time = blocks * b->fw.time_s;
    s->bw_time = blocks * b->agrad.time_s + blocks * b->wgrad.time_s;
    s->optim_step_time = p->blocks_per_proc * r->optimizer.step_s;
    s->recompute_time = blocks * b->recompute.time_s;
    s->recomm_link_time = all_blocks(p, b->recomm[BASE].link_s, b->recomm[EDGE].link_s);
    s->recomm_exposed_time = all_blocks(p, b->recomm[BASE].exposed_s, b->recomm[EDGE].exposed_s);
    s->tp_comm_link_time = all_blocks(p, b->fw_comm[BASE].link_s, b->fw_comm[EDGE].link_s) +
                           all_blocks(p, b->agrad_comm[BASE].link_s, b->agrad_comm[EDGE].link_s);
    s->tp_comm_exposed_time =
        all_blocks(p, b->fw_comm[BASE].exposed_s, b->fw_comm[EDGE].exposed_s) +
        all_blocks(p, b->agrad_comm[BASE].exposed_s, b->agrad_comm[EDGE].exposed_s);
    s->pp_comm_link_time = t->messages_s;
    s->pp_comm_exposed_time = t->messages_s;
    s->dp_comm_link_time = p->blocks_per_proc * r->reduction_s;
    s->dp_comm_exposed_time = t->reduction.exposed_s;
    s->fw_offload_exposed_time = t->fw_offload_s;
    s->bw_offload_exposed_time = t->bw_offload_s;
    s->bubble_time = t->bubble_s;
    s->total_time = t->total_s;

    double chunk_bytes = r->pipeline.blocks_per_chunk * s->block_dp_size;
    s->dp_bw_overlap_req_chunk = calc_data_par_required_bytes_per_s(r->system, r->exec, chunk_bytes,
                                                                    t->reduction.chunks_window_s);
    s->dp_bw_overlap_req_tail = calc_data_par_required_bytes_per_s(r->system, r->exec, chunk_bytes,
                                                                   t->reduction.tail_window_s);
    calc_offload_bandwidths required =
        calc_offload_required(r->exec, &r->block, &r->optimizer, t->fw_window_s, t->bw_window_s);
    s->act_offload_bw_req = required.activation;
    s->weight_offload_bw_req = required.weight;
    s->optim_offload_bw_req = required.optimizer;
    s->offload_mem_bw_req = required.layout;
}

/* Rates and efficiencies of the step. */
static void put_rates(const run *r, calc_stats *s)
{
    const calc_exec *e = r->exec;
    double peak = r->system->matrix[e->datatype].flop_per_s;
    double compute_s = s->fw_time + s->bw_time + s->optim_step_time;
    double perfect_s =
        r->pipeline.blocks_per_proc * r->pipeline.microbatches * s->useful_flops / peak;
    double work =
        r->block.fw.flop + r->block.recompute.flop + r->block.agrad.flop + r->block.wgrad.flop;

    s->compute_efficiency = perfect_s / compute_s;
    s->system_efficiency = compute_s / s->total_time;
    s->total_efficiency = perfect_s / s->total_time;
    s->model_flops =
        (double)e->batch_size * (double)r->app->seq_size * calc_parameters_token_flop(r->app, e);
    s->model_flops_square = s->model_flops;
    s->hardware_flops =
        r->pipeline.blocks_per_proc * r->pipeline.microbatches * work * (double)e->num_procs;
    calc_run_rates(r->app, r->system, e, s);
}

/* What only a list of stages has. */
static void put_no_stages(calc_stats *s)
{
    s->head_time = 0;
    s->host_time = 0;
    s->cp_comm_link_time = 0;
    s->cp_comm_exposed_time = 0;
    s->ep_comm_link_time = 0;
    s->ep_comm_exposed_time = 0;
    s->straggler_time = 0;
    s->overhead_time = 0;
    s->head_space = 0;
    s->framework_space = 0;
    s->mem_overhead = 0;
    s->mem_allocated = s->proc_mem_tier1_cap_req;
    s->peak_stage = 0;
    s->slowest_stage = 0;
    s->pipeline_closed_form_error = NAN;
}

calc_verdict calc_run(const calc_app *app, const calc_system *system, const calc_exec *exec,
                      calc_compat compat, calc_stats *stats)
{
    if (exec->inference.phase != CALC_INFERENCE_PHASE_NONE) {
        return calc_run_inference(app, system, exec, stats);
    }
    if (calc_extended(app, system, exec)) {
        return calc_run_stages(app, system, exec, stats);
    }
    run r = {.app = app, .system = system, .exec = exec, .compat = compat};
    run_terms(&r);
    step t = run_step(&r);
    put_block(&r, stats);
    put_memory(&r, stats);
    put_step(&r, &t, stats);
    put_rates(&r, stats);
    put_no_stages(stats);
    calc_inference_none(stats);
    stats->num_microbatches = r.pipeline.microbatches;
    stats->blocks_per_proc = r.pipeline.blocks_per_proc;
    stats->blocks_per_chunk = r.pipeline.blocks_per_chunk;
    stats->missing_blocks = r.pipeline.missing_blocks;
    stats->mem_tier1_capacity = system->mem1.capacity_bytes;
    stats->mem_tier2_capacity = system->mem2.capacity_bytes;
    stats->verdict = calc_verdict_of(system, exec, &r.pipeline, r.tier1_bytes, r.tier2_bytes);
    return stats->verdict;
}
