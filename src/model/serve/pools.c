#include "model/serve/pools.h"

#include <math.h>

#include "model/operators/processor.h"
#include "model/serve/serving_memory.h"
#include "model/serve/serving_step.h"

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

/* Of one prompt, while all replicas prefill [s]. */
static double prompt_s(const calc_serving *r)
{
    return 1 / r->prefill_requests_per_s;
}

/* Steps of so many sequences on a replica. */
static double decoding_s(calc_serving *r, double sequences)
{
    r->overhead_s = calc_serving_run_decode(r, sequences);
    r->step_s = r->plain_s;
    return calc_serving_steps(r) * r->step_s;
}

/* A step of a replica that decodes: one whose cache has come joins the next one, or, where the host
 * has put that together already, the one after [s]. */
static double residual_s(const calc_serving *r)
{
    double others = r->open ? r->sequences : r->sequences * (r->batch - 1) / r->batch;
    return (1 - exp(-others)) * r->step_s / r->groups;
}

static double late_s(const calc_serving *r)
{
    return r->engine.overlapped ? residual_s(r) : 0;
}

/* ---- A closed loop --------------------------------------------------------------------------- */

/* The waits of a loop whose requests are decoded for so long, for prefill. */
static void wait_for_prefill(calc_serving *r, double decoded_s)
{
    calc_queue_wave wave[CALC_QUEUE_WAVES];
    double all = r->batch * r->replicas;
    double each_s = prompt_s(r);
    double own_s = r->prefill_s + r->transfer_s;
    double spread_s = r->prefill_s * r->i->prompt_spread;
    double served_s = calc_max(0, all - r->prefill_replicas) * each_s;
    double apart_s = decoded_s * r->i->generate_spread + each_s * r->i->prompt_spread;
    double rounds = (double)r->i->requests / all;
    r->waves = calc_queue_waves(served_s, decoded_s, r->i->generate_spread, rounds, wave);
    for (size_t i = 0; i < r->waves; i++) {
        double mixed_up = calc_min(1, wave[i].width / decoded_s);
        double away_s = wave[i].width + calc_max(0, own_s - each_s);
        double wait_s = (1 + mixed_up) / 2 * calc_queue_closed(all, away_s, apart_s, each_s);
        double tail_s = mixed_up * calc_min(wait_s, sqrt(all) / 2 * each_s);
        double even_s = mixed_up * (wait_s - tail_s);
        r->first[i] = (calc_queue_times){
            .share = wave[i].share,
            .least = own_s - spread_s + even_s + late_s(r),
            .most = own_s + spread_s + even_s + 2 * (wait_s - tail_s - even_s) + late_s(r) +
                    residual_s(r),
            .tail = tail_s,
            .tail_share = calc_min(1, all * each_s / (decoded_s + own_s + wait_s)),
        };
    }
}

/* How many more are decoded than so many are in the mean, of all that are in the loop. */
static double surplus(void *context, double sequences)
{
    calc_serving *r = context;
    double decoded_s = decoding_s(r, sequences);
    wait_for_prefill(r, decoded_s);
    double round_s = decoded_s + calc_queue_mean(r->first, r->waves);
    r->requests_per_s = r->batch * r->replicas / round_s;
    return sequences - r->batch * decoded_s / round_s;
}

static void run_closed(calc_serving *r)
{
    double all = r->batch * r->replicas;
    double most = calc_min(r->batch, r->slots);
    r->groups = calc_min(r->model.stages.stages, r->slots);
    double above = surplus(r, most);
    r->decode_requests_per_s = most * r->replicas / (calc_serving_steps(r) * r->step_s);
    if (above > 0) {
        (void)calc_queue_balance(surplus, r, most, above - most, above);
        return;
    }
    /* All slots are taken: requests wait for one after their prefill. */
    double round_s = all / r->decode_requests_per_s;
    double slot_s = calc_max(0, round_s - all / r->requests_per_s);
    for (size_t i = 0; i < r->waves; i++) {
        r->first[i].least += slot_s;
        r->first[i].most += slot_s;
    }
    r->requests_per_s = r->decode_requests_per_s;
}

/* ---- An open loop ---------------------------------------------------------------------------- */

/* How many more are decoded than so many are in the mean, of those that arrive. */
static double too_many(void *context, double sequences)
{
    calc_serving *r = context;
    return sequences - r->arrivals_per_s * decoding_s(r, sequences);
}

static void run_open(calc_serving *r)
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
    double own_s = r->prefill_s + r->transfer_s;
    double spread_s = r->prefill_s * r->i->prompt_spread;
    r->overloaded = isnan(wait_s) || isnan(slot_s);
    r->waves = 1;
    r->first[0] = (calc_queue_times){1, own_s - spread_s + late_s(r),
                                     own_s + spread_s + late_s(r) + residual_s(r), wait_s + slot_s,
                                     calc_min(1, used)};
    r->requests_per_s =
        calc_min(all_per_s, calc_min(r->prefill_requests_per_s, r->decode_requests_per_s));
}

/* ---- Both ------------------------------------------------------------------------------------ */

void calc_pools_run(calc_serving *r)
{
    enum { TRIES = 3 };
    r->prefill_s = calc_serving_run_prefill(r, r->prefill_batch);
    r->transfer_s = transfer_s(r);
    r->prefill_requests_per_s = r->prefill_replicas * r->prefill_batch / calc_serving_busy_s(r);
    for (int i = 0; i < TRIES; i++) {
        if (r->open) {
            run_open(r);
        } else {
            run_closed(r);
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
