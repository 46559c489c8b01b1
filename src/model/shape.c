#include "model/shape.h"

#include <math.h>

#include "model/layer.h"
#include "model/processor.h"

double calc_format_bytes(calc_format format)
{
    switch (format) {
    case CALC_FORMAT_FLOAT4:
        return 0.5;
    case CALC_FORMAT_FLOAT8:
        return 1;
    case CALC_FORMAT_FLOAT16:
    case CALC_FORMAT_BFLOAT16:
        return 2;
    case CALC_FORMAT_FLOAT32:
        return 4;
    default:
        return 0;
    }
}

double calc_format_bytes_or(calc_format format, double otherwise)
{
    return format == CALC_FORMAT_AUTO ? otherwise : calc_format_bytes(format);
}

calc_datatype calc_format_datatype(calc_format format, calc_datatype otherwise)
{
    switch (format) {
    case CALC_FORMAT_FLOAT4:
        return CALC_DATATYPE_FLOAT4;
    case CALC_FORMAT_FLOAT8:
        return CALC_DATATYPE_FLOAT8;
    case CALC_FORMAT_FLOAT16:
        return CALC_DATATYPE_FLOAT16;
    case CALC_FORMAT_BFLOAT16:
        return CALC_DATATYPE_BFLOAT16;
    case CALC_FORMAT_FLOAT32:
        return CALC_DATATYPE_FLOAT32;
    default:
        return otherwise;
    }
}

/* A choice, or what the preset says. */
static bool chosen(calc_choice choice, bool preset)
{
    return choice == CALC_CHOICE_AUTO ? preset : choice == CALC_CHOICE_TRUE;
}

static void set_structure(calc_shape *s, const calc_app *app, const calc_exec *exec)
{
    bool llama = app->structure_type == CALC_STRUCTURE_TYPE_LLAMA ||
                 exec->structure_type == CALC_STRUCTURE_TYPE_LLAMA;
    s->gated = app->ffn_type == CALC_FFN_TYPE_AUTO
                   ? llama
                   : app->ffn_type == CALC_FFN_TYPE_SWIGLU || app->ffn_type == CALC_FFN_TYPE_GEGLU;
    s->rms = app->norm_type == CALC_NORM_TYPE_AUTO ? llama : app->norm_type == CALC_NORM_TYPE_RMS;
    s->rope = app->position_type == CALC_POSITION_TYPE_AUTO
                  ? llama
                  : app->position_type == CALC_POSITION_TYPE_ROPE;
    s->bias = chosen(app->bias, !llama);
    s->dropout = chosen(app->dropout, !llama);
    s->tied = chosen(app->tied_embeddings, !llama);
    s->causal = app->causal;
    s->qk_norm = app->qk_norm;
}

static void set_attention(calc_shape *s, const calc_app *app, const calc_exec *exec)
{
    s->heads = (double)app->attn_heads;
    s->kv_heads = app->kv_heads > 0                                        ? (double)app->kv_heads
                  : exec->attention_type == CALC_ATTENTION_TYPE_MULTIQUERY ? 1
                                                                           : s->heads;
    s->latent = app->kv_lora_rank > 0;
    s->qk_size = (double)app->attn_size;
    s->v_size = s->qk_size;
    if (s->latent) {
        s->q_rank = (double)app->q_lora_rank;
        s->kv_rank = (double)app->kv_lora_rank;
        s->rope_size = (double)app->qk_rope_size;
        s->qk_size = (double)app->qk_nope_size + s->rope_size;
        s->v_size = app->v_size > 0 ? (double)app->v_size : (double)app->attn_size;
        s->kv_heads = s->heads;
    }
    s->flash = exec->flash_attention || exec->attention_type == CALC_ATTENTION_TYPE_FLASH;
    s->window = (double)app->window_size;
    s->global_every = (double)app->global_every;
    s->local_heads = s->heads / s->tensor_par;
    s->local_kv_heads = calc_max(1, s->kv_heads / s->tensor_par);
}

static void set_experts(calc_shape *s, const calc_app *app)
{
    s->experts = (double)app->num_experts;
    s->dense_blocks = s->experts > 0 ? (double)app->dense_blocks : s->blocks;
    s->moe_every = app->moe_every > 1 ? (double)app->moe_every : 1;
    s->router_bias = app->router_bias;
    if (s->experts > 0) {
        s->experts_per_token = (double)app->experts_per_token;
        s->expert_feedforward =
            app->expert_feedforward > 0 ? (double)app->expert_feedforward : s->feedforward;
        s->shared_feedforward = (double)app->shared_feedforward;
    }
}

calc_shape calc_shape_of(const calc_app *app, const calc_exec *exec)
{
    double element_bytes = calc_datatype_bytes(exec->datatype);
    calc_shape s = {
        .hidden = (double)app->hidden,
        .feedforward = (double)app->feedforward,
        .seq = exec->seq_size > 0 ? (double)exec->seq_size : (double)app->seq_size,
        .blocks = (double)app->num_blocks,
        .mtp_blocks = (double)app->mtp_blocks,
        .tensor_par = calc_par_size(exec->tensor_par),
        .context_par = calc_par_size(exec->context_par),
        .expert_par = calc_par_size(exec->expert_par),
        .expert_tensor_par = calc_par_size(exec->expert_tensor_par),
        .microbatch = (double)exec->microbatch_size,
        .element_bytes = element_bytes,
        .matrix_bytes = calc_format_bytes_or(exec->matrix_datatype, element_bytes),
        .weight_bytes = calc_format_bytes_or(exec->weight_datatype, element_bytes),
        .kept_bytes = calc_format_bytes_or(exec->activation_datatype, element_bytes),
        .grad_bytes = calc_format_bytes_or(
            exec->grad_datatype,
            exec->memory_model == CALC_MEMORY_MODEL_MEGATRON ? 4 : element_bytes),
    };
    if (app->vocab_size > 0) {
        double multiple =
            (app->vocab_multiple > 0 ? (double)app->vocab_multiple : 128) * s.tensor_par;
        s.vocab = ceil((double)app->vocab_size / multiple) * multiple;
    }
    s.tokens = s.microbatch * s.seq / s.context_par;
    set_structure(&s, app, exec);
    set_attention(&s, app, exec);
    set_experts(&s, app);
    return s;
}

double calc_shape_moe_blocks(const calc_shape *shape)
{
    return shape->experts > 0 ? floor((shape->blocks - shape->dense_blocks) / shape->moe_every) : 0;
}

double calc_shape_score_share(const calc_shape *s)
{
    if (!s->causal) {
        return 1;
    }
    double whole = (s->seq + 1) / (2 * s->seq);
    if (s->window <= 0 || s->window >= s->seq) {
        return whole;
    }
    double part = s->window / s->seq * (1 - s->window / (2 * s->seq));
    double global = s->global_every > 0 ? 1 / s->global_every : 0;
    return global * whole + (1 - global) * part;
}

bool calc_shape_extended_app(const calc_app *a)
{
    return a->structure_type != CALC_STRUCTURE_TYPE_GPT || a->ffn_type || a->norm_type ||
           a->position_type || a->bias || a->dropout || a->tied_embeddings || a->causal ||
           a->window_size || a->global_every || a->kv_heads || a->qk_norm || a->q_lora_rank ||
           a->kv_lora_rank || a->vocab_size || a->num_experts || a->shared_feedforward ||
           a->mtp_blocks;
}

static bool extended_exec(const calc_exec *e)
{
    return e->structure_type != CALC_STRUCTURE_TYPE_GPT || e->seq_size || e->flash_attention ||
           e->attention_kernel || e->attention_type > CALC_ATTENTION_TYPE_MULTIQUERY ||
           e->rank_order || e->context_par > 1 || e->expert_par > 1 || e->expert_tensor_par > 1 ||
           e->pipeline_schedule || e->pipeline_balance || e->first_stage_blocks ||
           e->last_stage_blocks || e->pipeline_par_overlap || e->zero_stage || e->fsdp_par ||
           e->param_gather_overlap || e->memory_model || e->matrix_datatype || e->weight_datatype ||
           e->activation_datatype || e->grad_datatype || e->grad_reduce_datatype ||
           e->master_datatype || e->optimizer_moment_datatype || e->scaling ||
           e->recompute_modules || e->recompute_blocks ||
           e->activation_recompute == CALC_ACTIVATION_RECOMPUTE_MODULES ||
           e->tensor_par_overlap > CALC_TENSOR_PAR_OVERLAP_PIPE || e->fused_cross_entropy ||
           e->unfused_rope || e->eager || e->unfused_experts || e->cuda_graph > 0 ||
           e->framework_mem || e->software_efficiency > 0 || e->datatype == CALC_DATATYPE_FLOAT4;
}

static bool extended_op(const calc_op_rate *o)
{
    return o->efficiency > 0 || o->latency_fixed_s > 0 || o->latency_step_s > 0;
}

static bool extended_network(const calc_network *n)
{
    const calc_op_rates *o = &n->op_parameters;
    return extended_op(&o->p2p) || extended_op(&o->reduce_scatter) || extended_op(&o->all_gather) ||
           extended_op(&o->all_reduce) || extended_op(&o->all_to_all) || n->latency_log2_s > 0 ||
           n->bandwidth_curve.count > 0 || n->oversubscription > 0 || n->reduction_in_network;
}

static bool extended_system(const calc_system *s)
{
    const calc_attention_rates *a = &s->attention;
    const calc_host *h = &s->host;
    const calc_overlap_shares *o = &s->overlap;
    bool any =
        s->sustained > 0 || a->fw_efficiency > 0 || a->bw_efficiency > 0 || a->launch_s > 0 ||
        a->softmax_size > 0 || a->generic_efficiency > 0 || a->unfused_efficiency > 0 ||
        s->grouped.efficiency > 0 || s->grouped.wgrad_bytes > 0 || s->launch.matrix_s > 0 ||
        s->launch.vector_s > 0 || h->block_s > 0 || h->moe_block_s > 0 || h->expert_s > 0 ||
        h->tensor_par_growth > 0 || h->recompute_growth > 0 || o->tensor_par_fused > 0 ||
        o->tensor_par_async > 0 || o->data_par > 0 || o->expert_par > 0 || o->pipeline_par > 0 ||
        o->contention > 0 || s->eager_traffic > 0 || s->expert_activation_traffic > 0 ||
        s->quantize_bytes > 0 || s->block_scaled_efficiency > 0 || s->permute_efficiency > 0 ||
        s->optimizer_efficiency > 0 || s->step_overhead_s > 0 || s->straggler_growth > 0 ||
        s->mem_reserved_bytes > 0 || s->mem_fragmentation > 0;
    for (int64_t i = 0; i < s->networks_count && !any; i++) {
        any = extended_network(&s->networks[i]);
    }
    return any;
}

bool calc_shape_extended(const calc_app *app, const calc_system *system, const calc_exec *exec)
{
    return calc_shape_extended_app(app) || extended_exec(exec) || extended_system(system);
}
