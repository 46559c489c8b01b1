#include "model/run_stages.h"

#include <math.h>
#include <string.h>

#include "model/inference.h"
#include "model/parameters.h"
#include "model/processor.h"
#include "model/stage_spent.h"
#include "model/stage_step.h"
#include "model/verdict.h"

/* Everything computed on the way, for the statistics. */
typedef struct run {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    const calc_kernel_table *measured;
    calc_shape shape;
    calc_cost_context context;
    calc_stages stages;
    calc_stage_parts parts;
    calc_stage_lines lines;
    calc_stage_terms terms;
    calc_stage_pass pass[CALC_MAX_STAGE_CLASSES];
    double exposed_messages;
    bool reduces_beside, gathers_beside;
    size_t slowest, fullest; /* classes */
    size_t busiest[2];       /* those of the stages whose work a step's time is told by */
    double peak_stage;       /* of the fullest */
    calc_stage_memory memory;
    calc_stage_reduction reduction;
    calc_stage_step step;
    double reduction_exposed_s, optimizer_s, total_s;
} run;

/* Exposed time of a stage's reduction with the flags of the execution. */
static double reduction_s(const run *r, const calc_stage_reduction *x)
{
    return (r->reduces_beside ? x->reduce_beside_s : x->reduce_s) +
           (r->gathers_beside ? x->gather_beside_s : x->gather_s);
}

/* With DualPipe half of the work of a stage is that of the opposite one: which two do most. */
static void set_busiest_pair(run *r)
{
    double p = r->stages.stages;
    double most_s = 0;
    for (size_t i = 0; i < r->stages.count; i++) {
        for (size_t k = 0; k <= i; k++) {
            const calc_stage_class *a = &r->stages.item[i];
            const calc_stage_class *b = &r->stages.item[k];
            /* Positions in `a` that are opposite to one in `b`. */
            double first = calc_max(a->position, p - b->position - b->stages);
            double end = calc_stage_min(a->position + a->stages, p - b->position);
            double s = calc_stage_pass_s(&r->pass[i]) + calc_stage_pass_s(&r->pass[k]);
            if (first < end && s > most_s) {
                most_s = s;
                r->busiest[0] = i;
                r->busiest[1] = k;
            }
        }
    }
}

/* What each class of stages takes and holds; which is the slowest, which the fullest. */
static void run_classes(run *r)
{
    double slowest_s = 0;
    for (size_t i = 0; i < CALC_MAX_STAGE_CLASSES; i++) {
        const calc_stage_class *c = &r->stages.item[i];
        r->pass[i] = calc_stage_pass_of(&r->terms, c, r->stages.chunks, r->exposed_messages);
        if (c->stages <= 0) {
            continue;
        }
        calc_stage_weights w = calc_stage_weights_sum(&r->terms, c);
        calc_pipeline_schedule schedule = r->exec->pipeline_schedule;
        calc_stage_class peak = calc_stage_at_peak(&r->terms, schedule, c);
        calc_stage_memory m =
            calc_stage_memory_sum(&r->terms, &peak, &w, schedule, r->stages.chunks);
        calc_stage_reduction x =
            calc_stage_reduction_sum(&r->terms, &w, &r->pass[i], r->stages.chunks);
        if (i == 0 || m.total > r->memory.total) {
            r->memory = m;
            r->fullest = i;
            r->peak_stage = peak.position;
        }
        if (i == 0 || reduction_s(r, &x) > r->reduction_exposed_s) {
            r->reduction = x;
            r->reduction_exposed_s = reduction_s(r, &x);
        }
        double s = calc_stage_pass_s(&r->pass[i]);
        r->slowest = s > slowest_s ? i : r->slowest;
        slowest_s = calc_max(slowest_s, s);
        r->optimizer_s = calc_max(r->optimizer_s, calc_stage_optimizer_sum(&r->terms, &w));
    }
    r->busiest[0] = r->busiest[1] = r->slowest;
    if (r->exec->training && r->exec->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE) {
        set_busiest_pair(r);
    }
}

static void run_all(run *r)
{
    const calc_exec *e = r->exec;
    r->shape = calc_shape_of(r->app, e);
    r->context = calc_cost_context_of(r->system, e, &r->shape);
    r->context.measured = r->measured;
    r->stages = calc_stages_split(&r->shape, e);
    calc_stage_parts_of(&r->context, &r->parts);
    r->lines =
        calc_stage_lines_of(r->system, e, &r->context.groups, calc_stage_message_bytes(&r->shape));
    calc_stage_terms_of(&r->context, e, &r->parts, &r->lines, &r->terms);
    r->exposed_messages = calc_stage_exposed_messages(&r->terms, e);
    r->reduces_beside = e->data_par_overlap;
    r->gathers_beside = calc_stage_gathers_beside(e);
    run_classes(r);
    r->step = calc_stage_step_of(&r->terms, e->pipeline_schedule, r->stages.item, r->stages.chunks,
                                 r->exposed_messages);
    r->total_s =
        r->stages.fit ? r->step.total_s[r->reduces_beside][r->gathers_beside] : (double)NAN;
}

/* ---- Feasibility ----------------------------------------------------------------------------- */

calc_verdict calc_run_verdict(const calc_system *s, const calc_exec *exec, bool stages_fit,
                              double tier1_bytes, double tier2_bytes)
{
    calc_verdict verdict = calc_verdict_networks(s, exec);
    if (verdict != CALC_VERDICT_OK) {
        return verdict;
    }
    if (!stages_fit) {
        return CALC_VERDICT_INTERLEAVING;
    }
    if (tier1_bytes > s->mem1.capacity_bytes) {
        return CALC_VERDICT_MEM1_CAPACITY;
    }
    return tier2_bytes > s->mem2.capacity_bytes ? CALC_VERDICT_MEM2_CAPACITY : CALC_VERDICT_OK;
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
    const calc_stage_memory *m = &r->memory;
    calc_stage_state state = calc_stage_state_of(&r->context, &r->terms, &r->stages, r->fullest);
    bool full = r->exec->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    s->weight_space = state.weight;
    s->weight_grad_space = state.grad;
    s->weight_grad_space_with_offload = state.grad;
    s->optimizer_space = state.optimizer;
    /* What full recomputation keeps are the inputs of blocks. */
    s->act_space = full ? 0 : m->activation;
    s->act_checkpoint_size = full ? m->activation : 0;
    s->act_grad_space = m->working;
    s->head_space = m->ends;
    s->framework_space = m->framework;
    s->mem_allocated = r->step.allocated_bytes;
    s->mem_overhead = r->step.tier1_bytes - r->step.allocated_bytes;
    s->proc_mem_tier1_cap_req = r->step.tier1_bytes;
    s->peak_stage = r->peak_stage;
}

/* Bandwidth of the second tier that would hide what a block moves, and what it could move. */
static void put_offload_rates(const run *r, calc_stats *s)
{
    bool moe = calc_shape_moe_blocks(&r->shape) * 2 > r->shape.blocks;
    const calc_cost *b = &r->parts.block[moe ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK];
    calc_stage_away away = calc_stage_away_of(r->exec);
    calc_state_bytes bytes = calc_state_bytes_of(r->exec, &r->shape);
    double weight = bytes.weight * (b->dense_weights + b->expert_weights);
    double activation = r->exec->training ? b->kept_bytes : 0;
    double fw_s = calc_cost_fw_s(b);
    double bw_s = calc_cost_agrad_s(b) + b->wgrad_s;
    double moved_weight = away.weight * weight;
    double moved_activation = away.activation * activation;
    s->weight_offload_bw_req = weight / fw_s;
    s->act_offload_bw_req = activation / fw_s;
    s->offload_mem_bw_req = calc_max(moved_weight, moved_activation) / fw_s;
    if (r->exec->training) {
        s->offload_mem_bw_req =
            calc_max(s->offload_mem_bw_req, (moved_weight + moved_activation) / bw_s);
    }
}

/* What the second tier holds: of the stage where that is most. */
static void put_offload(const run *r, calc_stats *s)
{
    const calc_exec *e = r->exec;
    bool full = e->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    double share = calc_share_or(e->offload_share, 1);
    calc_stage_tier2 most = {0};
    for (size_t i = 0; i < r->stages.count; i++) {
        calc_stage_class peak =
            calc_stage_at_peak(&r->terms, e->pipeline_schedule, &r->stages.item[i]);
        calc_stage_tier2 away =
            calc_stage_tier2_of(&r->context, &r->parts, &r->terms, &peak, r->stages.chunks);
        double bytes = away.weight + away.activation + away.optimizer;
        if (bytes > s->proc_mem_tier2_cap_req) {
            s->proc_mem_tier2_cap_req = bytes;
            most = away;
        }
    }
    if (e->weight_offload) {
        s->weight_space_with_offload = s->weight_space;
        s->weight_space = most.weight / share;
    }
    if (e->activations_offload) {
        double *whole = full ? &s->act_checkpoint_size : &s->act_space;
        *(full ? &s->act_checkpoint_size_with_offload : &s->act_space_with_offload) = *whole;
        *whole = most.activation / share;
    }
    if (e->optimizer_offload) {
        s->optimizer_space_with_offload = s->optimizer_space;
        s->optimizer_space = most.optimizer / share;
    }
}

/* Time of the link of each group for a micro-batch on the busiest stage [s]. */
static void put_links(const run *r, calc_stats *s)
{
    const calc_stage_class *a = &r->stages.item[r->busiest[0]];
    const calc_stage_class *b = &r->stages.item[r->busiest[1]];
    const calc_cost *d = &r->parts.block[CALC_DENSE_BLOCK];
    const calc_cost *x = &r->parts.block[CALC_MOE_BLOCK];
    double n = r->stages.microbatches / calc_share_or(r->exec->software_efficiency, 1);
    double dense = n * (a->dense + b->dense) / 2;
    double moe = n * (a->moe + b->moe) / 2;
    s->recomm_link_time = dense * (d->tensor.re_link_s + d->context.re_link_s) +
                          moe * (x->tensor.re_link_s + x->context.re_link_s + x->expert.re_link_s);
    s->tp_comm_link_time = dense * (d->tensor.fw_link_s + d->tensor.bw_link_s) +
                           moe * (x->tensor.fw_link_s + x->tensor.bw_link_s);
    s->cp_comm_link_time = dense * (d->context.fw_link_s + d->context.bw_link_s) +
                           moe * (x->context.fw_link_s + x->context.bw_link_s);
    s->ep_comm_link_time = moe * (x->expert.fw_link_s + x->expert.bw_link_s);
    s->pp_comm_link_time = r->stages.microbatches * r->stages.chunks * (r->exec->training ? 2 : 1) *
                           r->terms.message_s;
    calc_stage_sharded sd = calc_stage_sharded_of(&r->context, r->exec, d, &r->lines);
    calc_stage_sharded sx = calc_stage_sharded_of(&r->context, r->exec, x, &r->lines);
    s->dp_comm_link_time = r->reduction.reduce_s + r->reduction.gather_s + r->terms.tied_s +
                           dense * sd.link_s + moe * sx.link_s;
}

double calc_run_bubble_s(double pipeline_s, double busy_s)
{
    double bubble_s = pipeline_s - busy_s;
    return fabs(bubble_s) > CALC_STAGE_ROUNDING * pipeline_s ? bubble_s : 0;
}

static calc_stage_spent spent_of(const run *r, size_t class)
{
    return calc_stage_spent_of(&r->context, &r->parts, &r->lines, &r->terms, &r->stages.item[class],
                               r->stages.chunks);
}

static void put_time(const run *r, calc_stats *s)
{
    calc_stage_spent t = spent_of(r, r->busiest[0]);
    if (r->busiest[1] != r->busiest[0]) {
        calc_stage_spent other = spent_of(r, r->busiest[1]);
        t = calc_stage_spent_mean(&t, &other);
    }
    double m = r->stages.microbatches;
    s->fw_time = m * t.fw_s;
    s->bw_time = m * t.bw_s;
    s->recompute_time = m * t.re_s;
    s->recomm_exposed_time = m * t.repeated_s;
    s->tp_comm_exposed_time = m * t.tensor_s;
    s->cp_comm_exposed_time = m * t.context_s;
    s->ep_comm_exposed_time = m * t.expert_s;
    s->pp_comm_exposed_time = m * t.message_s;
    s->dp_comm_exposed_time = r->reduction_exposed_s + r->terms.tied_s + m * t.sharded_s;
    s->fw_offload_exposed_time = m * t.fw_offload_s;
    s->bw_offload_exposed_time = m * t.bw_offload_s;
    s->head_time = m * t.ends_s;
    s->host_time = m * t.host_s;
    double busy_s =
        (calc_stage_pass_s(&r->pass[r->busiest[0]]) + calc_stage_pass_s(&r->pass[r->busiest[1]])) /
        2;
    s->bubble_time = calc_run_bubble_s(r->step.pipeline_s, m * busy_s);
    s->optim_step_time = r->optimizer_s;
    s->straggler_time = r->step.pipeline_s * r->terms.growth;
    s->overhead_time = r->terms.overhead_s;
    s->total_time = r->total_s;
    s->slowest_stage = r->stages.item[r->slowest].position;
    put_links(r, s);
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
    return calc_run_stages_measured(app, system, exec, NULL, stats);
}

calc_verdict calc_run_stages_measured(const calc_app *app, const calc_system *system,
                                      const calc_exec *exec, const calc_kernel_table *measured,
                                      calc_stats *stats)
{
    run r = {.app = app, .system = system, .exec = exec, .measured = measured};
    memset(stats, 0, sizeof *stats);
    run_all(&r);
    put_block(&r, stats);
    put_memory(&r, stats);
    put_offload(&r, stats);
    put_offload_rates(&r, stats);
    put_time(&r, stats);
    put_rates(&r, stats);
    stats->num_microbatches = r.stages.microbatches;
    stats->pipeline_closed_form_error = NAN;
    stats->blocks_per_proc = r.stages.most_blocks;
    stats->blocks_per_chunk = r.stages.most_blocks / r.stages.chunks;
    stats->mem_tier1_capacity = system->mem1.capacity_bytes;
    stats->mem_tier2_capacity = system->mem2.capacity_bytes;
    calc_inference_none(stats);
    stats->verdict = calc_run_verdict(system, exec, r.stages.fit, stats->proc_mem_tier1_cap_req,
                                      stats->proc_mem_tier2_cap_req);
    return stats->verdict;
}
