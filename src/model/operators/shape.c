#include "model/operators/shape.h"

#include <math.h>

#include "model/operators/processor.h"
#include "spec/format.h"
#include "spec/stack.h"

/* A choice, or the preset's value. */
static bool chosen(calc_choice choice, bool preset)
{
    return choice == CALC_CHOICE_AUTO ? preset : choice == CALC_CHOICE_TRUE;
}

static void set_structure(calc_shape *s, const calc_app *app, const calc_strategy *strategy)
{
    bool llama = app->structure_type == CALC_STRUCTURE_TYPE_LLAMA ||
                 strategy->structure_type == CALC_STRUCTURE_TYPE_LLAMA;
    s->rms = app->norm_type == CALC_NORM_TYPE_AUTO ? llama : app->norm_type == CALC_NORM_TYPE_RMS;
    s->llama = llama;
    s->learned = app->position_type == CALC_POSITION_TYPE_AUTO
                     ? !llama
                     : app->position_type == CALC_POSITION_TYPE_LEARNED;
    s->bias = chosen(app->bias, !llama);
    s->dropout = chosen(app->dropout, !llama);
    s->headless = app->lm_head == CALC_CHOICE_FALSE;
    s->tied = !s->headless && chosen(app->tied_embeddings, !llama);
    s->causal = app->causal;
    const calc_encoder *e = &app->encoder;
    s->encoder =
        e->hidden > 0 && e->num_blocks > 0 && e->feedforward > 0 && e->attn_heads > 0 ? e : NULL;
    s->norm_place = app->norm_place;
    s->residual = app->residual_type;
    s->streams = calc_max(1, (double)app->residual_streams);
    s->residual_rank = (double)app->residual_rank;
    s->layer_embedding = (double)app->layer_embedding;
    s->layer_vocab = (double)(app->layer_vocab_size > 0 ? app->layer_vocab_size : app->vocab_size);
    s->mtp_shared = app->mtp_shared;
    s->multiquery = strategy->attention_type == CALC_ATTENTION_TYPE_MULTIQUERY;
    s->flash = strategy->flash_attention || strategy->attention_type == CALC_ATTENTION_TYPE_FLASH;
}

static void set_attention(calc_shape *s, const calc_part *p)
{
    s->heads = (double)p->attn_heads;
    s->kv_heads = p->kv_heads > 0 ? (double)p->kv_heads : s->multiquery ? 1 : s->heads;
    s->latent = p->kv_lora_rank > 0;
    s->qk_size = (double)p->attn_size;
    s->v_size = p->v_head_size > 0 ? (double)p->v_head_size : s->qk_size;
    s->q_rank = (double)p->q_lora_rank;
    s->kv_rank = (double)p->kv_lora_rank;
    s->rope_size = 0;
    if (s->latent) {
        s->rope_size = (double)p->qk_rope_size;
        s->qk_size = (double)p->qk_nope_size + s->rope_size;
        s->v_size = p->v_size > 0 ? (double)p->v_size : (double)p->attn_size;
        s->kv_heads = s->heads;
    }
    s->rope = p->position_type == CALC_POSITION_TYPE_AUTO
                  ? s->llama
                  : p->position_type == CALC_POSITION_TYPE_ROPE;
    s->qk_norm = p->qk_norm;
    s->qk_norm_whole = p->qk_norm_whole;
    s->qkv_bias = p->qkv_bias;
    s->window = (double)p->window_size;
    s->chunk = (double)p->chunk_size;
    s->output_gate = p->output_gate;
    s->sinks = p->attention_sinks;
    s->k_eq_v = p->k_eq_v;
    s->kv_shared = p->kv_shared;
    s->index_heads = (double)p->index_heads;
    s->index_size = (double)p->index_size;
    s->index_topk = (double)p->index_topk;
    s->index_block = (double)p->index_block;
    s->index_shared = p->index_shared;
    s->compress_ratio = (double)p->compress_ratio;
    s->output_groups = (double)p->output_groups;
    s->output_rank = (double)p->output_lora_rank;
    s->local_heads = s->heads / s->tensor_par;
    s->local_kv_heads = calc_max(1, s->kv_heads / s->tensor_par);
}

static void set_linear(calc_shape *s, const calc_part *p)
{
    double chunk = p->type == CALC_PART_TYPE_MAMBA2      ? 128
                   : p->type == CALC_PART_TYPE_LIGHTNING ? 256
                                                         : 64;
    s->key_heads = (double)p->linear_key_heads;
    s->key_size = (double)p->linear_key_size;
    s->value_heads = (double)p->linear_value_heads;
    s->value_size = (double)p->linear_value_size;
    s->conv = (double)p->linear_conv;
    s->scan_chunk = p->linear_chunk > 0 ? (double)p->linear_chunk : chunk;
    s->low_rank = (double)p->linear_rank;
    s->decay_rank = p->linear_whole_decay ? 0 : s->value_size;
    s->linear_norm = chosen(p->linear_norm, p->type != CALC_PART_TYPE_MAMBA1);
}

static void set_feedforward(calc_shape *s, const calc_part *p)
{
    s->feedforward = (double)p->feedforward;
    s->gated = p->ffn_type == CALC_FFN_TYPE_AUTO
                   ? s->llama
                   : p->ffn_type == CALC_FFN_TYPE_SWIGLU || p->ffn_type == CALC_FFN_TYPE_GEGLU;
    s->experts = (double)p->num_experts;
    s->placed_experts = s->experts;
    s->router_bias = p->router_bias;
    s->experts_per_token = s->expert_feedforward = s->shared_feedforward = 0;
    s->expert_latent = s->hidden;
    s->zero_experts = 0;
    if (s->experts > 0) {
        s->experts_per_token = (double)p->experts_per_token;
        s->expert_feedforward =
            p->expert_feedforward > 0 ? (double)p->expert_feedforward : s->feedforward;
        s->shared_feedforward = (double)p->shared_feedforward;
        s->shared_gate = p->shared_gate;
        s->router_scale = p->router_scale;
        s->expert_latent = p->expert_latent > 0 ? (double)p->expert_latent : s->hidden;
        s->expert_latent_norm = p->expert_latent_norm;
        s->zero_experts = (double)p->zero_experts;
        if (s->zero_experts > 0) { /* a token's share of them costs nothing */
            s->experts_per_token *= s->experts / (s->experts + s->zero_experts);
        }
    }
}

/* Where the blocks with experts are. */
static void set_blocks(calc_shape *s, const calc_app *app)
{
    const calc_stack *stack = app->stack.layers > 0 ? &app->stack : NULL;
    s->stack = stack;
    s->expert_groups = app->groups_per_token > 0 ? (double)app->expert_groups : 0;
    s->groups_per_token = (double)app->groups_per_token;
    s->dense_blocks = s->experts > 0 ? (double)app->dense_blocks : s->blocks;
    s->moe_every = app->moe_every > 1 ? (double)app->moe_every : 1;
    s->moe_blocks = s->experts > 0 ? floor((s->blocks - s->dense_blocks) / s->moe_every) : 0;
    if (stack) {
        int32_t first = 0;
        while (first < stack->layers && !calc_stack_kind_has_experts(stack, stack->layer[first])) {
            first++;
        }
        for (int i = 0; i < stack->parts; i++) {
            if (stack->part[i].type == CALC_PART_TYPE_MOE) {
                set_feedforward(s, &stack->part[i]);
                break;
            }
        }
        s->feedforward = (double)app->feedforward;
        s->moe_blocks = 0;
        for (int i = 0; i < stack->kinds; i++) {
            s->moe_blocks += calc_stack_kind_has_experts(stack, i) ? stack->kind[i].count : 0;
        }
        s->dense_blocks = first;
        s->moe_every = s->moe_blocks > 0 ? (s->blocks - first) / s->moe_blocks : 1;
    }
}

calc_shape calc_shape_of_part(const calc_shape *model, const calc_part *part)
{
    calc_shape s = *model;
    double copies = model->placed_experts - model->experts;
    s.mixer = part->type;
    s.global_every = 0;
    if (calc_part_mixes(part->type)) {
        set_attention(&s, part);
        set_linear(&s, part);
    } else {
        set_feedforward(&s, part);
        s.placed_experts += copies;
    }
    return s;
}

static double stored_bytes(const calc_strategy *s, calc_format format)
{
    return format == CALC_FORMAT_AUTO
               ? calc_datatype_bytes(s->datatype)
               : calc_format_scaled_bytes(format, s->scaling == CALC_SCALING_BLOCK);
}

calc_shape calc_shape_of(const calc_app *app, const calc_strategy *strategy, int64_t microbatch,
                         int64_t seq)
{
    double element_bytes = calc_datatype_bytes(strategy->datatype);
    double weight_bytes = calc_format_weight_bytes(strategy, element_bytes);
    bool alike = strategy->matrix_datatype == strategy->weight_datatype;
    calc_shape s = {
        .hidden = (double)app->hidden,
        .seq = seq > 0 ? (double)seq : (double)app->seq_size,
        .packed = strategy->packed_size,
        .blocks = (double)app->num_blocks,
        .mtp_blocks = (double)app->mtp_blocks,
        .tensor_par = calc_par_size(strategy->tensor_par),
        .context_par = calc_par_size(strategy->context_par),
        .expert_par = calc_par_size(strategy->expert_par),
        .expert_tensor_par = calc_par_size(strategy->expert_tensor_par),
        .microbatch = (double)microbatch,
        .element_bytes = element_bytes,
        .matrix_bytes =
            alike ? weight_bytes : calc_format_bytes_or(strategy->matrix_datatype, element_bytes),
        .weight_bytes = weight_bytes,
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
        s.words = app->lm_head == CALC_CHOICE_FALSE ? 0 : s.vocab;
    }
    s.tokens = s.microbatch * s.seq / s.context_par;
    const calc_part own = calc_part_of(app, CALC_PART_TYPE_ATTENTION);
    set_structure(&s, app, strategy);
    set_attention(&s, &own);
    set_feedforward(&s, &own);
    s.global_every = (double)app->global_every;
    set_blocks(&s, app);
    return s;
}

bool calc_shape_lists_mtp(const calc_shape *s)
{
    const calc_stack *stack = s->stack;
    if (!stack || s->mtp_blocks == 0) {
        return false;
    }
    int last = stack->layer[stack->layers - 1];
    double alike =
        calc_stack_kind_has_experts(stack, last) ? s->moe_blocks : s->blocks - s->moe_blocks;
    return stack->mtp > 0 || stack->kind[last].count < alike;
}

double calc_shape_alternating(const calc_shape *s)
{
    return s->experts > 0 && s->moe_every > 1 ? 1 - s->moe_blocks / s->blocks : 0;
}

double calc_shape_dense_blocks_in(const calc_shape *s, double before, double count)
{
    const calc_stack *stack = s->stack;
    if (stack && before == floor(before) && count == floor(count)) {
        double dense = 0;
        for (double i = before; i < before + count && i < stack->layers; i++) {
            dense += !calc_stack_kind_has_experts(stack, stack->layer[(int)i]);
        }
        return dense;
    }
    double in_turn = calc_shape_alternating(s);
    double prefix = calc_max(0, fmin(count, s->blocks - s->moe_blocks - before));
    return in_turn > 0 ? count * in_turn : prefix;
}

/* Chance that at least one of the experts of a token is among so many, all of some groups and some
 * of another. They are met in the order of their scores, none[g]: chances that none of these is met
 * so far, with g groups met, of which the other is none or one. */
static double chance(const calc_shape *s, double experts)
{
    enum { MOST = 64 }; /* a token that reaches more is not limited by it */
    double most = fmin(MOST, fmin(s->expert_groups, s->experts_per_token));
    double groups = s->groups_per_token < most ? s->expert_groups : 1;
    int limit = groups > 1 ? (int)s->groups_per_token : 1;
    double size = s->experts / groups;
    double whole = ceil(experts / size) - 1;
    double rest = experts - whole * size;
    double none[MOST + 1][2] = {{1, 0}};
    for (int drawn = 0; drawn < s->experts_per_token; drawn++) {
        for (int g = limit; g >= 0; g--) {
            double *met = none[g];
            double left = calc_max(1, (g < limit ? s->experts : limit * size) - drawn);
            double more = groups - whole - g;
            if (g < limit) {
                none[g + 1][0] += met[0] * (calc_max(0, more - 1) * size / left);
                none[g + 1][1] +=
                    (met[1] * calc_max(0, more) * size + met[0] * (size - rest)) / left;
            }
            met[0] *= calc_max(0, g * size - drawn) / left;
            met[1] *= calc_max(0, g * size - rest - drawn) / left;
        }
    }
    double reached = 1;
    for (int g = 0; g <= limit; g++) {
        reached -= none[g][0] + none[g][1];
    }
    return reached;
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

/* Mean number of the last `most` tokens, the own one included, that a token of a sequence sees. */
static double last_tokens(double seq, double most)
{
    return most >= seq ? (seq + 1) / 2 : most - most * (most - 1) / (2 * seq);
}

/* Mean entries of compressed keys that a token attends to behind its window. */
static double compressed_entries(const calc_shape *s)
{
    if (s->compress_ratio <= 0) {
        return 0;
    }
    double entries = floor(s->seq / s->compress_ratio);
    double most = s->index_heads > 0 ? s->index_topk : entries;
    return most >= entries ? entries / 2 : most - most * most * s->compress_ratio / (2 * s->seq);
}

/* A sequence of one of the documents that a packed one is made of. */
static calc_shape document_of(const calc_shape *s)
{
    calc_shape document = *s;
    document.seq = s->packed;
    document.packed = 0;
    return document;
}

static bool is_packed(const calc_shape *s)
{
    return s->packed > 0 && s->packed < s->seq;
}

double calc_shape_score_share(const calc_shape *s)
{
    if (is_packed(s)) {
        const calc_shape document = document_of(s);
        return calc_shape_score_share(&document) * s->packed / s->seq;
    }
    if (!s->causal) { /* half of a window is before a token, half behind it */
        double near =
            s->window > 0 ? 2 * last_tokens(s->seq, floor(s->window / 2) + 1) - 1 : s->seq;
        double global = calc_shape_global_share(s);
        return s->window > 0 ? global + (1 - global) * near / s->seq : 1;
    }
    if (s->mixer == CALC_PART_TYPE_COMPRESSED) {
        double window = s->window > 0 ? last_tokens(s->seq, s->window) : 0;
        return (window + compressed_entries(s)) / s->seq;
    }
    if (s->chunk > 0 && s->chunk < s->seq) {
        /* the mean of its own chunk */
        double whole = floor(s->seq / s->chunk), rest = s->seq - whole * s->chunk;
        double seen = whole * s->chunk * (s->chunk + 1) + rest * (rest + 1);
        return seen / (2 * s->seq) / s->seq;
    }
    if (s->index_heads > 0 && s->index_topk < s->seq) {
        return last_tokens(s->seq, s->index_topk) / s->seq;
    }
    double whole = (s->seq + 1) / (2 * s->seq);
    if (s->window <= 0 || s->window >= s->seq) {
        return whole;
    }
    double part = s->window / s->seq * (1 - s->window / (2 * s->seq));
    double global = calc_shape_global_share(s);
    return global * whole + (1 - global) * part;
}

double calc_shape_index_share(const calc_shape *s, bool square)
{
    if (is_packed(s) && !square) {
        const calc_shape document = document_of(s);
        return calc_shape_index_share(&document, square) * s->packed / s->seq;
    }
    double share = square || !s->causal ? 1 : (s->seq + 1) / (2 * s->seq);
    return share / calc_max(1, s->compress_ratio);
}

double calc_shape_index_flop(const calc_shape *s)
{
    return 2 * s->index_heads * (s->index_size + (s->index_block > 0 ? 0 : 1));
}
