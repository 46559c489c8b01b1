#include "model/operators/parameters.h"

#include <math.h>

#include "model/operators/adapter.h"
#include "model/operators/encoder.h"
#include "model/operators/transformer.h"
#include "spec/stack.h"

/** Words of the vocabulary where a model does not say how many (GPT-2's, padded, as Calculon). */
#define VOCABULARY 51200

/* ---- Parts of a layer ------------------------------------------------------------------------ */

/* Weights of one part. */
typedef struct weights {
    double matrices; /* that every token is multiplied with */
    double others;   /* biases, convolutions, decays, sinks */
    double norms;
    double expert;  /* matrices of one routed expert */
    double experts; /* all of the routed experts and the router, but for `matrices` */
    double idle;    /* of experts that a token does not visit */
    double tensors, expert_tensors; /* as frameworks allocate them; of one expert */
} weights;

/* Indexer of sparse attention, with what it reads. Blocks of keys are scored by the sum over the
 * heads, without weights of the heads. */
static void count_indexer(const calc_shape *s, weights *w)
{
    if (s->index_heads <= 0 || s->index_shared) {
        return;
    }
    double heads = s->index_heads;
    double size = s->index_size;
    double query = s->q_rank > 0 ? s->q_rank : s->hidden;
    w->matrices += query * heads * size;
    if (s->compress_ratio > 0) { /* its keys are compressed as those of attention */
        w->matrices += 4 * s->hidden * size + s->hidden * heads;
        w->others += 2 * s->compress_ratio * size;
        w->norms += size;
        w->tensors += 6;
        return;
    }
    w->matrices += s->hidden * size + (s->index_block > 0 ? 0 : s->hidden * heads);
    w->norms += 2 * size;
    w->tensors += s->index_block > 0 ? 4 : 5;
}

/* Windows and compressed keys (DeepSeek-V4): one head that is key and value. Entries overlap where
 * an indexer chooses among them: each has the numbers of two groups of tokens. */
static void count_compressed(const calc_shape *s, weights *w)
{
    double width = s->qk_size;
    double output = s->heads * width;
    double query = s->q_rank > 0 ? s->hidden * s->q_rank + s->q_rank * output : s->hidden * output;
    double overlap = s->index_heads > 0 ? 2 : 1;
    w->matrices = query + s->hidden * width;
    w->matrices += s->output_rank > 0
                       ? output * s->output_rank + s->output_groups * s->output_rank * s->hidden
                       : output * s->hidden;
    w->norms = s->q_rank + width;
    w->tensors = 8;
    if (s->compress_ratio > 0) {
        w->matrices += 2 * overlap * s->hidden * width;
        w->others += s->compress_ratio * overlap * width;
        w->norms += width;
        w->tensors += 4;
    }
}

/* All heads of all ranks. */
static void count_attention(const calc_shape *s, weights *w)
{
    double query = s->heads * s->qk_size;
    double output = s->heads * s->v_size;
    double keys = s->kv_shared ? 0 : s->kv_heads * s->qk_size;
    double values = s->kv_shared || s->k_eq_v ? 0 : s->kv_heads * s->v_size;
    double gate = s->output_gate == CALC_OUTPUT_GATE_CHANNEL ? output
                  : s->output_gate == CALC_OUTPUT_GATE_HEAD  ? s->heads
                                                             : 0;
    if (s->mixer == CALC_PART_TYPE_COMPRESSED) {
        count_compressed(s, w);
    } else if (s->latent) {
        double nope = s->qk_size - s->rope_size;
        double down = s->hidden * (s->q_rank + s->kv_rank + s->rope_size);
        double up = (s->q_rank > 0 ? s->q_rank : s->hidden) * query +
                    s->kv_rank * s->heads * (nope + s->v_size);
        w->matrices = down + up + output * s->hidden;
        w->norms = s->q_rank + s->kv_rank;
        w->tensors = 5 + 2 * (s->q_rank > 0);
    } else {
        w->matrices = s->hidden * (query + keys + values) + output * s->hidden;
        w->norms = s->qk_norm_whole ? query + keys
                   : s->qk_norm     ? s->qk_size * (s->kv_shared ? 1 : 2)
                                    : 0;
        w->others = s->bias || s->qkv_bias ? query + keys + values : 0;
        w->tensors = 2 + (s->qk_norm || s->qk_norm_whole ? 2 : 0);
    }
    w->tensors += (s->bias ? (s->latent ? 4 + (s->q_rank > 0) : 2) : 0) + s->sinks +
                  (s->qkv_bias && !s->bias) + (gate > 0 && s->latent);
    w->matrices += s->hidden * gate;
    w->others += (s->bias ? s->hidden : 0) + (s->sinks ? s->heads : 0);
    count_indexer(s, w);
}

/* Mixers with a state. Sources: linear_mixers.h. */
static void count_linear(const calc_shape *s, weights *w)
{
    double hidden = s->hidden;
    double heads = s->value_heads;
    double size = s->value_size;
    double width = heads * size;
    double channels = calc_linear_channels(s);
    w->matrices = hidden * calc_linear_projection(s);
    w->others = s->conv * channels;
    w->tensors = 3;
    switch (s->mixer) {
    case CALC_PART_TYPE_MAMBA1: /* step size, B and C follow from the convolution's output */
        w->matrices += size * (s->low_rank + 2 * s->key_size) + s->low_rank * size + size * hidden;
        w->others += size + size + size * s->key_size + size;
        w->norms = s->linear_norm ? s->low_rank + 2 * s->key_size : 0;
        w->tensors += 6 + (s->linear_norm ? 3 : 0);
        break;
    case CALC_PART_TYPE_MAMBA2:
        w->matrices += width * hidden;
        w->others += channels + 3 * heads;
        w->norms = s->linear_norm ? width : 0;
        w->tensors += 4 + s->linear_norm;
        break;
    case CALC_PART_TYPE_GATED_DELTA:
        w->matrices += width * hidden;
        w->others += 2 * heads;
        w->norms = s->linear_norm ? size : 0;
        w->tensors += 2 + s->linear_norm;
        break;
    case CALC_PART_TYPE_KIMI_DELTA: /* decay and gate may be of low ranks */
        w->matrices += s->decay_rank * width + s->low_rank * width + width * hidden;
        w->others += heads + width;
        w->norms = s->linear_norm ? size : 0;
        w->tensors += 7 + (s->decay_rank > 0) + (s->low_rank > 0) + s->linear_norm;
        break;
    case CALC_PART_TYPE_LIGHTNING:
        w->matrices += width * hidden;
        w->norms = s->linear_norm ? width : 0;
        w->tensors += s->linear_norm;
        break;
    default:
        w->matrices += hidden * hidden;
        break;
    }
}

static void count_feedforward(const calc_shape *s, weights *w)
{
    double matrices = s->gated ? 3 : 2;
    double gates = s->gated ? 2 : 1;
    double biases = s->bias ? 2 : 1; /* tensors for every matrix */
    if (s->mixer == CALC_PART_TYPE_MLP) {
        w->matrices = matrices * s->hidden * s->feedforward;
        w->others = s->bias ? gates * s->feedforward + s->hidden : 0;
        w->tensors = matrices * biases;
        return;
    }
    double latent = s->expert_latent != s->hidden ? 2 * s->hidden * s->expert_latent : 0;
    double rows = s->experts + s->zero_experts;
    double expert_biases = s->bias ? gates * s->expert_feedforward + s->expert_latent : 0;
    w->expert = matrices * s->expert_latent * s->expert_feedforward;
    w->matrices = matrices * s->hidden * s->shared_feedforward + (s->shared_gate ? s->hidden : 0);
    w->experts = (w->expert + expert_biases) * s->experts +
                 rows * (s->hidden + s->router_bias + s->bias) + latent +
                 (s->router_scale ? s->hidden + rows : 0);
    w->norms = s->expert_latent_norm ? s->expert_latent : 0;
    w->idle = (w->expert + expert_biases) * (s->experts - s->experts_per_token);
    w->tensors = 1 + (s->shared_feedforward > 0 ? matrices * biases : 0) + s->shared_gate +
                 (latent > 0 ? 2 : 0) + s->expert_latent_norm;
    w->expert_tensors = matrices * biases;
}

static weights count(const calc_shape *part)
{
    weights w = {0};
    if (!calc_part_mixes(part->mixer)) {
        count_feedforward(part, &w);
    } else if (calc_part_is_linear(part->mixer)) {
        count_linear(part, &w);
    } else {
        count_attention(part, &w);
    }
    return w;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

/* Parts of the layers of a model, or of a depth of multi-token prediction. */
typedef struct member {
    const calc_part *part; /* NULL: the model's own */
    calc_part_type type;
    double layers; /* that have it */
} member;

typedef struct members {
    member of[CALC_MAX_PARTS];
    size_t count;
    double layers, sub_layers;
    double norms; /* of the residual stream */
} members;

/* Norms of a sub-layer. Between two norms, feed-forward parts side by side have their own two. */
static double norms_of(const calc_shape *s, const int8_t part[2], bool ffn)
{
    bool sandwich = s->norm_place == CALC_NORM_PLACE_SANDWICH;
    return part[0] < 0 ? 0 : sandwich ? (ffn && part[1] >= 0 ? 5 : 2) : 1;
}

static void add_part(const calc_stack *stack, int part, double layers, members *m)
{
    if (part < 0 || layers == 0) {
        return;
    }
    size_t i = 0;
    while (i < m->count && m->of[i].part != &stack->part[part]) {
        i++;
    }
    m->count += i == m->count;
    m->of[i].part = &stack->part[part];
    m->of[i].type = stack->part[part].type;
    m->of[i].layers += layers;
}

static void add_kind(const calc_shape *s, int kind, double layers, members *m)
{
    const calc_layer_kind *k = &s->stack->kind[kind];
    for (int i = 0; i < 2; i++) {
        add_part(s->stack, k->mixer[i], layers, m);
        add_part(s->stack, k->ffn[i], layers, m);
    }
    m->layers += layers;
    m->sub_layers += layers * ((k->mixer[0] >= 0) + (k->ffn[0] >= 0));
    m->norms += layers * (norms_of(s, k->mixer, false) + norms_of(s, k->ffn, true));
}

/* Layers of a model that does not list them. */
static members plain_members(const calc_shape *s, double dense, double moe)
{
    double layers = dense + moe;
    double norms = s->norm_place == CALC_NORM_PLACE_SANDWICH ? 4 : 2;
    return (members){{{NULL, CALC_PART_TYPE_ATTENTION, layers},
                      {NULL, CALC_PART_TYPE_MLP, dense},
                      {NULL, CALC_PART_TYPE_MOE, moe}},
                     3,
                     layers,
                     2 * layers,
                     norms * layers};
}

static members members_of(const calc_shape *s)
{
    members m = {0};
    if (!s->stack) {
        double moe = s->moe_blocks;
        return plain_members(s, s->blocks - moe, moe);
    }
    for (int i = 0; i < s->stack->kinds; i++) {
        add_kind(s, i, s->stack->kind[i].count, &m);
    }
    return m;
}

static members mtp_members_of(const calc_shape *s)
{
    members m = {0};
    const calc_stack *k = s->stack;
    if (!k) {
        return plain_members(s, s->experts > 0 ? 0 : 1, s->experts > 0 ? 1 : 0);
    }
    for (int i = 0; i < k->mtp; i++) {
        add_kind(s, k->mtp_layer[i], 1, &m);
    }
    if (k->mtp == 0) {
        add_kind(s, k->layer[k->layers - 1], 1, &m);
    }
    return m;
}

static calc_shape shape_of(const calc_shape *s, const member *m)
{
    calc_shape part = m->part ? calc_shape_of_part(s, m->part) : *s;
    part.mixer = m->type;
    return part;
}

/* Matrices of the streams beside the plain one, of so many sub-layers in so many layers. */
static double residual_weights(const calc_shape *s, const members *m, bool matrices)
{
    double n = s->streams;
    double wide = n * s->hidden;
    switch (s->residual) {
    case CALC_RESIDUAL_TYPE_HYPER:
        return m->sub_layers *
               ((n * n + 2 * n) * (matrices ? wide : wide + 1) + (matrices ? 0 : 3));
    case CALC_RESIDUAL_TYPE_ALTUP: {
        double router = n * n + n * n * n + wide; /* predict, correct and their modalities */
        double laurel = 2 * s->hidden * s->residual_rank;
        return m->layers * (router + laurel + (matrices ? 0 : 3 * s->hidden));
    }
    case CALC_RESIDUAL_TYPE_ATTENTION:
        return matrices ? 0 : m->layers * 4 * s->hidden;
    default:
        return 0;
    }
}

/* Matrices that streams begin and end with. */
static double residual_end_weights(const calc_shape *s, bool matrices)
{
    double n = s->streams;
    switch (s->residual) {
    case CALC_RESIDUAL_TYPE_HYPER:
        return n * n * s->hidden + (matrices ? 0 : n + 1);
    case CALC_RESIDUAL_TYPE_ALTUP:
        return 2 * (n - 1) * s->hidden * s->hidden;
    case CALC_RESIDUAL_TYPE_ATTENTION:
        return matrices ? 0 : 2 * s->hidden;
    default:
        return 0;
    }
}

/* Embeddings of every layer: their projection from the stream and two matrices in each layer. */
static double layer_embedding_matrices(const calc_shape *s)
{
    return 3 * s->hidden * s->layer_embedding * s->blocks;
}

/* ---- Counts ---------------------------------------------------------------------------------- */

/* Adds all parts of layers to the counts but for `total`. @return weights of idle experts */
static double add_members(const calc_shape *s, const members *m, calc_parameters *out)
{
    double idle = 0;
    for (size_t i = 0; i < m->count; i++) {
        const calc_shape part = shape_of(s, &m->of[i]);
        const weights w = count(&part);
        double layers = m->of[i].layers;
        *(calc_part_mixes(part.mixer) ? &out->attention : &out->mlp) +=
            layers * (w.matrices + w.others);
        out->experts += layers * w.experts;
        out->norm += layers * w.norms;
        idle += layers * w.idle;
    }
    out->attention += residual_weights(s, m, false);
    out->norm += m->norms * (s->rms ? 1 : 2) * s->hidden;
    return idle;
}

static double sum(const calc_parameters *p)
{
    return p->attention + p->mlp + p->experts + p->norm + p->embedding;
}

void calc_count_parameters(const calc_app *app, calc_parameters *out)
{
    const calc_strategy alone = {0};
    const calc_shape s = calc_shape_of(app, &alone, 0, 0);
    const members layers = members_of(&s);
    const members predicted = mtp_members_of(&s);
    double vocab = app->vocab_size > 0 ? (double)app->vocab_size : VOCABULARY;
    double each_norm = s.rms ? 1 : 2;
    *out = (calc_parameters){
        .embedding = (vocab * (s.tied || s.headless ? 1 : 2) + (s.learned ? s.seq : 0)) * s.hidden,
    };
    double idle = add_members(&s, &layers, out);
    out->attention += residual_end_weights(&s, false);
    out->norm += each_norm * s.hidden;
    if (s.layer_embedding > 0) {
        out->embedding += s.layer_vocab * s.layer_embedding * s.blocks;
        out->mlp += layer_embedding_matrices(&s);
        out->norm += s.blocks * s.hidden + s.layer_embedding;
    }
    out->total = sum(out);
    out->active = out->total - idle;
    calc_parameters depth = {
        .mlp = 2 * s.hidden * s.hidden,
        .norm = 3 * each_norm * s.hidden,
    };
    add_members(&s, &predicted, &depth);
    depth.attention += s.residual == CALC_RESIDUAL_TYPE_HYPER ? residual_end_weights(&s, false) : 0;
    out->encoder = calc_encoder_weights(&s, &alone, false);
    out->mtp = (s.mtp_shared && s.mtp_blocks > 1 ? 1 : s.mtp_blocks) * sum(&depth);
}

/* Arithmetic of a mixer between tokens in one sequence, forward [FLOP]. */
static double mixing_flop(const calc_shape *s, double layers, bool square)
{
    double share = square ? 1 : calc_shape_score_share(s);
    double scores = layers * 2 * s->heads * s->seq * s->seq * (s->qk_size + s->v_size) * share;
    if (calc_part_is_linear(s->mixer)) {
        return layers * s->seq * calc_linear_flop(s);
    }
    if (s->index_heads > 0 && !s->index_shared) {
        scores +=
            layers * s->seq * s->seq * calc_shape_index_share(s, square) * calc_shape_index_flop(s);
    }
    return scores;
}

/* The model on one rank. */
static calc_shape alone_of(const calc_shape *s, const calc_strategy *strategy, calc_strategy *own)
{
    calc_shape alone = *s;
    *own = *strategy;
    own->tensor_par = own->context_par = own->expert_par = own->expert_tensor_par = 1;
    own->tensor_par_comm_type = CALC_TENSOR_PAR_COMM_TYPE_AR;
    own->dispatch_type = CALC_DISPATCH_TYPE_ALL_TO_ALL;
    own->capacity_factor = own->moe_imbalance = own->rank_capacity_factor = 0;
    alone.tensor_par = alone.context_par = alone.expert_par = alone.expert_tensor_par = 1;
    alone.local_heads = s->heads;
    alone.local_kv_heads = s->kv_heads;
    alone.microbatch = 1;
    alone.tokens = s->seq;
    return alone;
}

/* What a layout trains of a model, or of a list of operators. */
typedef struct trained_sum {
    double weights;
    double flop;    /* of adapters in blocks and head, forward, for one sequence */
    double tensors; /* of adapters */
} trained_sum;

static void add_trained(const calc_operator *operators, size_t count, double times,
                        trained_sum *sum)
{
    for (size_t i = 0; i < count; i++) {
        const calc_operator *o = &operators[i];
        double share = times * calc_operator_share(o);
        sum->weights += share * o->weights;
        sum->flop += o->adapter ? share * o->flop[CALC_PASS_FW] : 0;
        sum->tensors += o->adapter ? share * (1 - o->untouched) * o->pairs : 0;
    }
}

/* Arithmetic of multi-token prediction is not counted. */
static void add_predicted(const calc_operator *operators, size_t count, double times,
                          trained_sum *sum)
{
    double flop = sum->flop;
    add_trained(operators, count, times, sum);
    sum->flop = flop;
}

/* Of all lists of a model. */
static trained_sum sum_trained(const calc_shape *shape, const calc_strategy *strategy)
{
    static const calc_chip chip; /* no time is asked for */
    calc_operator item[CALC_MAX_OPERATORS];
    calc_strategy own;
    const calc_shape s = alone_of(shape, strategy, &own);
    double moe = s.moe_blocks;
    const double blocks[CALC_BLOCK_KINDS] = {s.blocks - moe, moe};
    trained_sum sum = {0, 0, 0};
    for (int kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        const calc_recipe recipe = {(calc_block_kind)kind, &s, &chip, &own, 1, false, true};
        bool last = kind == (moe > 0 ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK);
        if (blocks[kind] > 0) {
            size_t count = calc_transformer_block(&recipe, item);
            calc_adapter_freeze(&s, &own, true, CALC_FROZEN_BLOCK, item, 0, count);
            add_trained(item, count, blocks[kind], &sum);
            bool stands = last && !calc_shape_lists_mtp(&s);
            add_predicted(item, count, stands ? s.mtp_blocks : 0, &sum);
        }
        if (last && s.mtp_blocks > 0) {
            size_t count = calc_transformer_mtp(&s, &own, item);
            count = calc_shape_lists_mtp(&s) ? calc_transformer_mtp_layers(&recipe, count, item)
                                             : count;
            calc_adapter_freeze(&s, &own, true, CALC_FROZEN_BLOCK, item, 0, count);
            add_predicted(item, count, s.mtp_blocks, &sum);
        }
    }
    size_t count = calc_transformer_head(&s, &own, true, item);
    calc_adapter_freeze(&s, &own, true, CALC_FROZEN_HEAD, item, 0, count);
    add_trained(item, count, 1, &sum);
    return sum;
}

double calc_parameters_trained(const calc_app *app, const calc_exec *exec)
{
    calc_parameters all;
    const calc_shape s = calc_shape_of(app, &exec->strategy, 1, exec->seq_size);
    if (!calc_adapter_freezes(&exec->strategy, true)) {
        calc_count_parameters(app, &all);
        return all.total + all.mtp + calc_encoder_weights(&s, &exec->strategy, true);
    }
    return sum_trained(&s, &exec->strategy).weights;
}

double calc_parameters_adapter_tensors(const calc_app *app, const calc_exec *exec)
{
    const calc_shape s = calc_shape_of(app, &exec->strategy, 1, exec->seq_size);
    return sum_trained(&s, &exec->strategy).tensors;
}

double calc_parameters_step_flop(const calc_shape *s, const calc_exec *exec, bool square)
{
    const members m = members_of(s);
    double used = 0;
    double mixing = 0;
    for (size_t i = 0; i < m.count; i++) {
        const calc_shape part = shape_of(s, &m.of[i]);
        const weights w = count(&part);
        double layers = m.of[i].layers;
        used += layers * w.matrices;
        if (part.mixer == CALC_PART_TYPE_MOE) {
            used += layers *
                    (w.expert * part.experts_per_token +
                     s->hidden * (part.experts + part.zero_experts) +
                     (part.expert_latent != s->hidden ? 2 * s->hidden * part.expert_latent : 0));
        } else if (calc_part_mixes(part.mixer)) {
            mixing += mixing_flop(&part, layers, square);
        }
    }
    used += residual_weights(s, &m, true) + residual_end_weights(s, true) +
            layer_embedding_matrices(s) + s->hidden * s->words;
    double encoder = calc_encoder_flop(s, &exec->strategy, exec->training);
    if (exec->training && calc_adapter_freezes(&exec->strategy, true)) {
        /* Forward all; gradients of inputs from the first touched block on, of weights where they
         * are trained; the head both ways, and adapters. */
        double head = s->hidden * s->words,
               touched = 1 - calc_adapter_untouched(s, &exec->strategy);
        double trained = exec->strategy.trained == CALC_TRAINED_BLOCKS ? touched : 0;
        return (double)exec->batch_size *
               (2 * s->seq * (used - head) * (1 + touched + trained) + mixing * (1 + 2 * touched) +
                2 * (2 * s->seq * head) + 3 * sum_trained(s, &exec->strategy).flop + encoder);
    }
    double sequence = 2 * s->seq * used + mixing;
    return (double)exec->batch_size * sequence * (exec->training ? 3 : 1) +
           (double)exec->batch_size * encoder;
}

/* Mean keys that a token sees as Megatron counts them: its own half only with a window. */
static double megatron_keys(const calc_shape *s, double seq)
{
    double share = calc_shape_global_share(s), most = s->window;
    double near = most > 0 && most < seq ? most - most * (most - 1) / (2 * seq) : seq / 2;
    return share * seq / 2 + (1 - share) * near;
}

/* Sparse latent attention. Queries, keys and values of the chosen keys are latents; the indexer's
 * input has no gradient, its loss is that of the chosen keys. */
static double megatron_sparse(const calc_shape *s, const weights *w, double seq, bool training)
{
    bool own = !s->index_shared;
    double query = s->q_rank > 0 ? s->q_rank : s->hidden;
    double unit = s->index_heads * (s->index_size + 1);
    double projections =
        own ? query * s->index_heads * s->index_size + s->hidden * (s->index_size + s->index_heads)
            : 0;
    double all = (seq + 1) / 2, k = s->index_topk;
    double kept = seq <= k ? all : k - k * (k - 1) / (2 * seq);
    double attention = w->matrices - projections + s->q_rank + s->kv_rank +
                       kept * s->heads * (2 * s->kv_rank + s->rope_size);
    double learned =
        own && training ? 4 * kept * unit + 2 * kept * s->heads * (s->kv_rank + s->rope_size) : 0;
    return (training ? 3 : 1) * 2 * attention + (training ? 4 : 2) * projections +
           (own ? 2 * all * unit : 0) + learned;
}

/* Arithmetic of a part for a token in a step [FLOP]. */
static double megatron_part(const calc_shape *s, double seq, bool training)
{
    const weights w = count(s);
    double wide = 2 * s->hidden, one = w.matrices;
    double gate = s->output_gate == CALC_OUTPUT_GATE_HEAD ? s->hidden * s->heads : 0;
    double ratio = s->compress_ratio, entries = ratio > 0 ? floor(seq / ratio) : 0;
    switch (s->mixer) {
    case CALC_PART_TYPE_MLP:
        break;
    case CALC_PART_TYPE_MOE:
        one += w.expert * s->experts_per_token - (s->shared_gate ? s->hidden : 0) +
               (s->expert_latent != s->hidden ? wide * s->expert_latent : 0);
        break;
    case CALC_PART_TYPE_MAMBA2:
        one = s->hidden * (2 * wide + 2 * s->key_heads * s->key_size + s->value_heads) +
              3.5 * wide * s->key_size + wide * s->hidden;
        break;
    case CALC_PART_TYPE_COMPRESSED: { /* a token scores all entries where it chooses or sees all */
        double most = s->index_heads > 0 ? fmin(s->index_topk, entries) : 0;
        double seen = s->window + most * (1 - most * ratio / (2 * seq));
        one += w.norms - (ratio > 0 ? s->qk_size : 0) - (s->index_heads > 0 ? s->index_size : 0) +
               2 * s->heads * s->qk_size * seen;
        one += ratio <= 0           ? 0
               : s->index_heads > 0 ? s->index_heads * s->index_size * seq / ratio
                                    : s->heads * s->qk_size * seq / ratio;
        break;
    }
    case CALC_PART_TYPE_ATTENTION:
        if (s->latent && s->index_heads > 0) {
            return megatron_sparse(s, &w, seq, training);
        }
        one += (s->latent ? w.norms : 0) - gate;
        one += s->index_heads > 0 ? mixing_flop(s, 0.5, false) / s->seq
                                  : s->heads * (s->qk_size + s->v_size) * megatron_keys(s, seq);
        break;
    default:
        one += calc_part_mixes(s->mixer) ? calc_linear_flop(s) / 2 : 0;
    }
    return (training ? 3 : 1) * 2 * one;
}

double calc_parameters_megatron_flop(const calc_shape *s, const calc_exec *exec)
{
    const members own = members_of(s), predicted = mtp_members_of(s);
    const struct {
        const members *of;
        double times;
    } sums[] = {{&own, 1}, {&predicted, s->mtp_blocks}};
    double seq = s->packed > 0 && s->packed < s->seq ? s->packed : s->seq;
    double passes = exec->training ? 3 : 1, flop = 0;
    bool hybrid = false; /* of which the projections of predicted tokens are not counted */
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < sums[k].of->count; i++) {
            const calc_shape part = shape_of(s, &sums[k].of->of[i]);
            hybrid = hybrid || part.mixer == CALC_PART_TYPE_MAMBA2;
            flop += sums[k].times * sums[k].of->of[i].layers *
                    megatron_part(&part, seq, exec->training);
        }
    }
    double joined = hybrid ? 0 : 3 * s->hidden + 2 * s->hidden * s->hidden;
    flop += 2 * passes * (s->hidden * s->words * (1 + s->mtp_blocks) + s->mtp_blocks * joined);
    return (double)exec->batch_size *
           (flop * s->seq + calc_encoder_flop(s, &exec->strategy, exec->training));
}

void calc_parameters_tensors(const calc_shape *s, double stages, double *dense, double *expert)
{
    const members m = members_of(s);
    double blocks = m.norms;
    *expert = 0;
    for (size_t i = 0; i < m.count; i++) {
        const calc_shape part = shape_of(s, &m.of[i]);
        const weights w = count(&part);
        blocks += m.of[i].layers * w.tensors;
        *expert += m.of[i].layers * part.experts / s->expert_par * w.expert_tensors / stages;
    }
    double ends = s->vocab > 0 ? (s->tied || s->headless ? 1 : 2) + (s->learned ? 1 : 0) + 1 : 0;
    *dense = (blocks + ends) / stages;
}
