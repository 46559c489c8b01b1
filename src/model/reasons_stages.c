#include "model/reasons_stages.h"

#include <math.h>

#include "base/buffer.h"
#include "model/stages/stages.h"
#include "model/verdict.h"
#include "spec/rules.h"
#include "spec/stage_list.h"

bool calc_reasons_stages_network(const calc_system *system, const calc_exec *exec,
                                 calc_reason *reason)
{
    int64_t last = system->networks_count - 1;
    int64_t size = system->networks[last].size;
    if (exec->rank_order == CALC_RANK_ORDER_NETWORKS || exec->num_procs <= size) {
        return false;
    }
    *reason = (calc_reason){.verdict = CALC_VERDICT_NETWORK_SIZE};
    calc_append(reason->text, sizeof reason->text,
                "network %lld, the last, connects %lld processors, rank_order lays out %lld",
                (long long)last, (long long)size, (long long)exec->num_procs);
    calc_append(
        reason->hint, sizeof reason->hint,
        "use %lld processors or fewer; if the machine has more, set networks[%lld].size to %lld "
        "or more",
        (long long)size, (long long)last, (long long)exec->num_procs);
    return true;
}

/* ---- Blocks and stages ----------------------------------------------------------------------- */

/* First or last stage are given, and the remaining blocks do not split over the others. */
static bool split_ends(const calc_app *app, const calc_exec *e, calc_reason *reason)
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
    calc_append(
        reason->text, sizeof reason->text,
        "the %lld blocks beside first_stage_blocks = %lld and last_stage_blocks = %lld do not "
        "split over %lld other stages",
        (long long)rest, (long long)first, (long long)last, (long long)between);
    /* The nearest number of blocks that leaves a multiple. */
    const char *field = first > 0 ? "first_stage_blocks" : "last_stage_blocks";
    int64_t given = first > 0 ? first : last;
    int64_t all = rest + given;
    if (between <= 0) {
        calc_append(reason->hint, sizeof reason->hint, "use %s %lld", field, (long long)all);
        return true;
    }
    int64_t below = rest > 0 ? rest / between * between : 0;
    int64_t above = below + between;
    bool more = above < all && (below == 0 || above - rest < rest - below);
    int64_t nearest = more ? all - above : below > 0 ? all - below : 0;
    if (nearest > 0) {
        calc_append(reason->hint, sizeof reason->hint, "use %s %lld", field, (long long)nearest);
    } else {
        calc_append(reason->hint, sizeof reason->hint, "lower pipeline_par");
    }
    return true;
}

/* Parts that count as blocks, in addition to the blocks of a class of stages. */
static int64_t counted(const calc_exec *e, const calc_stage_class *class)
{
    bool ends = e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS;
    return (int64_t)(class->dense + class->moe) +
           (ends ? (int64_t)(class->first + class->last) : 0);
}

static void split_chunks(const calc_exec *e, const calc_stages *stages, calc_reason *reason)
{
    int64_t common = 0;
    calc_append(reason->text, sizeof reason->text,
                "pipeline_interleaving = %lld does not divide the blocks per stage:",
                (long long)e->pipeline_interleaving);
    for (size_t i = 0, end; i < stages->count; i = end) {
        int64_t blocks = counted(e, &stages->item[i]);
        double to = stages->item[i].position + stages->item[i].stages - 1;
        for (end = i + 1; end < stages->count && counted(e, &stages->item[end]) == blocks; end++) {
            to += stages->item[end].stages;
        }
        bool one = to == stages->item[i].position;
        common = calc_gcd(blocks, common);
        calc_append(reason->text, sizeof reason->text, "%s %lld on stage%s %.0f", i > 0 ? "," : "",
                    (long long)blocks, one ? "" : "s", stages->item[i].position);
        if (!one) {
            calc_append(reason->text, sizeof reason->text, " to %.0f", to);
        }
    }
    if (e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS) {
        calc_append(reason->text, sizeof reason->text, " (embedding and head count as one each)");
    }
    char divisors[160];
    calc_append(reason->hint, sizeof reason->hint, "use %s",
                calc_divisors_text(common, divisors, sizeof divisors));
}

static bool split_rounds(const calc_exec *e, calc_reason *reason)
{
    if (calc_stages_rounds_fit(e)) {
        return false;
    }
    int64_t replicas = e->strategy.data_par * e->microbatch_size;
    calc_append(
        reason->text, sizeof reason->text,
        "interleaved chunks need a multiple of pipeline_par = %lld micro-batches: there are "
        "%lld",
        (long long)e->pipeline_par, (long long)(e->batch_size / replicas));
    calc_append(reason->hint, sizeof reason->hint,
                "use a batch_size that is a multiple of %lld, or pipeline_interleaving 1",
                (long long)(replicas * e->pipeline_par));
    return true;
}

bool calc_reasons_stages_split(const calc_app *app, const calc_exec *exec, calc_compat compat,
                               calc_reason *reason)
{
    *reason = (calc_reason){.verdict = CALC_VERDICT_INTERLEAVING};
    if (exec->stages.count > 0) {
        return split_rounds(exec, reason); /* calc_check() has seen to the blocks */
    }
    calc_shape shape = calc_shape_of(app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    calc_stages stages = calc_stages_split(&shape, exec, compat);
    if (stages.fit) {
        return false;
    }
    bool even = calc_compat_has(compat, CALC_COMPAT_EVEN_STAGES);
    if (split_ends(app, exec, reason) || (!even && split_rounds(exec, reason))) {
        return true;
    }
    bool enough = !stages.ends_spread;
    for (size_t i = 0; i < stages.count; i++) {
        enough = enough && stages.item[i].dense + stages.item[i].moe > 0;
    }
    if (enough) {
        split_chunks(exec, &stages, reason);
        return true;
    }
    bool ends = exec->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS;
    calc_append(reason->text, sizeof reason->text,
                "%lld blocks do not give each of %lld stages one%s", (long long)app->num_blocks,
                (long long)exec->pipeline_par, ends ? " beside the embedding and the head" : "");
    calc_append(reason->hint, sizeof reason->hint, "use pipeline_par %lld or less",
                (long long)(ends ? (app->num_blocks + 2) / 2 : app->num_blocks));
    return true;
}

bool calc_reasons_stages_offload(const calc_app *app, const calc_exec *exec, calc_compat compat,
                                 calc_reason *reason)
{
    calc_shape shape = calc_shape_of(app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    calc_stages stages = calc_stages_split(&shape, exec, compat);
    bool listed = exec->stages.count > 0;
    double fewest_blocks =
        listed ? (double)calc_stage_list_fewest(app, exec) : stages.fewest_blocks;
    if (!(listed || stages.fit) || !calc_verdict_offload_blocks(exec, fewest_blocks)) {
        return false;
    }
    *reason = (calc_reason){.verdict = CALC_VERDICT_OFFLOAD_BLOCKS};
    calc_append(reason->text, sizeof reason->text,
                "offload needs at least 3 blocks on every stage, the layout has stages with %.4g",
                fewest_blocks);
    calc_append(reason->hint, sizeof reason->hint, "%skeep everything in tier 1",
                exec->pipeline_par > 1 ? "lower pipeline_par, or " : "");
    return true;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

typedef enum part {
    WEIGHTS,
    GRADIENTS,
    OPTIMIZER,
    ACTIVATIONS,
    CHECKPOINTS,
    WORKING,
    HEAD,
    CACHE,
    OTHER,
    PARTS
} part;

/* The share of a part in tier 1: all, or the rest that offload leaves there, null without
 * offload. */
static double stays(double space, double with_offload)
{
    return isnan(with_offload) ? space : with_offload;
}

static part largest(const calc_stats *s, double *bytes)
{
    const double space[PARTS] = {
        [WEIGHTS] = stays(s->weight_space, s->weight_space_with_offload),
        [GRADIENTS] = stays(s->weight_grad_space, s->weight_grad_space_with_offload),
        [OPTIMIZER] = stays(s->optimizer_space, s->optimizer_space_with_offload),
        [ACTIVATIONS] = stays(s->act_space, s->act_space_with_offload),
        [CHECKPOINTS] = stays(s->act_checkpoint_size, s->act_checkpoint_size_with_offload),
        [WORKING] = stays(s->act_grad_space, s->act_grad_space_with_offload),
        [HEAD] = s->head_space,
        [CACHE] = s->kv_cache_space,
        [OTHER] = s->framework_space + s->mem_overhead,
    };
    part most = WEIGHTS;
    for (part i = WEIGHTS; i < PARTS; i++) {
        most = space[i] > space[most] ? i : most;
    }
    *bytes = space[most];
    return most;
}

void calc_reasons_stages_most(const calc_exec *exec, const calc_stats *stats, char text[128])
{
    static const char *const names[PARTS] = {
        [WEIGHTS] = "weights",
        [GRADIENTS] = "weight gradients",
        [OPTIMIZER] = "the optimizer",
        [ACTIVATIONS] = "activations",
        [CHECKPOINTS] = "checkpoints",
        [WORKING] = "the block at hand",
        [HEAD] = "the head",
        [CACHE] = "cached keys and values",
        [OTHER] = "framework, fragmentation and reserve",
    };
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

void calc_reasons_stages_hint(const calc_app *app, const calc_exec *e, const calc_stats *stats,
                              char hint[256])
{
    double bytes;
    part most = largest(stats, &bytes);
    if (!e->training && stats->weight_space >= stats->mem_tier1_capacity) {
        most = WEIGHTS; /* however much is cached */
    }
    int64_t zero = calc_zero_stage(&e->strategy);
    bool replicas = e->strategy.data_par > 1 || e->strategy.context_par > 1;
    calc_shape shape = calc_shape_of(app, &e->strategy, e->microbatch_size, e->seq_size);
    calc_state_bytes state = calc_state_bytes_of(&e->strategy, &shape, e->training);
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
