/* calc_reasons(): why a layout is infeasible, in words, with the numbers and a remedy. */
#include <math.h>
#include <stdio.h>

#include "base/buffer.h"
#include "calc.h"
#include "model/reasons_stages.h"
#include "model/verdict.h"
#include "spec/layer_list.h"
#include "spec/prefill_pool.h"
#include "spec/rules.h"
#include "spec/stage_list.h"

/* Reasons under construction. */
typedef struct reasons {
    calc_reason *item;
    size_t count;
} reasons;

static calc_reason *add(reasons *r, calc_verdict verdict)
{
    if (r->count == CALC_MAX_REASONS) {
        return NULL;
    }
    calc_reason *reason = &r->item[r->count++];
    *reason = (calc_reason){.verdict = verdict};
    return reason;
}

static void network_reasons(reasons *r, const calc_system *system, const calc_exec *exec)
{
    for (int64_t i = 0; i < system->networks_count; i++) {
        const calc_network *network = &system->networks[i];
        double ranks = calc_verdict_network_ranks(exec, i);
        calc_verdict verdict = calc_verdict_network(network, ranks);
        calc_reason *reason = verdict == CALC_VERDICT_OK ? NULL : add(r, verdict);
        if (!reason) {
            continue;
        }
        if (verdict == CALC_VERDICT_NETWORK_SIZE) {
            calc_append(reason->text, sizeof reason->text,
                        "network %lld connects %lld processors, the layout puts %.0f on it",
                        (long long)i, (long long)network->size, ranks);
            calc_append(reason->hint, sizeof reason->hint,
                        "lower the parallel sizes on it or assign one to another network; if the "
                        "machine has more, set networks[%lld].size to %.0f or more",
                        (long long)i, ranks);
        } else {
            char divisors[160];
            calc_divisors_text(network->size, divisors, sizeof divisors);
            calc_append(reason->text, sizeof reason->text,
                        "network %lld must be filled: %.0f ranks do not divide its size %lld",
                        (long long)i, ranks, (long long)network->size);
            calc_append(reason->hint, sizeof reason->hint, "put %s ranks on it", divisors);
        }
    }
}

/* @param more  appended to the numbers */
static void capacity_reason(reasons *r, calc_verdict verdict, int tier, double need_bytes,
                            double capacity_bytes, const char *more, const char *hint)
{
    if (!(need_bytes > capacity_bytes)) {
        return;
    }
    calc_reason *reason = add(r, verdict);
    if (reason) {
        const double gib = 1073741824.0;
        calc_append(reason->text, sizeof reason->text,
                    "tier %d needs %.2f GiB and has %.2f GiB: %.2f GiB too little%s", tier,
                    need_bytes / gib, capacity_bytes / gib, (need_bytes - capacity_bytes) / gib,
                    more);
        calc_append(reason->hint, sizeof reason->hint, "%s", hint);
    }
}

/* Whether the weights leave room for a cache; if not, less in it does not help. */
static bool cache_matters(const calc_stats *s)
{
    return s->weight_space < s->mem_tier1_capacity;
}

static void cache_hint(const calc_exec *e, const calc_stats *s, char hint[256])
{
    const calc_inference *i = &e->inference;
    char fewer[96] = "";
    if (s->max_batch >= 1) {
        snprintf(fewer, sizeof fewer, "lower the batch to at most %.0f, ", s->max_batch);
    }
    snprintf(hint, 256, "%s%sraise tensor_par or pipeline_par", fewer,
             i->kv_datatype == CALC_FORMAT_AUTO ? "set inference.kv_datatype float8, " : "");
}

/* For listed layers, the reason of the first ones that have one. */
static void layers_network_reasons(reasons *r, const calc_system *system, const calc_exec *exec)
{
    const calc_layer_list *list = &exec->layers;
    size_t before = r->count;
    if (list->count == 0) {
        network_reasons(r, system, exec);
        return;
    }
    for (int32_t i = -1; i < list->count && r->count == before; i++) {
        calc_exec e = calc_layer_list_exec(exec, i < 0 ? &list->ends : &list->run[i].strategy);
        network_reasons(r, system, &e);
    }
}

/* A reason of the processors that prefill, which are not those of the run. */
static void pool_reasons(reasons *r, const calc_system *system, const calc_exec *exec)
{
    calc_exec pool;
    calc_reason found;
    const calc_system *own = calc_prefill_pool_system(system, exec);
    calc_prefill_pool_of(exec, &pool);
    if (calc_verdict_networks(own, &pool) == CALC_VERDICT_OK) {
        return;
    }
    if (calc_reasons_stages_network(own, &pool, &found) && add(r, found.verdict)) {
        r->item[r->count - 1] = found;
    }
    if (exec->rank_order == CALC_RANK_ORDER_NETWORKS) {
        network_reasons(r, own, &pool);
    }
}

/* The second tier of processors that share a host. */
static void node_memory(const calc_system *system, const calc_exec *exec, const calc_stats *stats,
                        char text[128])
{
    const double gib = 1073741824.0;
    double procs = fmin((double)system->networks[0].size, (double)exec->num_procs);
    text[0] = '\0';
    if (procs > 1) {
        snprintf(text, 128, "; %.0f processors of a node need %.0f GiB of its %.0f", procs,
                 procs * stats->proc_mem_tier2_cap_req / gib,
                 procs * stats->mem_tier2_capacity / gib);
    }
}

size_t calc_reasons(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_compat compat, const calc_stats *stats, calc_reason out[CALC_MAX_REASONS])
{
    reasons r = {out, 0};
    calc_reason found;
    char most[128];
    char hint[256];
    bool served = exec->inference.phase != CALC_INFERENCE_PHASE_NONE;
    for (int chip = 0; chip <= exec->stages.chips; chip++) {
        const calc_system *own = chip == 0 ? system : exec->stages.system[chip - 1];
        calc_exec part = exec->stages.count > 0 ? calc_stage_list_part(exec, chip) : *exec;
        if (part.pipeline_par > 0 && calc_reasons_stages_network(own, &part, &found) &&
            add(&r, found.verdict)) {
            r.item[r.count - 1] = found;
        }
        if (part.pipeline_par > 0 && exec->rank_order == CALC_RANK_ORDER_NETWORKS) {
            layers_network_reasons(&r, own, &part);
        }
    }
    if (r.count == 0 && exec->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        pool_reasons(&r, system, exec);
    }
    if (calc_reasons_stages_split(app, exec, compat, &found) && add(&r, found.verdict)) {
        r.item[r.count - 1] = found;
    }
    if (calc_reasons_stages_offload(app, exec, compat, &found) && add(&r, found.verdict)) {
        r.item[r.count - 1] = found;
    }
    calc_reasons_stages_most(exec, stats, most);
    if (served && cache_matters(stats)) {
        cache_hint(exec, stats, hint);
    } else {
        calc_reasons_stages_hint(app, exec, stats, hint);
    }
    capacity_reason(&r, CALC_VERDICT_MEM1_CAPACITY, 1, stats->proc_mem_tier1_cap_req,
                    stats->mem_tier1_capacity, most, hint);
    node_memory(system, exec, stats, most);
    capacity_reason(&r, CALC_VERDICT_MEM2_CAPACITY, 2, stats->proc_mem_tier2_cap_req,
                    stats->mem_tier2_capacity, most, "offload less, or to a larger second tier");
    calc_reason *reason =
        stats->verdict == CALC_VERDICT_OVERLOADED ? add(&r, CALC_VERDICT_OVERLOADED) : NULL;
    if (reason) {
        calc_append(reason->text, sizeof reason->text, "%.3g/s arrive, %.3g/s are served",
                    exec->inference.arrival_rate, stats->requests_per_s);
        calc_append(reason->hint, sizeof reason->hint, "use more processors");
    }
    return r.count;
}
