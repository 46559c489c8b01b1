/* calc_reasons(): why a layout is infeasible, in words, with the numbers and what would fix it. */
#include <stdarg.h>
#include <stdio.h>

#include "calc.h"
#include "model/pipeline.h"
#include "model/reasons_stages.h"
#include "model/verdict.h"
#include "spec/extended.h"
#include "spec/rules.h"

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

CALC_PRINTF(2, 3) static void say(char text[256], const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, 256, fmt, args);
    va_end(args);
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
            say(reason->text, "network %lld connects %lld processors, the layout puts %.0f on it",
                (long long)i, (long long)network->size, ranks);
            say(reason->hint, "lower the parallel sizes on it or assign one to another network");
        } else {
            char divisors[160];
            calc_divisors_text(network->size, divisors, sizeof divisors);
            say(reason->text, "network %lld must be filled: %.0f ranks do not divide its size %lld",
                (long long)i, ranks, (long long)network->size);
            say(reason->hint, "put %s ranks on it", divisors);
        }
    }
}

static void pipeline_reasons(reasons *r, const calc_exec *exec, const calc_pipeline *pipeline)
{
    calc_reason *reason;
    int64_t blocks = (int64_t)pipeline->blocks_per_proc;
    if (!pipeline->chunks_fit && (reason = add(r, CALC_VERDICT_INTERLEAVING))) {
        char divisors[160];
        calc_divisors_text(blocks, divisors, sizeof divisors);
        say(reason->text,
            "pipeline_interleaving = %lld does not divide the %lld blocks per processor",
            (long long)exec->pipeline_interleaving, (long long)blocks);
        say(reason->hint, "use %s", divisors);
    }
    if (calc_verdict_offload_blocks(exec, pipeline->blocks_per_proc) &&
        (reason = add(r, CALC_VERDICT_OFFLOAD_BLOCKS))) {
        say(reason->text, "offload needs at least 3 blocks per processor, the layout has %lld",
            (long long)blocks);
        say(reason->hint, "lower pipeline_par, or keep everything in tier 1");
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
        say(reason->text, "tier %d needs %.2f GiB and has %.2f GiB: %.2f GiB too little%s", tier,
            need_bytes / gib, capacity_bytes / gib, (need_bytes - capacity_bytes) / gib, more);
        say(reason->hint, "%s", hint);
    }
}

static void tier2_reason(reasons *r, const calc_stats *stats)
{
    capacity_reason(r, CALC_VERDICT_MEM2_CAPACITY, 2, stats->proc_mem_tier2_cap_req,
                    stats->mem_tier2_capacity, "", "offload less, or to a larger second tier");
}

/* What would lower the need of tier 1 and is not done yet. */
static void tier1_hint(const calc_exec *e, char hint[256])
{
    const char *recompute = e->training && e->activation_recompute != CALC_ACTIVATION_RECOMPUTE_FULL
                                ? "recompute activations (activation_recompute), "
                                : "";
    const char *shard = e->training && e->data_par > 1 && !e->optimizer_sharding
                            ? "shard the optimizer (optimizer_sharding), "
                            : "";
    const char *microbatch = e->microbatch_size > 1 ? "lower microbatch_size, " : "";
    bool offloads_all =
        e->weight_offload && e->activations_offload && (e->optimizer_offload || !e->training);
    say(hint, "%s%s%s%s", recompute, shard, microbatch,
        offloads_all ? "raise tensor_par or pipeline_par"
                     : "raise tensor_par or pipeline_par, or offload to tier 2");
}

/* The same where a model is served: what is cached is the largest part that a layout chooses. */
static void cache_hint(const calc_exec *e, const calc_stats *s, char hint[256])
{
    const calc_inference *i = &e->inference;
    char fewer[96] = "";
    if (s->max_batch >= 1) {
        snprintf(fewer, sizeof fewer, "lower the batch to at most %.0f, ", s->max_batch);
    }
    say(hint, "%s%sraise tensor_par or pipeline_par", fewer,
        i->kv_datatype == CALC_FORMAT_AUTO ? "set inference.kv_datatype float8, " : "");
}

/* Reasons of a layout that uses fields of modern models. */
static void stage_reasons(reasons *r, const calc_app *app, const calc_system *system,
                          const calc_exec *exec, const calc_stats *stats)
{
    calc_reason found;
    char most[128];
    char hint[256];
    if (calc_reasons_stages_network(system, exec, &found)) {
        r->item[r->count++] = found;
    }
    if (exec->rank_order == CALC_RANK_ORDER_NETWORKS) {
        network_reasons(r, system, exec);
    }
    if (calc_reasons_stages_split(app, exec, &found) && add(r, found.verdict)) {
        r->item[r->count - 1] = found;
    }
    if (calc_reasons_stages_offload(app, exec, &found) && add(r, found.verdict)) {
        r->item[r->count - 1] = found;
    }
    calc_reasons_stages_most(exec, stats, most);
    if (exec->inference.phase == CALC_INFERENCE_PHASE_NONE) {
        calc_reasons_stages_hint(app, exec, stats, hint);
    } else {
        cache_hint(exec, stats, hint);
    }
    capacity_reason(r, CALC_VERDICT_MEM1_CAPACITY, 1, stats->proc_mem_tier1_cap_req,
                    stats->mem_tier1_capacity, most, hint);
    tier2_reason(r, stats);
}

size_t calc_reasons(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    const calc_stats *stats, calc_reason out[CALC_MAX_REASONS])
{
    reasons r = {out, 0};
    if (calc_extended(app, system, exec)) {
        stage_reasons(&r, app, system, exec, stats);
        return r.count;
    }
    int64_t microbatches = exec->batch_size / exec->data_par / exec->microbatch_size;
    calc_pipeline pipeline = calc_pipeline_split(app->num_blocks, exec->pipeline_par,
                                                 exec->pipeline_interleaving, microbatches);
    char hint[256];
    network_reasons(&r, system, exec);
    pipeline_reasons(&r, exec, &pipeline);
    tier1_hint(exec, hint);
    capacity_reason(&r, CALC_VERDICT_MEM1_CAPACITY, 1, stats->proc_mem_tier1_cap_req,
                    stats->mem_tier1_capacity, "", hint);
    tier2_reason(&r, stats);
    return r.count;
}
