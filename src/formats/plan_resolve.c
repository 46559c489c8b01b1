/* Resolves presets, "auto" and equivalent spellings, so that each meaning has one value. */
#include "formats/plan.h"
#include "formats/plan_layers.h"
#include "formats/plan_stages.h"
#include "spec/format.h"

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
    exec->strategy.activation_datatype = calc_format_stored(&exec->strategy);
    resolve_format(&exec->strategy.activation_datatype, own);
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

static void resolve_sharding(calc_exec *exec)
{
    if (exec->strategy.zero_stage == 0) {
        exec->strategy.zero_stage = exec->strategy.optimizer_sharding ? 1 : 0;
    }
    exec->strategy.optimizer_sharding = exec->strategy.zero_stage > 0;
    exec->strategy.fsdp_par =
        exec->strategy.optimizer_sharding
            ? or_else(exec->strategy.fsdp_par, exec->strategy.data_par * exec->strategy.context_par)
            : 0;
    if (!exec->strategy.optimizer_sharding) {
        exec->strategy.param_gather_overlap = CALC_CHOICE_AUTO;
    } else {
        resolve_choice(&exec->strategy.param_gather_overlap, exec->strategy.data_par_overlap);
    }
}

static void resolve_recompute(calc_exec *exec)
{
    if (exec->strategy.activation_recompute == CALC_ACTIVATION_RECOMPUTE_MODULES &&
        exec->strategy.recompute_modules == 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN) {
        exec->strategy.activation_recompute = CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY;
    }
    if (exec->strategy.activation_recompute != CALC_ACTIVATION_RECOMPUTE_MODULES) {
        exec->strategy.recompute_modules = 0;
    }
    if (exec->strategy.activation_recompute != CALC_ACTIVATION_RECOMPUTE_FULL) {
        exec->strategy.recompute_group = 0;
        exec->strategy.distribute_saved_activations = false;
    }
    if (exec->strategy.tensor_par == 1 ||
        exec->strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG) {
        exec->strategy.distribute_saved_activations = false; /* they are divided anyway, or never */
    }
    exec->strategy.recompute_group = or_else(exec->strategy.recompute_group, 1);
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
    bool adapters = s->trained == CALC_TRAINED_ADAPTERS && s->lora_rank > 0 && modules != 0;
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
        if (exec->rank_order == CALC_RANK_ORDER_TP_CP_EP_PP_DP) {
            exec->rank_order = CALC_RANK_ORDER_TP_CP_EP_DP_PP; /* equivalent with one stage */
        }
    }
    if (exec->pipeline_par == 1 || exec->pipeline_schedule != CALC_PIPELINE_SCHEDULE_1F1B) {
        exec->deferred_head_wgrad = 0;
    }
    if (exec->pipeline_par == 1 || exec->pipeline_interleaving == 1) {
        s->pipeline_par_overlap = false;
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
    for (int i = 0; i < app->stack.parts; i++) {
        calc_part *part = &app->stack.part[i];
        calc_app own = *app;
        calc_exec e = *exec;
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
    resolve_sharding(exec);
    resolve_recompute(exec);
    resolve_trained(app, exec);
    calc_plan_stages_resolve(app, exec);
}
