#include "model/operators/shape.h"

#include <math.h>

#include "model/operators/processor.h"
#include "spec/format.h"

/* A choice, or the preset's value. */
static bool chosen(calc_choice choice, bool preset)
{
    return choice == CALC_CHOICE_AUTO ? preset : choice == CALC_CHOICE_TRUE;
}

static void set_structure(calc_shape *s, const calc_app *app, const calc_strategy *strategy)
{
    bool llama = app->structure_type == CALC_STRUCTURE_TYPE_LLAMA ||
                 strategy->structure_type == CALC_STRUCTURE_TYPE_LLAMA;
    s->gated = app->ffn_type == CALC_FFN_TYPE_AUTO
                   ? llama
                   : app->ffn_type == CALC_FFN_TYPE_SWIGLU || app->ffn_type == CALC_FFN_TYPE_GEGLU;
    s->rms = app->norm_type == CALC_NORM_TYPE_AUTO ? llama : app->norm_type == CALC_NORM_TYPE_RMS;
    s->rope = app->position_type == CALC_POSITION_TYPE_AUTO
                  ? llama
                  : app->position_type == CALC_POSITION_TYPE_ROPE;
    s->learned = app->position_type == CALC_POSITION_TYPE_AUTO
                     ? !llama
                     : app->position_type == CALC_POSITION_TYPE_LEARNED;
    s->bias = chosen(app->bias, !llama);
    s->dropout = chosen(app->dropout, !llama);
    s->tied = chosen(app->tied_embeddings, !llama);
    s->causal = app->causal;
    s->qk_norm = app->qk_norm;
}

static void set_attention(calc_shape *s, const calc_app *app, const calc_strategy *strategy)
{
    s->heads = (double)app->attn_heads;
    s->kv_heads = app->kv_heads > 0 ? (double)app->kv_heads
                  : strategy->attention_type == CALC_ATTENTION_TYPE_MULTIQUERY ? 1
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
    s->flash = strategy->flash_attention || strategy->attention_type == CALC_ATTENTION_TYPE_FLASH;
    s->window = (double)app->window_size;
    s->global_every = (double)app->global_every;
    s->local_heads = s->heads / s->tensor_par;
    s->local_kv_heads = calc_max(1, s->kv_heads / s->tensor_par);
}

static void set_experts(calc_shape *s, const calc_app *app)
{
    s->experts = (double)app->num_experts;
    s->placed_experts = s->experts;
    s->dense_blocks = s->experts > 0 ? (double)app->dense_blocks : s->blocks;
    s->moe_every = app->moe_every > 1 ? (double)app->moe_every : 1;
    s->router_bias = app->router_bias;
    if (s->experts > 0) {
        s->experts_per_token = (double)app->experts_per_token;
        s->expert_feedforward =
            app->expert_feedforward > 0 ? (double)app->expert_feedforward : s->feedforward;
        s->shared_feedforward = (double)app->shared_feedforward;
        s->groups_per_token = app->expert_groups > 1 ? (double)app->groups_per_token : 0;
    }
}

/* With its share of a scale: 8 bits for 1 x 32 numbers of 8 bits (MXFP8), which is as much as 32
 * bits for 1 x 128. */
static double stored_bytes(const calc_strategy *s, calc_format format)
{
    bool scaled = format == CALC_FORMAT_FLOAT8 && s->scaling == CALC_SCALING_BLOCK;
    return calc_format_bytes_or(format, calc_datatype_bytes(s->datatype)) + (scaled ? 1.0 / 32 : 0);
}

calc_shape calc_shape_of(const calc_app *app, const calc_strategy *strategy, int64_t microbatch,
                         int64_t seq)
{
    double element_bytes = calc_datatype_bytes(strategy->datatype);
    calc_shape s = {
        .hidden = (double)app->hidden,
        .feedforward = (double)app->feedforward,
        .seq = seq > 0 ? (double)seq : (double)app->seq_size,
        .blocks = (double)app->num_blocks,
        .mtp_blocks = (double)app->mtp_blocks,
        .tensor_par = calc_par_size(strategy->tensor_par),
        .context_par = calc_par_size(strategy->context_par),
        .expert_par = calc_par_size(strategy->expert_par),
        .expert_tensor_par = calc_par_size(strategy->expert_tensor_par),
        .microbatch = (double)microbatch,
        .element_bytes = element_bytes,
        .matrix_bytes = calc_format_bytes_or(strategy->matrix_datatype, element_bytes),
        .weight_bytes = calc_format_bytes_or(strategy->weight_datatype, element_bytes),
        .kept_bytes = stored_bytes(strategy, calc_format_stored(strategy)),
        .activated_bytes = stored_bytes(strategy, strategy->activation_datatype),
        .grad_bytes = calc_format_bytes_or(
            strategy->grad_datatype,
            strategy->memory_model == CALC_MEMORY_MODEL_MEGATRON ? 4 : element_bytes),
    };
    if (app->vocab_size > 0) {
        double multiple =
            (app->vocab_multiple > 0 ? (double)app->vocab_multiple : 128) * s.tensor_par;
        s.vocab = ceil((double)app->vocab_size / multiple) * multiple;
    }
    s.tokens = s.microbatch * s.seq / s.context_par;
    set_structure(&s, app, strategy);
    set_attention(&s, app, strategy);
    set_experts(&s, app);
    return s;
}

double calc_shape_moe_blocks(const calc_shape *shape)
{
    return shape->experts > 0 ? floor((shape->blocks - shape->dense_blocks) / shape->moe_every) : 0;
}

/* Chance that at least one of the experts of a token is among so many of them, a whole number: none
 * is with C(E - m, k) / C(E, k). */
static double chance(const calc_shape *s, double experts)
{
    double none = 1;
    for (double drawn = 0; drawn < s->experts_per_token && none > 0; drawn++) {
        none *= calc_max(0, s->experts - experts - drawn) / (s->experts - drawn);
    }
    return 1 - none;
}

double calc_shape_reached(const calc_shape *s, double destinations)
{
    double experts = s->experts / destinations;
    double fewer = floor(experts);
    double more = experts - fewer; /* share of the destinations that have one expert more */
    double reached = (1 - more) * chance(s, fewer) + (more > 0 ? more * chance(s, fewer + 1) : 0);
    return destinations * reached;
}

double calc_shape_global_share(const calc_shape *s)
{
    return s->window <= 0         ? 1
           : s->global_every <= 0 ? 0
                                  : floor(s->blocks / s->global_every) / s->blocks;
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
    double global = calc_shape_global_share(s);
    return global * whole + (1 - global) * part;
}
