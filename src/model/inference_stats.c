/* The statistics of a layout that serves: memory, times, latencies, throughput. */
#include <math.h>

#include "model/operators/processor.h"
#include "model/run.h"
#include "model/serve/serving_step.h"
#include "model/serve/sim_step.h"
#include "model/verdict.h"

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Memory of the decoding pool, and of the prefill pool [bytes]. */
typedef struct needs {
    double decode, prefill;
} needs;

/* The pool that needs more of its memory. */
static needs put_memory(const calc_serving *r, calc_stats *s)
{
    const calc_chip *chip = &r->system->chip;
    calc_serving_memory most = r->held;
    needs need = {most.need_bytes, most.need_bytes};
    if (r->i->phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        calc_serving_memory other = calc_serving_prefill_memory(r);
        need.prefill = other.need_bytes;
        double here = r->system->chip.mem1.capacity_bytes;
        double there = r->prefill->system->chip.mem1.capacity_bytes;
        if (here == there ? need.prefill > need.decode
                          : need.prefill * here > need.decode * there) {
            most = other;
            chip = &r->prefill->system->chip;
        }
        if (r->prefill->system == r->system) {
            need = (needs){most.need_bytes, most.need_bytes};
        }
    }
    s->mem_tier1_capacity = chip->mem1.capacity_bytes;
    s->mem_tier2_capacity = chip->mem2.capacity_bytes;
    s->weight_space = most.stage.state;
    s->act_grad_space = most.stage.working;
    s->head_space = most.stage.ends;
    s->kv_cache_space = most.cache_bytes;
    s->mem_allocated = most.stage.total + most.cache_bytes;
    s->mem_overhead = most.need_bytes - s->mem_allocated;
    s->proc_mem_tier1_cap_req = most.need_bytes;
    s->peak_stage = most.position;
    double length = r->prompt + (r->i->phase == CALC_INFERENCE_PHASE_PREFILL ? 0 : r->generate);
    double blocks = r->model.shape.blocks;
    s->kv_bytes_per_token = calc_kv_cache_token_bytes(&r->model.cache, blocks, length);
    s->state_bytes_per_sequence = calc_kv_cache_state_bytes(&r->model.cache, blocks);
    s->kv_capacity_tokens = r->held.room.tokens;
    s->max_batch = r->held.room.sequences * r->replicas;
    return need;
}

/* ---- Statistics ------------------------------------------------------------------------------ */

/* Breakdown of the reported time; the remainder is waiting for the slowest stage. */
static void put_time(const calc_serving *r, calc_stats *s)
{
    /* Sums, and parts that a served model does not have. */
    s->fw_time = s->bw_time = s->optim_step_time = s->recompute_time = s->recomm_link_time =
        s->recomm_exposed_time = s->dp_comm_link_time = s->fw_offload_exposed_time =
            s->bw_offload_exposed_time = s->host_time = s->straggler_time = s->act_space =
                s->act_checkpoint_size = s->weight_grad_space = s->optimizer_space =
                    s->framework_space = s->proc_mem_tier2_cap_req = s->tp_comm_exposed_time =
                        s->cp_comm_exposed_time = s->ep_comm_exposed_time =
                            s->pp_comm_exposed_time = s->dp_comm_exposed_time = s->head_time = 0;
    double busy_s = 0;
    for (size_t i = 0; i < r->parts; i++) {
        const calc_inference_pass_spent *t = &r->part[i].pass->slow;
        double times = r->part[i].times * r->batches;
        s->fw_time += times * t->kernel_s;
        s->tp_comm_exposed_time += times * t->tensor_s;
        s->cp_comm_exposed_time += times * t->context_s;
        s->ep_comm_exposed_time += times * t->expert_s;
        s->pp_comm_exposed_time += times * t->message_s;
        s->dp_comm_exposed_time += times * t->sharded_s;
        s->head_time += times * t->ends_s;
        busy_s += times * t->total_s;
    }
    s->tp_comm_link_time = s->tp_comm_exposed_time;
    s->cp_comm_link_time = s->cp_comm_exposed_time;
    s->ep_comm_link_time = s->ep_comm_exposed_time;
    s->pp_comm_link_time = s->pp_comm_exposed_time;
    s->overhead_time = r->overhead_s;
    s->total_time = r->total_s;
    s->bubble_time = calc_run_bubble_s(r->total_s - r->overhead_s, busy_s);
    s->slowest_stage = r->model.stages.item[r->part[0].pass->slowest].position;
}

/* For the most frequent kind of block, in the first part. */
static void put_block(const calc_serving *r, calc_stats *s)
{
    const calc_shape *shape = &r->model.shape;
    bool moe = shape->moe_blocks * 2 > shape->blocks;
    const calc_inference_pass *pass =
        r->parts > 1 && r->part[0].times == 0 ? r->part[1].pass : r->part[0].pass;
    const calc_pass_block *b = &pass->cost.block[moe ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK];
    s->block_fw_flops = b->flop;
    s->block_fw_mem_accessed = b->bytes;
    s->block_fw_time = b->kernel_s;
    s->baseblock_fw_tp_time = b->tensor_link_s;
    s->edgeblock_fw_tp_time = b->tensor_link_s;
    s->baseblock_fw_tp_time_exposed = b->tensor_s;
    s->edgeblock_fw_tp_time_exposed = b->tensor_s;
    s->block_fw_pp_size = pass->cost.message_bytes;
    s->block_weight_space = (b->weights.dense + b->weights.expert) * shape->weight_bytes;
    s->block_act_working_space = b->whole_bytes;
    s->useful_flops = b->flop;
}

/* Latencies of a request. */
static void put_latency(const calc_serving *r, calc_stats *s)
{
    bool prefills = r->i->phase != CALC_INFERENCE_PHASE_DECODE;
    bool decodes = r->i->phase != CALC_INFERENCE_PHASE_PREFILL;
    if (prefills) {
        s->prefill_time = r->prefill_s;
        s->ttft = r->prefill_s;
    }
    if (decodes) {
        s->decode_step_time = r->step_s;
        s->tokens_per_step = r->tokens_per_step;
        s->tpot = r->step_s / r->tokens_per_step;
        s->tokens_per_s_per_user = 1 / s->tpot;
        s->decode_sequences = r->sequences * r->replicas;
    }
    if (r->i->phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        s->kv_transfer_time = r->transfer_s;
        s->prefill_requests_per_s = r->prefill_requests_per_s;
        s->decode_requests_per_s = r->decode_requests_per_s;
    }
    if (r->i->phase == CALC_INFERENCE_PHASE_SERVE) {
        s->prefill_share = r->prefill_share;
    }
    if (calc_serving_queues(r)) {
        /* Times to the first token of requests that queue. */
        double known_s = r->prefill_s + (isnan(s->kv_transfer_time) ? 0 : s->kv_transfer_time);
        s->ttft = calc_queue_mean(r->first, r->waves);
        s->ttft_p50 = calc_queue_quantile(r->first, r->waves, 0.50);
        s->ttft_p99 = calc_queue_quantile(r->first, r->waves, 0.99);
        s->queue_time = calc_max(0, s->ttft - known_s);
        s->request_time = s->ttft + (r->generate - 1) * s->tpot;
    }
}

/* Mean over the processors of all pools, from the values of the decoding and the prefilling
 * ones. */
static double mean_of(const calc_serving *r, double decode, double prefill)
{
    double here = (double)r->exec->num_procs;
    double there = (double)r->i->prefill_procs;
    if (r->prefill->system == r->system || decode == 0 || prefill == 0) {
        return calc_min(decode, prefill);
    }
    return (here * decode + there * prefill) / (here + there);
}

calc_serving_flow calc_serving_flow_of(const calc_serving *r, const calc_stats *s)
{
    return (calc_serving_flow){
        .watts = mean_of(r, r->system->chip.watts, r->prefill->system->chip.watts),
        .usd_per_hour =
            mean_of(r, r->system->chip.usd_per_hour, r->prefill->system->chip.usd_per_hour),
        .phase = r->i->phase,
        .replicas = r->replicas,
        .procs = (double)(r->exec->num_procs + r->i->prefill_procs),
        .slots = r->slots,
        .round_s = r->round_s,
        .requests_per_s = r->requests_per_s,
        .batch = r->batch,
        .prompt = r->prompt,
        .generate = r->generate,
        .tpot = s->tpot,
    };
}

void calc_serving_flow_put(const calc_serving_flow *f, calc_stats *s)
{
    bool prompts = f->phase == CALC_INFERENCE_PHASE_PREFILL;
    bool decode = f->phase == CALC_INFERENCE_PHASE_DECODE;
    double each = prompts ? 1 : f->generate;
    s->requests_per_s = isnan(f->round_s) ? f->requests_per_s : f->slots * f->replicas / f->round_s;
    s->output_tokens_per_s = decode ? f->batch * f->replicas / f->tpot : s->requests_per_s * each;
    s->output_tokens_per_s_per_proc = s->output_tokens_per_s / f->procs;
    s->sample_rate = s->requests_per_s;
    s->tokens_per_s = decode    ? s->output_tokens_per_s
                      : prompts ? s->requests_per_s * f->prompt
                                : s->requests_per_s * (f->prompt + f->generate);
    s->tokens_per_s_per_proc = s->tokens_per_s / f->procs;
    double billed = prompts ? s->tokens_per_s : s->output_tokens_per_s;
    s->energy_per_token = f->watts > 0 ? f->watts * f->procs / billed : NAN;
    s->job_usd_per_hour = f->usd_per_hour > 0 ? f->usd_per_hour * f->procs : NAN;
    s->usd_per_million_output_tokens =
        f->usd_per_hour > 0 ? f->usd_per_hour / 3600 * f->procs / s->output_tokens_per_s * 1e6
                            : NAN;
}

static void put_efficiency(const calc_serving *r, calc_stats *s)
{
    double peak = r->system->chip.matrix[r->exec->strategy.datatype].flop_per_s;
    s->hardware_flops = 0;
    for (size_t i = 0; i < r->parts; i++) {
        s->hardware_flops += r->part[i].times * r->batches * r->part[i].pass->flop * r->replicas;
    }
    double could = s->total_time * peak * (double)r->exec->num_procs;
    s->model_flops = s->hardware_flops;
    s->model_flops_square = s->model_flops_megatron = s->hardware_flops;
    s->model_flops_utilization = s->model_flops / could;
    s->model_flops_utilization_square = s->model_flops_utilization;
    s->model_flops_utilization_megatron = s->model_flops_utilization;
    s->hardware_flops_utilization = s->model_flops_utilization;
    s->total_efficiency = s->model_flops_utilization;
    s->system_efficiency = (s->fw_time + s->head_time) / s->total_time;
    s->compute_efficiency = s->total_efficiency / s->system_efficiency;
}

/* Whether the layout is legal and fits. */
static calc_verdict judge(const calc_serving *r, const needs *need)
{
    const calc_inference_pass_model *pools[] = {&r->model, r->prefill};
    calc_verdict verdict = CALC_VERDICT_OK;
    for (size_t i = 0; i < 1 + (r->prefill != &r->model) && verdict == CALC_VERDICT_OK; i++) {
        const calc_exec *exec = i == 0 ? r->exec : pools[i]->exec;
        const calc_stages *stages = &pools[i]->stages;
        verdict = calc_verdict_of(pools[i]->system, exec, stages->fit, stages->fewest_blocks,
                                  i == 0 ? need->decode : need->prefill, 0);
    }
    return verdict;
}

calc_verdict calc_serving_put_memory(const calc_serving *r, calc_stats *stats)
{
    needs need = put_memory(r, stats);
    bool ever = r->overloaded && r->i->requests == 0; /* else the queue has an end */
    stats->verdict = judge(r, &need);
    if (stats->verdict == CALC_VERDICT_OK && ever) {
        stats->verdict = CALC_VERDICT_OVERLOADED;
    }
    return stats->verdict;
}

void calc_serving_put(calc_serving *r, calc_stats *stats)
{
    bool fit = r->model.stages.fit && r->prefill->stages.fit;
    r->total_s = fit ? r->total_s : NAN;
    put_time(r, stats);
    put_block(r, stats);
    put_latency(r, stats);
    calc_serving_flow flow = calc_serving_flow_of(r, stats);
    calc_serving_flow_put(&flow, stats);
    put_efficiency(r, stats);
    stats->num_microbatches = r->batches;
    stats->blocks_per_proc = r->model.stages.most_blocks;
    stats->blocks_per_chunk = r->model.stages.most_blocks / r->model.stages.chunks;
}

calc_verdict calc_run_inference(const calc_app *app, const calc_system *system,
                                const calc_exec *exec, calc_stats *stats)
{
    calc_serving r;
    calc_stats_none(stats);
    calc_serving_of(app, system, exec, &r);
    calc_serving_put(&r, stats);
    return calc_serving_put_memory(&r, stats);
}

/* Simulated results, in place of the closed forms. The breakdown of a step's time keeps its
 * shares. */
static void take_simulated(calc_serving *r, const calc_serve_sim_result *sim)
{
    double before_s = r->step_s;
    r->step_s = sim->tpot_s * r->tokens_per_step;
    r->total_s = r->step_s;
    r->overhead_s *= r->step_s / before_s;
    for (size_t i = 0; i < r->parts; i++) {
        r->part[i].times *= r->step_s / before_s;
    }
    r->sequences = sim->sequences;
    r->prefill_share = sim->prefill_share;
    r->requests_per_s = sim->requests_per_s;
    r->round_s = NAN; /* which they follow from otherwise */
}

calc_verdict calc_run_inference_exact(const calc_app *app, const calc_system *system,
                                      const calc_exec *exec, void *workspace, calc_stats *s)
{
    calc_serving r;
    calc_serve_sim_result sim;
    calc_stats_none(s);
    calc_serving_of(app, system, exec, &r);
    calc_verdict verdict = calc_serving_put_memory(&r, s);
    if (verdict != CALC_VERDICT_OK || !calc_serving_queues(&r)) {
        calc_serving_put(&r, s);
        return verdict;
    }
    calc_serve_sim_run(&r, workspace, &sim);
    take_simulated(&r, &sim);
    calc_serving_put(&r, s);
    s->ttft = sim.ttft_s;
    s->ttft_p50 = sim.ttft_p50_s;
    s->ttft_p99 = sim.ttft_p99_s;
    s->queue_time = sim.queue_s;
    s->prefill_time =
        sim.ttft_s - sim.queue_s - (isnan(s->kv_transfer_time) ? 0 : s->kv_transfer_time);
    s->request_time = sim.request_s;
    return verdict;
}
