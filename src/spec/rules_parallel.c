#include "spec/rules_parallel.h"

#include <stdio.h>

#include "base/error.h"
#include "spec/rules.h"
#include "spec/stack.h"

/* Inputs of the rules, and where their errors go. */
typedef struct rules {
    const calc_app *app;
    const calc_exec *exec;
    calc_errors *errors;
} rules;

/* Add an error about a field of the execution. */
#define BROKEN(r, field, hint, ...)                                                                \
    calc_errors_add((r)->errors, CALC_ERR_RULE, CALC_KIND_EXEC, "/" #field, hint, __VA_ARGS__)

/* Two pieces of the sequence per rank, one from each end. */
static void check_zigzag(rules *r, int64_t seq)
{
    int64_t c = r->exec->strategy.context_par;
    char divisors[200];
    char hint[256];
    if (seq % (2 * c) == 0) {
        return;
    }
    snprintf(hint, sizeof hint, "use %s, or context_par_balance \"none\"",
             calc_divisors_text(seq % 2 == 0 ? seq / 2 : 1, divisors, sizeof divisors));
    BROKEN(r, context_par, hint, "2 * context_par = %lld does not divide seq_size = %lld",
           (long long)(2 * c), (long long)seq);
}

static void check_context_par(rules *r)
{
    const calc_exec *e = r->exec;
    const calc_app *a = r->app;
    int64_t c = e->strategy.context_par;
    if (c <= 1) {
        return;
    }
    int64_t seq = e->seq_size > 0 ? e->seq_size : a->seq_size;
    bool zigzag = a->causal && e->strategy.context_par_balance == CALC_CONTEXT_PAR_BALANCE_ZIGZAG &&
                  e->strategy.context_par_type != CALC_CONTEXT_PAR_TYPE_ULYSSES;
    if (zigzag) {
        check_zigzag(r, seq);
    } else {
        calc_rules_must_divide(r->errors, "/context_par", c, "seq_size", seq, seq);
    }
    if (!e->strategy.flash_attention && e->strategy.attention_type != CALC_ATTENTION_TYPE_FLASH) {
        BROKEN(r, context_par, "set flash_attention true",
               "context parallelism needs flash attention");
    }
    if (e->strategy.context_par_type == CALC_CONTEXT_PAR_TYPE_ULYSSES) {
        int64_t heads = a->attn_heads / e->strategy.tensor_par;
        if (a->attn_heads % e->strategy.tensor_par == 0) {
            calc_rules_must_divide(r->errors, "/context_par", c, "attn_heads / tensor_par", heads,
                                   heads);
        }
    }
    if (e->strategy.context_par_type == CALC_CONTEXT_PAR_TYPE_HIERARCHICAL &&
        e->strategy.context_par_inner > 0) {
        calc_rules_must_divide(r->errors, "/context_par_inner", e->strategy.context_par_inner,
                               "context_par", c, c);
    }
}

/* Tensor-parallel ranks share the heads of linear mixers, and context-parallel ranks those of each:
 * Megatron-LM, ssm/mamba_mixer.py and gated_delta_net.py. Groups of Mamba-2 are repeated. */
static void check_linear_mixers(rules *r)
{
    const calc_exec *e = r->exec;
    int64_t ranks =
        e->strategy.tensor_par * (e->strategy.context_par > 1 ? e->strategy.context_par : 1);
    const char *const field = e->strategy.context_par > 1 ? "/context_par" : "/tensor_par";
    for (int i = 0; i < r->app->stack.parts && ranks > 1; i++) {
        const calc_part *p = &r->app->stack.part[i];
        const struct {
            const char *name;
            int64_t count;
        } heads[] = {
            {"value_heads", p->linear_value_heads},
            {"key_heads", p->type == CALC_PART_TYPE_GATED_DELTA ? p->linear_key_heads : 0}};
        for (int k = 0; k < 2 && calc_part_is_linear(p->type); k++) {
            if (heads[k].count % ranks != 0) {
                char hint[96];
                snprintf(hint, sizeof hint, "use a divisor of %lld for tensor_par * context_par",
                         (long long)heads[k].count);
                calc_errors_add(
                    r->errors, CALC_ERR_RULE, CALC_KIND_EXEC, field, hint,
                    "tensor_par * context_par = %lld does not divide the %lld %s of \"%s\"",
                    (long long)ranks, (long long)heads[k].count, heads[k].name, p->name);
            }
        }
    }
}

/* Experts over `ranks` that all have all tokens. */
static void check_replicated(rules *r, int64_t ranks)
{
    const calc_exec *e = r->exec;
    if (e->training) {
        BROKEN(r, dispatch_type, "use \"all_to_all\", \"all_gather\" or \"node_limited\"",
               "ranks that all have all tokens serve: they do not train");
    } else if (e->strategy.tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_AR) {
        BROKEN(r, dispatch_type, "use tensor_par_comm_type \"ar\", or another dispatch",
               "with sequence parallelism no rank has all tokens");
    } else if (ranks != e->strategy.tensor_par) {
        char hint[96];
        snprintf(hint, sizeof hint, "use expert_par * expert_tensor_par = tensor_par = %lld",
                 (long long)e->strategy.tensor_par);
        BROKEN(r, dispatch_type, hint,
               "experts are spread over %lld ranks, and %lld ranks of tensor parallelism have all "
               "tokens",
               (long long)ranks, (long long)e->strategy.tensor_par);
    }
}

static void check_stash(rules *r)
{
    const calc_strategy *s = &r->exec->strategy;
    if (s->paged_stash > 0 && s->offload_modules & CALC_STASHED_MODULES) {
        BROKEN(r, paged_stash,
               "leave it out, or expert_fc1, moe_act and fused_group_mlp out of offload_modules",
               "what experts store is packed into pages or offloaded, not both");
    }
}

static void check_expert_par(rules *r)
{
    const calc_exec *e = r->exec;
    const calc_app *a = r->app;
    int64_t ep = e->strategy.expert_par > 1 ? e->strategy.expert_par : 1;
    int64_t etp = e->strategy.expert_tensor_par > 1 ? e->strategy.expert_tensor_par : 1;
    if (a->num_experts == 0) {
        if (e->inference.redundant_experts > 0) {
            BROKEN(r, inference / redundant_experts, "leave it out",
                   "the application has no experts");
        }
        if (ep > 1 || etp > 1) {
            calc_errors_add(r->errors, CALC_ERR_RULE, CALC_KIND_EXEC,
                            ep > 1 ? "/expert_par" : "/expert_tensor_par",
                            "leave it out, or give the application num_experts",
                            "the application has no experts");
        }
        return;
    }
    check_stash(r);
    int64_t copies = e->inference.redundant_experts;
    calc_rules_must_divide(r->errors, "/expert_par", ep,
                           copies > 0 ? "num_experts + redundant_experts" : "num_experts",
                           a->num_experts + copies, a->num_experts + copies);
    int64_t width = a->expert_feedforward > 0 ? a->expert_feedforward : a->feedforward;
    calc_rules_must_divide(r->errors, "/expert_tensor_par", etp, "expert_feedforward", width,
                           width);
    int64_t stage = e->num_procs / e->pipeline_par;
    if (stage % etp != 0) {
        calc_rules_must_divide(r->errors, "/expert_tensor_par", etp, "the processors of a stage",
                               stage, calc_gcd(stage, width));
    } else if (stage % (ep * etp) != 0) {
        char hint[224];
        char divisors[200];
        snprintf(hint, sizeof hint, "use expert_par %s",
                 calc_divisors_text(calc_gcd(a->num_experts + copies, stage / etp), divisors,
                                    sizeof divisors));
        BROKEN(
            r, expert_par, hint,
            "expert_par * expert_tensor_par = %lld does not divide the %lld processors of a stage",
            (long long)(ep * etp), (long long)stage);
    }
    if (a->shared_feedforward > 0) {
        calc_rules_must_divide(r->errors, "/tensor_par", e->strategy.tensor_par,
                               "shared_feedforward", a->shared_feedforward,
                               calc_gcd(a->shared_feedforward, calc_gcd(a->hidden, a->attn_heads)));
    }
    if (e->strategy.dispatch_type == CALC_DISPATCH_TYPE_REPLICATED) {
        check_replicated(r, ep * etp);
    } else if (ep > 1 && e->strategy.tensor_par > 1 &&
               e->strategy.tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_RS_AG) {
        BROKEN(r, tensor_par_comm_type, "use \"rs_ag\"",
               "experts with tensor parallelism need sequence parallelism");
    }
}

static void check_stage_blocks(rules *r)
{
    int64_t first = r->exec->first_stage_blocks;
    int64_t last = r->exec->last_stage_blocks;
    char hint[64];
    if (first + last <= r->app->num_blocks) {
        return;
    }
    snprintf(hint, sizeof hint, "use at most %lld together", (long long)r->app->num_blocks);
    calc_errors_add(r->errors, CALC_ERR_RULE, CALC_KIND_EXEC,
                    first > 0 ? "/first_stage_blocks" : "/last_stage_blocks", hint,
                    "first and last stage have more blocks than the model: %lld + %lld of %lld",
                    (long long)first, (long long)last, (long long)r->app->num_blocks);
}

/* Require at least two micro-batches per stage, and `right`, which says whether their number is
 * otherwise legal. */
static void check_microbatches(rules *r, bool right, const char *needs)
{
    const calc_exec *e = r->exec;
    int64_t least = 2 * e->pipeline_par;
    int64_t microbatches = e->batch_size / e->strategy.data_par / e->microbatch_size;
    double enough = microbatches < least ? (double)least : (double)microbatches + 1;
    char hint[96];
    if (right && microbatches >= least) {
        return;
    }
    snprintf(hint, sizeof hint, "use batch_size %.0f, or \"1f1b\"",
             enough * (double)e->microbatch_size * (double)e->strategy.data_par);
    BROKEN(r, pipeline_schedule, hint, "%s: %lld are not", needs, (long long)microbatches);
}

static void check_schedule(rules *r)
{
    const calc_exec *e = r->exec;
    int64_t p = e->pipeline_par;
    bool dual = e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE;
    int64_t microbatches = e->batch_size / e->strategy.data_par / e->microbatch_size;
    if (e->pipeline_schedule != CALC_PIPELINE_SCHEDULE_1F1B && e->pipeline_interleaving > 1) {
        BROKEN(r, pipeline_interleaving, "use 1, or pipeline_schedule \"1f1b\"",
               "only the 1F1B schedule interleaves chunks");
    }
    if (dual && p % 2 != 0) {
        BROKEN(r, pipeline_schedule, "use an even pipeline_par, or \"1f1b\"",
               "DualPipe needs an even number of stages, not %lld", (long long)p);
    } else if (dual) {
        check_microbatches(
            r, microbatches % 2 == 0,
            "DualPipe needs an even number of micro-batches, at least twice the stages");
    } else if (e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_DUALPIPE_V) {
        check_microbatches(r, true,
                           "DualPipeV needs micro-batches, at least twice as many as stages");
    }
    check_stage_blocks(r);
    if (e->pipeline_balance != CALC_PIPELINE_BALANCE_BLOCKS &&
        (e->first_stage_blocks > 0 || e->last_stage_blocks > 0)) {
        BROKEN(r, pipeline_balance,
               "use \"blocks\", or leave first_stage_blocks and last_stage_blocks out",
               "the blocks of the first or last stage are given");
    }
    if (e->strategy.fsdp_par > 0) {
        calc_rules_must_divide(r->errors, "/fsdp_par", e->strategy.fsdp_par, "num_procs",
                               e->num_procs, e->num_procs);
    }
    if (e->strategy.zero_stage > 0 && e->strategy.data_par == 1 && e->strategy.context_par <= 1) {
        BROKEN(r, zero_stage, "leave it out, or data_par > 1",
               "nothing to shard over with data_par = 1");
    }
}

void calc_rules_parallel(const calc_app *app, const calc_exec *exec, calc_errors *errors)
{
    rules r = {app, exec, errors};
    check_context_par(&r);
    check_linear_mixers(&r);
    check_expert_par(&r);
    check_schedule(&r);
}
