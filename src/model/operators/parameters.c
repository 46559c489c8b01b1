#include "model/operators/parameters.h"

/** Words of the vocabulary where a model does not say how many (GPT-2's, padded, as Calculon). */
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

void calc_count_parameters(const calc_app *app, calc_parameters *out)
{
    const calc_strategy alone = {0};
    calc_shape s = calc_shape_of(app, &alone, 0, 0);
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

void calc_parameters_tensors(const calc_shape *s, double stages, double *dense, double *expert)
{
    double moe = calc_shape_moe_blocks(s);
    double matrices = s->gated ? 3 : 2;
    double norms = 2 + (s->latent ? 1 + (s->q_rank > 0) : 0) + (s->qk_norm && !s->latent ? 2 : 0);
    double attention = s->latent ? 4 + (s->q_rank > 0) : 2;
    double shared = s->shared_feedforward > 0 ? matrices : 0;
    double biases = s->bias ? 2 : 1; /* beside every matrix of a block */
    double blocks = s->blocks * (norms + attention * biases) +
                    (s->blocks - moe) * matrices * biases + moe * (1 + shared * biases);
    double ends = s->vocab > 0 ? (s->tied ? 1 : 2) + (s->learned ? 1 : 0) + 1 : 0;
    *dense = (blocks + ends) / stages;
    *expert = moe * s->experts / s->expert_par * matrices * biases / stages;
}
