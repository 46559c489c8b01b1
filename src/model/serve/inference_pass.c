#include "model/serve/inference_pass.h"

#include <assert.h>
#include <math.h>

#include "model/cost/block.h"
#include "model/operators/processor.h"

/* Operators that a pass adds to those of a block or a head. */
enum { ADDED = 4 };

void calc_inference_pass_model_init(calc_inference_pass_model *m, const calc_app *app,
                                    const calc_system *system, const calc_exec *exec)
{
    const calc_inference *i = &exec->inference;
    *m = (calc_inference_pass_model){.system = system, .exec = *exec};
    m->exec.training = false;
    m->exec.pipeline_schedule = CALC_PIPELINE_SCHEDULE_1F1B; /* the others order backward passes */
    m->shape = calc_shape_of(app, &m->exec.strategy, m->exec.microbatch_size, m->exec.seq_size);
    /* Tokens are generated one after the other: a cache makes sense under a causal mask only. */
    m->shape.causal = true;
    m->shape.dropout = false;
    bool own = i->speculative_tokens > 0 && i->speculative_cost == 0;
    m->drafts = own && m->shape.mtp_blocks > 0 ? (double)i->speculative_tokens : 0;
    m->shape.mtp_blocks = m->drafts > 0 ? m->shape.mtp_blocks : 0;
    m->cache = calc_kv_cache_of(&m->shape, i);
    m->stages = calc_stages_split(&m->shape, &m->exec, CALC_COMPAT_NONE);
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

/* New tokens of prompts, in place of the attention of training. */
static void set_chunk(calc_operator *o, const calc_inference_pass_model *m, const calc_shape *s,
                      const calc_inference_pass_work *w)
{
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
        m->exec.strategy.context_par_balance == CALC_CONTEXT_PAR_BALANCE_NONE) {
        share = (2 * s->context_par - 1) / s->context_par; /* the last rank, as transformer.c */
    }
    double pairs = w->prompts * calc_kv_cache_pairs(&m->cache, w->cached, w->chunk) * heads;
    double key_bytes = s->latent ? s->local_heads * width * e : m->cache.rank_bytes;
    set_pairs(o, &m->system->chip, pairs * share, width);
    /* Queries in, outputs out; keys and values read; those of new tokens written to the cache. */
    o->bytes[CALC_PASS_FW] = fresh * s->local_heads * width * e + w->prompts * known * key_bytes +
                             fresh * m->cache.rank_bytes;
    o->kept_bytes = 4 * fresh * s->local_heads;
}

/* Decoded tokens: every sequence's cache is read once. */
static void set_decoded(calc_operator *o, const calc_inference_pass_model *m, const calc_shape *s,
                        const calc_inference_pass_work *w)
{
    double tokens = w->sequences * w->queries;
    double read = calc_kv_cache_read(&m->cache, w->context);
    double width = s->latent ? 2 * s->kv_rank + s->rope_size : s->qk_size + s->v_size;
    /* What the absorbing products write and this reads is the width of the latent. */
    double ends = (s->latent ? 2 : 1) * tokens * s->local_heads * width * s->element_bytes;
    *o = (calc_operator){.name = "decode attention", .kind = CALC_OPERATOR_ATTENTION};
    set_pairs(o, &m->system->chip, tokens * s->local_heads * read, width);
    o->bytes[CALC_PASS_FW] = (w->sequences * read + tokens) * m->cache.rank_bytes + ends;
}

/* The kernel that adds up the parts of a sequence's keys, and the launch of both. */
static void set_combined(calc_operator *o, const calc_shape *s, const calc_inference_pass_work *w)
{
    double outputs = w->sequences * w->queries * s->local_heads * s->v_size;
    *o = (calc_operator){.name = "decode attention sum", .kind = CALC_OPERATOR_VECTOR};
    o->bytes[CALC_PASS_FW] = 2 * outputs * s->element_bytes;
    o->launches[CALC_PASS_FW] = 2;
}

/* Keys and values of cached tokens, expanded from their latents for a chunk. */
static void set_expanded(calc_operator *o, const calc_shape *s, const calc_inference_pass_work *w)
{
    double tokens = w->prompts * w->cached / s->context_par;
    double columns = s->local_heads * (s->qk_size - s->rope_size + s->v_size);
    *o = (calc_operator){.name = "cached key value up projection", .kind = CALC_OPERATOR_MATRIX};
    o->flop[CALC_PASS_FW] = 2 * tokens * s->kv_rank * columns;
    o->bytes[CALC_PASS_FW] = s->element_bytes * (tokens * (s->kv_rank + columns));
    o->launches[CALC_PASS_FW] = 1;
}

/* ---- Lists of operators ---------------------------------------------------------------------- */

/* Share of the experts that some token of the expert-parallel group is routed to. */
static double touched(const calc_shape *s)
{
    double tokens = calc_transformer_routed_tokens(s) * s->expert_par * s->expert_tensor_par;
    return 1 - pow(1 - s->experts_per_token / s->experts, tokens);
}

/* Weights as they are stored, and only those that are used. */
static void set_weights(calc_operator *o, const calc_shape *s)
{
    bool wide = o->kind == CALC_OPERATOR_HEAD || s->matrix_bytes >= s->element_bytes;
    double counted = wide ? s->element_bytes : s->matrix_bytes;
    double read = s->weight_bytes < counted ? s->weight_bytes : counted;
    double used = o->kind == CALC_OPERATOR_GROUPED ? touched(s) : 1;
    o->bytes[CALC_PASS_FW] -= (counted - read * used) * o->weights;
}

static bool is_matrix(const calc_operator *o)
{
    return o->kind == CALC_OPERATOR_MATRIX || o->kind == CALC_OPERATOR_HEAD ||
           o->kind == CALC_OPERATOR_GROUPED;
}

size_t calc_inference_pass_block(const calc_inference_pass_model *m, const calc_cost_context *c,
                                 const calc_inference_pass_work *w, calc_block_kind kind,
                                 calc_operator *out)
{
    const calc_shape *s = c->shape;
    size_t count = calc_block_operators(c, kind, out);
    calc_operator *core = NULL;
    for (size_t i = 0; i < count; i++) {
        calc_operator *o = &out[i];
        if (is_matrix(o)) {
            set_weights(o, s);
        } else if (o->kind == CALC_OPERATOR_PERMUTE) {
            o->launches[CALC_PASS_FW] = 1; /* part of the kernels that dispatch and combine */
        } else if (o->kind == CALC_OPERATOR_ATTENTION || o->kind == CALC_OPERATOR_SCORES) {
            core = o;
        }
    }
    assert(core && count + ADDED <= CALC_MAX_OPERATORS);
    if (w->prompts > 0) {
        set_chunk(core, m, s, w);
        if (s->latent && w->cached > 0) {
            set_expanded(&out[count++], s, w);
        }
        core = &out[count];
        count += w->sequences > 0;
    }
    if (w->sequences > 0) {
        set_decoded(core, m, s, w);
        set_combined(&out[count++], s, w);
    }
    return count;
}

/* Tokens that a pass gives, drafts that are verified included. */
static double sampled(const calc_inference_pass_work *w)
{
    return w->sequences * w->queries + w->finished;
}

/* The logits of all ranks meet. */
size_t calc_inference_pass_head(const calc_inference_pass_model *m, const calc_shape *whole,
                                const calc_inference_pass_work *w, calc_operator *out)
{
    double tokens = calc_max(sampled(w), 1);
    calc_shape s = *whole;
    s.tokens = tokens;
    size_t count = calc_transformer_head(&s, &m->exec.strategy, m->exec.training, out);
    if (count == 0) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (is_matrix(&out[i])) {
            set_weights(&out[i], &s);
        }
    }
    calc_operator *sampling = &out[count - 1]; /* in place of the loss */
    double logit_bytes = tokens * s.vocab * s.element_bytes;
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

static calc_block_kind last_kind(const calc_shape *s)
{
    return s->experts > 0 ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK;
}

/* A list that is not run in this pass: only its weights are there. */
static void keep_weights(calc_cost *cost)
{
    *cost =
        (calc_cost){.dense_weights = cost->dense_weights, .expert_weights = cost->expert_weights};
}

static void fill_parts(const calc_inference_pass_model *m, const calc_inference_pass_work *w,
                       calc_stage_parts *out)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    calc_shape s = calc_inference_pass_shape(m, w);
    calc_cost_context context = calc_cost_context_of(m->system, &m->exec, &s, CALC_COMPAT_NONE);
    double moe = calc_shape_moe_blocks(&s);
    *out = (calc_stage_parts){0};
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        if (kind == CALC_MOE_BLOCK ? s.experts > 0 : moe < s.blocks) {
            size_t count = calc_inference_pass_block(m, &context, w, kind, operators);
            calc_cost_sum(&context, operators, count, 0, &out->block[kind]);
        }
    }
    size_t count = calc_transformer_embedding(&s, &m->exec.strategy, operators);
    calc_cost_sum(&context, operators, count, 0, &out->embedding);
    count = calc_inference_pass_head(m, &s, w, operators);
    calc_cost_sum(&context, operators, count, 0, &out->head);
    if (sampled(w) <= 0) {
        keep_weights(&out->head);
    }
    if (m->shape.mtp_blocks > 0) {
        count = calc_transformer_mtp(&s, &m->exec.strategy, operators);
        calc_cost_sum(&context, operators, count, 0, &out->mtp);
    }
    bool whole = m->exec.strategy.tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_AR;
    out->message_bytes = calc_stage_message_bytes(&s) / (whole ? 1 : s.tensor_par);
}

/* One drafted token of every sequence: the prediction block and the head once more [s]. */
static double draft_s(const calc_inference_pass_model *m, const calc_inference_pass_work *w)
{
    calc_stage_parts parts;
    calc_inference_pass_work one = {.sequences = w->sequences, .queries = 1, .context = w->context};
    fill_parts(m, &one, &parts);
    double s = calc_cost_fw_s(&parts.mtp) + calc_cost_fw_s(&parts.block[last_kind(&m->shape)]) +
               calc_cost_fw_s(&parts.head);
    return s / calc_share_or(m->exec.software_efficiency, 1);
}

static double pass_flop(const calc_inference_pass_model *m, const calc_stage_parts *parts)
{
    double sum = parts->head.work[CALC_PASS_FW].flop;
    for (size_t i = 0; i < m->stages.count; i++) {
        const calc_stage_class *c = &m->stages.item[i];
        sum += c->stages * (c->dense * parts->block[CALC_DENSE_BLOCK].work[CALC_PASS_FW].flop +
                            c->moe * parts->block[CALC_MOE_BLOCK].work[CALC_PASS_FW].flop);
    }
    return sum * m->shape.tensor_par * m->shape.context_par;
}

/* Terms of a pipeline of such parts; without the prediction blocks, if depth is 0. */
static void terms_of(const calc_inference_pass_model *m, const calc_stage_parts *parts,
                     double depth, calc_stage_lines *lines, calc_stage_sharded_ends *ends,
                     calc_stage_terms *out, calc_stage_links *links)
{
    calc_shape s = m->shape;
    s.mtp_blocks = depth;
    calc_cost_context context = calc_cost_context_of(m->system, &m->exec, &s, CALC_COMPAT_NONE);
    *lines = calc_stage_lines_of(m->system, &m->exec, &m->exec.strategy, &context.groups,
                                 parts->message_bytes);
    calc_stage_terms_of(&context, &m->exec, parts, lines, out, links);
    *ends = calc_stage_sharded_ends_of(&context, &m->exec, parts, lines);
}

/* What blocks of a kind on one stage take. */
static void spend_blocks(const calc_inference_pass_model *m, const calc_cost *b, double blocks,
                         const calc_stage_lines *lines, calc_inference_pass_spent *t)
{
    calc_cost_context context =
        calc_cost_context_of(m->system, &m->exec, &m->shape, CALC_COMPAT_NONE);
    double n = blocks / calc_share_or(m->exec.software_efficiency, 1);
    t->kernel_s += n * b->fw_s;
    t->tensor_s += n * b->tensor.fw_exposed_s;
    t->context_s += n * b->context.fw_exposed_s;
    t->expert_s += n * b->expert.fw_exposed_s;
    t->sharded_s += n * calc_stage_sharded_of(&context, &m->exec.strategy, b, lines).fw_s;
}

void calc_inference_pass_of(const calc_inference_pass_model *m, const calc_inference_pass_work *w,
                            calc_inference_pass *out)
{
    calc_stage_terms terms;
    calc_stage_links links;
    calc_stage_lines lines;
    calc_stage_sharded_ends ends;
    *out = (calc_inference_pass){0};
    fill_parts(m, w, &out->parts);
    terms_of(m, &out->parts, m->shape.mtp_blocks, &lines, &ends, &out->memory, &links);
    terms_of(m, &out->parts, 0, &lines, &ends, &terms, &links);
    double drafting_s = w->drafts > 0 ? w->drafts * draft_s(m, w) : 0;
    double message_s = links.message_s * calc_stage_exposed_messages(&terms, &m->exec.strategy);
    for (size_t i = 0; i < m->stages.count; i++) {
        const calc_stage_class *c = &m->stages.item[i];
        calc_inference_pass_spent t = {.message_s = message_s};
        spend_blocks(m, &out->parts.block[CALC_DENSE_BLOCK], c->dense, &lines, &t);
        spend_blocks(m, &out->parts.block[CALC_MOE_BLOCK], c->moe, &lines, &t);
        double sharded_s = (c->first * ends.embedding.fw_s + c->last * ends.head.fw_s) /
                           calc_share_or(m->exec.software_efficiency, 1);
        t.sharded_s += sharded_s;
        t.ends_s =
            c->first * terms.embedding.fw_s + c->last * (terms.head.fw_s + drafting_s) - sharded_s;
        t.total_s = t.kernel_s + t.tensor_s + t.context_s + t.expert_s + t.sharded_s + t.ends_s +
                    t.message_s;
        out->latency_s += c->stages * t.total_s;
        if (i == 0 || t.total_s > out->slow.total_s) {
            out->slow = t;
            out->slowest = i;
        }
    }
    out->flop = pass_flop(m, &out->parts);
}

calc_stage_memory calc_inference_pass_memory(const calc_inference_pass_model *m,
                                             const calc_inference_pass *pass, size_t index)
{
    const calc_stage_class *c = &m->stages.item[index];
    calc_stage_weights w = calc_stage_weights_sum(&pass->memory, c);
    return calc_stage_memory_sum(&pass->memory, c, &w, m->exec.pipeline_schedule, m->stages.chunks);
}

double calc_inference_pass_cached_blocks(const calc_inference_pass_model *m, size_t index)
{
    const calc_stage_class *c = &m->stages.item[index];
    return c->dense + c->moe + c->last * m->shape.mtp_blocks;
}
