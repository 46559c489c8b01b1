#include "model/parameters.h"
#include "spec/extended.h"

/** Words of the vocabulary that Calculon assumes for every model (GPT-2's, padded). */
#define VOCABULARY 51200

/* Weights of attention in one block; all heads of all ranks. */
static double attention_weights(const calc_shape *s)
{
    double query = s->heads * s->qk_size;
    double output = s->heads * s->v_size * s->hidden;
    if (s->latent) {
        double nope = s->qk_size - s->rope_size;
        double down = s->hidden * (s->q_rank + s->kv_rank + s->rope_size);
        double up = (s->q_rank > 0 ? s->q_rank : s->hidden) * query +
                    s->kv_rank * s->heads * (nope + s->v_size);
        return down + up + output;
    }
    return s->hidden * (query + s->kv_heads * (s->qk_size + s->v_size)) + output;
}

/* Weights of a feed-forward layer of a width. */
static double feedforward_weights(const calc_shape *s, double width)
{
    return (s->gated ? 3 : 2) * s->hidden * width;
}

/* All norms of one block. */
static double norm_weights(const calc_shape *s)
{
    double each = s->rms ? 1 : 2;
    double latents = s->latent ? s->q_rank + s->kv_rank : 0;
    return 2 * each * s->hidden + latents + (s->qk_norm && !s->latent ? 2 * s->qk_size : 0);
}

static double attention_biases(const calc_shape *s)
{
    double width = s->heads * s->qk_size + s->kv_heads * (s->qk_size + s->v_size);
    return s->bias ? (s->latent ? 0 : width) + s->hidden : 0;
}

static double feedforward_biases(const calc_shape *s)
{
    return s->bias ? (s->gated ? 2 : 1) * s->feedforward + s->hidden : 0;
}

/* Calculon's count: every model a GPT of its own vocabulary. */
static void count_gpt(const calc_app *app, calc_parameters *out)
{
    double hidden = (double)app->hidden;
    double feedforward = (double)app->feedforward;
    double width = (double)app->attn_heads * (double)app->attn_size;
    double blocks = (double)app->num_blocks;
    *out = (calc_parameters){
        .attention = blocks * (4 * hidden * width + 3 * width + hidden),
        .mlp = blocks * (2 * hidden * feedforward + hidden + feedforward),
        .norm = blocks * 2 * 2 * hidden,
        .embedding = (VOCABULARY + (double)app->seq_size) * hidden,
    };
    out->total = out->attention + out->mlp + out->norm + out->embedding;
    out->active = out->total;
}

void calc_count_parameters(const calc_app *app, calc_parameters *out)
{
    const calc_exec alone = {0};
    if (!calc_extended_app(app)) {
        count_gpt(app, out);
        return;
    }
    calc_shape s = calc_shape_of(app, &alone);
    double vocab = app->vocab_size > 0 ? (double)app->vocab_size : VOCABULARY;
    double moe = calc_shape_moe_blocks(&s);
    double dense = s.blocks - moe;
    double each_norm = s.rms ? 1 : 2;
    double expert = feedforward_weights(&s, s.expert_feedforward) +
                    (s.bias ? (s.gated ? 2 : 1) * s.expert_feedforward + s.hidden : 0);
    double router = s.experts * (s.hidden + s.router_bias + s.bias);
    double shared = feedforward_weights(&s, s.shared_feedforward);
    double idle = moe * expert * (s.experts - s.experts_per_token);
    *out = (calc_parameters){
        .attention = s.blocks * (attention_weights(&s) + attention_biases(&s)),
        .mlp = dense * (feedforward_weights(&s, s.feedforward) + feedforward_biases(&s)) +
               moe * shared,
        .experts = moe * (expert * s.experts + router),
        .norm = s.blocks * norm_weights(&s) + each_norm * s.hidden,
        .embedding = (vocab * (s.tied ? 1 : 2) + (s.learned ? s.seq : 0)) * s.hidden,
    };
    out->total = out->attention + out->mlp + out->experts + out->norm + out->embedding;
    out->active = out->total - idle;
    bool predicts_moe = s.experts > 0;
    out->mtp = s.mtp_blocks * (attention_weights(&s) + norm_weights(&s) + 2 * s.hidden * s.hidden +
                               3 * each_norm * s.hidden +
                               (predicts_moe ? expert * s.experts + router + shared
                                             : feedforward_weights(&s, s.feedforward)));
}

double calc_parameters_token_flop(const calc_app *app, const calc_exec *exec)
{
    double hidden = (double)app->hidden;
    double width = (double)app->attn_heads * (double)app->attn_size;
    double key_value_width =
        exec->attention_type == CALC_ATTENTION_TYPE_MULTIQUERY ? (double)app->attn_size : width;
    double weights =
        2 * hidden * width + 2 * hidden * key_value_width + 2 * hidden * (double)app->feedforward;
    double forward = 2 * weights + 4 * (double)app->seq_size * width;
    return (double)app->num_blocks * forward * (exec->training ? 3 : 1);
}

double calc_parameters_step_flop(const calc_shape *s, const calc_exec *exec, bool square)
{
    double moe = calc_shape_moe_blocks(s);
    double dense = s->blocks - moe;
    double share = square ? 1 : calc_shape_score_share(s);
    double weights =
        s->blocks * attention_weights(s) + dense * feedforward_weights(s, s->feedforward) +
        moe * (feedforward_weights(s, s->expert_feedforward) * s->experts_per_token +
               feedforward_weights(s, s->shared_feedforward) + s->hidden * s->experts) +
        s->hidden * s->vocab;
    double scores = s->blocks * 2 * s->heads * s->seq * s->seq * (s->qk_size + s->v_size) * share;
    double sequence = 2 * s->seq * weights + scores;
    return (double)exec->batch_size * sequence * (exec->training ? 3 : 1);
}
