#include "formats/plan_layers.h"
#include "formats/plan_macros.h"
#include "formats/plan_stages.h"

#include "spec/rules.h"

static const struct {
    const char *field, *meaning;
    double absent;
} members[CALC_PLAN_COUNT] = {
#define CALC_PLAN(name, field, absent, meaning) {field, meaning, absent},
#include "formats/plan.fields.h"
#undef CALC_PLAN
};

const char *calc_plan_field(calc_plan_member member)
{
    return members[member].field;
}

const char *calc_plan_meaning(calc_plan_member member)
{
    return members[member].meaning;
}

double calc_plan_value(const calc_plan *plan, calc_plan_member member)
{
    return calc_plan_get(plan, member, members[member].absent);
}

void calc_plan_clear(calc_plan *plan)
{
    for (size_t i = 0; i < CALC_PLAN_COUNT; i++) {
        plan->value[i] = NAN;
    }
    plan->blocks.count = plan->offsets.count = plan->recomputed.count = 0;
    plan->experts.count = plan->linear.count = plan->windows.count = plan->unrotated.count = 0;
    plan->letters[0] = plan->mtp_letters[0] = '\0';
    for (size_t i = 0; i < sizeof plan->note / sizeof *plan->note; i++) {
        plan->note[i] = NULL;
    }
}

void calc_plan_note(calc_plan *plan, const char *text)
{
    for (size_t i = 0; i < sizeof plan->note / sizeof *plan->note; i++) {
        if (!plan->note[i]) {
            plan->note[i] = text;
            return;
        }
    }
}

/* Sets a member only if it is above the default. */
#define SET_ABOVE(name, number)                                                                    \
    (plan->value[CALC_PLAN_##name] =                                                               \
         (double)(number) > members[CALC_PLAN_##name].absent ? (double)(number) : NAN)

static void set_sizes(calc_plan *plan, const calc_app *a, const calc_exec *e, int64_t node_procs)
{
    int64_t node = calc_gcd(e->num_procs, node_procs);
    SET(PROCS, e->num_procs);
    SET(NODE_PROCS, node);
    int64_t nodes = e->num_procs / node;
    SET(NODES, nodes);
    SET(TENSOR, e->strategy.tensor_par);
    SET(PIPELINE, e->pipeline_par);
    SET(DATA, e->strategy.data_par);
    SET_ABOVE(CONTEXT, e->strategy.context_par);
    if (e->strategy.context_par > 1) {
        SET(CONTEXT_TYPE, e->strategy.context_par_type);
        SET_ABOVE(CONTEXT_INNER, e->strategy.context_par_inner);
    }
    int64_t stages = e->pipeline_par * e->pipeline_interleaving;
    SET_ABOVE(CHUNKS, e->pipeline_interleaving);
    SET_ABOVE(EVEN_CHUNKS, e->pipeline_interleaving);
    int64_t units = a->num_blocks + (e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS ? 2 : 0);
    if (e->pipeline_interleaving > 1 && units % stages == 0) {
        int64_t blocks = units / stages;
        SET(CHUNK_BLOCKS, blocks);
    }
    int64_t local = e->batch_size / e->strategy.data_par;
    SET(BATCH, e->batch_size);
    SET(MICROBATCH, e->microbatch_size);
    int64_t microbatches = local / e->microbatch_size;
    SET(MICROBATCHES, microbatches);
    SET(LOCAL_BATCH, e->pipeline_par > 1 ? local : e->microbatch_size);
}

static void set_recompute(calc_plan *plan, const calc_exec *e)
{
    switch (e->strategy.activation_recompute) {
    case CALC_ACTIVATION_RECOMPUTE_FULL:
        SET(RECOMPUTE, 2);
        SET(RECOMPUTE_METHOD, e->recompute_blocks > 0);
        SET(RECOMPUTE_BLOCKS, e->recompute_blocks > 0
                                  ? e->recompute_blocks / e->pipeline_interleaving
                              : e->strategy.recompute_group > 1 ? e->strategy.recompute_group
                                                                : 1);
        SET(DISTRIBUTED, e->strategy.distribute_saved_activations);
        break;
    case CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY:
        SET(RECOMPUTE, 1);
        SET(RECOMPUTE_MODULES, 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN);
        break;
    case CALC_ACTIVATION_RECOMPUTE_MODULES:
        SET(RECOMPUTE, 1);
        SET(RECOMPUTE_MODULES, e->strategy.recompute_modules);
        break;
    case CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP:
        SET(RECOMPUTE, 3);
        SET(RECOMPUTE_EVERY, 0);
        break;
    default:
        SET(RECOMPUTE, 0);
    }
}

static void set_sharding(calc_plan *plan, const calc_exec *e)
{
    SET(DIST_OPT, e->strategy.optimizer_sharding);
    SET(SHARDED, e->strategy.zero_stage);
    SET(FSDP, e->strategy.zero_stage >= 2);
    int64_t ranks = e->strategy.data_par * e->strategy.context_par;
    SET(SHARD_RANKS, e->strategy.zero_stage > 0 ? e->strategy.fsdp_par : 1);
    int64_t instances = ranks / (e->strategy.zero_stage > 0 ? e->strategy.fsdp_par : 1);
    SET(INSTANCES, instances);
    SET(GRAD_OVERLAP, e->strategy.data_par_overlap);
    bool gather = e->strategy.param_gather_overlap == CALC_CHOICE_TRUE;
    SET(GATHER_OVERLAP, gather && e->strategy.data_par_overlap); /* Megatron-LM requires both */
    if (e->strategy.optimizer != CALC_OPTIMIZER_ADAM) {
        SET(OPTIMIZER, e->strategy.optimizer);
    }
    SET(OPT_OFFLOAD, e->strategy.optimizer_offload);
    SET(WEIGHT_OFFLOAD, e->strategy.weight_offload);
    SET(STATE_OFFLOAD, e->strategy.weight_offload && e->strategy.optimizer_offload);
    SET(ACT_OFFLOAD, e->strategy.activations_offload);
    double share = e->strategy.offload_share;
    if (share > 0 && share < 1) {
        SET(OFFLOAD_SHARE, share);
        double blocks = share * VALUE(BLOCKS);
        if (e->strategy.activations_offload && blocks == floor(blocks)) {
            SET(OFFLOAD_BLOCKS, blocks);
        }
    }
    if (e->strategy.offload_modules) {
        SET(MOVES, 1);
        SET(MOVED, e->strategy.offload_modules);
    }
}

static void set_formats(calc_plan *plan, const calc_exec *e)
{
    bool low = e->strategy.datatype == CALC_DATATYPE_FLOAT8 ||
               e->strategy.datatype == CALC_DATATYPE_FLOAT4;
    SET(PRECISION, low ? CALC_DATATYPE_BFLOAT16 : e->strategy.datatype);
    if (e->strategy.matrix_datatype == CALC_FORMAT_FLOAT8) {
        SET(FP8, 1);
        SET(FP8_RECIPE, e->strategy.scaling);
    }
    if (e->strategy.matrix_datatype == CALC_FORMAT_FLOAT4) {
        SET(FP4, 1);
    }
    SET(LOW_WEIGHTS, e->strategy.weight_datatype == CALC_FORMAT_FLOAT8);
    calc_format usual =
        e->strategy.datatype == CALC_DATATYPE_FLOAT16 ? CALC_FORMAT_FLOAT16 : CALC_FORMAT_FLOAT32;
    if (e->strategy.grad_datatype != usual) {
        SET(GRAD, e->strategy.grad_datatype);
    }
    if (e->strategy.master_datatype != CALC_FORMAT_FLOAT32) {
        SET(MASTER, e->strategy.master_datatype);
    }
    if (e->strategy.optimizer_moment_datatype != CALC_FORMAT_FLOAT32) {
        SET(MOMENTS, e->strategy.optimizer_moment_datatype);
    }
    bool narrow = e->strategy.weight_datatype == e->strategy.master_datatype &&
                  e->strategy.weight_datatype == e->strategy.optimizer_moment_datatype &&
                  e->strategy.weight_datatype == e->strategy.grad_datatype;
    if (narrow || e->strategy.weight_datatype == CALC_FORMAT_FLOAT32) {
        SET(STATE, e->strategy.weight_datatype);
    }
    SET(PRECISE, e->strategy.optimizer_offload || SAYS(MASTER) || SAYS(MOMENTS));
}

static void set_pipeline(calc_plan *plan, const calc_exec *e)
{
    SET(SCHEDULE, e->pipeline_schedule);
    bool looped = e->pipeline_schedule == CALC_PIPELINE_SCHEDULE_1F1B;
    SET(LOOPED, e->pipeline_schedule +
                    (looped && e->pipeline_interleaving > 1 ? CALC_PLAN_LOOPED_CHUNKS : 0));
    SET(ENDS, e->pipeline_balance == CALC_PIPELINE_BALANCE_ENDS);
    SET_ABOVE(FIRST_BLOCKS, e->first_stage_blocks);
    SET_ABOVE(LAST_BLOCKS, e->last_stage_blocks);
    if (e->pipeline_interleaving > 1) {
        SET(STAGE_OVERLAP, e->strategy.pipeline_par_overlap);
    }
    if (e->deferred_head_wgrad != 0) {
        SET(DEFER_WGRAD, 1);
        SET(DEFER_LIMIT, e->deferred_head_wgrad > 0 ? e->deferred_head_wgrad : 0);
    }
    SET(STAGES_FIRST, e->rank_order == CALC_RANK_ORDER_TP_CP_EP_PP_DP);
}

static void set_kernels(calc_plan *plan, const calc_app *app, const calc_exec *e)
{
    SET(SEQ_PAR, e->strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG);
    SET(TENSOR_OVERLAP, e->strategy.tensor_par_overlap > CALC_TENSOR_PAR_OVERLAP_NONE &&
                            e->strategy.tensor_par_overlap != CALC_TENSOR_PAR_OVERLAP_ASYNC);
    SET(FUSED_ACT, e->strategy.fused_activation);
    SET(FLASH, e->strategy.flash_attention);
    SET(FP8_ATTENTION, e->strategy.attention_datatype == CALC_FORMAT_FLOAT8);
    SET(FUSED_LOSS, e->strategy.fused_cross_entropy);
    bool copies = e->strategy.framework_mem >> CALC_FRAMEWORK_MEM_LOSS_COPIES & 1;
    SET(PORTABLE, e->strategy.attention_kernel == CALC_ATTENTION_KERNEL_GENERIC);
    SET(LOSS_COPIES, copies);
    if (copies && !e->strategy.eager) {
        SET(COMPILED, CALC_PLAN_COMPILED_BLOCKS);
    }
    SET(EAGER, e->strategy.eager);
    bool router = app->num_experts > 0;
    bool partly = e->strategy.cuda_graph > 0 && e->strategy.cuda_graph < 1;
    SET(GRAPHS, partly ? 2 : e->strategy.cuda_graph > 0);
    if (partly) {
        enum { ATTENTION = 1, ROUTER = 2 };
        bool attention = e->strategy.cuda_graph > CALC_GRAPHED_ROUTER || !router;
        SET(GRAPHED, attention * ATTENTION + router * ROUTER);
    }
}

/* Adapters; no framework is told of another part of the weights. */
static void set_trained(calc_plan *plan, const calc_exec *e)
{
    const calc_strategy *s = &e->strategy;
    const int64_t query = 1 << CALC_LORA_MODULES_Q_PROJ;
    const int64_t apart = query | 1 << CALC_LORA_MODULES_K_PROJ | 1 << CALC_LORA_MODULES_V_PROJ |
                          1 << CALC_LORA_MODULES_GATE_PROJ | 1 << CALC_LORA_MODULES_UP_PROJ;
    int64_t modules = s->lora_modules;
    if (s->lora_rank == 0) {
        return;
    }
    if (s->attention_type == CALC_ATTENTION_TYPE_MULTI_LATENT && modules & query) {
        modules = (modules & ~query) | CALC_PLAN_LATENT_QUERY;
    }
    SET(LORA_CLASS, s->dora         ? CALC_PLAN_LORA_DORA
                    : s->lora_fused ? CALC_PLAN_LORA_TOGETHER
                                    : CALC_PLAN_LORA_EACH);
    if (COUNT(LORA_CLASS) == CALC_PLAN_LORA_EACH) {
        modules = (modules & ~apart) | (modules & apart) << CALC_PLAN_LORA_APART;
    }
    SET(LORA_RANK, s->lora_rank);
    SET(LORA_MODULES, modules);
    SET(LORA_DROPOUT, s->lora_dropout ? 0.1 : 0);
    if (s->lora_experts != CALC_LORA_EXPERTS_NONE && !s->dora) {
        SET(LORA_EXPERTS, s->lora_experts);
    }
}

static void set_dispatch(calc_plan *plan, const calc_exec *e)
{
    SET(EXPERT, e->strategy.expert_par);
    SET(EXPERT_TENSOR, e->strategy.expert_tensor_par);
    SET(DISPATCH, e->strategy.dispatch_type);
    enum { DEEPEP = 1, HYBRIDEP = 2 }; /* only the latter has room for a fixed number of tokens */
    bool limited = e->strategy.dispatch_type == CALC_DISPATCH_TYPE_NODE_LIMITED;
    bool fixed = e->strategy.rank_capacity_factor > 0;
    SET(DEEPEP, limited);
    SET(FLEX, !limited ? 0 : fixed ? HYBRIDEP : DEEPEP);
    if (fixed) {
        SET(ROOM, e->strategy.rank_capacity_factor);
    }
    if (e->strategy.paged_stash > 0) {
        SET(STASH, 1);
        SET(STASH_SIZE, e->strategy.paged_stash);
    }
    if (e->strategy.capacity_factor > 0) {
        SET(CAPACITY, e->strategy.capacity_factor);
        SET(PADDED, 1);
    }
    SET(SHARED_OVERLAP, e->strategy.expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_SHARED);
    bool batch = e->strategy.expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH;
    SET(DELAYED_WGRAD, e->strategy.delayed_wgrad && batch); /* Megatron Core refuses it without */
    SET(FUSED_EXPERTS, e->strategy.fused_experts);
    SET(BATCH_OVERLAP, batch);
}

static void set_experts(calc_plan *plan, const calc_app *a)
{
    SET(EXPERTS, a->num_experts);
    SET(TOP_K, a->experts_per_token);
    SET(EXPERT_FFN, a->expert_feedforward);
    SET_ABOVE(SHARED_FFN, a->shared_feedforward);
    SET(DENSE_BLOCKS, a->dense_blocks);
    SET(MOE_EVERY, a->moe_every);
    if (a->expert_groups > 1) {
        SET(GROUPS, a->expert_groups);
        SET(TOKEN_GROUPS, a->groups_per_token);
    }
    SET(ROUTER_BIAS, a->router_bias);
    SET(ONE_EXPERT, a->experts_per_token == 1 && !a->router_bias);
    SET(BIASED_EXPERTS, a->bias == CALC_CHOICE_TRUE);
    if (a->router_datatype == CALC_FORMAT_FLOAT32) {
        SET(ROUTER, a->router_datatype);
    }
}

static void set_attention(calc_plan *plan, const calc_app *a, const calc_exec *e)
{
    bool latent = e->strategy.attention_type == CALC_ATTENTION_TYPE_MULTI_LATENT;
    SET(LATENT, latent);
    if (latent) {
        SET_ABOVE(Q_LORA, a->q_lora_rank);
        SET(KV_LORA, a->kv_lora_rank);
        SET(QK_NOPE, a->qk_nope_size);
        SET(QK_ROPE, a->qk_rope_size);
        SET(V_SIZE, a->v_size);
    } else {
        SET(GROUPED, a->kv_heads < a->attn_heads);
        if (a->kv_heads < a->attn_heads) {
            SET(KV_HEADS, a->kv_heads);
        }
    }
    SET(QK_NORM, a->qk_norm);
    SET_ABOVE(WINDOW, a->window_size);
    if (a->window_size > 0) {
        SET_ABOVE(GLOBAL_EVERY, a->global_every);
    }
    if (a->position_type == CALC_POSITION_TYPE_ROPE) {
        SET(UNFUSED_ROPE, e->strategy.unfused_rope);
    }
}

/* Models that a framework knows by name, in the order of the words of its table. Other models share
 * hidden size and blocks with them: Llama 2 and Qwen 2 with Llama 3. */
static const calc_plan_model model[] = {{"llama3-8B", 4096, 32, 14336, 128256, false},
                                        {"llama3-70B", 8192, 80, 28672, 128256, false},
                                        {"llama3-405B", 16384, 126, 53248, 128256, false},
                                        {"deepseek-v2-lite", 2048, 27, 10944, 102400, true},
                                        {"deepseek-v2-236B", 5120, 60, 12288, 102400, true},
                                        {"deepseek-v3-671B", 7168, 61, 18432, 129280, true}};

const calc_plan_model *calc_plan_model_of(const calc_plan *plan)
{
    return SAYS(MODEL) ? &model[COUNT(MODEL)] : NULL;
}

static void set_model_name(calc_plan *plan, const calc_app *a)
{
    bool alike = a->stack.layers == 0 && a->index_heads == 0; /* blocks of attention alone */
    for (size_t i = 0; i < sizeof model / sizeof *model && alike; i++) {
        if (a->hidden == model[i].hidden && a->num_blocks == model[i].blocks &&
            a->feedforward == model[i].feedforward &&
            (a->vocab_size == 0 || a->vocab_size == model[i].vocab) &&
            (a->num_experts > 0) == model[i].experts) {
            SET(MODEL, i);
        }
    }
}

static void set_model(calc_plan *plan, const calc_app *a)
{
    SET(SEQ, a->seq_size);
    SET(POSITIONS, a->seq_size);
    SET(HIDDEN, a->hidden);
    SET(FFN, a->feedforward);
    SET(BLOCKS, a->num_blocks);
    SET(HEADS, a->attn_heads);
    SET(HEAD_SIZE, a->attn_size);
    SET(FFN_TYPE, a->ffn_type);
    SET(GATED, a->ffn_type == CALC_FFN_TYPE_SWIGLU || a->ffn_type == CALC_FFN_TYPE_GEGLU);
    SET(NORM, a->norm_type);
    SET(POSITION, a->position_type);
    SET(BIAS, a->bias == CALC_CHOICE_TRUE);
    SET(DROPOUT, a->dropout == CALC_CHOICE_TRUE ? 0.1 : 0);
    SET(TIED, a->tied_embeddings == CALC_CHOICE_TRUE);
    SET_ABOVE(VOCAB, a->vocab_size);
    SET(VOCAB_MULTIPLE, a->vocab_multiple);
    SET_ABOVE(MTP, a->mtp_blocks);
    set_model_name(plan, a);
}

void calc_plan_from(calc_plan *plan, const calc_app *app, const calc_exec *exec, int64_t node_procs)
{
    calc_app a = *app;
    calc_exec e = *exec;
    calc_plan_resolve(&a, &e);
    calc_plan_clear(plan);
    set_sizes(plan, &a, &e, node_procs);
    set_model(plan, &a);
    set_attention(plan, &a, &e);
    set_recompute(plan, &e);
    set_sharding(plan, &e);
    set_formats(plan, &e);
    set_pipeline(plan, &e);
    set_kernels(plan, &a, &e);
    set_trained(plan, &e);
    if (a.num_experts > 0) {
        set_experts(plan, &a);
        set_dispatch(plan, &e);
    }
    calc_plan_split(plan, &e);
    calc_plan_serve(plan, &a, &e);
    calc_plan_stages_from(plan, &a, &e);
    calc_plan_layers_from(plan, &a, &e);
}
