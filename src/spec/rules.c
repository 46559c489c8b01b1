#include "spec/rules.h"

#include <stdio.h>

#include "base/buffer.h"
#include "base/error.h"
#include "spec/field.h"
#include "spec/format.h"
#include "spec/layer_list.h"
#include "spec/schedule.h"
#include "spec/serving_engine.h"
#include "spec/stack.h"
#include "spec/stage_list.h"

/* Inputs of the rules, and where their errors go. */
typedef struct rules {
    const calc_app *app;
    const calc_system *system;
    const calc_exec *exec;
    calc_errors *errors;
} rules;

/* Add an error about a field of the execution; the same where a rule is broken. */
#define BROKEN_AT(r, pointer, hint, ...)                                                           \
    calc_errors_add((r)->errors, CALC_ERR_RULE, CALC_KIND_EXEC, pointer, hint, __VA_ARGS__)
#define BROKEN(r, field, ...) BROKEN_AT(r, "/" #field, __VA_ARGS__)
#define RULE(broken, ...) CALC_RULE(broken, BROKEN(__VA_ARGS__))

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
    if (zigzag) { /* two pieces of the sequence per rank, one from each end */
        RULE(seq % (2 * c) != 0, r, context_par,
             CALC_TEXT(256, "use %s, or context_par_balance \"none\"",
                       CALC_DIVISORS(seq % 2 == 0 ? seq / 2 : 1)),
             "2 * context_par = %lld does not divide seq_size = %lld", (long long)(2 * c),
             (long long)seq);
    } else {
        calc_rules_must_divide(r->errors, "/context_par", c, "seq_size", seq, seq);
    }
    RULE(!e->strategy.flash_attention && e->strategy.attention_type != CALC_ATTENTION_TYPE_FLASH, r,
         context_par, "set flash_attention true", "context parallelism needs flash attention");
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
    int64_t ranks = e->strategy.tensor_par * calc_ranks_or_one(e->strategy.context_par);
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
                BROKEN_AT(r, field,
                          CALC_TEXT(96, "use a divisor of %lld for tensor_par * context_par",
                                    (long long)heads[k].count),
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
        BROKEN(r, dispatch_type,
               CALC_TEXT(96, "use expert_par * expert_tensor_par = tensor_par = %lld",
                         (long long)e->strategy.tensor_par),
               "experts are spread over %lld ranks, and %lld ranks of tensor parallelism have all "
               "tokens",
               (long long)ranks, (long long)e->strategy.tensor_par);
    }
}

static void check_expert_par(rules *r)
{
    const calc_exec *e = r->exec;
    const calc_app *a = r->app;
    int64_t ep = calc_ranks_or_one(e->strategy.expert_par);
    int64_t etp = calc_ranks_or_one(e->strategy.expert_tensor_par);
    if (a->num_experts == 0) {
        if (e->inference.redundant_experts > 0) {
            BROKEN_AT(r, "/inference/redundant_experts", "leave it out",
                      "the application has no experts");
        }
        if (ep > 1 || etp > 1) {
            BROKEN_AT(r, ep > 1 ? "/expert_par" : "/expert_tensor_par",
                      "leave it out, or give the application num_experts",
                      "the application has no experts");
        }
        return;
    }
    const calc_strategy *s = &r->exec->strategy;
    RULE(s->looped_experts && s->fused_experts, r, looped_experts, "use one of them",
         "experts are either multiplied together, fused, or one after the other");
    RULE(s->paged_stash > 0 && s->offload_modules & CALC_STASHED_MODULES, r, paged_stash,
         "leave it out, or expert_fc1, moe_act and fused_group_mlp out of offload_modules",
         "what experts store is packed into pages or offloaded, not both");
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
        BROKEN(
            r, expert_par,
            CALC_TEXT(224, "use expert_par %s",
                      CALC_DIVISORS(calc_gcd(a->num_experts + copies, stage / etp))),
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

/* As many for each stage as a schedule needs. */
static void check_microbatches(rules *r, const calc_schedule_traits *t)
{
    const calc_exec *e = r->exec;
    int64_t least = t->least * e->pipeline_par;
    int64_t microbatches = calc_microbatches(e);
    double enough = microbatches < least ? (double)least : (double)microbatches + 1;
    RULE(microbatches % t->even != 0 ||
                 microbatches<least, r, pipeline_schedule,
                              CALC_TEXT(96, "use batch_size %.0f, or \"1f1b\"",
                                        enough * (double)e->microbatch_size *
                                            (double)e->strategy.data_par),
                              "%s needs %s: %lld are not", t->title, t->even> 1
             ? "an even number of micro-batches, at least twice the stages"
             : "micro-batches, at least twice as many as stages",
         (long long)microbatches);
}

static void check_schedule(rules *r)
{
    const calc_exec *e = r->exec;
    int64_t p = e->pipeline_par;
    const calc_schedule_traits t = calc_schedule_traits_of(e->pipeline_schedule);
    RULE(t.chunks > 0 && e->pipeline_interleaving > 1, r, pipeline_interleaving,
         "use 1, or pipeline_schedule \"1f1b\"", "only the 1F1B schedule interleaves chunks");
    if (p % t.even != 0) {
        BROKEN(r, pipeline_schedule, "use an even pipeline_par, or \"1f1b\"",
               "%s needs an even number of stages, not %lld", t.title, (long long)p);
    } else if (t.title) {
        check_microbatches(r, &t);
    }
    int64_t first = e->first_stage_blocks, last = e->last_stage_blocks, all = r->app->num_blocks;
    CALC_RULE(first + last > all,
              BROKEN_AT(r, first > 0 ? "/first_stage_blocks" : "/last_stage_blocks",
                        CALC_TEXT(64, "use at most %lld together", (long long)all),
                        "first and last stage have more blocks than the model: %lld + %lld of %lld",
                        (long long)first, (long long)last, (long long)all));
    RULE(e->pipeline_balance != CALC_PIPELINE_BALANCE_BLOCKS && (first > 0 || last > 0), r,
         pipeline_balance, "use \"blocks\", or leave first_stage_blocks and last_stage_blocks out",
         "the blocks of the first or last stage are given");
    if (e->strategy.fsdp_par > 0) {
        calc_rules_must_divide(r->errors, "/fsdp_par", e->strategy.fsdp_par, "num_procs",
                               e->num_procs, e->num_procs);
    }
    RULE(e->strategy.zero_stage > 0 && e->strategy.data_par == 1 && e->strategy.context_par <= 1, r,
         zero_stage, "leave it out, or data_par > 1", "nothing to shard over with data_par = 1");
}

int64_t calc_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

char *calc_divisors_text(int64_t n, char *buffer, size_t size)
{
    enum { SHOWN = 16, MOST = 1000000 /* larger ones are no help */ };
    int64_t divisor[SHOWN + 1];
    size_t count = 0;
    int64_t d = 1;
    for (; d < n / d && d <= MOST && count <= SHOWN; d++) {
        if (n % d == 0) {
            divisor[count++] = d;
        }
    }
    for (; d > 0 && count <= SHOWN; d--) { /* those from the root on */
        if (n % d == 0 && d <= n / d && n / d <= MOST) {
            divisor[count++] = n / d;
        }
    }
    bool cut = count > SHOWN || n > MOST;
    count = cut ? SHOWN : count;
    buffer[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *join = i == 0 ? "" : i + 1 == count && !cut ? " or " : ", ";
        calc_append(buffer, size, "%s%lld", join, (long long)divisor[i]);
    }
    return calc_append(buffer, size, "%s", cut ? ", ..." : "");
}

void calc_rules_must_divide(calc_errors *errors, const char *pointer, int64_t value,
                            const char *what, int64_t n, int64_t common)
{
    CALC_RULE(n % value != 0, calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_EXEC, pointer,
                                              CALC_TEXT(224, "use %s", CALC_DIVISORS(common)),
                                              "%lld does not divide %s = %lld", (long long)value,
                                              what, (long long)n));
}

static void check_parallel_sizes(rules *r)
{
    const calc_exec *e = r->exec;
    /* Dividing instead of multiplying cannot overflow. */
    int64_t left = e->num_procs;
    bool exact = left % e->strategy.tensor_par == 0;
    left /= e->strategy.tensor_par;
    exact = exact && left % e->pipeline_par == 0;
    left /= e->pipeline_par;
    int64_t context = calc_ranks_or_one(e->strategy.context_par);
    exact = exact && left % context == 0;
    left /= context;
    if (exact && left == e->strategy.data_par) {
        return;
    }
    double product = (double)e->strategy.tensor_par * (double)e->pipeline_par *
                     (double)e->strategy.data_par * (double)context;
    BROKEN(r, num_procs,
           exact && left > 0 ? CALC_TEXT(64, "data_par = %lld would fit", (long long)left)
           : product <= 1e9  ? CALC_TEXT(64, "num_procs = %.0f would fit", product)
                             : "",
           "tensor_par * pipeline_par * data_par%s = %lld * %lld * %lld%s is not num_procs = %lld",
           context > 1 ? " * context_par" : "", (long long)e->strategy.tensor_par,
           (long long)e->pipeline_par, (long long)e->strategy.data_par,
           context > 1 ? CALC_TEXT(32, " * %lld", (long long)context) : "",
           (long long)e->num_procs);
}

/* ---- Modern models --------------------------------------------------------------------------- */

/* An encoder of images, and the images for it. */
static void check_encoder(rules *r)
{
    const calc_encoder *e = &r->app->encoder;
    const calc_exec *x = r->exec;
    const calc_strategy *s = &x->strategy;
    const struct {
        const char *pointer;
        int64_t value;
    } sizes[] = {{"/encoder/hidden", e->hidden},
                 {"/encoder/num_blocks", e->num_blocks},
                 {"/encoder/feedforward", e->feedforward},
                 {"/encoder/attn_heads", e->attn_heads}};
    int64_t any = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        any |= sizes[i].value;
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && any > 0; i++) {
        if (sizes[i].value == 0) {
            calc_errors_add(r->errors, CALC_ERR_RULE, CALC_KIND_APP, sizes[i].pointer,
                            "say hidden, num_blocks, feedforward and attn_heads, or no encoder",
                            "an encoder needs it");
        }
    }
    RULE(any == 0 && s->images_per_sequence > 0, r, images_per_sequence, "leave it out",
         "the model has no encoder of images");
    if (s->images_per_sequence > 0 && x->inference.phase != CALC_INFERENCE_PHASE_NONE) {
        BROKEN(r, images_per_sequence, "leave it out; tokens of images are part of the prompt",
               "encoding the images of requests is not modelled");
    } else if (s->images_per_sequence > 0 && s->patches_per_image == 0 && e->patches == 0) {
        BROKEN(r, patches_per_image, "say how many patches an image has",
               "neither the layout nor the model says it");
    }
}

/* Add an error about a field of the application. */
#define BROKEN_APP(errors, field, hint, ...)                                                       \
    calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_APP, "/" #field, hint, __VA_ARGS__)

#define RULE_APP(broken, ...) CALC_RULE(broken, BROKEN_APP(__VA_ARGS__))

/* Layers that are listed: as many as blocks, and nothing else that says which blocks have what. */
static void check_layers(const calc_app *a, calc_errors *errors)
{
    const calc_stack *s = &a->stack;
    if (s->layers == 0) {
        return;
    }
    RULE_APP(s->layers != a->num_blocks, errors, layers,
             CALC_TEXT(64, "set num_blocks to %d, or mend the pattern", (int)s->layers),
             "the pattern has %d layers, num_blocks is %lld", (int)s->layers,
             (long long)a->num_blocks);
    RULE_APP(a->dense_blocks > 0 || a->moe_every > 1 || a->global_every > 0, errors, layers,
             "leave dense_blocks, moe_every and global_every out",
             "the pattern says which layers have experts and windows");
}

/* The sizes of a part, or of the model: of `name`, where it is a part. */
static void check_part(const calc_part *p, const char *name, calc_errors *errors)
{
    const char *of = *name ? CALC_TEXT(40, "\"%.31s\": ", name) : "";
    RULE_APP(p->kv_heads > 0 && p->attn_heads % p->kv_heads != 0, errors, kv_heads,
             CALC_TEXT(224, "use %s", CALC_DIVISORS(p->attn_heads)),
             "%s%lld does not divide attn_heads = %lld", of, (long long)p->kv_heads,
             (long long)p->attn_heads);
    RULE_APP(p->kv_lora_rank > 0 && (p->qk_nope_size == 0 || p->v_size == 0), errors, kv_lora_rank,
             "give qk_nope_size, qk_rope_size and v_size",
             "%slatent attention needs the sizes of its heads", of);
    RULE_APP(p->index_heads > 0 && (p->index_size == 0 || p->index_topk == 0), errors, index_heads,
             "give index_size and index_topk",
             "%san indexer needs the width of its heads, and how many keys it chooses", of);
    RULE_APP(p->num_experts > 0 &&
                 (p->experts_per_token < 1 || p->experts_per_token > p->num_experts),
             errors, experts_per_token, CALC_TEXT(64, "use 1 to %lld", (long long)p->num_experts),
             "%sa token cannot be routed to %lld of %lld experts", of,
             (long long)p->experts_per_token, (long long)p->num_experts);
}

/* What a part of a list needs beside: sizes that only its type has. */
static void check_listed_part(const calc_part *p, calc_errors *errors)
{
    bool linear = calc_part_is_linear(p->type);
    bool mamba1 = p->type == CALC_PART_TYPE_MAMBA1, conv = p->type == CALC_PART_TYPE_SHORT_CONV;
    bool keys = p->type == CALC_PART_TYPE_GATED_DELTA || p->type == CALC_PART_TYPE_MAMBA2;
    RULE_APP(p->type == CALC_PART_TYPE_MOE && p->num_experts == 0, errors, layers,
             "set num_experts", "\"%s\" has no experts", p->name);
    if (linear &&
        ((!mamba1 && !conv && p->linear_value_heads == 0) || (!conv && p->linear_value_size == 0) ||
         (keys && p->linear_key_heads == 0) || ((keys || mamba1) && p->linear_key_size == 0) ||
         (conv && p->linear_conv == 0))) {
        BROKEN_APP(errors, parts, "calc show fields part says which sizes each type has",
                   "\"%s\" has no heads, no width, no state or no convolution", p->name);
    } else if (keys && p->linear_value_heads % p->linear_key_heads != 0) {
        BROKEN_APP(errors, parts, NULL,
                   "\"%s\": key_heads = %lld does not divide value_heads = %lld", p->name,
                   (long long)p->linear_key_heads, (long long)p->linear_value_heads);
    }
}

void calc_rules_model(const calc_app *a, bool adapted, calc_errors *errors)
{
    const calc_part own = calc_part_of(a, CALC_PART_TYPE_ATTENTION);
    bool compressed = false; /* DeepSeek-V4's attention compresses queries, too */
    int operators = calc_stack_most_operators(&a->stack, adapted);
    check_layers(a, errors);
    RULE_APP(a->stack.layers > 0 && operators > CALC_MAX_OPERATORS, errors, layers,
             "use fewer parts that differ",
             "layers of so many kinds may have %d operators, and %d are what a block can have",
             operators, CALC_MAX_OPERATORS);
    check_part(&own, "", errors);
    for (int i = 0; i < a->stack.parts; i++) {
        const calc_part *p = &a->stack.part[i];
        bool attends = p->type == CALC_PART_TYPE_ATTENTION;
        compressed = compressed || p->type == CALC_PART_TYPE_COMPRESSED || p->kv_lora_rank > 0;
        if ((attends && (p->kv_heads != a->kv_heads || p->attn_heads != a->attn_heads)) ||
            (p->type == CALC_PART_TYPE_MOE && p->num_experts != a->num_experts)) {
            check_part(p, p->name, errors);
        }
        check_listed_part(p, errors);
    }
    RULE_APP(a->q_lora_rank > 0 && a->kv_lora_rank == 0 && !compressed, errors, q_lora_rank,
             "give kv_lora_rank, or leave q_lora_rank out",
             "only latent attention compresses queries");
    if (a->expert_groups > 1 && a->num_experts % a->expert_groups != 0) {
        BROKEN_APP(errors, expert_groups, NULL, "%lld does not divide num_experts = %lld",
                   (long long)a->expert_groups, (long long)a->num_experts);
    } else if (a->expert_groups > 1 && a->groups_per_token > 0 &&
               (a->groups_per_token > a->expert_groups ||
                a->experts_per_token > a->num_experts / a->expert_groups * a->groups_per_token)) {
        BROKEN_APP(errors, groups_per_token, NULL, "%lld experts are not in %lld of %lld groups",
                   (long long)a->experts_per_token, (long long)a->groups_per_token,
                   (long long)a->expert_groups);
    }
    RULE_APP(a->mtp_blocks > 0 && a->lm_head == CALC_CHOICE_FALSE, errors, mtp_blocks,
             "leave it out, or lm_head", "a model without a head predicts no tokens");
    bool experts = a->num_experts == 0;
    for (int i = 0; i < a->stack.kinds; i++) {
        experts = experts || calc_stack_kind_has_experts(&a->stack, i);
    }
    if (a->stack.layers == 0 && !experts && a->dense_blocks >= a->num_blocks) {
        BROKEN_APP(errors, dense_blocks, "use less than num_blocks, or num_experts 0",
                   "all %lld blocks are dense: none has experts", (long long)a->num_blocks);
    } else if (a->stack.layers > 0 && !experts) {
        BROKEN_APP(errors, layers, "leave num_experts out, or let a layer have a part of type moe",
                   "no layer has the %lld experts", (long long)a->num_experts);
    }
}

static void check_attention_type(rules *r)
{
    const calc_app *a = r->app;
    const calc_strategy *s = &r->exec->strategy;
    enum {
        APART = 1 << CALC_FRAMEWORK_MEM_LOSS_PARALLEL,
        WHOLE = 1 << CALC_FRAMEWORK_MEM_LOGITS_GATHERED
    };
    RULE(s->attention_type == CALC_ATTENTION_TYPE_MULTI_LATENT && a->kv_lora_rank == 0, r,
         attention_type, "use \"multihead\" or \"grouped_query\"",
         "the application has no latent attention (kv_lora_rank)");
    RULE(s->attention_type == CALC_ATTENTION_TYPE_GROUPED_QUERY && a->kv_heads == 0, r,
         attention_type, "use \"multihead\", or give the application kv_heads",
         "the application does not say how many key and value heads it has (kv_heads)");
    RULE(s->attention_type == CALC_ATTENTION_TYPE_MULTIQUERY &&
             (a->kv_heads > 1 || a->kv_lora_rank > 0),
         r, attention_type, "use \"grouped_query\"",
         "the application has more than one key and value head");
    RULE((s->framework_mem & (APART | WHOLE)) == (APART | WHOLE), r, framework_mem,
         "leave one of them out",
         "a loss is split over logits, loss_parallel, or of all of them, logits_gathered");
    RULE(s->recompute_modules && s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_MODULES, r,
         recompute_modules, "use activation_recompute \"modules\", or leave them out",
         "modules are only recomputed with activation_recompute \"modules\"");
}

/* A word of activation_recompute. */
static const char *recomputed(const calc_strategy *s)
{
    return s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_FULL ? "full" : "selective_op";
}

static void check_offload(rules *r)
{
    const calc_strategy *s = &r->exec->strategy;
    const int64_t core = 1 << CALC_OFFLOAD_MODULES_CORE_ATTN;
    const int64_t behind = 1 << CALC_OFFLOAD_MODULES_ATTN_PROJ;
    if (!s->offload_modules) {
        return;
    }
    RULE(s->activations_offload, r, offload_modules,
         "leave it out, or use activations_offload false",
         "activations_offload already keeps what all parts save in tier 2");
    RULE(calc_recomputes_block(s), r, offload_modules,
         "leave it out, or use activation_recompute \"modules\" or \"none\"",
         "%s recomputation leaves nothing of a part of a block to keep", recomputed(s));
    RULE((s->offload_modules & (core | behind)) == behind, r, offload_modules,
         "add core_attn, or leave attn_proj out",
         "the backward pass of core_attn reads what attn_proj would move: its own output");
}

/* Groups are of Megatron-LM's method uniform; the first blocks of a stage are of its method block.
 */
static void check_groups(rules *r)
{
    const calc_exec *e = r->exec;
    const calc_strategy *s = &e->strategy;
    int64_t chunks = e->pipeline_par * e->pipeline_interleaving;
    if (s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_FULL || s->recompute_group <= 1 ||
        chunks < 1) {
        return; /* sizes out of range have errors of their own */
    }
    int64_t most = (r->app->num_blocks + chunks - 1) / chunks;
    RULE(s->recompute_group > most && e->stages.count == 0, r, recompute_group,
         CALC_TEXT(64, "use at most %lld", (long long)most),
         "a chunk of a stage has fewer than %lld blocks", (long long)s->recompute_group);
    RULE(e->recompute_blocks > 0, r, recompute_group, "leave it or recompute_blocks out",
         "either groups of blocks or the first blocks of a stage recompute");
}

static void check_batch(rules *r)
{
    const calc_exec *e = r->exec;
    if (e->batch_size % e->strategy.data_par != 0) {
        long long below = e->batch_size / e->strategy.data_par * e->strategy.data_par;
        BROKEN(r, batch_size,
               CALC_TEXT(128, "batch_size must be a multiple of data_par: %s%lld",
                         below > 0 ? CALC_TEXT(32, "%lld or ", below) : "at least ",
                         below + (long long)e->strategy.data_par),
               "%lld is not a multiple of data_par = %lld", (long long)e->batch_size,
               (long long)e->strategy.data_par);
        return;
    }
    int64_t local = e->batch_size / e->strategy.data_par;
    calc_rules_must_divide(r->errors, "/microbatch_size", e->microbatch_size,
                           "batch_size / data_par", local, local);
}

static void check_tensor_par(rules *r)
{
    const calc_exec *e = r->exec;
    const calc_app *a = r->app;
    bool scatters = e->strategy.tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_AR;
    int64_t seq = e->seq_size > 0 ? e->seq_size : a->seq_size;
    int64_t tokens = e->microbatch_size * seq / calc_ranks_or_one(e->strategy.context_par);
    int64_t common = calc_gcd(calc_gcd(a->hidden, a->feedforward), a->attn_heads);
    common = scatters ? calc_gcd(common, tokens) : common;
    calc_rules_must_divide(r->errors, "/tensor_par", e->strategy.tensor_par, "hidden", a->hidden,
                           common);
    calc_rules_must_divide(r->errors, "/tensor_par", e->strategy.tensor_par, "feedforward",
                           a->feedforward, common);
    calc_rules_must_divide(r->errors, "/tensor_par", e->strategy.tensor_par, "attn_heads",
                           a->attn_heads, common);
    if (scatters) {
        calc_rules_must_divide(r->errors, "/tensor_par", e->strategy.tensor_par,
                               e->strategy.context_par > 1
                                   ? "microbatch_size * seq_size / context_par"
                                   : "microbatch_size * seq_size",
                               tokens, common);
    }
    RULE(e->strategy.tensor_par == 1 &&
             e->strategy.tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_NONE,
         r, tensor_par_overlap, "use \"none\", or tensor_par > 1",
         "nothing to overlap with tensor_par = 1");
    RULE(e->strategy.seq_par_ag_redo &&
             e->strategy.tensor_par_comm_type != CALC_TENSOR_PAR_COMM_TYPE_RS_AG,
         r, seq_par_ag_redo, "use false, or tensor_par_comm_type \"rs_ag\"",
         "only sequence parallelism (tensor_par_comm_type \"rs_ag\") has an all-gather to redo");
    RULE(e->strategy.seq_par_ag_redo && calc_recomputes_block(&e->strategy), r, seq_par_ag_redo,
         "use false, or activation_recompute \"attn_only\" or \"none\"",
         "%s recomputation already repeats the all-gather", recomputed(&e->strategy));
}

static void check_pipeline_and_data_par(rules *r)
{
    const calc_exec *e = r->exec;
    RULE(e->pipeline_par == 1 && e->pipeline_interleaving != 1, r, pipeline_interleaving,
         "use 1, or pipeline_par > 1", "%lld chunks need a pipeline, but pipeline_par = 1",
         (long long)e->pipeline_interleaving);
    RULE(e->strategy.data_par == 1 && e->strategy.context_par <= 1 &&
             e->strategy.optimizer_sharding,
         r, optimizer_sharding, "use false, or data_par > 1",
         "nothing to shard over with data_par = 1");
    RULE(e->strategy.data_par == 1 && e->strategy.context_par <= 1 && e->strategy.data_par_overlap,
         r, data_par_overlap, "use false, or data_par > 1", "nothing to overlap with data_par = 1");
}

static void check_inference(rules *r)
{
    const calc_exec *e = r->exec;
    const calc_strategy *s = &e->strategy;
    if (e->training) {
        return;
    }
    RULE(s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_NONE, r, activation_recompute,
         "use \"none\", or training true",
         "without training there is no backward pass to recompute for");
    RULE((s->data_par > 1 || s->context_par > 1) && s->data_par_overlap, r, data_par_overlap,
         "use false, or training true", "without training there are no gradients to reduce");
    RULE(s->offload_modules != 0, r, offload_modules, "leave it out, or training true",
         "without training nothing is kept for a backward pass");
    RULE(s->optimizer_offload, r, optimizer_offload, "use false, or training true",
         "without training there is no optimizer");
}

void calc_rules_served(const calc_app *app, const calc_exec *exec, calc_errors *errors)
{
    const rules own = {app, NULL, exec, errors}, *r = &own;
    const calc_strategy *s = &exec->strategy;
    calc_format given = app->checkpoint.weight_datatype;
    RULE(s->packed_size > 0, r, packed_size, "leave it out",
         "requests that are served are not packed into sequences");
    RULE(s->loss_share > 0, r, loss_share, "leave it out", "a layout that serves has no loss");
    RULE(s->padding_share > 0, r, padding_share, "leave it out", "engines pad no requests");
    RULE(s->frozen_datatype != CALC_FROZEN_DATATYPE_AUTO, r, frozen_datatype, "use weight_datatype",
         "weights that are served have the format of weight_datatype");
    RULE(s->weight_scale_bits > 0 &&
             calc_format_bytes_or(s->weight_datatype, calc_format_bytes_or(given, 2)) >= 2,
         r, weight_scale_bits, "set weight_datatype float4 or float8",
         "weights of 16 bits and more have no scales");
}

/* What is trained of the weights. */
static void check_trained(rules *r)
{
    const calc_exec *e = r->exec;
    const calc_strategy *s = &e->strategy;
    bool frozen = s->trained != CALC_TRAINED_ALL;
    if (!e->training) {
        RULE(frozen, r, trained, "leave it out, or training true",
             "without training no weights are trained");
        return;
    }
    RULE(s->weight_scale_bits > 0, r, weight_scale_bits, "use scaling",
         "weights that are trained have the scales of scaling");
    RULE(s->lora_rank > 0 && s->trained != CALC_TRAINED_ADAPTERS, r, lora_rank,
         "use trained \"adapters\", or leave lora_rank out",
         "adapters are trained alone, beside frozen weights");
    RULE(s->trained == CALC_TRAINED_BLOCKS && s->trained_blocks == 0, r, trained_blocks,
         "say how many of the last blocks are trained", "trained \"blocks\" needs their number");
    RULE(s->trained_blocks > 0 &&
             (s->trained == CALC_TRAINED_ALL || s->trained == CALC_TRAINED_HEAD),
         r, trained_blocks, "use trained \"blocks\" or \"adapters\"",
         "the last blocks are trained only with one of these");
    RULE(s->trained_blocks > r->app->num_blocks, r, trained_blocks,
         CALC_TEXT(64, "use at most %lld", (long long)r->app->num_blocks),
         "the model has fewer blocks");
    RULE(frozen && s->trained_blocks > 0 && e->pipeline_par > 1, r, trained_blocks,
         "use pipeline_par 1, or leave it out",
         "stages that train different shares of their blocks are not modelled");
    RULE(s->trained == CALC_TRAINED_HEAD && r->app->lm_head == CALC_CHOICE_FALSE, r, trained,
         "use \"blocks\" or \"all\"", "the model has no head (lm_head)");
}

/* A network assignment must name a network the system has. */
static void check_network_index(rules *r, const char *pointer, int64_t index)
{
    if (index < r->system->networks_count) {
        return;
    }
    long long count = r->system->networks_count;
    BROKEN_AT(r, pointer, count == 1 ? "use 0" : CALC_TEXT(64, "use 0 to %lld", count - 1),
              "no network %lld: the system has %lld", (long long)index, count);
}

/* The datatype required by the field at `pointer` must be offered by an engine. */
static void check_engine(rules *r, const char *pointer, const char *name,
                         const calc_engine *engines, calc_datatype datatype)
{
    const calc_engine *engine = &engines[datatype];
    if (engine->flop_per_s > 0 && engine->efficiency.count > 0) {
        return;
    }
    char hint[96] = "";
    for (int i = 0; i < CALC_DATATYPE_COUNT; i++) {
        if (engines[i].flop_per_s > 0 && engines[i].efficiency.count > 0) {
            calc_append(hint, sizeof hint, "%s %s", *hint ? " or" : "use", calc_datatype_names[i]);
        }
    }
    BROKEN_AT(r, pointer, hint, "the system's %s engine does not offer %s", name,
              calc_datatype_names[datatype]);
}

/* Blocks may multiply and work elementwise in other datatypes than the rest. A missing one is
 * reported once. */
static void check_engines(rules *r)
{
    const calc_system *s = r->system;
    calc_datatype rest = r->exec->strategy.datatype;
    calc_datatype blocks = calc_format_datatype(r->exec->strategy.matrix_datatype, rest);
    calc_datatype attention = calc_format_datatype(r->exec->strategy.attention_datatype, rest);
    calc_datatype elements = calc_format_datatype(r->exec->strategy.vector_datatype, rest);
    check_engine(r, "/datatype", "matrix", s->chip.matrix, rest);
    check_engine(r, "/datatype", "vector", s->chip.vector, rest);
    if (blocks != rest) {
        check_engine(r, "/matrix_datatype", "matrix", s->chip.matrix, blocks);
    }
    if (attention != rest) {
        check_engine(r, "/attention_datatype", "matrix", s->chip.matrix, attention);
    }
    if (elements != rest) {
        check_engine(r, "/vector_datatype", "vector", s->chip.vector, elements);
    }
}

/* Requirements of an execution on the system: networks and engines. */
static void check_system(rules *r)
{
    const calc_exec *exec = r->exec;
    check_network_index(r, "/tensor_par_net", exec->strategy.tensor_par_net);
    check_network_index(r, "/pipeline_par_net", exec->pipeline_par_net);
    check_network_index(r, "/data_par_net", exec->strategy.data_par_net);
    check_network_index(r, "/context_par_net", exec->strategy.context_par_net);
    check_network_index(r, "/expert_par_net", exec->strategy.expert_par_net);
    check_network_index(r, "/expert_tensor_par_net", exec->strategy.expert_tensor_par_net);
    check_network_index(r, "/expert_data_par_net", exec->strategy.expert_data_par_net);
    check_engines(r);
}

void calc_rules_prefill_system(const calc_app *app, const calc_system *system,
                               const calc_exec *exec, calc_errors *errors)
{
    static const char pointer[] = "/inference/prefill_system";
    const calc_other_system *other = &exec->inference.prefill_system;
    const calc_system *own = calc_prefill_pool_system(system, exec);
    calc_errors found = {0};
    rules r = {app, own, exec, &found};
    if (other->name[0] && !other->system) {
        calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC, pointer,
                        "put it into calc_exec.inference.prefill_system.system",
                        "system \"%.31s\" was not given", other->name);
    } else if (own != system) {
        check_system(&r);
    }
    if (found.count > 0) {
        const calc_error *e = &found.item[0];
        calc_errors_add(errors, e->status, CALC_KIND_EXEC, pointer, e->hint, "%.31s: %s: %.200s",
                        other->name, e->pointer + 1, e->text);
    }
}

/* @param before  errors there were
 * @return the status of the first one since then */
static calc_status status_since(const calc_errors *errors, int before)
{
    if (errors->count + errors->dropped == before) {
        return CALC_OK;
    }
    return before < errors->count ? errors->item[before].status : CALC_ERR_RULE;
}

calc_status calc_check(const calc_app *app, const calc_system *system, const calc_exec *exec,
                       calc_errors *errors)
{
    calc_errors own = {0};
    rules r = {app, system, exec, errors ? errors : &own};
    int before = r.errors->count + r.errors->dropped;
    if (exec->layers.count > 0) {
        /* First the execution, for layers that inherit from it, then the list. */
        const calc_exec inherited = calc_layer_list_exec(exec, &calc_layer_as_exec);
        if (calc_check(app, system, &inherited, r.errors) == CALC_OK) {
            calc_rules_layers(app, system, exec, r.errors);
        }
        return status_since(r.errors, before);
    }
    if (exec->software[0] && !exec->software_read) {
        calc_errors_add(r.errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC, "/software",
                        "read it by calc_software_read()", "software \"%.60s\" was not given",
                        exec->software);
    }
    calc_rules_model(app, exec->strategy.lora_rank > 0, r.errors);
    check_encoder(&r);
    check_attention_type(&r);
    check_offload(&r);
    check_groups(&r);
    check_parallel_sizes(&r);
    check_context_par(&r);
    check_linear_mixers(&r);
    check_expert_par(&r);
    check_schedule(&r);
    check_batch(&r);
    check_tensor_par(&r);
    check_pipeline_and_data_par(&r);
    check_inference(&r);
    if (exec->inference.phase != CALC_INFERENCE_PHASE_NONE) {
        calc_rules_served(app, exec, r.errors);
    }
    check_trained(&r);
    calc_rules_inference(app, exec, r.errors);
    calc_rules_serving(system, r.errors);
    check_system(&r);
    calc_serving_engine_check(system, &exec->inference.engine, r.errors);
    calc_rules_prefill_system(app, system, exec, r.errors);
    if (r.errors->count + r.errors->dropped == before) {
        calc_rules_stages(app, system, exec, r.errors);
    }
    return status_since(r.errors, before);
}
