#include "model/serve/inference_pass.h"

#include <assert.h>
#include <math.h>

#include "model/cost/block.h"
#include "model/cost/cost.h"
#include "model/operators/processor.h"
#include "spec/format.h"
#include "spec/stack.h"

/* Operators that a pass adds to those of a mixer or a head. */
enum { ADDED = 6 };

/* An engine that computes latent attention of prompts in the 8 bits of the cache. */
static void narrow_prompts(calc_inference_pass_model *m, const calc_exec *exec)
{
    const calc_engine *matrix = m->system->chip.matrix;
    calc_serving_prefill *r = &m->rates.prefill;
    double wide = matrix[exec->strategy.datatype].flop_per_s;
    double narrow = matrix[CALC_DATATYPE_FLOAT8].flop_per_s;
    bool cached = calc_format_bytes_or(exec->inference.kv_datatype, m->shape.element_bytes) == 1;
    if (m->shape.latent && cached && narrow > 0 && r->efficiency_8bit > 0) {
        r->efficiency = r->efficiency_8bit * narrow / wide;
    }
}

/* Kernels that engines issue for a recurrence in chunks, beside those whose time counts: it has
 * ten, not five (20 us for one token in SGLang, where its convolution takes 2), gates, copies
 * behind the convolution and of states, and three projections more. */
#define BESIDE_RECURRENCE 15

/* Kernels of all blocks for the tokens of prompts: a product of narrow numbers has one more, which
 * narrows its input, and a collective is one. */
static double launches_of(const calc_inference_pass_model *m)
{
    calc_operator item[CALC_MAX_OPERATORS];
    const calc_inference_pass_work one = {.prompts = 1, .chunk = 1};
    const calc_shape s = calc_inference_pass_shape(m, &one);
    const calc_cost_context c = calc_inference_pass_context(m, &s);
    double sum = 0;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        double blocks = kind == CALC_MOE_BLOCK ? s.moe_blocks : s.blocks - s.moe_blocks;
        size_t count = blocks > 0 ? calc_inference_pass_block(m, &c, &one, kind, item) : 0;
        for (size_t i = 0; i < count; i++) {
            const calc_operator *o = &item[i];
            bool narrows = o->converted_bytes > 0, sends = o->op[CALC_PASS_FW] != CALC_OP_NONE;
            double beside = o->steps[CALC_PASS_FW] > 0 ? BESIDE_RECURRENCE : 0;
            sum += blocks * calc_operator_share(o) *
                   (o->launches[CALC_PASS_FW] + narrows + sends + beside);
        }
    }
    return sum;
}

void calc_inference_pass_model_init(calc_inference_pass_model *m, const calc_app *app,
                                    const calc_system *system, const calc_exec *exec)
{
    const calc_inference *i = &exec->inference;
    *m = (calc_inference_pass_model){.system = system};
    calc_engine_traits engine = calc_serving_engine_traits(i);
    m->experts_undivided = engine.experts_undivided;
    m->fused_recurrence = engine.fused_recurrence;
    m->shape = calc_shape_of(app, &exec->strategy, exec->microbatch_size, exec->seq_size);
    double heads = m->shape.latent ? 1 : m->shape.heads / m->shape.kv_heads;
    m->rates = calc_engine_rates_of(&engine, &system->chip.serving, heads);
    /* Tokens are generated one after the other: a cache makes sense under a causal mask only. */
    m->shape.causal = true;
    m->shape.placed_experts += (double)i->redundant_experts;
    m->shape.dropout = false;
    bool own = i->speculative_tokens > 0 && i->speculative_cost == 0;
    m->drafts = own && m->shape.mtp_blocks > 0 ? (double)i->speculative_tokens : 0;
    m->shape.mtp_blocks = m->drafts > 0 ? m->shape.mtp_blocks : 0;
    m->cache = calc_kv_cache_of(&m->shape, i);
    if (engine.narrow_prompts) {
        narrow_prompts(m, exec);
    }
    calc_inference_pass_model_place(m, exec);
    m->launches = launches_of(m);
}

int64_t calc_inference_pass_network(const calc_system *system, const calc_exec *e)
{
    if (e->pipeline_par <= 1) {
        return 0;
    }
    calc_groups groups = calc_groups_of(e, &e->strategy);
    return calc_collective_top_network(system, &groups.pipeline);
}

void calc_inference_pass_model_place(calc_inference_pass_model *m, const calc_exec *e)
{
    calc_inference_pass_pipeline *known = &m->pipeline;
    m->exec = e;
    m->message_network = calc_inference_pass_network(m->system, e);
    /* Whether several chunks fit depends on the batch, too. */
    if (known->stages != e->pipeline_par || known->chunks != e->pipeline_interleaving ||
        known->chunks > 1 || known->first_blocks != e->first_stage_blocks ||
        known->last_blocks != e->last_stage_blocks || known->balance != e->pipeline_balance) {
        *known = (calc_inference_pass_pipeline){e->pipeline_par, e->pipeline_interleaving,
                                                e->first_stage_blocks, e->last_stage_blocks,
                                                e->pipeline_balance};
        m->stages = calc_stages_split(&m->shape, e, CALC_COMPAT_NONE);
    }
}

void calc_inference_pass_model_take(calc_inference_pass_model *m,
                                    const calc_inference_pass_model *other)
{
    m->shape = other->shape;
    m->cache = other->cache;
    m->drafts = other->drafts;
    m->launches = other->launches;
    m->memo = other->memo;
    m->number = other->number;
    m->common = other->common;
}

/* ---- Attention ------------------------------------------------------------------------------- */

/* Arithmetic of attention on `pairs` of a query and a key, whose heads are so wide together. */
static void set_pairs(calc_operator *o, const calc_chip *chip, double pairs, double width)
{
    double exponentials = chip->attention.softmax_size;
    double usual = exponentials > 0 ? 256 / (256 + exponentials) : 1; /* as transformer.c */
    o->flop[CALC_PASS_FW] = 2 * pairs * width;
    o->work[CALC_PASS_FW] = 2 * pairs * (width + exponentials) * usual;
}

/* One mixer of the blocks of a kind. */
typedef struct mixer {
    const calc_inference_pass_model *model;
    calc_shape shape;
    const calc_kv_layer *cache;
    const char *part; /* name, borrowed; NULL: layers are not listed */
    double without;
} mixer;

static void label(const mixer *x, calc_operator *o)
{
    o->part = x->part;
    o->without = x->without;
}

/* New tokens of prompts, in place of the attention of training. */
static void set_chunk(calc_operator *o, const mixer *x, const calc_inference_pass_work *w)
{
    const calc_inference_pass_model *m = x->model;
    const calc_shape *s = &x->shape;
    double e = s->element_bytes;
    double width = s->qk_size + s->v_size;
    double heads = s->local_heads / s->context_par;
    double known = w->cached + w->chunk;
    double fresh = w->prompts * w->chunk / s->context_par;
    if (o->kind == CALC_OPERATOR_SCORES) {
        double square = w->prompts * w->chunk * known * heads;
        o->flop[CALC_PASS_FW] = 2 * square * width;
        o->bytes[CALC_PASS_FW] = 5 * square * e;
        o->kept_bytes = 2 * square * e;
        return;
    }
    double share = 1;
    if (s->context_par > 1 &&
        m->exec->strategy.context_par_balance == CALC_CONTEXT_PAR_BALANCE_NONE) {
        share = (2 * s->context_par - 1) / s->context_par; /* the last rank, as transformer.c */
    }
    double pairs = w->prompts * calc_kv_layer_pairs(x->cache, w->cached, w->chunk) * heads;
    double key_bytes = s->latent ? s->local_heads * width * e : x->cache->rank_bytes;
    set_pairs(o, &m->system->chip, pairs * share, width);
    /* Queries in, outputs out; keys and values read; those of new tokens written to the cache. */
    o->bytes[CALC_PASS_FW] = fresh * s->local_heads * width * e + w->prompts * known * key_bytes +
                             fresh * x->cache->rank_bytes;
    o->kept_bytes = 4 * fresh * s->local_heads;
}

/* Decoded tokens: every sequence's cache is read once. */
static void set_decoded(calc_operator *o, const mixer *x, const calc_inference_pass_work *w)
{
    const calc_shape *s = &x->shape;
    double tokens = w->sequences * w->queries;
    double read = calc_kv_layer_read(x->cache, w->context);
    double width = s->latent ? 2 * s->kv_rank + s->rope_size : s->qk_size + s->v_size;
    /* The absorbing products write, and this reads, the width of the latent. */
    double ends = (s->latent ? 2 : 1) * tokens * s->local_heads * width * s->element_bytes;
    *o = (calc_operator){
        .name = "decode attention", .kind = CALC_OPERATOR_ATTENTION, .cached = read};
    set_pairs(o, &x->model->system->chip, tokens * s->local_heads * read, width);
    o->bytes[CALC_PASS_FW] = (w->sequences * read + tokens) * x->cache->rank_bytes + ends;
    label(x, o);
}

/* Scores are written in single precision, and read twice to choose the largest. */
#define SCORE_BYTES 12

/* Scores of an indexer, whole on every rank: of prompts' pairs, or of all entries of every decoded
 * sequence, whose keys are read once. Queries and weights are small beside them. */
static void set_index(calc_operator *o, const mixer *x, const calc_inference_pass_work *w,
                      bool decoded)
{
    const calc_shape *s = &x->shape;
    double scored = calc_kv_layer_scored(x->cache, w->context);
    double known = calc_kv_layer_scored(x->cache, w->cached + w->chunk);
    double pairs = decoded ? w->sequences * w->queries * scored
                           : w->prompts * calc_kv_layer_scored_pairs(x->cache, w->cached, w->chunk);
    double keys = decoded ? w->sequences * scored : w->prompts * known;
    *o = (calc_operator){.name = decoded ? "decode index scores" : "index scores",
                         .kind = CALC_OPERATOR_ATTENTION,
                         .cached = decoded ? scored : 0};
    o->flop[CALC_PASS_FW] = 2 * pairs * s->index_heads * (s->index_size + 1) / s->context_par;
    o->work[CALC_PASS_FW] = o->flop[CALC_PASS_FW];
    o->chooses = true;
    o->bytes[CALC_PASS_FW] = (keys * x->cache->index_bytes + pairs * SCORE_BYTES) / s->context_par;
    label(x, o);
}

/* Keys and values of cached tokens, expanded from their latents for a chunk. */
static void set_expanded(calc_operator *o, const mixer *x, const calc_inference_pass_work *w)
{
    const calc_shape *s = &x->shape;
    double tokens = w->prompts * w->cached / s->context_par;
    double columns = s->local_heads * (s->qk_size - s->rope_size + s->v_size);
    *o = (calc_operator){.name = "cached key value up projection", .kind = CALC_OPERATOR_MATRIX};
    o->flop[CALC_PASS_FW] = 2 * tokens * s->kv_rank * columns;
    o->bytes[CALC_PASS_FW] = s->element_bytes * (tokens * (s->kv_rank + columns));
    o->launches[CALC_PASS_FW] = 1;
    label(x, o);
}

/* ---- Mixers ---------------------------------------------------------------------------------- */

/* A mixer of the model: the only one, or a part. */
static mixer mixer_of(const calc_inference_pass_model *m, const calc_shape *s, int part,
                      double without)
{
    const calc_part *own = s->stack ? &s->stack->part[part] : NULL;
    return (mixer){m, own ? calc_shape_of_part(s, own) : *s, &m->cache.layer[part],
                   own ? own->name : NULL, without};
}

/* Share of the blocks of a kind that have a part as mixer; all, where layers are not listed. */
static double share_of(const calc_stack *stack, calc_block_kind kind, int part)
{
    double all = 0;
    double with = 0;
    for (int i = 0; stack && i < stack->kinds; i++) {
        const calc_layer_kind *k = &stack->kind[i];
        if (calc_stack_kind_has_experts(stack, i) == (kind == CALC_MOE_BLOCK)) {
            all += k->count;
            with += k->count * ((k->mixer[0] == part) + (k->mixer[1] == part));
        }
    }
    return !stack ? 1 : all > 0 ? with / all : 0;
}

/* Operators that a mixer has beside those of training. */
static size_t add_mixer(const mixer *x, const calc_inference_pass_work *w, size_t count,
                        calc_operator *out)
{
    bool indexed = x->cache->index_bytes > 0;
    assert(count + ADDED <= CALC_MAX_OPERATORS);
    if (calc_part_is_linear(x->shape.mixer)) {
        if (w->sequences > 0) { /* a state is read, and written for every position verified */
            calc_operator *o = &out[count++];
            *o = (calc_operator){.name = "state update", .kind = CALC_OPERATOR_SCAN};
            o->bytes[CALC_PASS_FW] = w->sequences * (1 + w->queries) * x->cache->state_rank_bytes;
            o->launches[CALC_PASS_FW] = 2;
            label(x, o);
        }
        return count;
    }
    if (w->prompts > 0 && x->shape.latent && w->cached > 0) {
        set_expanded(&out[count++], x, w);
    }
    if (w->prompts > 0 && w->sequences > 0) {
        set_decoded(&out[count++], x, w);
    }
    if (w->prompts > 0 && w->sequences > 0 && indexed) {
        set_index(&out[count++], x, w, true);
    }
    /* The kernel that adds up the parts of a sequence's keys, and the launch of both; rates of
     * serving are those of both. */
    if (w->sequences > 0 && x->model->rates.decode.memory_efficiency <= 0) {
        calc_operator *o = &out[count++];
        double outputs = w->sequences * w->queries * x->shape.local_heads * x->shape.v_size;
        *o = (calc_operator){.name = "decode attention sum", .kind = CALC_OPERATOR_VECTOR};
        o->bytes[CALC_PASS_FW] = 2 * outputs * x->shape.element_bytes;
        o->launches[CALC_PASS_FW] = 2;
        label(x, o);
    }
    return count;
}

/* ---- Lists of operators ---------------------------------------------------------------------- */

/* How unequally experts are asked: the squared deviation of their shares of the tokens over the
 * squared mean. Fitted to half of the runs of mixtures; the other half agrees (docs/inference.md).
 */
#define UNEQUAL 0.5

/* The load of the busiest rank of experts, for which all wait. */
typedef struct busiest {
    double touched; /**< share of its experts that some token is routed to */
    double times;   /**< the work of tokens, relative to the mean over ranks */
} busiest;

/* Other tokens are likelier to choose the experts of the first one, too: the shares of experts are
 * of a gamma distribution (Greenwood and Yule 1920). Copies are experts of their own.
 *  @param busy  share of the replicas that have tokens for the experts */
static busiest busiest_of(const calc_inference_pass_model *m, const calc_shape *s, double busy)
{
    double tokens = calc_transformer_routed_tokens(s) * s->expert_par * s->expert_tensor_par * busy;
    double one = s->experts_per_token / s->placed_experts;
    double others = calc_max(tokens - 1, 0);
    double mean =
        1 - (1 - one * calc_min(tokens, 1)) * pow(1 + UNEQUAL * one * others, -1 / UNEQUAL);
    double local = s->placed_experts / s->expert_par;
    /* How far the largest of n normal numbers lies above their mean, in standard deviations: Blom's
     * plotting position (Blom 1958, Statistical Estimates and Transformed Beta-Variables) at
     * Tukey's approximation of the quantile. */
    double p = (s->expert_par - 0.375) / (s->expert_par + 0.25);
    double above = 4.91 * (pow(p, 0.14) - pow(1 - p, 0.14));
    return (busiest){.touched = calc_min(1, mean + above * sqrt(mean * (1 - mean) / local)),
                     .times = busy * (1 + m->experts_undivided * (s->expert_par - 1) +
                                      above * sqrt(UNEQUAL / local))};
}

/* Weights as they are stored, and only the share of experts that is used. Checkpoints of narrow
 * weights keep router, embedding and head wide. */
static void set_weights(calc_operator *o, const calc_shape *s, double used)
{
    if (o->kind == CALC_OPERATOR_HEAD) {
        calc_inference_pass_widen(o, s);
        return;
    }
    double counted = s->matrix_bytes < s->element_bytes ? s->matrix_bytes : s->element_bytes;
    double read = s->weight_bytes < counted ? s->weight_bytes : counted;
    o->bytes[CALC_PASS_FW] -= (counted - read * used) * o->read_weights;
}

/* The experts of the busiest rank. Kernels go over the tokens of others, too. */
static void set_experts(calc_operator *o, const calc_shape *s, const busiest *most)
{
    double weight_bytes = s->matrix_bytes < s->element_bytes ? s->matrix_bytes : s->element_bytes;
    o->bytes[CALC_PASS_FW] +=
        (most->times - 1) * (o->bytes[CALC_PASS_FW] - weight_bytes * o->read_weights);
    o->converted_bytes *= most->times;
    o->flop[CALC_PASS_FW] *= most->times;
    o->work[CALC_PASS_FW] *= most->times;
    o->inputs *= most->times;
    o->outputs *= most->times;
    set_weights(o, s, most->touched);
}

static bool is_matrix(const calc_operator *o)
{
    return o->kind == CALC_OPERATOR_MATRIX || o->kind == CALC_OPERATOR_HEAD ||
           o->kind == CALC_OPERATOR_GROUPED;
}

/* Operators of a block behind the attention's, as the pass has them. Replicas that are idle send
 * experts nothing. */
static void set_behind(const calc_inference_pass_model *m, const calc_shape *s, double idle,
                       size_t first, size_t end, calc_operator *out)
{
    busiest most = {.touched = -1};
    for (size_t i = first; i < end; i++) {
        calc_operator *o = &out[i];
        if (o->kind == CALC_OPERATOR_GROUPED) {
            most = most.touched < 0 ? busiest_of(m, s, 1 - idle) : most;
            set_experts(o, s, &most);
        } else if (is_matrix(o)) {
            set_weights(o, s, 1);
        } else if (o->kind == CALC_OPERATOR_PERMUTE) {
            o->launches[CALC_PASS_FW] = 1; /* part of the kernels that dispatch and combine */
        }
    }
}

/* A delta rule in one kernel moves its ends only; its launches are two, and this the factor on its
 * rate over several kernels (FlashInfer's, docs/models.md). */
#define FUSED_RATE 4

/* The convolution or the recurrence of new tokens of prompts. Decoded tokens have none: see
 * add_mixer(). */
static void set_scan(calc_operator *o, const mixer *x, const calc_inference_pass_work *w)
{
    const calc_shape *s = &x->shape;
    double fresh = w->prompts * w->chunk;
    double share = fresh > 0 ? fresh / (fresh + w->sequences * w->queries) : 0;
    bool delta = s->mixer == CALC_PART_TYPE_GATED_DELTA || s->mixer == CALC_PART_TYPE_KIMI_DELTA;
    if (share <= 0) {
        *o = (calc_operator){.name = o->name, .kind = CALC_OPERATOR_VECTOR};
        return;
    }
    o->flop[CALC_PASS_FW] *= share;
    o->work[CALC_PASS_FW] *= share;
    o->bytes[CALC_PASS_FW] *= share;
    if (o->steps[CALC_PASS_FW] > 0) {
        double chunks = w->chunk / s->scan_chunk;
        o->steps[CALC_PASS_FW] = calc_max(1, chunks);
        o->work[CALC_PASS_FW] *= calc_max(1, 1 / chunks); /* a part takes as much as a whole one */
        if (delta && x->model->fused_recurrence) {
            o->work[CALC_PASS_FW] /= FUSED_RATE;
            o->bytes[CALC_PASS_FW] = (o->inputs + o->outputs) * share * s->element_bytes;
            o->launches[CALC_PASS_FW] = 2;
        }
        o->bytes[CALC_PASS_FW] += 2 * w->prompts * x->cache->state_rank_bytes; /* in and out */
    }
}

/* The kernel of a mixer. */
static void set_core(const calc_inference_pass_model *m, const calc_shape *s,
                     const calc_inference_pass_work *w, calc_operator *o)
{
    int part = 0; /* that the operator is of; 0 where layers are not listed */
    while (s->stack && s->stack->part[part].name != o->part) {
        part++;
    }
    const mixer x = mixer_of(m, s, part, o->without);
    if (o->kind == CALC_OPERATOR_SCAN) {
        set_scan(o, &x, w);
        label(&x, o);
    } else if (o->chooses) {
        set_index(o, &x, w, w->prompts <= 0);
    } else if (w->prompts > 0) {
        set_chunk(o, &x, w);
    } else if (w->sequences > 0) {
        set_decoded(o, &x, w);
    }
}

size_t calc_inference_pass_begin(const calc_inference_pass_model *m, const calc_cost_context *c,
                                 const calc_inference_pass_work *w, calc_block_kind kind,
                                 calc_operator *out)
{
    const calc_shape *s = c->shape;
    size_t count = calc_block_begin(c, kind, out);
    calc_wide_attention wide = m->exec->inference.wide_attention;
    bool before = true;  /* the mixer's kernel */
    bool attends = true; /* until the projection of its output */
    for (size_t i = 0; i < count; i++) {
        calc_operator *o = &out[i];
        if (i > 0 && o->part != out[i - 1].part) {
            before = attends = true;
        }
        if (o->kind == CALC_OPERATOR_ATTENTION || o->kind == CALC_OPERATOR_SCORES ||
            o->kind == CALC_OPERATOR_SCAN) {
            before = before && o->chooses;
            set_core(m, s, w, o);
        } else if (is_matrix(o)) {
            if (wide == CALC_WIDE_ATTENTION_ALL ? attends
                                                : wide == CALC_WIDE_ATTENTION_INPUTS && before) {
                o->kind = CALC_OPERATOR_HEAD;
                o->bytes[CALC_PASS_FW] =
                    s->element_bytes * (o->inputs + o->read_weights + o->outputs);
            }
            attends = attends && before;
            set_weights(o, s, 1);
        }
    }
    return count;
}

size_t calc_inference_pass_router(const calc_inference_pass_model *m, const calc_cost_context *c,
                                  size_t begun, calc_operator *out)
{
    size_t count = calc_block_router(c, CALC_MOE_BLOCK, begun, out);
    set_behind(m, c->shape, 0, begun, count, out);
    return count;
}

size_t calc_inference_pass_rest(const calc_inference_pass_model *m, const calc_cost_context *c,
                                const calc_inference_pass_work *w, calc_block_kind kind,
                                size_t begun, calc_operator *out)
{
    const calc_shape *s = c->shape;
    size_t count = calc_block_rest(c, kind, begun, out);
    set_behind(m, s, w->idle, begun, count, out);
    for (int part = 0; part < (int)m->cache.layers; part++) {
        double share = share_of(s->stack, kind, part);
        if (share > 0) {
            const mixer x = mixer_of(m, s, part, 1 - share);
            count = add_mixer(&x, w, count, out);
        }
    }
    return count;
}

size_t calc_inference_pass_block(const calc_inference_pass_model *m, const calc_cost_context *c,
                                 const calc_inference_pass_work *w, calc_block_kind kind,
                                 calc_operator *out)
{
    size_t count = calc_inference_pass_begin(m, c, w, kind, out);
    if (kind == CALC_MOE_BLOCK) {
        count = calc_inference_pass_router(m, c, count, out);
    }
    return calc_inference_pass_rest(m, c, w, kind, count, out);
}

double calc_inference_pass_sampled(const calc_inference_pass_work *w)
{
    return w->sequences * w->queries + w->finished;
}

/* The logits of all ranks meet. */
size_t calc_inference_pass_head(const calc_inference_pass_model *m, const calc_shape *whole,
                                const calc_inference_pass_work *w, calc_operator *out)
{
    double tokens = calc_max(calc_inference_pass_sampled(w), 1);
    calc_shape s = *whole;
    s.tokens = tokens;
    size_t count = calc_transformer_head(&s, &m->exec->strategy, false, out);
    if (count == 0) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (is_matrix(&out[i])) {
            set_weights(&out[i], &s, 1);
        }
    }
    if (s.headless) {
        return count;
    }
    calc_operator *sampling = &out[count - 1]; /* in place of the loss */
    double logit_bytes = tokens * s.words * s.element_bytes;
    sampling->name = "sampling";
    sampling->bytes[CALC_PASS_FW] = logit_bytes;
    sampling->kept_bytes = logit_bytes;
    if (s.tensor_par > 1) {
        out[count] = (calc_operator){.name = "logits gather",
                                     .kind = CALC_OPERATOR_COLLECTIVE,
                                     .group = CALC_IN_TENSOR,
                                     .message_bytes = logit_bytes};
        out[count].op[CALC_PASS_FW] = CALC_OP_ALL_GATHER;
        out[count].times[CALC_PASS_FW] = 1;
        count++;
    }
    return count;
}

/* ---- Costs ----------------------------------------------------------------------------------- */

calc_shape calc_inference_pass_shape(const calc_inference_pass_model *m,
                                     const calc_inference_pass_work *w)
{
    double tokens = w->sequences * w->queries + w->prompts * w->chunk;
    calc_shape s = m->shape;
    s.microbatch = 1;
    s.seq = tokens;
    s.tokens = tokens / s.context_par;
    return s;
}

calc_cost_context calc_inference_pass_context(const calc_inference_pass_model *m,
                                              const calc_shape *s)
{
    calc_cost_context c = calc_cost_context_of(m->system, m->exec, s, CALC_COMPAT_NONE);
    c.serving = &m->rates;
    return c;
}

/* ---- Stages ---------------------------------------------------------------------------------- */

/* Time of blocks of a kind on one stage. */
static void spend_blocks(const calc_pass_block *b, double n, calc_inference_pass_spent *t)
{
    t->kernel_s += n * b->kernel_s;
    t->tensor_s += n * b->tensor_s;
    t->context_s += n * b->context_s;
    t->expert_s += n * b->expert_s;
    t->sharded_s += n * b->sharded_s;
}

/* Exposed time of a message to the next stage [s]. */
static double message_s(const calc_inference_pass_model *m, const calc_pass_cost *p)
{
    if (m->exec->pipeline_par <= 1) {
        return 0;
    }
    calc_stage_terms hidden = {.message_hidden = p->message_hidden};
    return p->message_s[m->message_network] *
           calc_stage_exposed_messages(&hidden, &m->exec->strategy);
}

static calc_inference_pass_spent spent_on(const calc_pass_cost *p, const calc_stage_class *c,
                                          double efficiency, double message_s)
{
    calc_inference_pass_spent t = {.message_s = message_s};
    spend_blocks(&p->block[CALC_DENSE_BLOCK], c->dense / efficiency, &t);
    spend_blocks(&p->block[CALC_MOE_BLOCK], c->moe / efficiency, &t);
    double sharded_s =
        (c->first * p->sharded_embedding_s + c->last * p->sharded_head_s) / efficiency;
    t.sharded_s += sharded_s;
    t.ends_s = c->first * p->embedding_s + c->last * p->head_s - sharded_s;
    t.total_s =
        t.kernel_s + t.tensor_s + t.context_s + t.expert_s + t.sharded_s + t.ends_s + t.message_s;
    return t;
}

void calc_inference_pass_of(const calc_inference_pass_model *m, const calc_inference_pass_work *w,
                            calc_inference_pass *out)
{
    calc_pass_memo_cost(m, w, &out->cost);
    const calc_pass_cost *p = &out->cost;
    double efficiency = calc_share_or(m->exec->software_efficiency, 1);
    double sent_s = message_s(m, p);
    double flop = p->head_flop;
    out->latency_s = 0;
    for (size_t i = 0; i < m->stages.count; i++) {
        const calc_stage_class *c = &m->stages.item[i];
        calc_inference_pass_spent t = spent_on(p, c, efficiency, sent_s);
        out->latency_s += c->stages * t.total_s;
        flop += c->stages * (c->dense * p->block[CALC_DENSE_BLOCK].flop +
                             c->moe * p->block[CALC_MOE_BLOCK].flop);
        if (i == 0 || t.total_s > out->slow.total_s) {
            out->slow = t;
            out->slowest = i;
        }
    }
    out->flop = flop * m->shape.tensor_par * m->shape.context_par;
}

double calc_inference_pass_cached_blocks(const calc_inference_pass_model *m, size_t index)
{
    const calc_stage_class *c = &m->stages.item[index];
    return c->dense + c->moe + c->last * m->shape.mtp_blocks;
}

/* Serving engines as software: the overhead of a step on top of the model, and scheduling.
 * Constants belong to an engine from a version on, never to a model or machine; its document has
 * them (spec/serving_engine.h). */

double calc_engine_beside_s(const calc_engine_traits *t, double pass_s, double sequences,
                            double ranks, double issued_s)
{
    double host_s =
        (t->host_s + t->host_sequence_s * sequences) * (1 + t->host_growth * log2(ranks));
    double late_s = calc_max(0, issued_s - pass_s);
    return t->gap_s + late_s + (t->overlapped ? calc_max(0, host_s - pass_s - late_s) : host_s);
}

/* An absent efficiency is the one of all widths, or 1. */
static void slow_matrix(calc_serving_matrix *m, double share)
{
    m->efficiency = calc_share_or(m->efficiency, 1) * share;
    m->efficiency_8bit *= share;
    m->block_scaled_efficiency *= share;
    m->efficiency_4bit *= share;
    m->unpacked_efficiency *= share;
}

calc_serving_rates calc_engine_rates_of(const calc_engine_traits *t, const calc_serving_rates *r,
                                        double heads)
{
    calc_serving_rates own = *r;
    double further = 1 / calc_share_or(t->cache_share, 1) - 1; /* time of a head beside the first */
    slow_matrix(&own.matrix, calc_share_or(t->matrix_share, 1));
    slow_matrix(&own.grouped, calc_share_or(t->matrix_share, 1));
    own.decode.memory_efficiency /= 1 + further * (heads - 1);
    return own;
}
