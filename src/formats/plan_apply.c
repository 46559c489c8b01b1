#include <math.h>
#include <string.h>

#include "base/error.h"
#include "formats/plan.h"
#include "formats/plan_layers.h"
#include "formats/plan_macros.h"
#include "spec/field.h"
#include "spec/format.h"
#include "spec/rules.h"

/* Resolves presets, "auto" and equivalent spellings, so that each meaning has one value. */

static void resolve_choice(calc_choice *choice, bool preset)
{
    if (*choice == CALC_CHOICE_AUTO) {
        *choice = preset ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
    }
}

static void resolve_structure(calc_app *app, bool llama)
{
    if (app->ffn_type == CALC_FFN_TYPE_AUTO) {
        app->ffn_type = llama ? CALC_FFN_TYPE_SWIGLU : CALC_FFN_TYPE_GELU;
    }
    if (app->norm_type == CALC_NORM_TYPE_AUTO) {
        app->norm_type = llama ? CALC_NORM_TYPE_RMS : CALC_NORM_TYPE_LAYER;
    }
    if (app->position_type == CALC_POSITION_TYPE_AUTO) {
        app->position_type = llama ? CALC_POSITION_TYPE_ROPE : CALC_POSITION_TYPE_LEARNED;
    }
    resolve_choice(&app->bias, !llama);
    resolve_choice(&app->dropout, !llama);
    resolve_choice(&app->tied_embeddings, !llama);
    app->structure_type = CALC_STRUCTURE_TYPE_GPT;
}

static int64_t or_else(int64_t value, int64_t absent)
{
    return value > 0 ? value : absent;
}

static void resolve_attention(calc_app *app, calc_exec *exec)
{
    if (exec->strategy.attention_type == CALC_ATTENTION_TYPE_FLASH) {
        exec->strategy.attention_type = CALC_ATTENTION_TYPE_MULTIHEAD;
        exec->strategy.flash_attention = true;
    }
    if (app->kv_lora_rank > 0) {
        exec->strategy.attention_type = CALC_ATTENTION_TYPE_MULTI_LATENT;
    }
    if (exec->strategy.attention_type == CALC_ATTENTION_TYPE_MULTI_LATENT) {
        return;
    }
    bool one = exec->strategy.attention_type == CALC_ATTENTION_TYPE_MULTIQUERY;
    app->kv_heads = or_else(app->kv_heads, one ? 1 : app->attn_heads);
    exec->strategy.attention_type = app->kv_heads == app->attn_heads ? CALC_ATTENTION_TYPE_MULTIHEAD
                                    : app->kv_heads == 1 ? CALC_ATTENTION_TYPE_MULTIQUERY
                                                         : CALC_ATTENTION_TYPE_GROUPED_QUERY;
}

static void resolve_format(calc_format *format, calc_format absent)
{
    if (*format == CALC_FORMAT_AUTO) {
        *format = absent;
    }
}

static void resolve_formats(calc_exec *exec)
{
    static const calc_format formats[CALC_DATATYPE_COUNT] = {
        [CALC_DATATYPE_FLOAT4] = CALC_FORMAT_FLOAT4,
        [CALC_DATATYPE_FLOAT8] = CALC_FORMAT_FLOAT8,
        [CALC_DATATYPE_FLOAT16] = CALC_FORMAT_FLOAT16,
        [CALC_DATATYPE_BFLOAT16] = CALC_FORMAT_BFLOAT16,
        [CALC_DATATYPE_FLOAT32] = CALC_FORMAT_FLOAT32};
    calc_format own = formats[exec->strategy.datatype];
    resolve_format(&exec->strategy.matrix_datatype, own);
    resolve_format(&exec->strategy.weight_datatype, own);
    const calc_format stored = calc_format_stored(&exec->strategy);
    if (stored == own || stored == CALC_FORMAT_AUTO) { /* else auto is no one format of all */
        exec->strategy.activation_datatype = own;
    }
    resolve_format(&exec->strategy.dispatch_datatype, own);
    resolve_format(&exec->strategy.combine_datatype, own);
    resolve_format(&exec->strategy.grad_datatype, CALC_FORMAT_FLOAT32);
    resolve_format(&exec->strategy.grad_reduce_datatype, exec->strategy.grad_datatype);
    resolve_format(&exec->strategy.master_datatype, CALC_FORMAT_FLOAT32);
    resolve_format(&exec->strategy.optimizer_moment_datatype, CALC_FORMAT_FLOAT32);
}

static void resolve_experts(calc_app *app, calc_exec *exec)
{
    exec->strategy.expert_par = or_else(exec->strategy.expert_par, 1);
    exec->strategy.expert_tensor_par = or_else(exec->strategy.expert_tensor_par, 1);
    app->moe_every = or_else(app->moe_every, 1);
    app->expert_groups = or_else(app->expert_groups, 1);
    app->groups_per_token = or_else(app->groups_per_token, app->expert_groups);
    resolve_format(&app->router_datatype, CALC_FORMAT_FLOAT32);
    if (app->num_experts > 0) {
        app->expert_feedforward = or_else(app->expert_feedforward, app->feedforward);
    }
}

static void resolve_sharding(calc_strategy *s)
{
    if (s->zero_stage == 0) {
        s->zero_stage = s->optimizer_sharding ? 1 : 0;
    }
    s->optimizer_sharding = s->zero_stage > 0;
    s->fsdp_par = s->optimizer_sharding ? or_else(s->fsdp_par, s->data_par * s->context_par) : 0;
    if (!s->optimizer_sharding) {
        s->param_gather_overlap = CALC_CHOICE_AUTO;
    } else {
        resolve_choice(&s->param_gather_overlap, s->data_par_overlap);
    }
}

static void resolve_recompute(calc_strategy *s)
{
    if (s->activation_recompute == CALC_ACTIVATION_RECOMPUTE_MODULES &&
        s->recompute_modules == 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN) {
        s->activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    }
    if (s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_MODULES) {
        s->recompute_modules = 0;
    }
    if (s->activation_recompute != CALC_ACTIVATION_RECOMPUTE_FULL) {
        s->recompute_group = 0;
        s->distribute_saved_activations = false;
    }
    if (s->tensor_par == 1 || s->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG) {
        s->distribute_saved_activations = false; /* they are divided anyway, or never */
    }
    s->recompute_group = or_else(s->recompute_group, 1);
}

/* Adapters without a list of matrices are those of all, and none of what a model has not. */
static void resolve_trained(const calc_app *app, calc_exec *exec)
{
    enum {
        PLAIN = 1 << CALC_LORA_MODULES_Q_PROJ | 1 << CALC_LORA_MODULES_K_PROJ |
                1 << CALC_LORA_MODULES_V_PROJ,
        QUERY = 1 << CALC_LORA_MODULES_Q_A_PROJ | 1 << CALC_LORA_MODULES_Q_B_PROJ,
        LATENT = QUERY | 1 << CALC_LORA_MODULES_KV_A_PROJ | 1 << CALC_LORA_MODULES_KV_B_PROJ,
        LINEAR = 1 << CALC_LORA_MODULES_IN_PROJ | 1 << CALC_LORA_MODULES_OUT_PROJ,
        GATE = 1 << CALC_LORA_MODULES_GATE_PROJ,
        UP = 1 << CALC_LORA_MODULES_UP_PROJ,
        FEEDFORWARD = GATE | UP | 1 << CALC_LORA_MODULES_DOWN_PROJ,
        ALL = (1 << CALC_LORA_MODULES_HEAD) - 1
    };
    calc_strategy *s = &exec->strategy;
    int64_t modules = s->lora_modules > 0 ? s->lora_modules : ALL;
    bool gated = app->ffn_type == CALC_FFN_TYPE_SWIGLU || app->ffn_type == CALC_FFN_TYPE_GEGLU;
    if (app->stack.layers == 0) {
        bool latent = s->attention_type == CALC_ATTENTION_TYPE_MULTI_LATENT;
        int64_t whole = app->q_lora_rank > 0 ? PLAIN : PLAIN & ~(1 << CALC_LORA_MODULES_Q_PROJ);
        modules &= ~(LINEAR | (latent ? whole | (app->q_lora_rank > 0 ? 0 : QUERY) : LATENT) |
                     (gated ? 0 : GATE));
    }
    bool adapters = (s->trained == CALC_TRAINED_ADAPTERS || !exec->training) && s->lora_rank > 0 &&
                    modules != 0;
    bool together = (modules & PLAIN) == PLAIN || (modules & (GATE | UP)) == (GATE | UP);
    bool experts = app->num_experts > 0 || app->stack.layers > 0;
    s->lora_rank = adapters ? s->lora_rank : 0;
    s->lora_modules = adapters ? modules : 0;
    s->lora_fused = adapters && s->lora_fused && together;
    s->lora_dropout = adapters && s->lora_dropout;
    s->dora = adapters && s->dora;
    if (!adapters || !experts || !(modules & FEEDFORWARD)) {
        s->lora_experts = CALC_LORA_EXPERTS_NONE;
    }
    if (s->trained == CALC_TRAINED_ALL) {
        s->trained_blocks = 0;
        s->frozen_datatype = CALC_FROZEN_DATATYPE_AUTO;
    }
}

/* Resets settings that have no effect here to their neutral values. */
static void resolve_idle(const calc_app *app, calc_exec *exec)
{
    calc_strategy *s = &exec->strategy;
    if (s->tensor_par == 1) {
        s->tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
        s->tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_NONE;
        s->seq_par_ag_redo = false;
    }
    if (s->context_par == 1) {
        s->context_par_type = CALC_CONTEXT_PAR_TYPE_RING;
        s->context_par_inner = 0;
    }
    if (exec->pipeline_par == 1) {
        exec->pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B;
        exec->pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
        exec->first_stage_blocks = exec->last_stage_blocks = 0;
        s->pipeline_par_overlap = false;
        if (exec->rank_order == CALC_RANK_ORDER_TP_CP_EP_PP_DP) {
            exec->rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP; /* equivalent with one stage */
        }
    }
    if (exec->pipeline_par == 1 || exec->pipeline_schedule != CALC_PIPELINE_SCHEDULE_1F1B) {
        exec->deferred_head_wgrad = 0;
    }
    /* Counting the ends as blocks changes nothing with two stages, or if one stage only has a
     * block more. */
    int64_t stages = exec->pipeline_par;
    bool alike = stages == 2 || (stages > 2 && (app->num_blocks + 2) % stages == 1);
    if (exec->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS && exec->pipeline_interleaving == 1 &&
        exec->first_stage_blocks == 0 && exec->last_stage_blocks == 0 && alike) {
        exec->pipeline_balance = CALC_PIPELINE_BALANCE_BLOCKS;
    }
    if (s->data_par * s->context_par == 1) {
        s->optimizer_sharding = s->data_par_overlap = false;
        s->zero_stage = s->fsdp_par = 0;
        s->param_gather_overlap = CALC_CHOICE_AUTO;
    }
    if (s->expert_par <= 1 && s->expert_tensor_par <= 1) { /* every token finds its experts there */
        s->dispatch_type = CALC_DISPATCH_TYPE_ALL_TO_ALL;
    }
    if (app->num_experts == 0) {
        s->dispatch_type = CALC_DISPATCH_TYPE_ALL_TO_ALL;
        s->expert_par_overlap = CALC_EXPERT_PAR_OVERLAP_NONE;
        s->fused_experts = false;
        s->capacity_factor = s->rank_capacity_factor = s->paged_stash = 0;
    }
    if (s->rank_capacity_factor <= 0) {
        s->paged_stash = 0;
    }
    s->delayed_wgrad = s->delayed_wgrad && s->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH;
}

/* The parts as the model's own fields are, which become those of its parts. */
static void resolve_parts(calc_app *app, const calc_exec *exec, bool llama)
{
    static const int64_t chunk[CALC_PART_TYPE_COUNT] = {[CALC_PART_TYPE_MAMBA2] = 128,
                                                        [CALC_PART_TYPE_GATED_DELTA] = 64,
                                                        [CALC_PART_TYPE_KIMI_DELTA] = 64,
                                                        [CALC_PART_TYPE_LIGHTNING] = 256};
    if (app->stack.parts + app->stack.layers == 0) {
        return;
    }
    calc_app own = *app; /* large, as the layout: copied once */
    calc_exec e = *exec;
    for (int i = 0; i < app->stack.parts; i++) {
        calc_part *part = &app->stack.part[i];
        e.strategy = exec->strategy;
#define CALC_FIELD(name, kind, arg, ...)
#define CALC_PART_FIELD(name, kind, arg, ...) own.name = part->name;
#include "calc/app.fields.h"
#undef CALC_PART_FIELD
        resolve_structure(&own, llama);
        resolve_attention(&own, &e);
        resolve_experts(&own, &e);
        part->linear_chunk = or_else(part->linear_chunk, chunk[part->type]);
#define CALC_PART_FIELD(name, kind, arg, ...) part->name = own.name;
#include "calc/app.fields.h"
#undef CALC_FIELD
#undef CALC_PART_FIELD
    }
    calc_plan_layers_represent(app);
}

void calc_plan_resolve(calc_app *app, calc_exec *exec)
{
    bool llama = app->structure_type == CALC_STRUCTURE_TYPE_LLAMA ||
                 exec->strategy.structure_type == CALC_STRUCTURE_TYPE_LLAMA;
    resolve_parts(app, exec, llama);
    resolve_structure(app, llama);
    exec->strategy.structure_type = CALC_STRUCTURE_TYPE_GPT;
    app->seq_size = or_else(exec->seq_size, app->seq_size);
    exec->seq_size = 0;
    app->vocab_multiple = or_else(app->vocab_multiple, 128);
    exec->strategy.context_par = or_else(exec->strategy.context_par, 1);
    resolve_idle(app, exec);
    resolve_attention(app, exec);
    resolve_experts(app, exec);
    resolve_formats(exec);
    resolve_sharding(&exec->strategy);
    resolve_recompute(&exec->strategy);
    resolve_trained(app, exec);
    calc_plan_stages_resolve(app, exec);
}

/* Turns a framework's settings into a model and a layout. Missing settings have Megatron-LM's
 * defaults. */

static calc_status contradiction(calc_errors *errors, const char *hint, const char *text,
                                 int64_t first, int64_t second)
{
    return calc_errors_add(errors, CALC_ERR_RULE, CALC_KIND_NONE, NULL, hint, text,
                           (long long)first, (long long)second);
}

static calc_status apply_sizes(const calc_plan *plan, calc_exec *e, calc_errors *errors)
{
    enum { MAX_PROCS = 1000000000 };
    e->strategy.tensor_par = COUNT(TENSOR);
    e->pipeline_par = COUNT(PIPELINE);
    e->strategy.context_par = COUNT(CONTEXT);
    double each =
        (double)e->strategy.tensor_par * (double)e->pipeline_par * (double)e->strategy.context_par;
    double procs = SAYS(PROCS)                       ? VALUE(PROCS)
                   : SAYS(NODE_PROCS) || SAYS(NODES) ? VALUE(NODE_PROCS) * VALUE(NODES)
                                                     : 0;
    double replicas = VALUE(DATA);
    bool counted = SAYS(BATCH) && SAYS(MICROBATCH) && SAYS(MICROBATCHES) && !SAYS(DATA);
    if (counted) {
        replicas = floor(VALUE(BATCH) / VALUE(MICROBATCH) / VALUE(MICROBATCHES));
    }
    if (SAYS(SHARD_RANKS) && !SAYS(DATA) && !counted) {
        replicas = VALUE(SHARD_RANKS) * VALUE(INSTANCES) / (double)e->strategy.context_par;
    } else if (!SAYS(DATA) && !counted && COUNT(EXPERT) > 1) { /* the fewest with all experts */
        int64_t ranks = e->strategy.tensor_par * e->strategy.context_par;
        int64_t spread = COUNT(EXPERT) * COUNT_OR(EXPERT_TENSOR, e->strategy.tensor_par);
        int64_t fewest = spread / calc_gcd(spread, ranks);
        replicas = (double)fewest;
    }
    procs = procs > 0 ? procs : each * replicas;
    if (procs > MAX_PROCS || each > MAX_PROCS || procs < 1) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                               "%g processors: expected 1 to %d", procs, MAX_PROCS);
    }
    e->num_procs = (int64_t)procs;
    if (e->num_procs % (int64_t)each != 0) {
        return contradiction(errors, "nodes times processors of a node, or --procs, says how many",
                             "%lld processors are not a multiple of tensor * pipeline * context "
                             "parallelism = %lld",
                             e->num_procs, (int64_t)each);
    }
    e->strategy.data_par = e->num_procs / (int64_t)each;
    if (SAYS(DATA) && COUNT(DATA) != e->strategy.data_par) {
        return contradiction(errors, NULL,
                             "data parallelism %lld contradicts the other sizes: they leave %lld",
                             COUNT(DATA), e->strategy.data_par);
    }
    return CALC_OK;
}

static calc_status apply_batch(const calc_plan *plan, calc_exec *e, calc_errors *errors)
{
    e->microbatch_size = COUNT(MICROBATCH);
    double each = (double)e->microbatch_size * (double)e->strategy.data_par;
    double batch = VALUE_OR(BATCH, each * VALUE(MICROBATCHES));
    if (batch > 1e12 || each > 1e12) {
        return calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL,
                               "a global batch of %g: expected at most 1e12", batch);
    }
    e->batch_size = (int64_t)batch;
    if (e->batch_size % (int64_t)each != 0) {
        return contradiction(errors, NULL,
                             "the global batch of %lld is not a multiple of micro-batch * data "
                             "parallelism = %lld",
                             e->batch_size, (int64_t)each);
    }
    return CALC_OK;
}

static calc_status apply_chunks(const calc_plan *plan, calc_exec *e, calc_errors *errors)
{
    e->pipeline_interleaving = COUNT(CHUNKS);
    if (SAYS(CHUNKS) || !SAYS(CHUNK_BLOCKS) || e->pipeline_par == 1) {
        return CALC_OK;
    }
    int64_t blocks = COUNT(BLOCKS);
    double each = VALUE(CHUNK_BLOCKS) * (double)e->pipeline_par;
    int64_t units = blocks + (YES(ENDS) ? 2 : YES(EVEN_ENDS) || YES(EVEN_HEAD) ? 1 : 0);
    if (blocks == 0) {
        return calc_errors_add(errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL,
                               "without it, set pipeline_interleaving in the layout",
                               "blocks per chunk need the number of blocks, which is missing");
    }
    if (each > (double)units || units % (int64_t)each != 0) {
        return contradiction(errors, NULL,
                             "chunks of %lld blocks do not divide a stage of a model of %lld",
                             COUNT(CHUNK_BLOCKS), blocks);
    }
    e->pipeline_interleaving = units / (int64_t)each;
    return CALC_OK;
}

/* Where only the embedding or only the head counts as a block, lists the blocks of all chunks. */
static calc_status apply_one_end(calc_plan *plan, const calc_exec *e, calc_errors *errors)
{
    int64_t all = e->pipeline_par * e->pipeline_interleaving, units = COUNT(BLOCKS) + 1;
    if (YES(EVEN_ENDS) == YES(EVEN_HEAD) || e->pipeline_par == 1 || units == 1) {
        return CALC_OK;
    }
    if (units % all != 0 || units == all || all > CALC_MAX_PLACES) {
        return contradiction(errors, NULL,
                             "%lld blocks and one end of the model do not divide by %lld chunks",
                             units - 1, all);
    }
    plan->blocks.count = (int32_t)all;
    for (int64_t i = 0; i < all; i++) {
        plan->blocks.number[i] = (int16_t)(units / all);
    }
    plan->blocks.number[YES(EVEN_ENDS) ? 0 : all - 1]--;
    SET(STAGE_BLOCKS, 3);
    return CALC_OK;
}

static void apply_tensor(const calc_plan *plan, calc_exec *e)
{
    bool sequence = YES(SEQ_PAR) && e->strategy.tensor_par > 1;
    e->strategy.tensor_par_comm_type =
        sequence ? CALC_TENSOR_PAR_COMM_TYPE_RS_AG : CALC_TENSOR_PAR_COMM_TYPE_AR;
    e->strategy.seq_par_ag_redo = sequence && !calc_recomputes_block(&e->strategy);
    /* Without user buffers Megatron-LM still overlaps in the backward pass; other frameworks have a
     * switch. */
    bool silent = SAYS(TENSOR_SWITCHES) && COUNT(TENSOR_SWITCHES) == 0;
    e->strategy.tensor_par_overlap = e->strategy.tensor_par == 1 ? CALC_TENSOR_PAR_OVERLAP_NONE
                                     : YES(TENSOR_OVERLAP)       ? CALC_TENSOR_PAR_OVERLAP_FUSED
                                     : silent                    ? CALC_TENSOR_PAR_OVERLAP_NONE
                                                                 : CALC_TENSOR_PAR_OVERLAP_ASYNC;
    if (e->strategy.context_par > 1) {
        e->strategy.context_par_type = (calc_context_par_type)COUNT(CONTEXT_TYPE);
        e->strategy.context_par_inner = COUNT(CONTEXT_INNER);
    } else {
        e->strategy.context_par = 0;
    }
}

static calc_status apply_recompute(const calc_plan *plan, calc_exec *e, calc_errors *errors)
{
    enum { PARTS = 1, BLOCKS, OPERATIONS };
    const int64_t core = 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN;
    int64_t granularity = COUNT(RECOMPUTE);
    int64_t every = COUNT(RECOMPUTE_EVERY);
    if (granularity == OPERATIONS && every == 0) {
        e->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP;
    } else if (granularity == OPERATIONS) {
        int64_t blocks = COUNT(BLOCKS) / e->pipeline_par / every;
        if (every > 1 && blocks == 0) {
            return calc_errors_add(
                errors, CALC_ERR_FIELD, CALC_KIND_NONE, NULL,
                "without it, set activation_recompute and recompute_blocks in the layout",
                "recomputation of every block of %lld needs the number of blocks, which is missing",
                (long long)every);
        }
        e->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
        e->recompute_blocks = every > 1 ? blocks : 0;
    } else if (granularity == BLOCKS) {
        e->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_FULL;
        bool uniform = COUNT(RECOMPUTE_METHOD) != 1;
        int64_t blocks = uniform ? 0 : COUNT(RECOMPUTE_BLOCKS);
        int64_t chunks = e->pipeline_par * e->pipeline_interleaving;
        int64_t most = COUNT(BLOCKS) > 0 ? (COUNT(BLOCKS) + chunks - 1) / chunks : INT64_MAX;
        int64_t group = COUNT(RECOMPUTE_BLOCKS) < most ? COUNT(RECOMPUTE_BLOCKS) : most;
        e->strategy.recompute_group = uniform && group > 1 ? group : 0;
        e->strategy.distribute_saved_activations =
            YES(DISTRIBUTED) && e->strategy.tensor_par > 1 && !YES(SEQ_PAR);
        e->recompute_blocks = blocks * e->pipeline_interleaving;
    } else if (granularity == PARTS) {
        int64_t modules = COUNT(RECOMPUTE_MODULES);
        e->strategy.activation_recompute = modules == core ? CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY
                                                           : CALC_ACTIVATION_RECOMPUTE_MODULES;
        e->strategy.recompute_modules = modules == core ? 0 : modules;
    }
    return CALC_OK;
}

static void apply_sharding(const calc_plan *plan, calc_exec *e)
{
    int64_t ranks = e->strategy.data_par * COUNT(CONTEXT);
    int64_t optimizer = COUNT(OPTIMIZER);
    bool layer_wise = optimizer > CALC_OPTIMIZER_MUON;
    int64_t stage = COUNT_OR(SHARDED, YES(DIST_OPT) || layer_wise ? 1 : 0);
    e->strategy.optimizer_sharding = ranks > 1 && stage > 0;
    e->strategy.zero_stage = e->strategy.optimizer_sharding ? stage : 0;
    if (e->strategy.optimizer_sharding) {
        int64_t instances = COUNT(INSTANCES);
        int64_t shard = COUNT_OR(SHARD_RANKS, instances > 0 ? ranks / instances : ranks);
        e->strategy.fsdp_par = shard < ranks ? shard : 0;
    }
    e->strategy.data_par_overlap = ranks > 1 && YES(GRAD_OVERLAP);
    bool gather = YES_OR(GATHER_OVERLAP, e->strategy.data_par_overlap);
    if (e->strategy.optimizer_sharding && gather != e->strategy.data_par_overlap) {
        e->strategy.param_gather_overlap = gather ? CALC_CHOICE_TRUE : CALC_CHOICE_FALSE;
    }
    e->strategy.optimizer = optimizer > 0 ? CALC_OPTIMIZER_MUON : CALC_OPTIMIZER_ADAM;
}

static void apply_offload(const calc_plan *plan, calc_exec *e)
{
    double share = VALUE(OFFLOAD_SHARE);
    if (YES(OFFLOAD_BLOCKS) && YES(ACT_OFFLOAD) && YES(BLOCKS)) {
        share = VALUE(OFFLOAD_BLOCKS) / VALUE(BLOCKS);
    }
    e->strategy.weight_offload = YES(WEIGHT_OFFLOAD);
    e->strategy.optimizer_offload = YES(OPT_OFFLOAD) && share > 0;
    e->strategy.grad_offload = e->strategy.optimizer_offload && YES(GRAD_OFFLOAD);
    bool state = e->strategy.optimizer_offload || e->strategy.weight_offload;
    e->strategy.offload_buffers = state ? VALUE(OFFLOAD_BUFFERS) : 0;
    e->strategy.activations_offload = YES(ACT_OFFLOAD);
    e->strategy.offload_modules = YES(MOVES) && share > 0 ? COUNT(MOVED) : 0;
    bool any = e->strategy.weight_offload || e->strategy.activations_offload ||
               e->strategy.optimizer_offload || e->strategy.offload_modules;
    e->strategy.offload_share = any && share < 1 ? share : 0;
}

static void apply_formats(const calc_plan *plan, calc_exec *e)
{
    e->strategy.datatype = (calc_datatype)COUNT(PRECISION);
    if (YES(FP8)) {
        e->strategy.matrix_datatype = CALC_FORMAT_FLOAT8;
        e->strategy.scaling = (calc_scaling)COUNT(FP8_RECIPE);
    }
    if (YES(FP4)) {
        e->strategy.matrix_datatype = CALC_FORMAT_FLOAT4;
        e->strategy.scaling = CALC_SCALING_BLOCK;
    }
    calc_format state = (calc_format)COUNT(STATE);
    bool own = calc_format_datatype(state, e->strategy.datatype) == e->strategy.datatype;
    e->strategy.weight_datatype = YES(LOW_WEIGHTS) ? CALC_FORMAT_FLOAT8
                                  : own            ? CALC_FORMAT_AUTO
                                                   : state;
    bool half = e->strategy.datatype == CALC_DATATYPE_FLOAT16;
    int64_t grad = COUNT_OR(GRAD, half ? CALC_FORMAT_FLOAT16 : CALC_FORMAT_FLOAT32);
    e->strategy.grad_datatype = grad == CALC_FORMAT_FLOAT32 ? CALC_FORMAT_AUTO : (calc_format)grad;
    e->strategy.activation_datatype = YES(FP8) ? (calc_format)COUNT(ACTIVATIONS) : CALC_FORMAT_AUTO;
    e->strategy.master_datatype = (calc_format)COUNT(MASTER);
    e->strategy.optimizer_moment_datatype = (calc_format)COUNT(MOMENTS);
}

static void apply_pipeline(const calc_plan *plan, calc_exec *e)
{
    int64_t looped = COUNT(LOOPED) % CALC_PLAN_LOOPED_CHUNKS;
    e->pipeline_schedule = (calc_pipeline_schedule)COUNT_OR(SCHEDULE, looped);
    e->pipeline_balance = COUNT(STAGE_BLOCKS) == 3 && plan->blocks.count == 0
                              ? CALC_PIPELINE_BALANCE_FREE
                          : YES(ENDS) ? CALC_PIPELINE_BALANCE_ENDS
                                      : CALC_PIPELINE_BALANCE_BLOCKS;
    e->first_stage_blocks = COUNT(FIRST_BLOCKS);
    e->last_stage_blocks = COUNT(LAST_BLOCKS);
    int64_t deferred = COUNT(DEFER_LIMIT);
    e->deferred_head_wgrad = !YES(DEFER_WGRAD) ? 0 : deferred > 0 ? deferred : -1;
    e->strategy.pipeline_par_overlap = e->pipeline_interleaving > 1 && YES(STAGE_OVERLAP);
    e->rank_order =
        YES(STAGES_FIRST) ? CALC_RANK_ORDER_TP_CP_EP_PP_DP : CALC_RANK_ORDER_TP_CP_EP_DP_PP;
}

static void apply_kernels(const calc_plan *plan, calc_exec *e)
{
    e->strategy.fused_activation = YES(FUSED_ACT);
    e->strategy.flash_attention = YES(FLASH);
    e->strategy.attention_datatype = YES(FP8_ATTENTION) ? CALC_FORMAT_FLOAT8 : CALC_FORMAT_AUTO;
    e->strategy.unfused_rope = YES(UNFUSED_ROPE) && COUNT(POSITION) == CALC_POSITION_TYPE_ROPE;
    e->strategy.fused_cross_entropy = YES(FUSED_LOSS) || COUNT(LIGER) == 1;
    e->strategy.eager = YES(EAGER) && !YES(LIGER);
    /* Models in PyTorch have a kernel for each operation. */
    e->strategy.unfused_norm = e->strategy.eager && !YES(FUSED_NORM);
    e->strategy.attention_kernel =
        YES(PORTABLE) ? CALC_ATTENTION_KERNEL_GENERIC : CALC_ATTENTION_KERNEL_VENDOR;
    e->strategy.framework_mem = YES(LOSS_COPIES) ? 1 << CALC_FRAMEWORK_MEM_LOSS_COPIES : 0;
    if (COUNT(LOSS_PARALLEL) == CALC_PLAN_LOSS_GATHERED && e->strategy.tensor_par > 1) {
        e->strategy.framework_mem |= 1 << CALC_FRAMEWORK_MEM_LOGITS_GATHERED;
    } else if (YES(LOSS_PARALLEL) && (YES(LOSS_COPIES) || e->strategy.eager) &&
               e->strategy.tensor_par > 1) {
        e->strategy.framework_mem |= 1 << CALC_FRAMEWORK_MEM_LOSS_PARALLEL;
    }
    enum { WHOLE = 8 | 16, ATTENTION = 1 }; /* words of mcore.c */
    int64_t parts = COUNT(GRAPHED);
    e->strategy.cuda_graph = COUNT(GRAPHS) == 0                              ? 0
                             : COUNT(GRAPHS) == 1 || !parts || parts & WHOLE ? 1
                             : parts & ATTENTION ? CALC_GRAPHED_ATTENTION
                                                 : CALC_GRAPHED_ROUTER;
    e->strategy.memory_model = CALC_MEMORY_MODEL_MEGATRON;
    e->training = true;
    e->pipeline_par_net = 1;
    e->strategy.data_par_net = 1;
}

/* What is trained, and in which format the rest is kept. */
static void apply_trained(const calc_plan *plan, calc_exec *e)
{
    enum {
        FEEDFORWARD = 1 << CALC_LORA_MODULES_GATE_PROJ | 1 << CALC_LORA_MODULES_UP_PROJ |
                      1 << CALC_LORA_MODULES_DOWN_PROJ
    };
    calc_strategy *s = &e->strategy;
    int64_t kind = COUNT(LORA_CLASS);
    int64_t said = COUNT(LORA_MODULES);
    int64_t modules = (said | said >> CALC_PLAN_LORA_APART) & (CALC_PLAN_LATENT_QUERY - 1);
    bool none = (SAYS(HIDDEN) && !YES(EXPERTS)) || (modules && !(modules & FEEDFORWARD));
    /* A projector that nothing is said of is trained beside a frozen encoder. */
    s->encoder_trained = !YES(TOWER)      ? CALC_ENCODER_TRAINED_ALL
                         : YES(TOWER_OUT) ? CALC_ENCODER_TRAINED_NONE
                                          : CALC_ENCODER_TRAINED_PROJECTOR;
    s->trained = kind > 0 ? CALC_TRAINED_ADAPTERS : (calc_trained)COUNT(ADAPTER);
    if (s->trained == CALC_TRAINED_ALL) {
        return;
    }
    s->trained_blocks = COUNT(TRAINED_BLOCKS);
    s->frozen_datatype = (calc_frozen_datatype)COUNT(FROZEN);
    if (s->frozen_datatype == CALC_FROZEN_DATATYPE_NF4 && YES(NESTED)) {
        s->frozen_datatype = CALC_FROZEN_DATATYPE_NF4_DOUBLE;
    }
    if (s->trained != CALC_TRAINED_ADAPTERS) {
        return;
    }
    if (said & CALC_PLAN_LATENT_QUERY) {
        modules |= 1 << CALC_LORA_MODULES_Q_PROJ;
    }
    s->lora_rank = COUNT(LORA_RANK);
    s->lora_modules = modules;
    s->lora_experts = none ? CALC_LORA_EXPERTS_NONE : (calc_lora_experts)COUNT(LORA_EXPERTS);
    s->lora_fused = kind > 0 ? kind != CALC_PLAN_LORA_EACH : YES(LORA_FUSED);
    s->lora_dropout = YES(LORA_DROPOUT) && YES(LORA_BEFORE);
    s->dora = YES(DORA) || kind == CALC_PLAN_LORA_DORA;
}

static calc_status apply_dispatch(const calc_plan *plan, calc_exec *e, calc_errors *errors)
{
    int64_t expert = COUNT(EXPERT);
    /* A file that does not describe the model can still set expert parallelism. */
    bool experts = SAYS(EXPERTS) ? YES(EXPERTS)
                                 : expert > 1 || (SAYS(MODEL) && calc_plan_model_of(plan)->experts);
    if (!experts) {
        return CALC_OK;
    }
    bool split = YES(SPLITS_EXPERTS) && expert <= 1;
    int64_t tensor =
        split ? e->strategy.tensor_par : COUNT_OR(EXPERT_TENSOR, e->strategy.tensor_par);
    e->strategy.expert_par = expert > 1 ? expert : 0;
    e->strategy.expert_tensor_par = tensor > 1 ? tensor : 0;
    e->strategy.dispatch_type = YES(DEEPEP) || YES(FLEX) ? CALC_DISPATCH_TYPE_NODE_LIMITED
                                                         : (calc_dispatch_type)COUNT(DISPATCH);
    /* A negative size of the stash is the same, of the tokens that have come most. */
    e->strategy.rank_capacity_factor = YES(ROOM) ? fmax(VALUE(ROOM), 1) : 0;
    e->strategy.paged_stash = YES(STASH) ? fmax(fabs(VALUE(STASH_SIZE)), 1) : 0;
    e->strategy.capacity_factor = VALUE(CAPACITY);
    e->strategy.delayed_wgrad = YES(DELAYED_WGRAD);
    e->strategy.fused_experts = YES(FUSED_EXPERTS);
    e->strategy.expert_par_overlap = YES(BATCH_OVERLAP)    ? CALC_EXPERT_PAR_OVERLAP_BATCH
                                     : YES(SHARED_OVERLAP) ? CALC_EXPERT_PAR_OVERLAP_SHARED
                                                           : CALC_EXPERT_PAR_OVERLAP_NONE;
    int64_t ranks = expert * tensor, stage = e->num_procs / e->pipeline_par;
    bool part = SAYS(NODE_PROCS) && !SAYS(NODES) && !SAYS(PROCS); /* one node, as far as it says */
    return !part || stage % ranks == 0
               ? CALC_OK
               : contradiction(errors, "--procs says how many there are",
                               "experts over %lld processors do not divide the %lld of a stage",
                               ranks, stage);
}

/* Chooses the preset that explains most values, and sets the values that differ from it. */
static void apply_structure(const calc_plan *plan, calc_app *a)
{
    calc_ffn_type ffn =
        (calc_ffn_type)COUNT_OR(FFN_TYPE, YES(GATED) ? CALC_FFN_TYPE_SWIGLU : CALC_FFN_TYPE_GELU);
    calc_norm_type norm = (calc_norm_type)COUNT(NORM);
    calc_position_type position = (calc_position_type)COUNT(POSITION);
    bool llama = ffn == CALC_FFN_TYPE_SWIGLU && norm == CALC_NORM_TYPE_RMS &&
                 position == CALC_POSITION_TYPE_ROPE;
    a->structure_type = llama ? CALC_STRUCTURE_TYPE_LLAMA : CALC_STRUCTURE_TYPE_GPT;
    if (!llama) {
        a->ffn_type = ffn == CALC_FFN_TYPE_GELU ? CALC_FFN_TYPE_AUTO : ffn;
        a->norm_type = norm == CALC_NORM_TYPE_LAYER ? CALC_NORM_TYPE_AUTO : norm;
        a->position_type =
            position == CALC_POSITION_TYPE_LEARNED ? CALC_POSITION_TYPE_AUTO : position;
    }
    a->bias = calc_plan_choice(YES(BIAS), !llama);
    a->dropout = calc_plan_choice(YES(DROPOUT), !llama);
    a->tied_embeddings = calc_plan_choice(YES(TIED), !llama);
    a->causal = true;
}

static void apply_attention(const calc_plan *plan, calc_app *a, calc_exec *e)
{
    a->attn_heads = COUNT(HEADS);
    a->attn_size = COUNT_OR(HEAD_SIZE, a->attn_heads > 0 ? a->hidden / a->attn_heads : 0);
    a->qk_norm = YES(QK_NORM);
    a->window_size = COUNT(WINDOW);
    a->global_every = a->window_size > 0 ? COUNT(GLOBAL_EVERY) : 0;
    if (YES_OR(LATENT, SAYS(KV_LORA))) {
        e->strategy.attention_type = CALC_ATTENTION_TYPE_MULTI_LATENT;
        a->q_lora_rank = COUNT(Q_LORA);
        a->kv_lora_rank = COUNT(KV_LORA);
        a->qk_nope_size = COUNT(QK_NOPE);
        a->qk_rope_size = COUNT(QK_ROPE);
        a->v_size = COUNT(V_SIZE);
        return;
    }
    int64_t kv = YES_OR(GROUPED, SAYS(KV_HEADS)) ? COUNT(KV_HEADS) : 0;
    bool grouped = kv > 0 && (kv < a->attn_heads || a->attn_heads == 0);
    a->kv_heads = grouped ? kv : 0;
    e->strategy.attention_type = !grouped  ? CALC_ATTENTION_TYPE_MULTIHEAD
                                 : kv == 1 ? CALC_ATTENTION_TYPE_MULTIQUERY
                                           : CALC_ATTENTION_TYPE_GROUPED_QUERY;
}

static void apply_experts(const calc_plan *plan, calc_app *a)
{
    a->num_experts = COUNT(EXPERTS);
    if (a->num_experts == 0) {
        return;
    }
    int64_t every = COUNT(MOE_EVERY);
    int64_t groups = COUNT(GROUPS);
    a->experts_per_token = COUNT(TOP_K);
    a->expert_feedforward = COUNT(EXPERT_FFN);
    a->shared_feedforward = COUNT(SHARED_FFN);
    a->dense_blocks = COUNT(DENSE_BLOCKS);
    a->moe_every = every > 1 ? every : 0;
    a->expert_groups = groups > 1 ? groups : 0;
    a->groups_per_token = groups > 1 ? COUNT(TOKEN_GROUPS) : 0;
    a->router_bias = YES(ROUTER_BIAS);
}

static void apply_model(const calc_plan *plan, calc_app *a)
{
    int64_t multiple = COUNT(VOCAB_MULTIPLE);
    a->hidden = COUNT(HIDDEN);
    a->num_blocks = COUNT(BLOCKS);
    a->seq_size = COUNT(SEQ);
    /* Megatron-LM's default for a missing width. */
    bool gated = YES_OR(GATED, COUNT(FFN_TYPE) >= CALC_FFN_TYPE_SWIGLU);
    a->feedforward = COUNT_OR(FFN, gated ? a->hidden * 8 / 3 / 64 * 64 : 4 * a->hidden);
    a->vocab_size = COUNT(VOCAB);
    a->vocab_multiple = multiple == 128 ? 0 : multiple;
    a->mtp_blocks = COUNT(MTP);
}

calc_status calc_plan_apply(const calc_plan *said, calc_app *app, calc_exec *exec,
                            calc_errors *errors)
{
    calc_plan joined = *said;
    const calc_plan *plan = &joined;
    calc_status status = calc_plan_layers_join(&joined, errors);
    calc_plan_join(&joined);
    memset(app, 0, sizeof *app);
    memset(exec, 0, sizeof *exec);
    exec->strategy.context_par_net = exec->strategy.expert_par_net =
        exec->strategy.expert_tensor_par_net = -1;
    exec->strategy.expert_data_par_net = -1;
    status = status == CALC_OK ? apply_sizes(plan, exec, errors) : status;
    status = status == CALC_OK ? apply_batch(plan, exec, errors) : status;
    status = status == CALC_OK ? apply_chunks(plan, exec, errors) : status;
    status = status == CALC_OK ? apply_one_end(&joined, exec, errors) : status;
    status = status == CALC_OK ? apply_recompute(plan, exec, errors) : status;
    if (status != CALC_OK) {
        return status;
    }
    apply_tensor(plan, exec);
    apply_sharding(plan, exec);
    apply_offload(plan, exec);
    apply_formats(plan, exec);
    apply_pipeline(plan, exec);
    apply_kernels(plan, exec);
    apply_trained(plan, exec);
    status = apply_dispatch(plan, exec, errors);
    apply_model(plan, app);
    apply_structure(plan, app);
    apply_attention(plan, app, exec);
    apply_experts(plan, app);
    if (SAYS(SERVE_PROGRAM)) {
        calc_plan_serve_apply(plan, exec);
    }
    status = status == CALC_OK ? calc_plan_layers_apply(plan, app, errors) : status;
    status = status == CALC_OK ? calc_plan_stages_apply(plan, app, exec, errors) : status;
    char text[256];
    return status == CALC_OK && (calc_misfit(CALC_KIND_APP, app, true, text, sizeof text) ||
                                 calc_misfit(CALC_KIND_EXEC, exec, false, text, sizeof text))
               ? calc_errors_add(errors, CALC_ERR_RANGE, CALC_KIND_NONE, NULL, NULL, "%s", text)
               : status;
}
