#include "model/serve/inference.h"

#include <math.h>

#include "model/operators/processor.h"
#include "spec/prefill_pool.h"

/* ---- What is asked --------------------------------------------------------------------------- */

static double or_one(int64_t value)
{
    return value > 0 ? (double)value : 1;
}

/* An execution as it serves: nothing is trained, and other schedules order backward passes. */
static const calc_exec *forward(const calc_exec *exec, calc_exec *own)
{
    if (!exec->training && exec->pipeline_schedule == CALC_PIPELINE_SCHEDULE_1F1B) {
        return exec;
    }
    *own = *exec;
    own->training = false;
    own->pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
    return own;
}

static bool apart(const calc_exec *exec)
{
    return exec->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED;
}

static void ask(calc_serving *r)
{
    const calc_inference *i = r->i;
    r->replicas = (double)r->exec->strategy.data_par;
    r->prefill_replicas = (double)r->prefill->exec->strategy.data_par;
    r->batch = (double)(i->batch > 0 ? i->batch : r->exec->batch_size) / r->replicas;
    r->groups = calc_min(r->model.stages.stages, r->batch);
    r->prefill_batch = or_one(i->prefill_batch);
    r->prompt = i->prompt_size > 0 ? (double)i->prompt_size : r->model.shape.seq;
    r->generate = (double)i->generate_size;
    double page = r->model.cache.page;
    r->cached = calc_min(floor(r->prompt * i->prefix_hit / page) * page, r->prompt - 1);
    r->fresh = r->prompt - r->cached;
    r->chunk = i->chunk_size > 0 ? calc_min((double)i->chunk_size, r->fresh) : r->fresh;
    r->tokens_per_step =
        calc_inference_tokens_per_step(i->speculative_tokens, i->speculative_accept);
    r->mixed_share = 0;
    r->overhead_s = 0;
    r->parts = 0;
}

double calc_inference_tokens_per_step(int64_t drafts, double accept)
{
    double sum = 1;
    double all_before = 1;
    for (int64_t i = 0; i < drafts; i++) {
        all_before *= accept;
        sum += all_before;
    }
    return sum;
}

/* ---- Prefill --------------------------------------------------------------------------------- */

void calc_inference_prefill_of(const calc_inference_pass_model *model, double prompts, double fresh,
                               double cached, double chunk, calc_prefill *out)
{
    double whole = ceil(fresh / chunk) - 1; /* chunks before the last */
    calc_inference_pass_work work = {.prompts = prompts, .chunk = chunk};
    *out = (calc_prefill){.chunks = whole};
    if (whole > 0) {
        work.cached = cached + (whole - 1) * chunk / 2;
        calc_inference_pass_of(model, &work, &out->chunk);
        out->work = work;
    }
    work.cached = cached + whole * chunk;
    work.chunk = fresh - whole * chunk;
    work.finished = prompts;
    calc_inference_pass_of(model, &work, &out->last);
    out->work = whole > 0 ? out->work : work;
    out->work.finished = prompts;
    out->latency_s = whole * out->chunk.slow.total_s + out->last.latency_s;
    out->busy_s = whole * out->chunk.slow.total_s + out->last.slow.total_s;
}

/* Prefill of one batch of prompts, where prompts are prefilled. */
static void run_prefill(calc_serving *r)
{
    calc_inference_prefill_of(r->prefill, r->prefill_batch, r->fresh, r->cached, r->chunk,
                              &r->prefilled);
    double passes = r->prefilled.chunks + 1;
    r->prefill_s = r->prefilled.latency_s + passes * r->i->step_overhead_s;
}

/* Every part of a prefill, `times` in the reported time. */
static void report_prefill(calc_serving *r, double times)
{
    r->part[r->parts++] = (calc_serving_part){&r->prefilled.chunk, times * r->prefilled.chunks};
    r->part[r->parts++] = (calc_serving_part){&r->prefilled.last, times};
    r->overhead_s += times * (r->prefilled.chunks + 1) * r->i->step_overhead_s;
}

/* Prompts of the batch, one pass after the other. */
static void run_prompts(calc_serving *r)
{
    run_prefill(r);
    r->work = r->prefilled.work;
    double passes = ceil(r->batch / r->prefill_batch);
    report_prefill(r, passes);
    r->batches = 1;
    r->total_s = r->prefilled.latency_s + (passes - 1) * r->prefilled.busy_s + r->overhead_s;
    r->requests_per_s = r->batch * r->replicas / r->total_s;
}

/* ---- Decoding -------------------------------------------------------------------------------- */

/* A step of `groups` micro-batches that follow one another around the pipeline [s]. */
static double around_s(const calc_serving *r, const calc_inference_pass *pass)
{
    return calc_max(pass->latency_s, r->groups * pass->slow.total_s);
}

/* Sequences of one micro-batch. */
static calc_inference_pass_work decoding(const calc_serving *r, double sequences)
{
    return (calc_inference_pass_work){
        .sequences = sequences / r->groups,
        .queries = 1 + (double)r->i->speculative_tokens,
        .drafts = r->model.drafts,
        .context = r->prompt + r->generate / 2,
    };
}

/* What a step takes beside its pass: the engine, and drafts by another model. */
static double beside_s(const calc_serving *r, const calc_inference_pass_work *work)
{
    double drafts = (double)r->i->speculative_tokens;
    double drafting_s = 0;
    if (drafts > 0 && r->i->speculative_cost > 0) {
        calc_inference_pass_work one = *work;
        calc_inference_pass alone;
        one.queries = 1;
        calc_inference_pass_of(&r->model, &one, &alone);
        drafting_s = drafts * r->i->speculative_cost * around_s(r, &alone);
    }
    return r->i->step_overhead_s + drafting_s;
}

/* Decoding steps of `sequences` on a replica, and what they take beside their passes. */
static double run_plain(calc_serving *r, double sequences)
{
    calc_inference_pass_work work = decoding(r, sequences);
    double extra_s = beside_s(r, &work);
    calc_inference_pass_of(&r->model, &work, &r->plain);
    r->plain_s = around_s(r, &r->plain) + extra_s;
    r->sequences = sequences;
    r->work = work;
    return extra_s;
}

/* Steps of a request after its first token. */
static double steps(const calc_serving *r)
{
    return (r->generate - 1) / r->tokens_per_step;
}

static void run_decode(calc_serving *r)
{
    r->overhead_s = run_plain(r, r->batch);
    r->part[r->parts++] = (calc_serving_part){&r->plain, 1};
    r->batches = r->groups;
    r->step_s = r->plain_s;
    r->total_s = r->step_s;
    r->requests_per_s =
        r->generate > 0 ? r->batch * r->replicas * r->tokens_per_step / (r->step_s * r->generate)
                        : NAN;
}

/* ---- Both ------------------------------------------------------------------------------------ */

/* Chunks of prompts in the steps of the decoded ones. */
static void serve_chunks(calc_serving *r)
{
    /* Micro-batches of a pipeline carry a chunk each. It is filled with prompts as far as there are
     * any: those of the slots that became free in a step, or one. */
    double freed = r->batch / r->groups / steps(r);
    double budget = calc_min((double)r->i->chunk_size, r->fresh * calc_max(1, freed));
    double wanted = freed * r->fresh / budget;
    r->mixed_share = calc_min(1, wanted);
    double extra_s = run_plain(r, wanted > 1 ? r->batch / wanted : r->batch);
    calc_inference_pass_work work = decoding(r, r->sequences);
    work.prompts = calc_max(1, budget / r->fresh);
    work.chunk = r->chunk;
    work.cached = r->cached + (r->fresh - r->chunk) / 2;
    work.finished = budget / r->fresh;
    calc_inference_pass_of(&r->model, &work, &r->mixed);
    r->mixed_s = around_s(r, &r->mixed) + extra_s;
    r->step_s = r->mixed_share * r->mixed_s + (1 - r->mixed_share) * r->plain_s;
    r->prefill_share = r->mixed_share * r->mixed_s / r->step_s;
    r->prefill_s = ceil(r->fresh / r->chunk) * r->mixed_s;
    r->part[r->parts++] = (calc_serving_part){&r->mixed, r->mixed_share};
    r->part[r->parts++] = (calc_serving_part){&r->plain, 1 - r->mixed_share};
    r->batches = r->groups;
    r->overhead_s = extra_s;
}

/* Whole prompts between the steps. */
static void serve_prompts(calc_serving *r)
{
    run_prefill(r);
    double passes = r->batch / steps(r) / r->prefill_batch; /* between two steps */
    double extra_s = run_plain(r, r->batch);
    double prefilling_s = passes * (r->prefilled.busy_s + r->i->step_overhead_s);
    r->step_s = r->plain_s + prefilling_s;
    r->prefill_share = prefilling_s / r->step_s;
    r->part[r->parts++] = (calc_serving_part){&r->plain, 1};
    report_prefill(r, passes / r->groups);
    r->batches = r->groups;
    r->overhead_s = extra_s + passes * r->i->step_overhead_s;
}

static void run_serve(calc_serving *r)
{
    if (r->i->chunk_size > 0) {
        serve_chunks(r);
    } else {
        serve_prompts(r);
    }
    r->total_s = r->step_s;
    r->requests_per_s = r->sequences * r->replicas / (steps(r) * r->step_s);
}

/* The network between the pools: that of data parallelism, or, with ranks laid out over nodes, the
 * first that connects both. */
static int64_t pools_network(const calc_serving *r)
{
    int64_t i = 0;
    if (r->exec->rank_order == CALC_RANK_ORDER_NETWORKS) {
        return r->exec->strategy.data_par_net;
    }
    while (i + 1 < r->system->networks_count &&
           r->system->networks[i].size < r->exec->num_procs + r->i->prefill_procs) {
        i++;
    }
    return i;
}

/* The cache of one prompt, from the ranks of one replica to those of another. */
static double transfer_s(const calc_serving *r)
{
    const calc_inference_pass_model *m = r->prefill;
    calc_group pair = {2, 0, pools_network(r)};
    double most = 0;
    for (size_t c = 0; c < m->stages.count; c++) {
        double blocks = calc_inference_pass_cached_blocks(m, c);
        most = calc_max(most, calc_kv_cache_space(&m->cache, blocks, 1, r->prompt));
    }
    return calc_collective_s(r->system, CALC_OP_P2P, &pair, most);
}

static void run_disaggregated(calc_serving *r)
{
    run_prefill(r);
    run_decode(r);
    double prompts = r->prefill_batch;
    double pass_s = r->prefilled.busy_s + (r->prefilled.chunks + 1) * r->i->step_overhead_s;
    r->transfer_s = transfer_s(r);
    r->prefill_requests_per_s = r->prefill_replicas * prompts / pass_s;
    r->decode_requests_per_s = r->batch * r->replicas / (steps(r) * r->step_s);
    r->requests_per_s = calc_min(r->prefill_requests_per_s, r->decode_requests_per_s);
}

/* ---- Layouts --------------------------------------------------------------------------------- */

static void run_phase(calc_serving *r)
{
    switch (r->i->phase) {
    case CALC_INFERENCE_PHASE_PREFILL:
        run_prompts(r);
        break;
    case CALC_INFERENCE_PHASE_SERVE:
        run_serve(r);
        break;
    case CALC_INFERENCE_PHASE_DISAGGREGATED:
        run_disaggregated(r);
        break;
    default:
        run_decode(r);
    }
}

void calc_serving_init(calc_serving *r, const calc_app *app, const calc_system *system,
                       const calc_exec *exec)
{
    const calc_exec *serves = forward(exec, &r->own_exec);
    r->system = system;
    r->prefill = apart(exec) ? &r->pool : &r->model;
    calc_inference_pass_model_init(&r->model, app, system, serves);
    if (apart(exec)) {
        calc_prefill_pool_of(serves, &r->pool_exec);
        calc_inference_pass_model_init(&r->pool, app, system, &r->pool_exec);
    }
}

void calc_serving_at(calc_serving *r, const calc_exec *exec)
{
    const calc_exec *serves = forward(exec, &r->own_exec);
    r->exec = exec;
    r->i = &exec->inference;
    calc_inference_pass_model_place(&r->model, serves);
    if (apart(exec)) {
        calc_prefill_pool_of(serves, &r->pool_exec);
        calc_inference_pass_model_place(&r->pool, &r->pool_exec);
    }
    ask(r);
    run_phase(r);
}

void calc_serving_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                     calc_serving *r)
{
    calc_serving_init(r, app, system, exec);
    calc_serving_at(r, exec);
}
