#include "model/run.h"

#include <math.h>

#include "base/error.h"
#include "model/operators/parameters.h"
#include "model/operators/processor.h"
#include "model/serve/inference.h"
#include "model/serve/sim_step.h"
#include "model/stages/stage_spent.h"
#include "model/timeline.h"
#include "model/verdict.h"
#include "spec/field.h"
#include "spec/stage_list.h"

/* calc_run(): take a layout apart, put its step together, and say whether it fits. */

/* With DualPipe half of the work of a stage is that of the opposite one: which two do most. */
static void set_busiest_pair(calc_step *r)
{
    const calc_placed *p = r->placed;
    double stages = (double)p->stages;
    double most_s = 0;
    calc_placed_stage at, other;
    for (size_t i = 0; i < calc_placed_entries(p); i++) {
        for (size_t k = 0; k <= i; k++) {
            calc_placed_entry_of(p, i, &at);
            calc_placed_entry_of(p, k, &other);
            const calc_stage_class *a = &at.class;
            const calc_stage_class *b = &other.class;
            const calc_stage_pass pass[] = {calc_placed_pass(p, &at), calc_placed_pass(p, &other)};
            /* Positions in `a` that are opposite to one in `b`. */
            double first = calc_max(a->position, stages - b->position - b->stages);
            double end = calc_min(a->position + a->stages, stages - b->position);
            double s = calc_stage_pass_s(&pass[0]) + calc_stage_pass_s(&pass[1]);
            if (first < end && s > most_s) {
                most_s = s;
                r->busiest[0] = at;
                r->busiest[1] = other;
                r->busiest_count = i == k ? 1 : 2;
            }
        }
    }
}

static double tier1_bytes(const calc_placed_stage *at, const calc_stage_memory *m)
{
    return m->total * at->terms.used_share + at->terms.reserved_bytes;
}

static void add_time(const calc_placed_stage *at, double *slowest_s, calc_step *r)
{
    const calc_placed *p = r->placed;
    calc_stage_pass pass = calc_placed_pass(p, at);
    calc_stage_reduction x = calc_placed_reduction(p, at, &pass);
    double exposed_s = calc_stage_reduction_exposed_s(&p->exec->strategy, &x);
    bool first = at->class.position == 0;
    if (first || calc_stage_pass_s(&pass) > *slowest_s) {
        *slowest_s = calc_stage_pass_s(&pass);
        r->busiest[0] = *at;
        r->slowest_stage = at->class.position;
    }
    if (first || exposed_s > r->reduction_exposed_s) {
        r->reduction = x;
        r->reduction_exposed_s = exposed_s;
    }
    r->optimizer_s = calc_max(r->optimizer_s, calc_placed_optimizer_s(p, at));
    r->growth = calc_max(r->growth, at->terms.growth);
    r->overhead_s = calc_max(r->overhead_s, at->terms.overhead_s);
    r->tied_s = calc_max(r->tied_s, at->links.tied_s);
}

/* The fullest stage is the one that has least room, in shares of its memory. */
static void add_memory(calc_placed_stage *at, double *fullest_share, calc_step *r)
{
    const calc_placed *p = r->placed;
    const calc_chip *chip = &at->layout->system->chip;
    calc_pipeline_schedule schedule = p->exec->pipeline_schedule;
    bool first = at->class.position == 0;
    at->class = calc_stage_at_peak(&at->terms, schedule, &at->class);
    calc_stage_memory m = calc_placed_memory(p, at);
    calc_stage_weights w = calc_stage_weights_sum(&at->terms, &at->class);
    double held = calc_stage_in_flight(&at->terms, schedule, at->class.position, (double)p->chunks);
    calc_stage_tier2 away = calc_stage_tier2_at(&at->terms, &at->class, &w, held);
    double bytes = tier1_bytes(at, &m);
    double away_bytes = calc_stage_tier2_bytes(&away);
    double share = bytes / chip->mem1.capacity_bytes;
    if (first || share > *fullest_share) {
        *fullest_share = share;
        r->fullest = *at;
        r->memory = m;
    }
    r->away = away_bytes > calc_stage_tier2_bytes(&r->away) ? away : r->away;
    bool full = r->verdict == CALC_VERDICT_MEM1_CAPACITY || bytes > chip->mem1.capacity_bytes;
    bool away_full = r->verdict != CALC_VERDICT_OK || away_bytes > chip->mem2.capacity_bytes;
    r->verdict = full        ? CALC_VERDICT_MEM1_CAPACITY
                 : away_full ? CALC_VERDICT_MEM2_CAPACITY
                             : CALC_VERDICT_OK;
}

double calc_run_bubble_s(double pipeline_s, double busy_s)
{
    double bubble_s = pipeline_s - busy_s;
    return fabs(bubble_s) > CALC_STAGE_ROUNDING * pipeline_s ? bubble_s : 0;
}

/* Idle time of the busiest stage. */
static double bubble_s(const calc_step *r)
{
    const calc_placed *p = r->placed;
    const calc_placed_stage *at = &r->busiest[0];
    calc_stage_pass a = calc_placed_pass(p, at);
    calc_stage_pass b = r->busiest_count > 1 ? calc_placed_pass(p, &r->busiest[1]) : a;
    if (p->stages <= 1) {
        return 0; /* a difference of sums would be nearly so */
    }
    if (calc_stage_rule(&at->terms, CALC_COMPAT_EVEN_STAGES)) {
        return calc_stage_even_bubble_s(&at->terms, &at->class, &a, (double)p->chunks);
    }
    double pass_s = (calc_stage_pass_s(&a) + calc_stage_pass_s(&b)) / 2;
    double busy_s = at->layout->stages.microbatches * pass_s -
                    calc_stage_unsent_s(&at->terms, &at->links, (double)p->chunks);
    return calc_run_bubble_s(r->pipeline_s, busy_s);
}

void calc_step_of(const calc_placed *p, calc_step *r)
{
    const calc_stages *alike = p->listed ? NULL : &p->recipe[0].stages;
    double slowest_s = 0;
    double fullest_share = 0;
    calc_placed_stage at;
    *r = (calc_step){
        .placed = p, .busiest_count = 1, .fewest_blocks = INFINITY, .verdict = CALC_VERDICT_OK};
    calc_placed_entry_of(p, 0, &r->busiest[0]);
    r->fullest = r->busiest[0];
    for (size_t i = 0; i < calc_placed_entries(p); i++) {
        calc_placed_entry_of(p, i, &at);
        double blocks = at.class.dense + at.class.moe;
        r->most_blocks = calc_max(r->most_blocks, blocks);
        r->fewest_blocks = fmin(r->fewest_blocks, blocks);
        add_time(&at, &slowest_s, r);
        add_memory(&at, &fullest_share, r);
    }
    r->most_blocks = alike ? alike->most_blocks : r->most_blocks; /* not rounded */
    r->fewest_blocks = alike ? alike->fewest_blocks : r->fewest_blocks;
    if (p->exec->training && calc_schedule_traits_of(p->exec->pipeline_schedule).copies > 1) {
        set_busiest_pair(r);
    }
    const calc_stage_deferred deferred = calc_placed_deferred(p);
    r->pipeline_s = calc_placed_pipeline_s(p);
    if (deferred.any) {
        r->pipeline_s += calc_stage_deferred_after_s(&deferred, calc_placed_drain_s(p));
    }
    r->bubble_s = p->fit ? bubble_s(r) : (double)NAN;
    r->total_s = r->reduction_exposed_s + (r->pipeline_s + r->pipeline_s * r->growth + r->tied_s +
                                           r->optimizer_s + r->overhead_s);
}

static calc_verdict run(const calc_app *app, const calc_system *system, const calc_exec *exec,
                        calc_compat compat, const calc_kernel_table *measured,
                        calc_run_parts *parts, calc_stats *stats)
{
    calc_placed placed;
    calc_step step;
    calc_placed_of(app, system, exec, compat, measured, parts && parts->known ? &parts->of : NULL,
                   &placed);
    if (parts && !parts->known) {
        *parts = (calc_run_parts){true, placed.recipe[0].parts};
    }
    calc_step_of(&placed, &step);
    return calc_step_stats(&step, stats);
}

calc_verdict calc_run_alike(const calc_app *app, const calc_system *system, const calc_exec *exec,
                            calc_compat compat, calc_run_parts *parts, calc_stats *stats)
{
    return exec->inference.phase != CALC_INFERENCE_PHASE_NONE
               ? calc_run_inference(app, system, exec, stats)
               : run(app, system, exec, compat, NULL, parts, stats);
}

calc_verdict calc_run(const calc_app *app, const calc_system *system, const calc_exec *exec,
                      calc_compat compat, calc_stats *stats)
{
    return calc_run_alike(app, system, exec, compat, NULL, stats);
}

calc_verdict calc_run_measured(const calc_app *app, const calc_system *system,
                               const calc_exec *exec, const calc_kernel_table *measured,
                               calc_stats *stats)
{
    return run(app, system, exec, CALC_COMPAT_NONE, measured, NULL, stats);
}

/* calc_run_exact(): calc_run() with a simulated pipeline, or with simulated requests. */

enum { ALIGNMENT = 16 };

/* The times of the parts lie before the simulator's workspace. */
static size_t pass_bytes(const calc_schedule_shape *shape)
{
    size_t bytes = (size_t)(shape->stages * shape->chunks) * sizeof(calc_schedule_pass);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Serving: simulate its requests; for prompts or tokens alone there is nothing to simulate. */
static calc_status served_bytes(const calc_exec *exec, size_t *bytes, calc_errors *errors)
{
    double requests = calc_serve_sim_requests(exec);
    if (exec->inference.phase == CALC_INFERENCE_PHASE_PREFILL ||
        exec->inference.phase == CALC_INFERENCE_PHASE_DECODE) {
        *bytes = ALIGNMENT;
        return CALC_OK;
    }
    if (requests > CALC_MAX_EXACT_REQUESTS) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_EXEC, "/inference/requests",
                               "lower requests or the batch, or take the closed form",
                               "%.3g requests: at most %d are simulated", requests,
                               CALC_MAX_EXACT_REQUESTS);
    }
    double steps = calc_serve_sim_steps(exec);
    if (steps > CALC_MAX_EXACT_STEPS) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_EXEC, "/inference/generate_size",
                               "lower generate_size or requests, or take the closed form",
                               "%.3g requests of %lld tokens may take %.3g steps: at most %d are "
                               "simulated",
                               requests, (long long)exec->inference.generate_size, steps,
                               CALC_MAX_EXACT_STEPS);
    }
    *bytes = calc_serve_sim_bytes(exec);
    return CALC_OK;
}

calc_status calc_exact_bytes(const calc_exec *exec, size_t *bytes, calc_errors *errors)
{
    if (exec->inference.phase != CALC_INFERENCE_PHASE_NONE) {
        return served_bytes(exec, bytes, errors);
    }
    calc_schedule_shape shape = calc_timeline_shape(exec);
    calc_schedule_status status = calc_schedule_check(&shape);
    if (status != CALC_SCHEDULE_OK) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC, "/pipeline_schedule",
                               "change pipeline_par or batch_size, or use another schedule",
                               "the schedule %s %s, not %lld stages and %lld micro-batches",
                               calc_pipeline_schedule_names[shape.kind],
                               calc_schedule_status_text(status), (long long)shape.stages,
                               (long long)shape.microbatches);
    }
    double passes = (double)shape.stages * (double)shape.chunks * (double)shape.microbatches;
    if (passes > CALC_MAX_EXACT_PASSES) {
        return calc_errors_add(
            errors, CALC_ERR_RANGE, CALC_KIND_EXEC, "/batch_size",
            "lower batch_size, or take the closed form",
            "%lld stages x %lld chunks x %lld micro-batches are %.3g passes: at most "
            "%d are simulated",
            (long long)shape.stages, (long long)shape.chunks, (long long)shape.microbatches, passes,
            CALC_MAX_EXACT_PASSES);
    }
    *bytes = pass_bytes(&shape) + calc_schedule_sim_bytes(&shape);
    return CALC_OK;
}

calc_verdict calc_run_exact(const calc_app *app, const calc_system *system, const calc_exec *exec,
                            void *workspace, calc_stats *s)
{
    calc_timeline t;
    if (exec->inference.phase != CALC_INFERENCE_PHASE_NONE) {
        return calc_run_inference_exact(app, system, exec, workspace, s);
    }
    calc_run(app, system, exec, CALC_COMPAT_NONE, s);
    calc_timeline_of(app, system, exec, CALC_COMPAT_NONE, &t);
    if (!t.fits) {
        return s->verdict;
    }
    calc_timeline_passes(&t, workspace);
    calc_schedule_sim sim = {.shape = t.shape, .pass = workspace};
    double exact_s =
        calc_schedule_sim_s(&sim, (char *)workspace + pass_bytes(&t.shape), NULL, NULL);
    double later_s = exact_s - t.closed_s;
    double closed_total_s = s->total_time;
    s->pipeline_closed_form_error = t.closed_s / exact_s - 1;
    s->bubble_time = calc_run_bubble_s(exact_s, t.closed_s - s->bubble_time);
    s->straggler_time = (exact_s + t.deferred_s) * t.growth;
    s->total_time += later_s + later_s * t.growth;
    s->system_efficiency *= closed_total_s / s->total_time;
    s->total_efficiency *= closed_total_s / s->total_time;
    calc_run_rates(app, system, exec, s);
    return s->verdict;
}

/* Rates, utilization, cost and energy of a step. */

calc_run_chips calc_run_chips_of(const calc_system *system, const calc_exec *exec)
{
    calc_run_chips sum = {0, 0, 0};
    int64_t places = 0;
    const calc_stage_run all = {.places = 1};
    const calc_stage_list *list = &exec->stages;
    for (int32_t i = 0; i == 0 || i < list->count; i++) {
        const calc_stage_run *run = list->count > 0 ? &list->run[i] : &all;
        const calc_chip *chip = &(run->chip == 0 ? system : list->system[run->chip - 1])->chip;
        bool priced = i == 0 || sum.usd_per_hour > 0;
        bool powered = i == 0 || sum.watts > 0;
        places += run->places;
        sum.flop_per_s += run->places * chip->matrix[exec->strategy.datatype].flop_per_s;
        /* A value absent for one of them is unknown for all. */
        sum.usd_per_hour = priced && chip->usd_per_hour > 0
                               ? sum.usd_per_hour + run->places * chip->usd_per_hour
                               : 0;
        sum.watts = powered && chip->watts > 0 ? sum.watts + run->places * chip->watts : 0;
    }
    double n = (double)places;
    return (calc_run_chips){sum.flop_per_s / n, sum.usd_per_hour / n, sum.watts / n};
}

void calc_run_rates(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_stats *s)
{
    calc_run_chips chips = calc_run_chips_of(system, exec);
    double procs = (double)exec->num_procs;
    double seq = (double)(exec->seq_size > 0 ? exec->seq_size : app->seq_size);
    double tokens = (double)exec->batch_size * seq * (1 - exec->strategy.padding_share);
    double could = s->total_time * chips.flop_per_s * procs;
    double trillion_s = 1e12 / tokens * s->total_time;
    s->sample_rate = (double)exec->batch_size / s->total_time;
    s->tokens_per_s = tokens / s->total_time;
    s->tokens_per_s_per_proc = s->tokens_per_s / procs;
    s->model_flops_utilization = s->model_flops / could;
    s->model_flops_utilization_square = s->model_flops_square / could;
    s->model_flops_utilization_megatron = s->model_flops_megatron / could;
    s->hardware_flops_utilization = s->hardware_flops / could;
    s->days_per_trillion_tokens = trillion_s / 86400;
    s->proc_hours_per_trillion_tokens = trillion_s / 3600 * procs;
    s->usd_per_trillion_tokens =
        chips.usd_per_hour > 0 ? s->proc_hours_per_trillion_tokens * chips.usd_per_hour : NAN;
    s->job_usd_per_hour = chips.usd_per_hour > 0 ? procs * chips.usd_per_hour : NAN;
    s->energy_per_token = chips.watts > 0 ? chips.watts * procs * s->total_time / tokens : NAN;
}

/* The statistics of a step. Null (NaN) where one does not apply; nothing unknown is 0. */

void calc_stats_none(calc_stats *stats)
{
#define CALC_FIELD(name, ...) stats->name = (double)NAN;
#include "calc/stats.fields.h"
#include "spec/schedule.h"
#undef CALC_FIELD
}

static bool rule(const calc_layout *l, int which)
{
    return calc_compat_has(l->context.compat, which);
}

/* Ranks that share the state of a block. */
static double shards_of(const calc_layout *l)
{
    return calc_zero_stage(&l->exec->strategy) >= 1 ? l->lines.dense_shards : 1;
}

/* ---- One block ------------------------------------------------------------------------------- */

static void put_work(const calc_cost *b, calc_stats *s)
{
    const calc_cost_work *fw = &b->work[CALC_PASS_FW];
    const calc_cost_work *agrad = &b->work[CALC_PASS_AGRAD];
    const calc_cost_work *wgrad = &b->work[CALC_PASS_WGRAD];
#define PUT(pass, work)                                                                            \
    s->block_##pass##_flops = (work)->flop;                                                        \
    s->block_##pass##_flops_time = (work)->flop_s;                                                 \
    s->block_##pass##_mem_accessed = (work)->bytes;                                                \
    s->block_##pass##_mem_time = (work)->mem_s;                                                    \
    s->block_##pass##_time = b->pass##_s
    PUT(fw, fw);
    PUT(re, &b->re);
    PUT(agrad, agrad);
    PUT(wgrad, wgrad);
#undef PUT
    s->useful_flops = fw->flop + (agrad->flop + wgrad->flop);
}

static void put_communication(const calc_cost *b, calc_stats *s)
{
#define PUT(block, x)                                                                              \
    s->block##_fw_tp_time = (x)->fw_link_s;                                                        \
    s->block##_fw_tp_time_exposed = (x)->fw_exposed_s;                                             \
    s->block##_agrad_tp_time = (x)->bw_link_s;                                                     \
    s->block##_agrad_tp_time_exposed = (x)->bw_exposed_s;                                          \
    s->block##_recomm_time = (x)->re_link_s;                                                       \
    s->block##_recomm_time_exposed = (x)->re_exposed_s;                                            \
    s->block##_fw_tp_size = (x)->fw_bytes;                                                         \
    s->block##_bw_tp_size = (x)->bw_bytes;                                                         \
    s->block##_recomm_size = (x)->re_bytes
    PUT(baseblock, &b->tensor);
    PUT(edgeblock, &b->edge);
#undef PUT
    s->tp_bw_overlap_req = b->required_bytes_per_s;
}

/* The optimizer's step of a block: by rule layer by layer, else as a share of that of a stage. */
static void put_optimizer(const calc_layout *l, const calc_cost *b, calc_stats *s)
{
    if (rule(l, CALC_COMPAT_OPTIMIZER_ROOFLINE)) {
        calc_optimizer_step o = calc_stage_rules_optimizer(
            &l->context, &l->exec->strategy, &l->parts, CALC_DENSE_BLOCK, shards_of(l));
        s->block_optim_flops = o.flop;
        s->block_optim_flops_time = o.flop_s;
        s->block_optim_mem_accessed = o.bytes;
        s->block_optim_mem_time = o.mem_s;
        s->block_optim_time = o.step_s;
        s->useful_flops += rule(l, CALC_COMPAT_BLOCK_EFFICIENCY) ? o.flop : 0;
        return;
    }
    const calc_stage_class none = {0};
    calc_stage_weights w = {b->dense_weights, b->expert_weights};
    s->block_optim_time = calc_stage_optimizer_sum(&l->terms, &none, &w);
    s->block_optim_mem_time = s->block_optim_time;
}

static void put_block(const calc_layout *l, calc_stats *s)
{
    const calc_exec *e = l->exec;
    const calc_cost *b = calc_layout_block(l);
    calc_state_bytes bytes =
        calc_state_bytes_of(&e->strategy, &l->shape, l->context.chip, e->training);
    calc_block_memory m = calc_block_memory_of(&l->context, &e->strategy, b, shards_of(l));
    double weights = b->dense_weights + b->expert_weights;
    bool whole = e->training && !rule(l, CALC_COMPAT_BLOCK_MEMORY);
    put_work(b, s);
    put_communication(b, s);
    put_optimizer(l, b, s);
    s->block_fw_pp_size = l->stages.stages > 1 ? l->parts.message_bytes : 0;
    s->block_bw_pp_size = e->training ? s->block_fw_pp_size : 0;
    s->block_dp_size = e->training && l->lines.dense_ranks > 1 ? bytes.reduced * weights : 0;
    s->block_weight_space = m.weight;
    s->block_act_working_space = m.working;
    s->block_act_storage_space = m.stored;
    s->block_act_checkpoint_size = m.checkpoint;
    s->block_weight_grad_space =
        whole && l->terms.whole_block_bytes == 0 ? weights * bytes.grad : m.grad;
    s->block_weight_grad_space_no_sharding = whole ? weights * bytes.grad : m.whole_grad;
    s->block_act_grad_space = rule(l, CALC_COMPAT_LAYERS) ? m.activation_grad : (double)NAN;
    s->block_optimizer_space = m.optimizer;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* By rule, the memory of a stage counts by kind, and so does the share that would stay if it were
 * offloaded. */
static void put_memory_by_rule(const calc_step *r, calc_stats *s)
{
    const calc_layout *l = r->fullest.layout;
    const calc_exec *e = l->exec;
    calc_block_memory b =
        calc_block_memory_of(&l->context, &e->strategy, calc_layout_block(l), shards_of(l));
    calc_block_memory all = calc_block_memory_whole(&e->strategy, e->training, &b,
                                                    l->stages.most_blocks, r->memory.in_flight);
    calc_block_memory kept = calc_block_memory_offloaded(e->training, &b);
    s->weight_space = all.weight;
    s->act_space = all.stored;
    s->act_checkpoint_size = all.checkpoint;
    s->act_grad_space = all.activation_grad;
    s->weight_grad_space = all.grad;
    s->optimizer_space = all.optimizer;
    s->weight_space_with_offload = kept.weight;
    s->act_space_with_offload = kept.stored;
    s->act_checkpoint_size_with_offload = e->training ? kept.checkpoint : NAN;
    s->act_grad_space_with_offload = kept.activation_grad;
    s->weight_grad_space_with_offload = kept.grad;
    s->optimizer_space_with_offload = kept.optimizer;
}

/* For an offloaded part, the rest that stays, and all of it where most is kept away. */
static void put_away(double *space, double *with_offload, double away, double share)
{
    *with_offload = *space;
    *space = away / share;
}

static bool recomputes_all(const calc_placed_stage *at)
{
    return at->layout->exec->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
}

/* Share of a stage's activations that are inputs of blocks: full recomputation keeps these. */
static double checkpoint_share(const calc_placed *p, const calc_placed_stage *at)
{
    double all = 0;
    double full = 0;
    calc_placed_stage slice;
    for (size_t i = 0; calc_placed_slice_of(p, (int64_t)at->class.position, i, &slice); i++) {
        const calc_stage_part *block = slice.terms.block;
        double bytes = slice.class.dense * block[0].kept_bytes +
                       slice.class.moe * block[1].kept_bytes +
                       slice.class.last * slice.terms.head.whole_bytes;
        all += bytes;
        full += recomputes_all(&slice) ? bytes : 0;
    }
    return all > 0 ? full / all : recomputes_all(at);
}

static void put_parts(const calc_step *r, calc_stats *s)
{
    const calc_stage_tier2 *away = &r->away;
    const calc_layout *l = r->fullest.layout;
    const calc_strategy *e = &r->placed->exec->strategy;
    calc_stage_state state = calc_placed_state(r->placed, &r->fullest);
    double inputs = checkpoint_share(r->placed, &r->fullest);
    double share = calc_share_or(e->offload_share, 1);
    s->weight_space = state.weight;
    s->weight_grad_space = state.grad;
    s->optimizer_space = state.optimizer;
    s->act_checkpoint_size = r->memory.activation * inputs;
    s->act_space = r->memory.activation - s->act_checkpoint_size;
    s->act_grad_space = r->memory.working;
    if (e->weight_offload) {
        put_away(&s->weight_space, &s->weight_space_with_offload, away->weight, share);
    }
    if (e->activations_offload) {
        put_away(&s->act_space, &s->act_space_with_offload, away->activation * (1 - inputs), share);
        put_away(&s->act_checkpoint_size, &s->act_checkpoint_size_with_offload,
                 away->activation * inputs, share);
    }
    if (e->offload_modules) {
        s->act_space_with_offload = s->act_space;
        s->act_space += away->activation;
    }
    if (e->optimizer_offload) {
        calc_state_bytes b =
            calc_state_bytes_of(&l->exec->strategy, &l->shape, l->context.chip, l->exec->training);
        double state_bytes = calc_state_optimizer_bytes(&b);
        double grads = e->grad_offload ? b.grad / (b.grad + state_bytes) : 0;
        put_away(&s->optimizer_space, &s->optimizer_space_with_offload,
                 away->optimizer * (1 - grads), share);
        s->weight_grad_space_with_offload = state.grad;
        s->weight_grad_space = grads > 0 ? away->optimizer * grads / share : state.grad;
    }
}

static void put_memory(const calc_step *r, calc_stats *s)
{
    const calc_chip *chip = &r->fullest.layout->system->chip;
    if (rule(r->fullest.layout, CALC_COMPAT_BLOCK_MEMORY)) {
        put_memory_by_rule(r, s);
    } else {
        put_parts(r, s);
    }
    s->kv_cache_space = 0;
    s->head_space = r->memory.ends;
    s->framework_space = r->memory.framework;
    s->mem_allocated = r->memory.total;
    s->proc_mem_tier1_cap_req = tier1_bytes(&r->fullest, &r->memory);
    s->proc_mem_tier2_cap_req = calc_stage_tier2_bytes(&r->away);
    s->mem_overhead = s->proc_mem_tier1_cap_req - s->mem_allocated;
    s->mem_tier1_capacity = chip->mem1.capacity_bytes;
    s->mem_tier2_capacity = chip->mem2.capacity_bytes;
    s->peak_stage = r->fullest.class.position;
}

/* Bandwidth of the second tier that would hide the traffic of a block, and of all that it could
 * move: during its passes, or by rule during the part of them that its own memory traffic leaves
 * free. */
static void put_offload_rates(const calc_placed_stage *at, calc_stats *s)
{
    const calc_layout *l = at->layout;
    const calc_exec *e = l->exec;
    const calc_cost *b = calc_layout_block(l);
    calc_block_memory m = calc_block_memory_of(&l->context, &e->strategy, b, shards_of(l));
    double kept = e->training || rule(l, CALC_COMPAT_BLOCK_MEMORY)
                      ? calc_block_memory_kept(&e->strategy, &m)
                      : 0;
    double fw_s = calc_cost_fw_s(b);
    double bw_s = calc_cost_agrad_s(b) + b->wgrad_s;
    if (rule(l, CALC_COMPAT_OFFLOAD_EACH)) {
        const calc_rule_part *x = &l->terms.rule[CALC_DENSE_BLOCK];
        calc_stage_travel travel = calc_stage_rules_travel(&e->strategy, e->training, &m);
        fw_s = fmin(fw_s, fw_s + x->edge_fw_s + at->links.message_s) - x->fw_mem_s;
        bw_s = fmin(bw_s, bw_s + x->edge_bw_s + at->links.back_message_s) - x->bw_mem_s;
        s->optim_offload_bw_req = e->training ? (m.grad + m.optimizer) / bw_s : 0;
        s->offload_mem_bw_req = travel.fw_bytes / fw_s;
        if (e->training) {
            s->offload_mem_bw_req = calc_max(s->offload_mem_bw_req, travel.bw_bytes / bw_s);
        }
    } else {
        calc_stage_away away = calc_stage_away_block(&e->strategy, b);
        double weight = away.weight * m.weight;
        double activation = away.copied * kept;
        s->offload_mem_bw_req = calc_max(weight, activation) / fw_s;
        if (e->training && bw_s > 0) { /* blocks before what is trained have no backward pass */
            s->offload_mem_bw_req = calc_max(s->offload_mem_bw_req, (weight + activation) / bw_s);
        }
    }
    s->weight_offload_bw_req = m.weight / fw_s;
    s->act_offload_bw_req = kept / fw_s;
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* Time that a stage's groups send for its blocks and its micro-batches.
 * @param share  of it that counts */
static void add_links(const calc_step *r, const calc_placed_stage *at, double share, calc_stats *s)
{
    calc_placed_stage slice;
    for (size_t i = 0; calc_placed_slice_of(r->placed, (int64_t)at->class.position, i, &slice);
         i++) {
        const calc_layout *l = slice.layout;
        const calc_cost *d = &l->parts.block[CALC_DENSE_BLOCK];
        const calc_cost *x = &l->parts.block[CALC_MOE_BLOCK];
        double n = share * l->stages.microbatches / calc_share_or(l->exec->software_efficiency, 1);
        double dense = n * slice.class.dense;
        double moe = n * slice.class.moe;
        double chunks = n * (double)r->placed->chunks;
        s->recomm_link_time +=
            dense * (d->tensor.re_link_s + d->context.re_link_s) +
            moe * (x->tensor.re_link_s + x->context.re_link_s + x->expert.re_link_s) +
            chunks * (d->edge.re_link_s - d->tensor.re_link_s);
        s->tp_comm_link_time += dense * (d->tensor.fw_link_s + d->tensor.bw_link_s) +
                                moe * (x->tensor.fw_link_s + x->tensor.bw_link_s) +
                                chunks * (d->edge.fw_link_s - d->tensor.fw_link_s +
                                          (d->edge.bw_link_s - d->tensor.bw_link_s));
        s->cp_comm_link_time += dense * (d->context.fw_link_s + d->context.bw_link_s) +
                                moe * (x->context.fw_link_s + x->context.bw_link_s);
        s->ep_comm_link_time += moe * (x->expert.fw_link_s + x->expert.bw_link_s);
        calc_stage_sharded sd =
            calc_stage_sharded_of(&l->context, &l->exec->strategy, d, &l->lines);
        calc_stage_sharded sx =
            calc_stage_sharded_of(&l->context, &l->exec->strategy, x, &l->lines);
        calc_stage_sharded_ends ends =
            calc_stage_sharded_ends_of(&l->context, l->exec, &l->parts, &l->lines);
        s->dp_comm_link_time = s->dp_comm_link_time + dense * sd.link_s + moe * sx.link_s +
                               n * slice.class.first * ends.embedding.link_s +
                               n * slice.class.last * ends.head.link_s;
    }
}

static void put_time(const calc_step *r, calc_stats *s)
{
    const calc_placed_stage *at = &r->busiest[0];
    double m = at->layout->stages.microbatches;
    calc_stage_spent t = calc_placed_spent(r->placed, at);
    if (r->busiest_count > 1) {
        calc_stage_spent other = calc_placed_spent(r->placed, &r->busiest[1]);
        t = calc_stage_spent_sum(&t, &other, 0.5);
    }
    double rearranged_s = m * calc_spent_s(&t, CALC_SPENT_RESHARD);
    s->fw_time = m * t.fw_s[CALC_SPENT_COMPUTE];
    s->bw_time = m * (t.bw_s[CALC_SPENT_COMPUTE] + t.wgrad_s[CALC_SPENT_COMPUTE]);
    s->recompute_time = m * calc_spent_s(&t, CALC_SPENT_RECOMPUTE);
    s->recomm_exposed_time = m * calc_spent_s(&t, CALC_SPENT_REPEATED);
    s->tp_comm_exposed_time = m * calc_spent_s(&t, CALC_SPENT_TENSOR) + rearranged_s;
    s->cp_comm_exposed_time = m * calc_spent_s(&t, CALC_SPENT_CONTEXT);
    s->ep_comm_exposed_time = m * calc_spent_s(&t, CALC_SPENT_EXPERT);
    s->pp_comm_exposed_time = m * calc_spent_s(&t, CALC_SPENT_MESSAGE);
    s->dp_comm_exposed_time =
        r->reduction_exposed_s + r->tied_s + m * calc_spent_s(&t, CALC_SPENT_SHARDED);
    s->fw_offload_exposed_time = m * t.fw_s[CALC_SPENT_OFFLOAD];
    s->bw_offload_exposed_time = m * t.bw_s[CALC_SPENT_OFFLOAD];
    s->head_time = m * calc_spent_s(&t, CALC_SPENT_ENDS);
    s->host_time = m * calc_spent_s(&t, CALC_SPENT_HOST);
    s->bubble_time = r->bubble_s;
    s->optim_step_time = r->optimizer_s;
    s->straggler_time = r->pipeline_s * r->growth;
    s->overhead_time = r->overhead_s;
    s->total_time = r->total_s;
    s->slowest_stage = r->slowest_stage;
    s->recomm_link_time = s->cp_comm_link_time = s->ep_comm_link_time = 0;
    s->tp_comm_link_time = rearranged_s;
    s->pp_comm_link_time =
        m * (double)r->placed->chunks * calc_stage_spent_message_s(&at->terms, &at->links);
    s->dp_comm_link_time = r->reduction.reduce_s + r->reduction.gather_s + r->tied_s;
    for (int i = 0; i < r->busiest_count; i++) {
        add_links(r, &r->busiest[i], 1.0 / r->busiest_count, s);
    }
}

/* Bandwidth at which the reduction of a chunk just fits in a window; 0 if there is none. */
static double window_bytes_per_s(const calc_layout *l, double chunk_bytes, double window_s)
{
    const calc_network_ops *ops = &l->system->networks[l->exec->strategy.data_par_net].ops;
    double scalar = calc_zero_stage(&l->exec->strategy) >= 1
                        ? ops->reduce_scatter.scalar + ops->all_gather.scalar
                        : ops->all_reduce.scalar;
    return window_s > 0 ? chunk_bytes / window_s * scalar : 0;
}

/* Only the rule says which windows a chunk's reduction hides in. */
static void put_windows(const calc_step *r, calc_stats *s)
{
    const calc_layout *l = &r->placed->recipe[0];
    const calc_stage_class *c = &l->stages.item[0];
    calc_reduce_times x = {0};
    if (!rule(l, CALC_COMPAT_REDUCE_BY_BLOCK)) {
        return;
    }
    if (s->block_dp_size > 0 && l->exec->strategy.data_par_overlap) {
        double chunks = l->stages.chunks;
        calc_stage_pass pass = calc_stage_pass_of(&l->terms, &l->links, c, chunks, l->exposed);
        double block_s = r->reduction.reduce_s / (c->dense + c->moe);
        x = calc_stage_reduce_by_block(&l->terms, &l->links, c, &pass, chunks, block_s);
    }
    double chunk_bytes = s->blocks_per_chunk * s->block_dp_size;
    s->dp_bw_overlap_req_chunk = window_bytes_per_s(l, chunk_bytes, x.chunks_window_s);
    s->dp_bw_overlap_req_tail = window_bytes_per_s(l, chunk_bytes, x.tail_window_s);
}

/* ---- Rates ----------------------------------------------------------------------------------- */

/* Arithmetic of matrices in a pass through a block and back [FLOP].
 * @param again  share of such blocks that recompute */
static double block_flop(const calc_cost *block, double again)
{
    double flop = again * block->re.flop;
    for (int pass = 0; pass < CALC_PASS_COUNT; pass++) {
        flop += block->work[pass].flop;
    }
    return flop;
}

/* The same of a number of blocks of each kind. */
static double blocks_flop(const calc_layout *l, const calc_stage_class *c, double again)
{
    return c->dense * block_flop(&l->parts.block[CALC_DENSE_BLOCK], again) +
           c->moe * block_flop(&l->parts.block[CALC_MOE_BLOCK], again);
}

/* Of a stage: for listed layers slice by slice, for listed stages chunk by chunk. */
static double stage_flop(const calc_placed *p, const calc_placed_stage *at)
{
    calc_placed_stage slice;
    double flop = 0;
    for (size_t i = 0; calc_placed_slice_of(p, (int64_t)at->class.position, i, &slice); i++) {
        const calc_layout *l = slice.layout;
        const calc_stage_class *c = &slice.class;
        flop +=
            c->first * block_flop(&l->parts.embedding, 1) + c->last * block_flop(&l->parts.head, 0);
        for (int64_t k = 0; p->listed && !p->layered && k < p->chunks; k++) {
            calc_stage_class chunk = calc_placed_chunk_class(p, at, p->chunks, k);
            flop += blocks_flop(l, &chunk, calc_placed_chunk_recompute(p, at, k));
        }
        if (!p->listed || p->layered) {
            flop += blocks_flop(l, c, p->layered ? 1 : 1 - calc_stage_rich(&slice.terms, c));
        }
    }
    return flop;
}

/* Arithmetic of matrices of a step on all processors. */
static double hardware_flop(const calc_placed *p)
{
    const calc_layout *l = &p->recipe[0];
    double sum = 0;
    calc_placed_stage at;
    for (size_t i = 0; i < calc_placed_entries(p); i++) {
        calc_placed_entry_of(p, i, &at);
        sum += at.class.stages * stage_flop(p, &at) -
               at.class.missing * block_flop(&at.layout->parts.block[CALC_DENSE_BLOCK],
                                             1 - calc_stage_rich(&at.terms, &at.class));
    }
    return sum * l->stages.microbatches * l->shape.tensor_par * l->shape.context_par *
           (double)l->exec->strategy.data_par;
}

/* Networks of every chip, with the stages that are on it, for every split of layers. */
static calc_verdict networks_verdict(const calc_placed *p)
{
    const calc_stage_list *list = &p->exec->stages;
    calc_verdict verdict = CALC_VERDICT_OK;
    size_t count = p->layered ? p->count : (size_t)list->chips + 1;
    for (size_t i = 0; i < count && verdict == CALC_VERDICT_OK; i++) {
        const calc_stage_run on = {.chip = (int16_t)(p->layered ? p->chip[i] : (int)i)};
        const calc_exec part = calc_stage_list_part(p->exec, on.chip);
        calc_exec e = p->layered ? p->recipe_exec[i] : *p->exec;
        e.pipeline_par = list->count > 0 ? part.pipeline_par : e.pipeline_par;
        e.num_procs = list->count > 0 ? part.num_procs : e.num_procs;
        if (e.pipeline_par > 0) {
            verdict = calc_verdict_networks(calc_stage_list_system(p->system, p->exec, &on), &e);
        }
    }
    return verdict;
}

calc_verdict calc_step_stats(const calc_step *r, calc_stats *s)
{
    const calc_placed *p = r->placed;
    const calc_layout *l = &p->recipe[0];
    calc_verdict networks = networks_verdict(p);
    calc_stats_none(s);
    s->num_microbatches = l->stages.microbatches;
    s->blocks_per_proc = r->most_blocks;
    s->blocks_per_chunk = p->fit ? r->most_blocks / (double)p->chunks : (double)NAN;
    s->missing_blocks = r->most_blocks * (double)p->stages - l->shape.blocks;
    put_block(r->busiest[0].layout, s);
    put_offload_rates(&r->busiest[0], s);
    put_time(r, s);
    put_memory(r, s);
    put_windows(r, s);
    s->model_flops = calc_parameters_step_flop(&l->shape, l->exec, false);
    s->model_flops_square = calc_parameters_step_flop(&l->shape, l->exec, true);
    s->model_flops_megatron = calc_parameters_megatron_flop(&l->shape, l->exec);
    s->hardware_flops = hardware_flop(p);
    double peak = calc_run_chips_of(p->system, p->exec).flop_per_s;
    double perfect_s = rule(l, CALC_COMPAT_BLOCK_EFFICIENCY)
                           ? r->most_blocks * l->stages.microbatches * s->useful_flops / peak
                           : s->model_flops / (peak * (double)p->exec->num_procs);
    double compute_s = s->fw_time + s->bw_time + s->head_time + s->optim_step_time;
    bool frozen = p->exec->training && p->exec->strategy.trained != CALC_TRAINED_ALL;
    s->trained_parameters = frozen ? calc_parameters_trained(p->app, p->exec) : (double)NAN;
    s->compute_efficiency = perfect_s / compute_s;
    s->system_efficiency = compute_s / s->total_time;
    s->total_efficiency = perfect_s / s->total_time;
    calc_run_rates(p->app, p->system, p->exec, s);
    s->verdict = networks != CALC_VERDICT_OK ? networks
                 : !p->fit                   ? CALC_VERDICT_INTERLEAVING
                 : calc_verdict_offload_blocks(p->exec, r->fewest_blocks)
                     ? CALC_VERDICT_OFFLOAD_BLOCKS
                     : r->verdict;
    return s->verdict;
}
