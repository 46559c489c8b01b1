#include "model/verdict.h"

#include <math.h>
#include <stdio.h>

#include "base/buffer.h"
#include "calc.h"
#include "model/operators/collective.h"
#include "model/stages/stages.h"
#include "spec/layer_list.h"
#include "spec/rules.h"
#include "spec/serving_engine.h"
#include "spec/stage_list.h"

/** Blocks per processor that offload needs: one computed, one coming, one going. */
#define OFFLOAD_BLOCKS 3

/* Ranks of a group that are on that network. */
static double on(const calc_group *group, int64_t network)
{
    return group->network == network ? group->ranks : 1;
}

double calc_verdict_network_ranks(const calc_exec *exec, int64_t index)
{
    const calc_groups g = calc_groups_of(exec, &exec->strategy);
    double data = g.dense_data.network == index ? (double)exec->strategy.data_par : 1;
    double ranks = on(&g.tensor, index) * on(&g.pipeline, index) * on(&g.context, index) * data;
    /* Experts split the same ranks in their own way. */
    double experts = on(&g.expert, index) * on(&g.expert_tensor, index) *
                     on(&g.expert_data, index) * on(&g.pipeline, index);
    bool apart = g.expert.ranks > 1 || g.expert_tensor.ranks > 1;
    return apart && experts > ranks ? experts : ranks;
}

calc_verdict calc_verdict_network(const calc_network *network, double ranks)
{
    if (ranks == 1) {
        return CALC_VERDICT_OK;
    }
    double size = (double)network->size;
    if (ranks > size) {
        return CALC_VERDICT_NETWORK_SIZE;
    }
    bool filled = fmod(size, ranks) == 0;
    return network->must_be_filled && !filled ? CALC_VERDICT_NETWORK_FILL : CALC_VERDICT_OK;
}

calc_verdict calc_verdict_networks(const calc_system *system, const calc_exec *exec)
{
    const calc_network *last = &system->networks[system->networks_count - 1];
    if (exec->rank_order != CALC_RANK_ORDER_NETWORKS) {
        return exec->num_procs > last->size ? CALC_VERDICT_NETWORK_SIZE : CALC_VERDICT_OK;
    }
    calc_verdict verdict = CALC_VERDICT_OK;
    for (int64_t i = 0; i < system->networks_count && verdict == CALC_VERDICT_OK; i++) {
        verdict = calc_verdict_network(&system->networks[i], calc_verdict_network_ranks(exec, i));
    }
    return verdict;
}

bool calc_verdict_offload_blocks(const calc_exec *exec, double blocks_per_proc)
{
    bool offloads = exec->strategy.weight_offload || exec->strategy.activations_offload ||
                    exec->strategy.optimizer_offload;
    return offloads && blocks_per_proc < OFFLOAD_BLOCKS;
}

calc_verdict calc_verdict_of(const calc_system *system, const calc_exec *exec, bool fit,
                             double blocks, double tier1_bytes, double tier2_bytes)
{
    calc_verdict verdict = calc_verdict_networks(system, exec);
    if (verdict != CALC_VERDICT_OK) {
        return verdict;
    }
    if (!fit) {
        return CALC_VERDICT_INTERLEAVING;
    }
    if (calc_verdict_offload_blocks(exec, blocks)) {
        return CALC_VERDICT_OFFLOAD_BLOCKS;
    }
    if (tier1_bytes > system->chip.mem1.capacity_bytes) {
        return CALC_VERDICT_MEM1_CAPACITY;
    }
    if (tier2_bytes > system->chip.mem2.capacity_bytes) {
        return CALC_VERDICT_MEM2_CAPACITY;
    }
    return CALC_VERDICT_OK;
}

/* calc_reasons(): why a layout is infeasible, in words, with the numbers and a remedy. */

/* Reasons under construction. */
typedef struct reasons {
    calc_reason *item;
    size_t count;
    calc_reason beyond; /* where there is no room for more */
} reasons;

static calc_reason *add(reasons *r, calc_verdict verdict)
{
    calc_reason *reason = r->count < CALC_MAX_REASONS ? &r->item[r->count++] : &r->beyond;
    *reason = (calc_reason){.verdict = verdict};
    return reason;
}

/* Append to a member of `reason`. */
#define SAY(member, ...) calc_append(reason->member, sizeof reason->member, __VA_ARGS__)

/* ---- Networks -------------------------------------------------------------------------------- */

/* With a rank_order: the processors do not fit the largest network. */
static void last_network_reason(reasons *r, const calc_system *system, const calc_exec *exec)
{
    int64_t last = system->networks_count - 1;
    int64_t size = system->networks[last].size;
    if (exec->num_procs <= size) {
        return;
    }
    calc_reason *reason = add(r, CALC_VERDICT_NETWORK_SIZE);
    SAY(text, "network %lld, the last, connects %lld processors, rank_order lays out %lld",
        (long long)last, (long long)size, (long long)exec->num_procs);
    SAY(hint,
        "use %lld processors or fewer; if the machine has more, set networks[%lld].size to %lld "
        "or more",
        (long long)size, (long long)last, (long long)exec->num_procs);
}

static void network_reasons(reasons *r, const calc_system *system, const calc_exec *exec)
{
    bool ordered = exec->rank_order != CALC_RANK_ORDER_NETWORKS;
    if (ordered) {
        last_network_reason(r, system, exec);
    }
    for (int64_t i = 0; i < system->networks_count && !ordered; i++) {
        const calc_network *network = &system->networks[i];
        double ranks = calc_verdict_network_ranks(exec, i);
        calc_verdict verdict = calc_verdict_network(network, ranks);
        if (verdict == CALC_VERDICT_OK) {
            continue;
        }
        calc_reason *reason = add(r, verdict);
        if (verdict == CALC_VERDICT_NETWORK_SIZE) {
            SAY(text, "network %lld connects %lld processors, the layout puts %.0f on it",
                (long long)i, (long long)network->size, ranks);
            SAY(hint,
                "lower the parallel sizes on it or assign one to another network; if the "
                "machine has more, set networks[%lld].size to %.0f or more",
                (long long)i, ranks);
        } else {
            SAY(text, "network %lld must be filled: %.0f ranks do not divide its size %lld",
                (long long)i, ranks, (long long)network->size);
            SAY(hint, "put %s ranks on it", CALC_DIVISORS(network->size));
        }
    }
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

/* ---- Blocks and stages ----------------------------------------------------------------------- */

/* First or last stage are given, and the remaining blocks do not split over the others. */
static bool split_ends(reasons *r, const calc_app *app, const calc_exec *e)
{
    int64_t first = e->first_stage_blocks;
    int64_t last = e->last_stage_blocks;
    if (first + last == 0) {
        return false;
    }
    int64_t between = e->pipeline_par - (first > 0) - (last > 0);
    int64_t rest = app->num_blocks - first - last;
    if (between > 0 ? rest > 0 && rest % between == 0 : rest == 0) {
        return false;
    }
    calc_reason *reason = add(r, CALC_VERDICT_INTERLEAVING);
    SAY(text,
        "the %lld blocks beside first_stage_blocks = %lld and last_stage_blocks = %lld do not "
        "split over %lld other stages",
        (long long)rest, (long long)first, (long long)last, (long long)between);
    /* The nearest number of blocks that leaves a multiple. */
    const char *field = first > 0 ? "first_stage_blocks" : "last_stage_blocks";
    int64_t given = first > 0 ? first : last;
    int64_t all = rest + given;
    if (between <= 0) {
        SAY(hint, "use %s %lld", field, (long long)all);
        return true;
    }
    int64_t below = rest > 0 ? rest / between * between : 0;
    int64_t above = below + between;
    bool more = above < all && (below == 0 || above - rest < rest - below);
    int64_t nearest = more ? all - above : below > 0 ? all - below : 0;
    if (nearest > 0) {
        SAY(hint, "use %s %lld", field, (long long)nearest);
    } else {
        SAY(hint, "lower pipeline_par");
    }
    return true;
}

/* Parts that count as blocks, in addition to the blocks of a class of stages. */
static int64_t counted(int64_t head, const calc_stage_class *class)
{
    return (int64_t)(class->dense + class->moe) + (head > 0 ? (int64_t) class->first : 0) +
           head * (int64_t) class->last;
}

static void split_chunks(reasons *r, const calc_app *app, const calc_exec *e,
                         const calc_stages *stages)
{
    calc_reason *reason = add(r, CALC_VERDICT_INTERLEAVING);
    int64_t common = 0, head = calc_stages_head_blocks(app->num_blocks, e);
    SAY(text, "pipeline_interleaving = %lld does not divide the blocks per stage:",
        (long long)e->pipeline_interleaving);
    for (size_t i = 0, end; i < stages->count; i = end) {
        int64_t blocks = counted(head, &stages->item[i]);
        double to = stages->item[i].position + stages->item[i].stages - 1;
        for (end = i + 1; end < stages->count && counted(head, &stages->item[end]) == blocks;
             end++) {
            to += stages->item[end].stages;
        }
        bool one = to == stages->item[i].position;
        common = calc_gcd(blocks, common);
        SAY(text, "%s %lld on stage%s %.0f", i > 0 ? "," : "", (long long)blocks, one ? "" : "s",
            stages->item[i].position);
        if (!one) {
            SAY(text, " to %.0f", to);
        }
    }
    if (head > 0) {
        SAY(text, "%s",
            head > 1 ? " (the embedding counts as one, the head as two, which a chunk must hold)"
                     : " (embedding and head count as one each)");
    }
    int64_t least = 2; /* blocks of a chunk that holds more than one */
    while (common % least != 0 && least < common) {
        least++;
    }
    common /= head > 1 && common > 1 ? least : 1;
    SAY(hint, "use %s", CALC_DIVISORS(common));
}

static bool split_rounds(reasons *r, const calc_exec *e)
{
    if (calc_stages_rounds_fit(e)) {
        return false;
    }
    calc_reason *reason = add(r, CALC_VERDICT_INTERLEAVING);
    int64_t replicas = e->strategy.data_par * e->microbatch_size;
    SAY(text,
        "interleaved chunks need a multiple of pipeline_par = %lld micro-batches: there are "
        "%lld",
        (long long)e->pipeline_par, (long long)(e->batch_size / replicas));
    SAY(hint, "use a batch_size that is a multiple of %lld, or pipeline_interleaving 1",
        (long long)(replicas * e->pipeline_par));
    return true;
}

/* Blocks do not split over the stages and chunks. */
static void split_reasons(reasons *r, const calc_app *app, const calc_exec *exec,
                          calc_compat compat, const calc_stages *stages)
{
    bool even = calc_compat_has(compat, CALC_COMPAT_EVEN_STAGES);
    if (split_ends(r, app, exec) || (!even && split_rounds(r, exec))) {
        return;
    }
    bool enough = !stages->ends_spread;
    for (size_t i = 0; i < stages->count; i++) {
        enough = enough && stages->item[i].dense + stages->item[i].moe > 0;
    }
    if (enough) {
        split_chunks(r, app, exec, stages);
        return;
    }
    calc_reason *reason = add(r, CALC_VERDICT_INTERLEAVING);
    bool ends = exec->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS;
    SAY(text, "%lld blocks do not give each of %lld stages one%s", (long long)app->num_blocks,
        (long long)exec->pipeline_par, ends ? " beside the embedding and the head" : "");
    SAY(hint, "use pipeline_par %lld or less",
        (long long)(ends ? (app->num_blocks + 2) / 2 : app->num_blocks));
}

/* That, or offload with too few blocks on a stage to alternate between. */
static void stage_reasons(reasons *r, const calc_app *app, const calc_exec *exec,
                          calc_compat compat)
{
    calc_shape shape = calc_shape_of(app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    calc_stages stages = calc_stages_split(&shape, exec, compat);
    bool listed = exec->stages.count > 0;
    double fewest_blocks =
        listed ? (double)calc_stage_list_fewest(app, exec) : stages.fewest_blocks;
    if (listed) {
        split_rounds(r, exec); /* calc_check() has seen to the blocks */
    } else if (!stages.fit) {
        split_reasons(r, app, exec, compat, &stages);
    }
    if ((listed || stages.fit) && calc_verdict_offload_blocks(exec, fewest_blocks)) {
        calc_reason *reason = add(r, CALC_VERDICT_OFFLOAD_BLOCKS);
        SAY(text, "offload needs at least 3 blocks on every stage, the layout has stages with %.4g",
            fewest_blocks);
        SAY(hint, "%skeep everything in tier 1",
            exec->pipeline_par > 1 ? "lower pipeline_par, or " : "");
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

typedef enum part {
#define PART_LIST(X)                                                                               \
    X(WEIGHTS, weight_space, "weights")                                                            \
    X(GRADIENTS, weight_grad_space, "weight gradients")                                            \
    X(OPTIMIZER, optimizer_space, "the optimizer")                                                 \
    X(ACTIVATIONS, act_space, "activations")                                                       \
    X(CHECKPOINTS, act_checkpoint_size, "checkpoints")                                             \
    X(WORKING, act_grad_space, "the block at hand")
#define PART(name, member, words) name,
    PART_LIST(PART) HEAD,
    CACHE,
    OTHER,
    PARTS
} part;

static part largest(const calc_stats *s, double *bytes)
{
/* In tier 1: all, or the rest that offload leaves there, null without offload. */
#define STAYS(name, member, words)                                                                 \
    isnan(s->member##_with_offload) ? s->member : s->member##_with_offload,
    const double space[PARTS] = {PART_LIST(STAYS) s->head_space, s->kv_cache_space,
                                 s->framework_space + s->mem_overhead};
    part most = WEIGHTS;
    for (part i = WEIGHTS; i < PARTS; i++) {
        most = space[i] > space[most] ? i : most;
    }
    *bytes = space[most];
    return most;
}

/* The largest part of the fullest stage's memory: "; largest: activations, 63.56 GiB, on stage
 * 0". */
static void put_most(const calc_exec *exec, const calc_stats *stats, char text[128])
{
#define WORDS(name, member, words) words,
    static const char *const names[PARTS] = {PART_LIST(WORDS) "the head", "cached keys and values",
                                             "framework, fragmentation and reserve"};
    double bytes;
    part most = largest(stats, &bytes);
    text[0] = '\0';
    calc_append(text, 128, "; largest: %s, %.2f GiB", names[most], bytes / 1073741824.0);
    if (exec->pipeline_par > 1) {
        calc_append(text, 128, ", on stage %.0f", stats->peak_stage);
    }
}

/* One more thing to do. */
static void advise(char hint[256], bool applies, const char *what)
{
    if (applies) {
        calc_append(hint, 256, "%s%s", hint[0] ? ", " : "", what);
    }
}

static void advise_activations(const calc_exec *e, char hint[256])
{
    bool full = e->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL;
    bool flash =
        e->strategy.flash_attention || e->strategy.attention_type == CALC_ATTENTION_TYPE_FLASH;
    bool more = e->pipeline_schedule != CALC_PIPELINE_SCHEDULE_1F1B;
    bool gathers = e->strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    advise(hint, e->training && !full, "recompute more (activation_recompute, recompute_modules)");
    advise(hint, !flash, "set flash_attention");
    advise(hint, e->strategy.tensor_par > 1 && !gathers,
           "use sequence parallelism (tensor_par_comm_type \"rs_ag\")");
    advise(hint, e->strategy.tensor_par > 1 && gathers && !e->strategy.seq_par_ag_redo && !full,
           "set seq_par_ag_redo");
    advise(hint, e->training && more && e->pipeline_par > 1, "use pipeline_schedule \"1f1b\"");
    advise(hint, e->microbatch_size > 1, "lower microbatch_size");
    advise(hint, true, "raise context_par or tensor_par");
}

/* Split the weights, with gradients and optimizer, further: those of experts where experts have
 * most of them, since tensor_par does not split these. */
static void advise_split(const calc_app *app, const calc_exec *e, const calc_shape *s,
                         char hint[256])
{
    calc_parameters count;
    calc_count_parameters(app, &count);
    double split = s->expert_par * s->expert_tensor_par;
    bool room = split * (double)e->pipeline_par < (double)e->num_procs;
    bool experts = count.experts / split > (count.total - count.experts) / s->tensor_par;
    advise(hint, room && s->experts > s->expert_par, "raise expert_par");
    advise(hint, true,
           !experts ? "raise tensor_par or pipeline_par"
           : room   ? "raise expert_tensor_par or pipeline_par"
                    : "raise pipeline_par");
}

/* A measure that would shrink that part and is not in use yet. */
static void put_hint(const calc_app *app, const calc_chip *chip, const calc_exec *e,
                     const calc_stats *stats, char hint[256])
{
    double bytes;
    part most = largest(stats, &bytes);
    if (!e->training && stats->weight_space >= stats->mem_tier1_capacity) {
        most = WEIGHTS; /* however much is cached */
    }
    int64_t zero = calc_zero_stage(&e->strategy);
    bool replicas = e->strategy.data_par > 1 || e->strategy.context_par > 1;
    calc_shape shape = calc_shape_of(app, &e->strategy, e->microbatch_size, e->seq_size);
    calc_state_bytes state = calc_state_bytes_of(&e->strategy, &shape, chip, e->training);
    hint[0] = '\0';
    switch (most) {
    case OPTIMIZER:
        advise(hint, replicas && zero < 1, "shard it (zero_stage 1)");
        advise(hint, state.moment > 2, "narrow it (optimizer_moment_datatype \"bfloat16\")");
        break;
    case GRADIENTS:
        advise(hint, replicas && zero < 2, "shard them (zero_stage 2)");
        advise(hint, state.grad > 2, "narrow them (grad_datatype \"bfloat16\")");
        break;
    case WEIGHTS:
        advise(hint, e->training && replicas && zero < 3, "shard them (zero_stage 3)");
        break;
    case HEAD:
        advise(hint, e->training && !e->strategy.fused_cross_entropy, "set fused_cross_entropy");
        advise(hint, e->microbatch_size > 1, "lower microbatch_size");
        advise(hint, true, "raise tensor_par or context_par");
        return;
    case CHECKPOINTS:
        advise(hint, e->microbatch_size > 1, "lower microbatch_size");
        advise(hint, true, "raise tensor_par or context_par");
        return;
    case OTHER:
        advise(hint, true, "lower any other part");
        break;
    default:
        advise_activations(e, hint);
        return;
    }
    advise_split(app, e, &shape, hint);
}

/* @param more  appended to the numbers */
static void capacity_reason(reasons *r, calc_verdict verdict, int tier, double need_bytes,
                            double capacity_bytes, const char *more, const char *hint)
{
    if (need_bytes > capacity_bytes) {
        calc_reason *reason = add(r, verdict);
        const double gib = 1073741824.0;
        SAY(text, "tier %d needs %.2f GiB and has %.2f GiB: %.2f GiB too little%s", tier,
            need_bytes / gib, capacity_bytes / gib, (need_bytes - capacity_bytes) / gib, more);
        SAY(hint, "%s", hint);
    }
}

size_t calc_reasons(const calc_app *app, const calc_system *system, const calc_exec *exec,
                    calc_compat compat, const calc_stats *stats, calc_reason out[CALC_MAX_REASONS])
{
    reasons r = {.item = out};
    char most[128];
    char hint[256];
    bool served = exec->inference.phase != CALC_INFERENCE_PHASE_NONE;
    for (int chip = 0; chip <= exec->stages.chips; chip++) {
        const calc_system *own = chip == 0 ? system : exec->stages.system[chip - 1];
        calc_exec listed = exec->stages.count > 0 ? calc_stage_list_part(exec, chip) : *exec;
        if (listed.pipeline_par > 0) {
            layers_network_reasons(&r, own, &listed);
        }
    }
    if (r.count == 0 && exec->inference.phase == CALC_INFERENCE_PHASE_DISAGGREGATED) {
        calc_exec pool; /* of the processors that prefill, which are not those of the run */
        calc_prefill_pool_of(exec, &pool);
        network_reasons(&r, calc_prefill_pool_system(system, exec), &pool);
    }
    stage_reasons(&r, app, exec, compat);
    put_most(exec, stats, most);
    /* Whether the weights leave room for a cache; if not, less in it does not help. */
    if (served && (stats->weight_space < stats->mem_tier1_capacity)) {
        const calc_inference *i = &exec->inference;
        snprintf(hint, 256, "%s%sraise tensor_par or pipeline_par",
                 stats->max_batch >= 1
                     ? CALC_TEXT(96, "lower the batch to at most %.0f, ", stats->max_batch)
                     : "",
                 i->kv_datatype == CALC_FORMAT_AUTO ? "set inference.kv_datatype float8, " : "");
    } else {
        put_hint(app, &system->chip, exec, stats, hint);
    }
    capacity_reason(&r, CALC_VERDICT_MEM1_CAPACITY, 1, stats->proc_mem_tier1_cap_req,
                    stats->mem_tier1_capacity, most, hint);
    const double gib = 1073741824.0; /* of the second tier of processors that share a host */
    double procs = fmin((double)system->networks[0].size, (double)exec->num_procs);
    most[0] = '\0';
    if (procs > 1) {
        snprintf(most, sizeof most, "; %.0f processors of a node need %.0f GiB of its %.0f", procs,
                 procs * stats->proc_mem_tier2_cap_req / gib,
                 procs * stats->mem_tier2_capacity / gib);
    }
    capacity_reason(&r, CALC_VERDICT_MEM2_CAPACITY, 2, stats->proc_mem_tier2_cap_req,
                    stats->mem_tier2_capacity, most, "offload less, or to a larger second tier");
    if (stats->verdict == CALC_VERDICT_OVERLOADED) {
        calc_reason *reason = add(&r, CALC_VERDICT_OVERLOADED);
        SAY(text, "%.3g/s arrive, %.3g/s are served", exec->inference.arrival_rate,
            stats->requests_per_s);
        SAY(hint, "use more processors");
    }
    return r.count;
}
