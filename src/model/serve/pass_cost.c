#include "model/serve/pass_cost.h"

#include <string.h>

#include "base/hash.h"
#include "model/cost/cost_kernel.h"
#include "model/operators/encoder.h"
#include "model/operators/processor.h"
#include "model/serve/inference_pass.h"
#include "model/stages/stage_parts.h"

/* The context of the tokens of a pass. @param of_model  of the model's shape; @param shape  filled
 */
static calc_cost_context context_of(const calc_inference_pass_model *m,
                                    const calc_cost_context *of_model,
                                    const calc_inference_pass_work *w, calc_shape *shape)
{
    calc_cost_context c = *of_model;
    *shape = calc_inference_pass_shape(m, w);
    c.shape = shape;
    return c;
}

/* Operators of a block, their times, and known links. */
typedef struct list {
    calc_operator item[CALC_MAX_OPERATORS];
    calc_cost_times times[CALC_MAX_OPERATORS];
    calc_cost_links known;
} list;

/* Add operators to a sum of those before them. */
static void add(const calc_cost_context *c, list *l, size_t first, size_t end, calc_cost *sum)
{
    calc_cost_times_of(c, l->item + first, end - first, &l->known, l->times + first);
    calc_cost_times_add(c, l->item, l->times, first, end, 0, sum);
}

/* The rest of a block: *sum has its first part. */
static void add_rest(const calc_inference_pass_model *m, const calc_cost_context *c,
                     const calc_inference_pass_work *w, calc_block_kind kind, size_t begun, list *l,
                     calc_cost *sum)
{
    size_t count = calc_inference_pass_rest(m, c, w, kind, begun, l->item);
    add(c, l, begun, count, sum);
    calc_cost_times_end(c, l->item, count, sum);
}

/* The first part of a block. */
static size_t begin(const calc_inference_pass_model *m, const calc_cost_context *c,
                    const calc_inference_pass_work *w, calc_block_kind kind, list *l,
                    calc_cost *sum)
{
    size_t begun = calc_inference_pass_begin(m, c, w, kind, l->item);
    *sum = (calc_cost){0};
    add(c, l, 0, begun, sum);
    return begun;
}

/* @param routed  filled: a block with experts, up to them */
static void fill_blocks(const calc_inference_pass_model *m, const calc_cost_context *c,
                        const calc_inference_pass_work *w, calc_cost *routed, calc_stage_parts *out)
{
    const calc_shape *s = c->shape;
    bool experts = s->experts > 0;
    bool dense = s->moe_blocks < s->blocks;
    bool differ = s->stack && dense; /* the mixers of both kinds of blocks */
    list l;
    calc_cost_links_start(&l.known);
    calc_block_kind kind = experts && !differ ? CALC_MOE_BLOCK : CALC_DENSE_BLOCK;
    size_t begun = begin(m, c, w, kind, &l, routed);
    if (dense) {
        out->block[CALC_DENSE_BLOCK] = *routed;
        add_rest(m, c, w, CALC_DENSE_BLOCK, begun, &l, &out->block[CALC_DENSE_BLOCK]);
    }
    if (experts) {
        begun = differ ? begin(m, c, w, CALC_MOE_BLOCK, &l, routed) : begun;
        size_t count = calc_inference_pass_router(m, c, begun, l.item);
        add(c, &l, begun, count, routed);
        out->block[CALC_MOE_BLOCK] = *routed;
        add_rest(m, c, w, CALC_MOE_BLOCK, count, &l, &out->block[CALC_MOE_BLOCK]);
    }
}

/* @param c  of the pass */
static void fill_ends(const calc_inference_pass_model *m, const calc_cost_context *c,
                      const calc_inference_pass_work *w, calc_stage_parts *out)
{
    calc_operator operators[CALC_MAX_OPERATORS];
    const calc_strategy *strategy = &m->exec->strategy;
    const calc_shape *s = c->shape;
    size_t count = calc_transformer_embedding(s, strategy, operators);
    for (size_t i = 0; i < count; i++) {
        calc_inference_pass_widen(&operators[i], s);
    }
    calc_cost_sum(c, operators, count, 0, &out->embedding);
    /* Engines split the encoder of images as they do blocks (vLLM, mm_encoder_tp_mode weights), and
     * keep it in 16 bits. */
    out->embedding.dense_weights += calc_encoder_weights(s, strategy, false) / s->tensor_par *
                                    s->element_bytes / s->weight_bytes;
    count = calc_inference_pass_head(m, s, w, operators);
    calc_cost_sum(c, operators, count, 0, &out->head);
    if (calc_inference_pass_sampled(w) <= 0) {
        out->head = (calc_cost){.dense_weights = out->head.dense_weights,
                                .expert_weights = out->head.expert_weights};
    }
    if (m->shape.mtp_blocks > 0) {
        count = calc_transformer_mtp(s, strategy, operators);
        calc_cost_sum(c, operators, count, 0, &out->mtp);
    }
    bool whole = strategy->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_AR;
    out->message_bytes = calc_stage_message_bytes(s) / (whole ? 1 : s->tensor_par);
}

/* @param of_model  context of the model's shape */
static void fill_parts(const calc_inference_pass_model *m, const calc_cost_context *of_model,
                       const calc_inference_pass_work *w, calc_cost *routed, calc_stage_parts *out)
{
    calc_shape s;
    calc_cost_context c = context_of(m, of_model, w, &s);
    *out = (calc_stage_parts){0};
    fill_blocks(m, &c, w, routed, out);
    fill_ends(m, &c, w, out);
}

/* One drafted token of every sequence: the prediction block and the head once more [s]. */
static double draft_s(const calc_inference_pass_model *m, const calc_cost_context *c,
                      const calc_inference_pass_work *w)
{
    calc_stage_parts parts;
    calc_cost routed;
    calc_inference_pass_work one = {.sequences = w->sequences, .queries = 1, .context = w->context};
    fill_parts(m, c, &one, &routed, &parts);
    double s = calc_cost_fw_s(&parts.mtp) + calc_cost_fw_s(&parts.block[m->shape.experts > 0]) +
               calc_cost_fw_s(&parts.head);
    return s / calc_share_or(m->exec->software_efficiency, 1);
}

/* ---- Terms of the stages --------------------------------------------------------------------- */

/* Terms of a pipeline of such parts, with or without the prediction blocks. */
static void terms_of(const calc_inference_pass_model *m, const calc_cost_context *c,
                     const calc_stage_parts *parts, const calc_stage_lines *lines,
                     calc_stage_terms *out)
{
    calc_stage_terms_row(c, m->exec, parts, NULL, NULL, out);
    calc_stage_terms_cell(c, m->exec, parts, lines, NULL, out);
}

static void put_block(const calc_cost *b, const calc_stage_part *part, double sharded_s,
                      calc_pass_block *out)
{
    *out = (calc_pass_block){
        .kernel_s = b->fw_s,
        .tensor_s = b->tensor.fw_exposed_s,
        .context_s = b->context.fw_exposed_s,
        .expert_s = b->expert.fw_exposed_s,
        .sharded_s = sharded_s,
        .tensor_link_s = b->tensor.fw_link_s,
        .flop = b->work[CALC_PASS_FW].flop,
        .bytes = b->work[CALC_PASS_FW].bytes,
        .whole_bytes = part->whole_bytes,
        .weights = part->weights,
    };
}

/* @param c, t  without the prediction blocks, which run to draft and not in the pass */
static void put_times(const calc_inference_pass_model *m, const calc_cost_context *c,
                      const calc_stage_parts *parts, const calc_stage_lines *lines,
                      const calc_stage_terms *t, calc_pass_cost *out)
{
    const calc_strategy *strategy = &m->exec->strategy;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        const calc_cost *b = &parts->block[kind];
        double sharded_s = calc_stage_sharded_of(c, strategy, b, lines).fw_s;
        put_block(b, &t->block[kind], sharded_s, &out->block[kind]);
    }
    calc_stage_sharded_ends ends = calc_stage_sharded_ends_of(c, m->exec, parts, lines);
    out->sharded_embedding_s = ends.embedding.fw_s;
    out->sharded_head_s = ends.head.fw_s;
    out->embedding_s = t->embedding.fw_s;
    out->head_s = t->head.fw_s;
    out->head_flop = parts->head.work[CALC_PASS_FW].flop;
    out->message_hidden = t->message_hidden;
}

static void put_memory(const calc_stage_terms *t, calc_pass_cost *out)
{
    out->embedding = t->embedding.weights;
    out->head = t->head.weights;
    out->logit_bytes = t->head.kept_bytes;
    out->draft_bytes = t->head.whole_bytes;
    out->held_bytes = t->held_bytes;
    out->owned_bytes = t->owned_bytes;
    out->gathered_ahead = t->gathered_ahead;
    out->dense_shards = t->dense_shards;
    out->expert_shards = t->expert_shards;
}

/* @param c  of the model's shape; @param routed  filled */
static void cost_of(const calc_inference_pass_model *m, const calc_inference_pass_work *w,
                    const calc_cost_context *of_model, calc_cost *routed, calc_pass_cost *out)
{
    calc_stage_parts parts;
    calc_stage_terms terms;
    calc_shape s = m->shape;
    calc_cost_context c = *of_model;
    c.shape = &s;
    fill_parts(m, &c, w, routed, &parts);
    const calc_exec *e = m->exec;
    /* Networks that gather weights. If they are not sharded no time depends on them. */
    calc_stage_lines lines = {.dense_shards = 1, .expert_shards = 1};
    if (calc_zero_stage(&e->strategy) >= 3) {
        lines = calc_stage_lines_of(m->system, e, &e->strategy, &c.groups, parts.message_bytes);
    }
    s.mtp_blocks = 0;
    terms_of(m, &c, &parts, &lines, &terms);
    put_times(m, &c, &parts, &lines, &terms, out);
    out->message_bytes = parts.message_bytes; /* from a stage to the next one */
    for (int64_t i = 0; i < CALC_MAX_NETWORKS; i++) {
        calc_group pair = {2, 0, i};
        double bytes = parts.message_bytes;
        bool is = i < m->system->networks_count;
        double sent_s = is ? calc_collective_s(m->system, CALC_OP_P2P, &pair, bytes) : 0;
        out->message_s[i] = is ? calc_pass_link_s(m->system, CALC_OP_P2P, &pair, bytes, sent_s) : 0;
    }
    out->head_s += w->drafts > 0 && w->sequences > 0 ? w->drafts * draft_s(m, &c, w) : 0;
    if (m->shape.mtp_blocks > 0) {
        s.mtp_blocks = m->shape.mtp_blocks;
        terms_of(m, &c, &parts, &lines, &terms);
    }
    put_memory(&terms, out);
}

void calc_pass_cost_of(const calc_inference_pass_model *m, const calc_inference_pass_work *w,
                       calc_pass_cost *out)
{
    calc_cost routed;
    calc_cost_context c = calc_inference_pass_context(m, &m->shape);
    cost_of(m, w, &c, &routed, out);
}

/* ---- Experts alone --------------------------------------------------------------------------- */

void calc_pass_common_of(const calc_inference_pass_model *m, const calc_inference_pass_work *w,
                         calc_pass_common *out)
{
    calc_cost_context c = calc_inference_pass_context(m, &m->shape);
    out->tensor = c.groups.tensor;
    out->context = c.groups.context;
    out->dispatch = m->exec->strategy.dispatch_type;
    cost_of(m, w, &c, &out->routed, &out->cost);
}

bool calc_pass_cost_like(const calc_inference_pass_model *m, const calc_inference_pass_work *w,
                         const calc_pass_common *common, calc_pass_cost *out)
{
    calc_shape s;
    calc_cost_context of_model = calc_inference_pass_context(m, &m->shape);
    calc_cost_context c = context_of(m, &of_model, w, &s);
    calc_cost block = common->routed;
    list l;
    if (m->exec->strategy.dispatch_type != common->dispatch ||
        !calc_group_same(&c.groups.tensor, &common->tensor) ||
        !calc_group_same(&c.groups.context, &common->context)) {
        return false;
    }
    calc_cost_links_start(&l.known);
    add_rest(m, &c, w, CALC_MOE_BLOCK, 0, &l, &block);
    *out = common->cost;
    /* The passes of a block that shards no weights, as calc_stage_block_of(). */
    double away = calc_stage_away_of(&m->exec->strategy).activation;
    calc_stage_part part = {.weights = {block.dense_weights, block.expert_weights},
                            .whole_bytes = block.kept_whole_bytes + away * block.kept_bytes};
    put_block(&block, &part, 0, &out->block[CALC_MOE_BLOCK]);
    return true;
}

calc_stage_memory calc_pass_cost_memory(const calc_pass_cost *p, const calc_stage_class *c)
{
    const calc_pass_block *b = p->block;
    calc_stage_terms t = {
        .block = {{.weights = b[0].weights, .whole_bytes = b[0].whole_bytes},
                  {.weights = b[1].weights, .whole_bytes = b[1].whole_bytes}},
        .embedding = {.weights = p->embedding},
        .head = {.weights = p->head, .kept_bytes = p->logit_bytes, .whole_bytes = p->draft_bytes},
        .dense_shards = p->dense_shards,
        .expert_shards = p->expert_shards,
        .held_bytes = p->held_bytes,
        .owned_bytes = p->owned_bytes,
        .gathered_ahead = p->gathered_ahead,
    };
    calc_stage_weights w = calc_stage_weights_sum(&t, c);
    return calc_stage_memory_at(&t, c, &w, CALC_PIPELINE_SCHEDULE_1F1B, 0);
}

/* Costs of passes that were asked for before: a sweep evaluates many layouts that run the same
 * batches with the same strategy. A cost found equals the computed one to the bit. The memory is
 * the caller's; of two passes that fall on the same place the later stays. */

enum { WORDS = CALC_PASS_MEMO_WORDS };

static size_t place_of(size_t count, const calc_pass_memo_key *key)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < WORDS; i++) {
        hash = calc_hash_word(hash, key->word[i]);
    }
    return (size_t)((hash >> 32) + key->number) & (count - 1);
}

static calc_pass_memo_key key_of(uint64_t number, uint64_t variant,
                                 const calc_inference_pass_work *work)
{
    calc_pass_memo_key key = {.number = number, .variant = variant};
    memcpy(key.word, work, sizeof key.word);
    return key;
}

/* @return whether the entry has this key; it has from now on */
static bool take(calc_pass_memo_key *at, const calc_pass_memo_key *key)
{
    bool same = memcmp(at, key, sizeof *key) == 0;
    *at = *key;
    return same;
}

calc_pass_memo_entry *calc_pass_memo_at(calc_pass_memo *memo, uint64_t number, uint64_t variant,
                                        const calc_inference_pass_work *work)
{
    const calc_pass_memo_key key = key_of(number, variant, work);
    calc_pass_memo_entry *e = &memo->entry[place_of(memo->count, &key)];
    e->known = take(&e->key, &key) && e->known;
    return e;
}

calc_pass_common_entry *calc_pass_memo_common_at(calc_pass_memo *memo, uint64_t number,
                                                 uint64_t variant,
                                                 const calc_inference_pass_work *work)
{
    if (memo->commons == 0) {
        return NULL;
    }
    const calc_pass_memo_key key = key_of(number, variant, work);
    calc_pass_common_entry *e = &memo->common[place_of(memo->commons, &key)];
    e->known = take(&e->key, &key) && e->known;
    return e;
}

/* Beside the strategy costs depend on whether one stage has a table that both ends use, and, if
 * ranks are not laid out over nodes, on the network that experts may have from the replicas. */
static uint64_t variant_of(const calc_inference_pass_model *m)
{
    const calc_exec *e = m->exec;
    bool named = e->rank_order == CALC_RANK_ORDER_NETWORKS && e->strategy.expert_par > 1;
    bool shared = m->shape.tied && e->pipeline_par <= 1;
    return (named ? 2 * (uint64_t)e->strategy.data_par_net : 0) + shared;
}

/* Where a strategy that spreads experts another way ran the same batch, only they are computed. */
static void compute_cost(const calc_inference_pass_model *m, const calc_inference_pass_work *w,
                         calc_pass_cost *out)
{
    /* The blocks that draft have experts, too. */
    bool shares = m->shape.experts > 0 && m->common > 0 && m->drafts <= 0;
    calc_pass_common_entry *entry =
        shares ? calc_pass_memo_common_at(m->memo, m->common, variant_of(m), w) : NULL;
    if (!entry) {
        calc_pass_cost_of(m, w, out);
    } else if (!entry->known || !calc_pass_cost_like(m, w, &entry->common, out)) {
        calc_pass_common_of(m, w, &entry->common);
        entry->known = true;
        *out = entry->common.cost;
    }
}

void calc_pass_memo_cost(const calc_inference_pass_model *m, const calc_inference_pass_work *w,
                         calc_pass_cost *out)
{
    /* Sharded weights are gathered over networks and ranks that differ. */
    if (!m->memo || calc_zero_stage(&m->exec->strategy) >= 3) {
        calc_pass_cost_of(m, w, out);
        return;
    }
    calc_pass_memo_entry *entry = calc_pass_memo_at(m->memo, m->number, variant_of(m), w);
    if (!entry->known) {
        compute_cost(m, w, &entry->cost);
        entry->known = true;
    }
    *out = entry->cost;
}
