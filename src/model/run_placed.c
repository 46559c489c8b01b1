#include <math.h>

#include "calc.h"
#include "model/cost/block_memory.h"
#include "model/operators/parameters.h"
#include "model/operators/processor.h"
#include "model/run.h"
#include "model/stages/placed.h"
#include "model/verdict.h"
#include "spec/stage_list.h"

/* The step of a layout whose stages are listed: every stage by itself, the pipeline simulated. */

/* What the stages come to. */
typedef struct sums {
    calc_placed_stage slowest, fullest;
    calc_step step; /* looked at as these: its only pass, and maxima */
    double slowest_s, fullest_share;
    double growth, overhead_s, tied_s;
    double most_blocks, fewest_blocks, flop;
    calc_verdict verdict; /* of memory */
} sums;

static double tier1_bytes(const calc_placed_stage *at, const calc_stage_memory *m)
{
    return m->total * at->terms.used_share + at->terms.reserved_bytes;
}

static void add_time(const calc_placed *p, const calc_placed_stage *at, sums *x)
{
    calc_step *step = &x->step;
    calc_stage_pass pass = calc_placed_pass(p, at);
    calc_stage_reduction r = calc_placed_reduction(p, at, &pass);
    double exposed_s = calc_stage_reduction_exposed_s(&p->exec->strategy, &r);
    bool first = at->class.position == 0;
    if (first || calc_stage_pass_s(&pass) > x->slowest_s) {
        x->slowest = *at;
        x->slowest_s = calc_stage_pass_s(&pass);
        step->pass[0] = pass;
    }
    if (first || exposed_s > step->reduction_exposed_s) {
        step->reduction = r;
        step->reduction_exposed_s = exposed_s;
    }
    step->optimizer_s = calc_max(step->optimizer_s, calc_placed_optimizer_s(p, at));
    x->growth = calc_max(x->growth, at->terms.growth);
    x->overhead_s = calc_max(x->overhead_s, at->terms.overhead_s);
    x->tied_s = calc_max(x->tied_s, at->links.tied_s);
}

/* The fullest stage is the one that has least room, in shares of its memory. */
static void add_memory(const calc_placed *p, const calc_placed_stage *at, sums *x)
{
    const calc_chip *chip = &at->layout->system->chip;
    calc_stage_memory m = calc_placed_memory(p, at);
    calc_stage_weights w = calc_stage_weights_sum(&at->terms, &at->class);
    calc_stage_tier2 away = calc_stage_tier2_sum(&at->terms, &at->class, &w,
                                                 p->exec->pipeline_schedule, (double)p->chunks);
    double bytes = tier1_bytes(at, &m);
    double away_bytes = calc_stage_tier2_bytes(&away);
    double share = bytes / chip->mem1.capacity_bytes;
    if (at->class.position == 0 || share > x->fullest_share) {
        x->fullest = *at;
        x->fullest_share = share;
        x->step.memory = m;
    }
    if (away_bytes > x->step.step.tier2_bytes) {
        x->step.step.tier2_bytes = away_bytes;
        x->step.away = away;
    }
    bool full = x->verdict == CALC_VERDICT_MEM1_CAPACITY || bytes > chip->mem1.capacity_bytes;
    bool away_full = x->verdict != CALC_VERDICT_OK || away_bytes > chip->mem2.capacity_bytes;
    x->verdict = full        ? CALC_VERDICT_MEM1_CAPACITY
                 : away_full ? CALC_VERDICT_MEM2_CAPACITY
                             : CALC_VERDICT_OK;
}

/* The layout of a stage as if it were the only class. */
static void look_at(calc_placed *p, const calc_placed_stage *at, const sums *x, calc_step *r)
{
    calc_layout *l = &p->recipe[at->layout - p->recipe];
    l->terms = at->terms;
    l->terms.growth = x->growth;
    l->terms.overhead_s = x->overhead_s;
    l->links = at->links;
    l->links.tied_s = x->tied_s;
    l->stages.count = 1;
    l->stages.item[0] = at->class;
    r->layout = l;
}

/* For listed layers slice by slice, else chunk by chunk. */
static double stage_flop(const calc_placed *p, const calc_placed_stage *at)
{
    calc_placed_stage slice;
    double flop = 0;
    for (size_t i = 0; calc_placed_slice_of(p, (int64_t)at->class.position, i, &slice); i++) {
        const calc_cost *block = slice.layout->parts.block;
        const calc_stage_class *c = &slice.class;
        double ends = c->first * calc_step_block_flop(&slice.layout->parts.embedding, 1) +
                      c->last * calc_step_block_flop(&slice.layout->parts.head, 0);
        if (p->layered) {
            flop += ends + c->dense * calc_step_block_flop(&block[CALC_DENSE_BLOCK], 1) +
                    c->moe * calc_step_block_flop(&block[CALC_MOE_BLOCK], 1);
            continue;
        }
        flop = ends;
        for (int64_t k = 0; k < p->chunks; k++) {
            calc_stage_class chunk = calc_placed_chunk_class(p, at, p->chunks, k);
            double again = calc_placed_chunk_recompute(p, at, k);
            flop += chunk.dense * calc_step_block_flop(&block[CALC_DENSE_BLOCK], again) +
                    chunk.moe * calc_step_block_flop(&block[CALC_MOE_BLOCK], again);
        }
    }
    return flop;
}

static void add_stages(const calc_placed *p, sums *x)
{
    calc_placed_stage at;
    *x = (sums){.verdict = CALC_VERDICT_OK, .fewest_blocks = INFINITY};
    for (int64_t stage = 0; stage < p->stages; stage++) {
        calc_placed_stage_of(p, stage, &at);
        add_time(p, &at, x);
        add_memory(p, &at, x);
        x->flop += stage_flop(p, &at);
        double blocks = at.class.dense + at.class.moe;
        x->most_blocks = calc_max(x->most_blocks, blocks);
        x->fewest_blocks = fmin(x->fewest_blocks, blocks);
    }
}

/* Networks of every chip, with the stages that are on it, for every split of layers. */
static calc_verdict networks_verdict(const calc_placed *p)
{
    const calc_stage_list *list = &p->exec->stages;
    calc_verdict verdict = CALC_VERDICT_OK;
    size_t count = p->layered ? p->count : (size_t)list->chips + 1;
    for (size_t i = 0; i < count && verdict == CALC_VERDICT_OK; i++) {
        const calc_stage_run on = {.chip = (uint8_t)(p->layered ? p->chip[i] : (int)i)};
        const calc_exec part = calc_stage_list_part(p->exec, on.chip);
        calc_exec e = p->layered ? p->recipe_exec[i] : part;
        e.pipeline_par = list->count > 0 ? part.pipeline_par : e.pipeline_par;
        e.num_procs = list->count > 0 ? part.num_procs : e.num_procs;
        if (e.pipeline_par > 0) {
            verdict = calc_verdict_networks(calc_stage_list_system(p->system, p->exec, &on), &e);
        }
    }
    return verdict;
}

static calc_verdict verdict_of(const calc_placed *p, const sums *x)
{
    calc_verdict networks = networks_verdict(p);
    if (networks != CALC_VERDICT_OK) {
        return networks;
    }
    if (!p->fit) {
        return CALC_VERDICT_INTERLEAVING;
    }
    return calc_verdict_offload_blocks(p->exec, x->fewest_blocks) ? CALC_VERDICT_OFFLOAD_BLOCKS
                                                                  : x->verdict;
}

/* The view of a stage: with listed layers, its slice with most of them, with its messages. */
static calc_placed_stage most_of(const calc_placed *p, const calc_placed_stage *at)
{
    calc_placed_stage slice = *at, other;
    int64_t stage = (int64_t)at->class.position;
    for (size_t i = 0; p->layered && calc_placed_slice_of(p, stage, i, &other); i++) {
        slice = i == 0 || other.layout == at->layout ? other : slice;
    }
    slice.links.message_s = at->links.message_s;
    slice.links.back_message_s = at->links.back_message_s;
    return slice;
}

/* Weights and activations that each recipe keeps. */
static void put_layers_memory(const calc_placed *p, const calc_placed_stage *at, calc_stats *s)
{
    int64_t stage = (int64_t)at->class.position;
    calc_stage_memory m = calc_placed_memory(p, at);
    calc_stage_state state = calc_placed_state(p, at);
    calc_placed_stage slice;
    double all = 0;
    double full = 0;
    for (size_t i = 0; calc_placed_slice_of(p, stage, i, &slice); i++) {
        const calc_stage_part *block = slice.terms.block;
        double bytes = slice.class.dense * block[0].kept_bytes +
                       slice.class.moe * block[1].kept_bytes +
                       slice.class.last * slice.terms.head.whole_bytes;
        all += bytes;
        full += slice.layout->exec->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL
                    ? bytes
                    : 0;
    }
    s->weight_space = state.weight;
    s->weight_grad_space = state.grad;
    s->optimizer_space = state.optimizer;
    s->act_checkpoint_size = all > 0 ? m.activation * (full / all) : 0;
    s->act_space = m.activation - s->act_checkpoint_size;
}

static void put_memory(calc_placed *p, sums *x, calc_stats *s)
{
    const calc_placed_stage fullest = most_of(p, &x->fullest);
    calc_step *r = &x->step;
    look_at(p, &fullest, x, r);
    r->peak_stage = x->fullest.class.position;
    r->step.allocated_bytes = r->memory.total;
    r->step.tier1_bytes = tier1_bytes(&x->fullest, &r->memory);
    calc_step_put_memory(r, s);
    if (p->layered) {
        put_layers_memory(p, &x->fullest, s);
    }
}

/* A stage of listed layers is looked at as its slice of most layers: the time that other slices,
 * and rearranging activations, add to that. */
static void add_slices(calc_placed *p, const sums *x, calc_stats *s)
{
    int64_t stage = (int64_t)x->slowest.class.position;
    calc_placed_stage slice;
    double reshard_s = 0;
    for (size_t i = 0; calc_placed_slice_of(p, stage, i, &slice); i++) {
        calc_step other = {0};
        if (slice.layout != x->slowest.layout) {
            slice.links.tied_s = 0;
            look_at(p, &slice, x, &other);
            p->recipe[slice.layout - p->recipe].links.tied_s = 0;
            calc_step_add_time(&other, s);
        }
    }
    for (int64_t k = 0; k < p->chunks; k++) {
        const calc_reshard *c = &p->chunk[k * p->stages + stage].reshard;
        reshard_s += (c->fw_s + c->bw_s) * s->num_microbatches;
    }
    s->tp_comm_exposed_time += reshard_s;
    s->tp_comm_link_time += reshard_s;
}

static void put_time(calc_placed *p, sums *x, double pipeline_s, calc_stats *s)
{
    const calc_placed_stage slowest = most_of(p, &x->slowest);
    calc_step *r = &x->step;
    look_at(p, &slowest, x, r);
    r->step.pipeline_s = pipeline_s;
    double busy_s = r->layout->stages.microbatches * x->slowest_s;
    r->bubble_s = p->stages > 1 ? calc_run_bubble_s(pipeline_s, busy_s) : 0;
    r->total_s = r->reduction_exposed_s +
                 (pipeline_s + pipeline_s * x->growth + x->tied_s + r->optimizer_s + x->overhead_s);
    calc_step_put_time(r, s);
    if (p->layered) {
        add_slices(p, x, s);
    }
}

calc_verdict calc_run_placed(const calc_app *app, const calc_system *system, const calc_exec *exec,
                             const calc_kernel_table *measured, calc_stats *s)
{
    calc_placed p;
    sums x;
    calc_placed_of(app, system, exec, CALC_COMPAT_NONE, measured, &p);
    const calc_layout *l = &p.recipe[0];
    add_stages(&p, &x);
    double pipeline_s = p.fit ? calc_placed_pipeline_s(&p) : (double)NAN;
    const calc_stage_deferred deferred = calc_placed_deferred(&p);
    if (deferred.any) {
        pipeline_s += calc_stage_deferred_after_s(&deferred, calc_placed_drain_s(&p));
    }
    calc_stats_none(s);
    s->num_microbatches = l->stages.microbatches;
    s->blocks_per_proc = x.most_blocks;
    s->blocks_per_chunk = x.most_blocks / (double)p.chunks;
    s->missing_blocks = x.most_blocks * (double)p.stages - l->shape.blocks;
    s->model_flops = calc_parameters_step_flop(&l->shape, l->exec, false);
    s->model_flops_square = calc_parameters_step_flop(&l->shape, l->exec, true);
    s->model_flops_megatron = calc_parameters_megatron_flop(&l->shape, l->exec);
    s->hardware_flops = x.flop * l->stages.microbatches * l->shape.tensor_par *
                        l->shape.context_par * (double)l->exec->strategy.data_par;
    put_time(&p, &x, pipeline_s, s);
    put_memory(&p, &x, s);
    double peak = calc_run_chips_of(system, exec).flop_per_s * (double)exec->num_procs;
    calc_step_put_rates(app, system, exec, s->model_flops / peak, s);
    s->verdict = verdict_of(&p, &x);
    return s->verdict;
}

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
    for (int i = CALC_SPENT_TENSOR; i <= CALC_SPENT_SHARDED; i++) {
        out->comm_exposed_time += calc_spent_s(&t, (calc_spent_part)i);
    }
}

static void put_stage_memory(const calc_placed *p, const calc_placed_stage *at,
                             calc_stage_stats *out)
{
    calc_stage_memory m = calc_placed_memory(p, at);
    out->in_flight = m.in_flight;
    out->act_space = m.activation;
    out->working_space = m.working;
    out->head_space = m.ends;
    out->framework_space = m.framework;
    out->mem_tier1 = m.total * at->terms.used_share + at->terms.reserved_bytes;
    out->mem_overhead = out->mem_tier1 - m.total;
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
    calc_placed_of(app, system, exec, compat, NULL, &p);
    for (size_t i = 0; i < count && i < capacity; i++) {
        calc_placed_stage_of(&p, (int64_t)i, &at);
        row = p.listed || at.class.position == (double)i ? row_of(&p, &at) : row;
        at.class.position = (double)i;
        row.stage = (int64_t)i;
        put_stage_memory(&p, &at, &row);
        if (calc_stage_rule(&at.terms, CALC_COMPAT_BLOCK_MEMORY)) {
            put_parts_by_rule(at.layout, &row);
        }
        out[i] = row;
    }
    return count;
}
