#include "model/serve/inference.h"

#include <math.h>

#include "model/operators/processor.h"
#include "model/serve/serving_step.h"
#include "spec/serving_engine.h"

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
    double passes;
    switch (r->i->phase) {
    case CALC_INFERENCE_PHASE_PREFILL:
        r->prefill_s = calc_serving_run_prefill(r, r->prefill_batch);
        r->work = r->prefilled.work;
        passes = ceil(r->batch / r->prefill_batch); /* one after the other */
        calc_serving_report_prefill(r, passes);
        r->batches = 1;
        r->total_s = r->prefilled.latency_s + (passes - 1) * r->prefilled.busy_s + r->overhead_s;
        r->requests_per_s = r->batch * r->replicas / r->total_s;
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
        r->overhead_s = calc_serving_run_decode(r, r->batch);
        r->part[r->parts++] = (calc_serving_part){&r->plain, 1};
        r->batches = r->groups;
        r->total_s = r->step_s = r->plain_s;
        r->requests_per_s = r->generate > 0 ? r->batch * r->replicas * r->tokens_per_step /
                                                  (r->step_s * r->generate)
                                            : NAN;
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

/* Prefill and decoding on pools of their own (Zhong et al. 2024, DistServe, arXiv 2401.09670;
 * Patel et al. 2023, Splitwise, 2311.18677). Replicas that prefill are the servers of one queue.
 * The cache of a prompt is sent when it is prefilled, by every rank its part, and the request
 * waits for a slot of a replica that decodes. The slower pool decides the requests per second; the
 * other one is less busy: in a closed loop, requests in the prefill pool are not being decoded. */

double calc_pools_together(const calc_exec *pool)
{
    const calc_strategy *s = &pool->strategy;
    double ranks = calc_max(1, (double)s->expert_par) * calc_max(1, (double)s->expert_tensor_par);
    return calc_max(1, ranks / (double)s->tensor_par);
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

/* Time of a rank to send a number of bytes to another one of its machine. */
static double send_s(const calc_system *system, int64_t network, double bytes)
{
    calc_group pair = {2, 0, network};
    return calc_collective_s(system, CALC_OP_P2P, &pair, bytes);
}

/* The cache of one prompt, from the ranks of one replica to those of another. Between machines it
 * leaves one by its last network and enters the other by that one's: the slower of both decides. */
static double transfer_s(const calc_serving *r)
{
    const calc_inference_pass_model *m = r->prefill;
    double most = 0;
    for (size_t c = 0; c < m->stages.count; c++) {
        double blocks = calc_inference_pass_cached_blocks(m, c);
        most = calc_max(most, calc_kv_cache_space(&m->cache, blocks, 1, r->prompt));
    }
    if (m->system == r->system) {
        return send_s(r->system, pools_network(r), most);
    }
    return calc_max(send_s(r->system, r->system->networks_count - 1, most),
                    send_s(m->system, m->system->networks_count - 1, most));
}

/* Time of one prompt, while all replicas prefill [s]. */
static double prompt_s(const calc_serving *r)
{
    return 1 / r->prefill_requests_per_s;
}

/* Prefill of as many prompts as one pass has room for, of one on each of the replicas that run in
 * step, and of one on one of them [s]. */
typedef struct passes {
    double full_s, each_s, alone_s;
    double together; /* replicas that run in step */
} passes;

/* Time of a pass of prompts that come at a given rate [s]: all that came during the last one, as
 * many as there is room for. */
static double pass_s(const calc_serving *r, const passes *p, double per_s)
{
    double came_each = per_s / r->prefill_replicas;
    bool several = came_each * p->each_s >= 1;
    double least = several ? 1 : 1 / p->together;
    double least_s = several ? p->each_s : p->alone_s;
    double most = several ? r->prefill_batch : 1;
    double most_s = several ? p->full_s : p->each_s;
    double slope_s = most > least ? (most_s - least_s) / (most - least) : 0;
    bool full = came_each * most_s >= most;
    double prompts =
        full ? most : came_each * (least_s - least * slope_s) / (1 - came_each * slope_s);
    return least_s + slope_s * (calc_max(least, prompts) - least);
}

/* Time that a prompt waits for the running pass, where passes have room for several [s]. */
static double pass_left_s(const calc_serving *r, const passes *p, double pass_s, double per_s)
{
    double came = per_s * p->together / r->prefill_replicas * pass_s;
    return p->together * r->prefill_batch > 1 ? (1 - exp(-came)) * pass_s : 0;
}

/* Steps of so many sequences on a replica. */
static double decoding_s(calc_serving *r, double sequences)
{
    r->overhead_s = calc_serving_run_decode(r, sequences);
    r->step_s = r->plain_s;
    return calc_serving_steps(r) * r->step_s;
}

/* A step of a replica that decodes: one whose cache has come joins the next one, or a later one,
 * where the host has put that together already, and by the steps that it takes to hand over [s]. */
static double residual_s(const calc_serving *r)
{
    double others = r->open ? r->sequences : r->sequences * (r->batch - 1) / r->batch;
    return (1 - exp(-others)) * r->step_s / r->groups;
}

static double late_s(const calc_serving *r)
{
    return (r->engine.overlapped + r->engine.handover_steps) * residual_s(r);
}

/* ---- A closed loop --------------------------------------------------------------------------- */

/* A loop whose sequences are looked for. */
typedef struct closed_loop {
    calc_serving *serving;
    passes prefill;
    calc_queue_wave wave[CALC_QUEUE_WAVES];
} closed_loop;

/* The waits of a loop whose requests are decoded for so long, for prefill. */
static void wait_for_prefill(closed_loop *loop, double decoded_s)
{
    calc_serving *r = loop->serving;
    calc_queue_wave *wave = loop->wave;
    double all = r->batch * r->replicas;
    double each_s = prompt_s(r);
    double served_s = calc_max(0, all - r->prefill_replicas) * each_s;
    double apart_s = decoded_s * r->i->generate_spread + each_s * r->i->prompt_spread;
    double rounds = (double)r->i->requests / all;
    r->waves = calc_queue_waves(served_s, decoded_s, r->i->generate_spread, rounds, wave);
    r->prefill_s = 0;
    for (size_t i = 0; i < r->waves; i++) {
        double per_s = all / calc_max(wave[i].width, served_s);
        double prefill_s = pass_s(r, &loop->prefill, per_s);
        double left_s = wave[i].width > 0
                            ? pass_left_s(r, &loop->prefill, prefill_s, (all - 1) / all * per_s)
                            : 0;
        double own_s = prefill_s + r->transfer_s;
        double spread_s = prefill_s * r->i->prompt_spread;
        double mixed_up = calc_min(1, wave[i].width / decoded_s);
        double joining_s = late_s(r) + (residual_s(r) + left_s) / 2;
        double away_s = wave[i].width + calc_max(0, own_s - each_s) + mixed_up * joining_s;
        double wait_s = (1 + mixed_up) / 2 * calc_queue_closed(all, away_s, apart_s, each_s);
        double tail_s = mixed_up * calc_min(wait_s, sqrt(all) / 2 * each_s);
        double even_s = mixed_up * (wait_s - tail_s);
        r->first[i] = (calc_queue_times){
            .share = wave[i].share,
            .least = own_s - spread_s + even_s + late_s(r),
            .most = own_s + spread_s + even_s + 2 * (wait_s - tail_s - even_s) + late_s(r) +
                    residual_s(r) + left_s,
            .tail = tail_s,
            .tail_share = calc_min(1, all * each_s / (decoded_s + own_s + wait_s)),
        };
        r->prefill_s += wave[i].share * prefill_s;
    }
}

/* How many more are decoded than so many are in the mean, of all that are in the loop. */
static double surplus(void *context, double sequences)
{
    closed_loop *loop = context;
    calc_serving *r = loop->serving;
    double decoded_s = decoding_s(r, sequences);
    wait_for_prefill(loop, decoded_s);
    double round_s = decoded_s + calc_queue_mean(r->first, r->waves);
    r->requests_per_s = r->batch * r->replicas / round_s;
    return sequences - r->batch * decoded_s / round_s;
}

/* Wait of requests that come over a share of a round, and find all slots taken, with `waiting` of
 * them for each slot: those that come as slots become free wait for that, the others for a round
 * more. */
static void wait_for_slots(calc_serving *r, const calc_queue_wave *wave, double decoded_s,
                           double waiting)
{
    size_t waves = r->waves;
    double whole = floor(waiting);
    for (size_t i = 0; i < waves; i++) {
        bool all_at_once = wave[i].width == 0;
        double width_s = calc_min(wave[i].width, decoded_s);
        double late = all_at_once ? waiting / (1 + waiting) : waiting - whole;
        double soon_s = all_at_once ? 0 : whole * decoded_s + (waiting - whole) * width_s;
        double more_s =
            all_at_once ? calc_max(1, (1 + waiting) / 2) * decoded_s : decoded_s - width_s;
        calc_queue_times *first = &r->first[i];
        first->least += soon_s;
        first->most += soon_s;
        calc_queue_times *second = &r->first[r->waves++];
        *second = *first;
        second->share *= late;
        second->least += more_s;
        second->most += more_s;
        first->share *= 1 - late;
    }
}

static void run_closed(calc_serving *r, const passes *prefill)
{
    double all = r->batch * r->replicas;
    double most = calc_min(r->batch, r->slots);
    r->groups = calc_min(r->model.stages.stages, r->slots);
    closed_loop loop = {.serving = r, .prefill = *prefill};
    double above = surplus(&loop, most);
    r->decode_requests_per_s = most * r->replicas / (calc_serving_steps(r) * r->step_s);
    double decoded_s = calc_serving_steps(r) * r->step_s;
    /* In the mean, of all that do not come at once at the start: the first token but for a slot. */
    bool once = r->waves > 1;
    double later_s = calc_queue_mean(r->first + once, r->waves - once);
    later_s /= once ? 1 - r->first[0].share : 1;
    double slot_s = all / r->decode_requests_per_s - decoded_s - later_s;
    if (slot_s > 0) {
        /* All slots are taken: requests wait for one after their prefill. */
        wait_for_slots(r, loop.wave, decoded_s, slot_s / decoded_s);
        r->requests_per_s = r->decode_requests_per_s;
    } else if (above > 0) {
        (void)calc_queue_balance(surplus, &loop, most, above - most, above);
    }
    r->requests_per_s /= 1 + calc_queue_drain(all, all * prompt_s(r), decoded_s,
                                              r->i->generate_spread, (double)r->i->requests / all);
}

/* ---- An open loop ---------------------------------------------------------------------------- */

/* How many more requests are decoded than the given mean, as seen by those that arrive. */
static double too_many(void *context, double sequences)
{
    calc_serving *r = context;
    return sequences - r->arrivals_per_s * decoding_s(r, sequences);
}

static void run_open(calc_serving *r, const passes *prefill)
{
    double all_per_s = r->arrivals_per_s * r->replicas;
    r->groups = r->model.stages.stages;
    if (isinf(r->slots)) {
        (void)decoding_s(r, 1);
        r->running = 1;
        calc_serving_hold(r);
        r->slots = calc_max(1, r->held.running);
    }
    double above = too_many(r, r->slots);
    r->decode_requests_per_s = r->slots * r->replicas / (calc_serving_steps(r) * r->step_s);
    if (above > 0) {
        (void)calc_queue_balance(too_many, r, r->slots, above - r->slots, above);
    }
    double spread = r->i->generate_spread;
    double used = all_per_s * prompt_s(r);
    double wait_s =
        calc_queue_open(r->prefill_replicas, all_per_s, prompt_s(r) * r->prefill_replicas, 0);
    double slot_s = calc_queue_open(r->slots, r->arrivals_per_s, calc_serving_steps(r) * r->step_s,
                                    spread * spread / 3);
    r->prefill_s = pass_s(r, prefill, all_per_s);
    double own_s = r->prefill_s + r->transfer_s;
    double spread_s = r->prefill_s * r->i->prompt_spread;
    r->overloaded = isnan(wait_s) || isnan(slot_s);
    r->waves = 1;
    r->first[0] = (calc_queue_times){1, own_s - spread_s + late_s(r),
                                     own_s + spread_s + late_s(r) + residual_s(r) +
                                         pass_left_s(r, prefill, r->prefill_s, all_per_s),
                                     wait_s + slot_s, calc_min(1, used)};
    r->requests_per_s =
        calc_min(all_per_s, calc_min(r->prefill_requests_per_s, r->decode_requests_per_s));
}

/* ---- Both ------------------------------------------------------------------------------------ */

void calc_pools_run(calc_serving *r)
{
    enum { TRIES = 3 };
    passes prefill = {.together = calc_pools_together(r->prefill->exec)};
    prefill.alone_s = calc_serving_run_prefill(r, 1 / prefill.together);
    prefill.each_s = prefill.together > 1 ? calc_serving_run_prefill(r, 1) : prefill.alone_s;
    prefill.full_s =
        r->prefill_batch > 1 ? calc_serving_run_prefill(r, r->prefill_batch) : prefill.each_s;
    r->transfer_s = transfer_s(r);
    r->prefill_requests_per_s = r->prefill_replicas * r->prefill_batch / calc_serving_busy_s(r);
    for (int i = 0; i < TRIES; i++) {
        if (r->open) {
            run_open(r, &prefill);
        } else {
            run_closed(r, &prefill);
        }
        r->running = r->open ? r->sequences : calc_min(r->batch, r->slots);
        if (!calc_serving_limit(r)) {
            break;
        }
    }
    r->part[r->parts++] = (calc_serving_part){&r->plain, 1};
    r->batches = r->groups;
    r->total_s = r->step_s;
}
