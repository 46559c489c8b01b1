#include "model/serve/inference.h"

#include <math.h>

#include "model/operators/processor.h"
#include "model/serve/batching.h"
#include "model/serve/pools.h"
#include "model/serve/serving_memory.h"
#include "model/serve/serving_step.h"
#include "spec/prefill_pool.h"

/* ---- The question ---------------------------------------------------------------------------- */

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
    r->engine = calc_serving_engine_traits(i);
    r->open = i->arrival_rate > 0;
    r->arrivals_per_s = i->arrival_rate / r->replicas;
    r->slots = i->max_sequences > 0 ? (double)i->max_sequences : INFINITY;
    r->slots = r->open ? r->slots : calc_min(r->slots, r->batch);
    r->prefill_batch = i->prefill_batch > 0 ? (double)i->prefill_batch : 1;
    r->prompt = i->prompt_size > 0 ? (double)i->prompt_size : r->model.shape.seq;
    r->generate = (double)i->generate_size;
    double page = r->model.cache.page;
    r->cached = calc_min(floor(r->prompt * i->prefix_hit / page) * page, r->prompt - 1);
    r->fresh = r->prompt - r->cached;
    r->chunk = i->chunk_size > 0 ? calc_min((double)i->chunk_size, r->fresh) : r->fresh;
    r->tokens_per_step =
        calc_inference_tokens_per_step(i->speculative_tokens, i->speculative_accept);
    r->mixed_share = 0;
    r->mixed_s = 0;
    r->overhead_s = 0;
    r->round_s = NAN;
    r->parts = 0;
    r->waves = 0;
    r->overloaded = false;
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
    double most = calc_max(1, prompts);     /* of a replica */
    calc_inference_pass_work work = {.prompts = most, .chunk = chunk, .idle = 1 - prompts / most};
    *out = (calc_prefill){.chunks = whole};
    if (whole > 0) {
        work.cached = cached + (whole - 1) * chunk / 2;
        calc_inference_pass_of(model, &work, &out->chunk);
        out->work = work;
    }
    work.cached = cached + whole * chunk;
    work.chunk = fresh - whole * chunk;
    work.finished = most;
    calc_inference_pass_of(model, &work, &out->last);
    out->work = whole > 0 ? out->work : work;
    out->work.finished = most;
    out->latency_s = whole * out->chunk.slow.total_s + out->last.latency_s;
    out->busy_s = whole * out->chunk.slow.total_s + out->last.slow.total_s;
}

/* Prompts of the batch, one pass after the other. */
static void run_prompts(calc_serving *r)
{
    r->prefill_s = calc_serving_run_prefill(r, r->prefill_batch);
    r->work = r->prefilled.work;
    double passes = ceil(r->batch / r->prefill_batch);
    calc_serving_report_prefill(r, passes);
    r->batches = 1;
    r->total_s = r->prefilled.latency_s + (passes - 1) * r->prefilled.busy_s + r->overhead_s;
    r->requests_per_s = r->batch * r->replicas / r->total_s;
}

/* ---- Decoding ------------------------------------------------------------------------------- */

static void run_decode(calc_serving *r)
{
    r->overhead_s = calc_serving_run_decode(r, r->batch);
    r->part[r->parts++] = (calc_serving_part){&r->plain, 1};
    r->batches = r->groups;
    r->step_s = r->plain_s;
    r->total_s = r->step_s;
    r->requests_per_s =
        r->generate > 0 ? r->batch * r->replicas * r->tokens_per_step / (r->step_s * r->generate)
                        : NAN;
}

/* ---- Layouts --------------------------------------------------------------------------------- */

double calc_serving_received_s(const calc_serving *r)
{
    const calc_engine_traits *t = &r->engine;
    return t->request_s + t->request_sequence_s * r->running + t->request_token_s * r->prompt;
}

/* Requests pass through the engine's server. */
static void receive(calc_serving *r)
{
    double server_s = calc_serving_received_s(r);
    for (size_t i = 0; i < r->waves; i++) {
        r->first[i].least += server_s;
        r->first[i].most += server_s;
    }
}

static void run_phase(calc_serving *r)
{
    switch (r->i->phase) {
    case CALC_INFERENCE_PHASE_PREFILL:
        run_prompts(r);
        break;
    case CALC_INFERENCE_PHASE_SERVE:
        calc_batching_run(r);
        receive(r);
        break;
    case CALC_INFERENCE_PHASE_DISAGGREGATED:
        calc_pools_run(r);
        receive(r);
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
        calc_inference_pass_model_init(&r->pool, app, calc_prefill_pool_system(system, exec),
                                       &r->pool_exec);
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
    if (!calc_serving_queues(r)) {
        calc_serving_hold(r);
    }
}

void calc_serving_of(const calc_app *app, const calc_system *system, const calc_exec *exec,
                     calc_serving *r)
{
    calc_serving_init(r, app, system, exec);
    calc_serving_at(r, exec);
}
