#include "model/stages/stage_parts.h"

#include <math.h>
#include <string.h>

#include "model/cost/block.h"
#include "model/cost/cost_kernel.h"
#include "model/operators/adapter.h"
#include "model/operators/encoder.h"
#include "model/operators/processor.h"
#include "model/stages/stage_types.h"

/* Host work that is left when a graph launches the kernels, and its growth by default. */
#define GRAPH_LEAVES 0.1
#define GROWTH 0.5
/* Kernels of the forward pass of blocks whose time host.block was measured on, with stored scores,
 * and of those with experts of host.moe_block. */
#define BLOCK_KERNELS 14
#define MOE_BLOCK_KERNELS 30

/* Share of the forward pass's kernels that recomputation launches again. */
static double launched_again(const calc_operator *operators, size_t count, unsigned recompute)
{
    double all = 0;
    double again = 0;
    for (size_t i = 0; i < count; i++) {
        double launches = operators[i].launches[CALC_PASS_FW] * calc_operator_share(&operators[i]);
        all += launches;
        again += launches * calc_operator_again(&operators[i], recompute);
    }
    return all > 0 ? again / all : 0; /* of Calculon: nothing is launched */
}

/* Kernels of the forward pass over those of a usual block, at least 1; adapters and experts one
 * after the other are calc_adapter_launches()'s. */
static double launched_more(calc_block_kind kind, const calc_stage_operators *list)
{
    double kernels = 0;
    for (size_t i = 0; i < list->count; i++) {
        const calc_operator *o = &list->item[i];
        double launches = o->launches[CALC_PASS_FW] / calc_max(1, o->loops);
        kernels += o->adapter ? 0 : launches * calc_operator_share(o);
    }
    return calc_max(1, kernels / (kind == CALC_MOE_BLOCK ? MOE_BLOCK_KERNELS : BLOCK_KERNELS));
}

/* Time of the host to issue a usual block's kernels. An all-to-all hides behind another micro-batch
 * only if the block is issued in pieces, in turn with those of the other, each with events and a
 * backward graph of its own (Megatron Core, overlap_moe_expert_parallel_comm). */
static double issued_s(const calc_cost_context *c, calc_block_kind kind)
{
    const calc_host *h = &c->chip->host;
    if (kind != CALC_MOE_BLOCK) {
        return h->block_s;
    }
    const calc_strategy *s = c->strategy;
    bool sent = s->dispatch_type != CALC_DISPATCH_TYPE_REPLICATED && c->shape->expert_par > 1;
    bool pieces = s->expert_par_overlap == CALC_EXPERT_PAR_OVERLAP_BATCH &&
                  (sent || c->shape->expert_tensor_par > 1);
    double growth = pieces ? calc_share_or(h->overlap_growth, GROWTH) : 0;
    return (h->block_s + h->moe_block_s) * (1 + growth);
}

/* Share of a block's kernels that graphs launch. Those of its parts are for attention and router;
 * of layers that a model lists, one that only mixes tokens is launched whole, one of experts alone
 * but for its router not at all. */
static double graphed_share(const calc_cost_context *c, calc_block_kind kind,
                            const calc_stage_operators *list)
{
    double share = c->strategy->cuda_graph;
    if (c->shape->stack == NULL || share <= 0 || share >= 1) {
        return share;
    }
    double mixes = 0, feeds = kind == CALC_MOE_BLOCK;
    const char *last = NULL; /* part that mixes */
    for (size_t i = 0; i < list->count; i++) {
        const calc_operator *o = &list->item[i];
        double one = calc_operator_share(o);
        bool mixer = o->kind == CALC_OPERATOR_ATTENTION || o->kind == CALC_OPERATOR_SCORES ||
                     o->kind == CALC_OPERATOR_SCAN;
        mixes += mixer && o->part != last ? one : 0;
        last = mixer ? o->part : last;
        feeds = calc_max(feeds, o->repeated_by >> CALC_RECOMPUTE_MODULES_MLP & 1 ? one : 0);
    }
    mixes = calc_min(1, mixes);
    double both = calc_max(0, mixes + feeds - 1);
    double router = kind == CALC_MOE_BLOCK ? calc_min(share, CALC_GRAPHED_ROUTER) : 0;
    return both * share + (mixes - both) * (share > CALC_GRAPHED_ROUTER) + (feeds - both) * router;
}

/* Time of the host to issue a block once, forward and backward, that has `more` times the kernels.
 * Graphs launch most of it; ranks of tensor parallelism meet at every collective, so the slowest
 * host sets the pace. */
static double host_once_s(const calc_cost_context *c, calc_block_kind kind, double more,
                          double graphed)
{
    const calc_host *h = &c->chip->host;
    bool narrow = c->shape->matrix_bytes < c->shape->element_bytes;
    double local = c->strategy->fused_experts ? 1 : c->shape->experts / c->shape->expert_par;
    double left = c->strategy->cuda_graph < 1 ? 1 : GRAPH_LEAVES; /* parts hold no experts */
    double quantized_s = kind == CALC_MOE_BLOCK && narrow ? h->expert_s * local * left : 0;
    double ranks = c->shape->tensor_par;
    double meet = ranks > 4 ? 1 + h->tensor_par_growth * log2(ranks / 4) : 1;
    double once = c->training ? 1 : 1.0 / 3;
    double issued = issued_s(c, kind) * more * (1 - (1 - GRAPH_LEAVES) * graphed);
    return (issued + quantized_s) * meet * once;
}

/* Copies of weights that TransformerEngine keeps as a dummy gradient: one per shape of a matrix. */
typedef struct shapes {
    double seen[2 * CALC_MAX_OPERATORS];
    size_t count;
    double sum;
} shapes;

static void add_shapes(const calc_cost_context *c, const calc_operator *operators, size_t count,
                       shapes *s)
{
    for (size_t i = 0; i < count; i++) {
        const calc_operator *o = &operators[i];
        double one = o->weights;
        if (o->kind == CALC_OPERATOR_GROUPED) {
            one /= c->shape->experts / c->shape->expert_par;
        } else if (o->kind != CALC_OPERATOR_MATRIX) {
            continue;
        }
        size_t k = 0;
        while (k < s->count && s->seen[k] != one) {
            k++;
        }
        if (k == s->count) {
            s->seen[s->count++] = one;
            s->sum += one;
        }
    }
}

/* Workspaces of cuBLAS on Hopper and later: PyTorch's handle has one, TransformerEngine another,
 * and one for each of the four streams that it runs grouped multiplications on. */
static double workspace_bytes(const calc_strategy *strategy, bool moe)
{
    const double one = 32.0 * 1024 * 1024;
    return calc_framework_takes(strategy, CALC_FRAMEWORK_MEM_GEMM_WORKSPACE) ? (moe ? 6 : 2) * one
                                                                             : 0;
}

double calc_stage_message_bytes(const calc_shape *shape)
{
    double streams = shape->residual == CALC_RESIDUAL_TYPE_PLAIN ? 1
                     : shape->residual == CALC_RESIDUAL_TYPE_ATTENTION
                         ? 1 + shape->blocks / shape->streams / 2
                         : shape->streams;
    return shape->tokens * shape->hidden * shape->element_bytes * streams;
}

static bool has_block(const calc_shape *shape, calc_block_kind kind)
{
    return kind == CALC_MOE_BLOCK ? shape->experts > 0 : shape->moe_blocks < shape->blocks;
}

/* Operators of a block with experts.
 * @param timed  of those without, so many are their first ones; 0: none */
static void list_experts(const calc_cost_context *c, size_t timed, calc_stage_timed *out)
{
    const calc_stage_operators *dense = &out->list[CALC_DENSE_BLOCK];
    calc_stage_operators *moe = &out->list[CALC_MOE_BLOCK];
    size_t begun = timed > 0 ? timed : calc_block_begin(c, CALC_MOE_BLOCK, moe->item);
    for (size_t i = 0; i < timed; i++) {
        moe->item[i] = dense->item[i];
        moe->times[i] = dense->times[i];
    }
    out->routed = calc_block_router(c, CALC_MOE_BLOCK, begun, moe->item);
    moe->count = calc_block_rest(c, CALC_MOE_BLOCK, out->routed, moe->item);
}

static void put_context(const calc_cost_context *c, calc_stage_timed *out)
{
    out->strategy = *c->strategy;
    out->shape = *c->shape;
    out->context = *c;
    out->context.strategy = &out->strategy;
    out->context.shape = &out->shape;
}

/* A strategy without the fields in which layouts with mostly equal operators may differ. */
static calc_strategy key_of(const calc_strategy *strategy)
{
    calc_strategy s = *strategy;
    s.expert_par = s.expert_tensor_par = 1;
    s.activation_recompute = CALC_ACTIVATION_RECOMPUTE_NONE;
    s.tensor_par_overlap = CALC_TENSOR_PAR_OVERLAP_NONE;
    return s;
}

void calc_stage_operators_of(const calc_cost_context *c, calc_stage_timed *out)
{
    calc_stage_operators *lists = out->list;
    bool has_dense = has_block(c->shape, CALC_DENSE_BLOCK);
    bool has_moe = has_block(c->shape, CALC_MOE_BLOCK);
    calc_cost_links known;
    calc_cost_links_start(&known);
    for (int i = 0; i < CALC_STAGE_LISTS; i++) {
        lists[i].count = 0;
    }
    out->begun = out->routed = 0;
    if (has_dense) {
        calc_stage_operators *dense = &lists[CALC_DENSE_BLOCK];
        size_t begun = calc_block_begin(c, CALC_DENSE_BLOCK, dense->item);
        dense->count = calc_block_rest(c, CALC_DENSE_BLOCK, begun, dense->item);
        out->begun = c->shape->stack ? 0 : begun; /* listed layers may begin in different ways */
    }
    lists[CALC_STAGE_EMBEDDING].count = calc_block_embedding(c, lists[CALC_STAGE_EMBEDDING].item);
    lists[CALC_STAGE_HEAD].count = calc_block_head(c, lists[CALC_STAGE_HEAD].item);
    lists[CALC_STAGE_PREDICTION].count =
        calc_block_mtp(c, c->training, lists[CALC_STAGE_PREDICTION].item);
    for (int i = 0; i < CALC_STAGE_LISTS; i++) {
        size_t timed = 0;
        if (i == CALC_MOE_BLOCK && has_moe) {
            timed = has_dense ? out->begun : 0;
            list_experts(c, timed, out);
        }
        calc_cost_times_of(c, lists[i].item + timed, lists[i].count - timed, &known,
                           lists[i].times + timed);
    }
    put_context(c, out);
    out->key = key_of(c->strategy);
}

/* ---- Experts --------------------------------------------------------------------------------- */

static bool same_strategy(const calc_strategy *a, const calc_strategy *b)
{
    bool same = true;
#define CALC_FIELD(name, type, arg, ...)
#define CALC_STRATEGY_FIELD(name, type, arg, ...) same = same && a->name == b->name;
#include "calc/exec.fields.h"
#undef CALC_FIELD
    return same;
}

static bool same_but_experts(const calc_cost_context *a, const calc_cost_context *b)
{
    return calc_cost_kernel_alike(a, b) && a->system == b->system && a->compat == b->compat &&
           a->shape->microbatch == b->shape->microbatch && a->shape->seq == b->shape->seq &&
           calc_group_same(&a->groups.tensor, &b->groups.tensor) &&
           calc_group_same(&a->groups.context, &b->groups.context) &&
           calc_stage_operators_same(a->strategy, b->strategy);
}

calc_stage_timed *calc_stage_timed_find(const calc_cost_context *c, calc_stage_timed *timed,
                                        size_t count)
{
    const calc_strategy key = key_of(c->strategy);
    /* Layers of multi-token prediction may have experts, too. */
    bool shared = c->shape->experts > 0 && !calc_shape_lists_mtp(c->shape);
    for (size_t i = 0; i < count && shared; i++) {
        if (same_but_experts(&timed[i].context, c) && same_strategy(&timed[i].key, &key)) {
            return &timed[i];
        }
    }
    return NULL;
}

void calc_stage_timed_put_experts(const calc_cost_context *c, calc_stage_timed *timed)
{
    calc_cost_links known;
    calc_cost_links_start(&known);
    calc_stage_operators *moe = &timed->list[CALC_MOE_BLOCK];
    moe->count = calc_block_rest(c, CALC_MOE_BLOCK, timed->routed, moe->item);
    calc_cost_times_of(c, moe->item + timed->routed, moe->count - timed->routed, &known,
                       moe->times + timed->routed);
    put_context(c, timed);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* The remaining terms of a block whose operators are summed. */
static void set_block(const calc_cost_context *c, calc_block_kind kind, unsigned recompute,
                      const calc_stage_operators *list, calc_stage_parts *out)
{
    calc_cost *block = &out->block[kind];
    out->host_s[kind] = out->host_once_s[kind] = 0;
    out->layers[kind] = 0;
    if (list->count == 0) {
        return;
    }
    double untouched = c->training ? calc_adapter_untouched(c->shape, c->strategy) : 0;
    if (recompute & CALC_RECOMPUTE_ALL) {
        /* Of a group of blocks the input of the first is kept, a rank's share of it with sequence
         * parallelism, or where it is distributed; whole by rule. The blocks behind the one at hand
         * exist whole, too, but the one stored. */
        bool split = (c->strategy->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG &&
                      !calc_compat_has(c->compat, CALC_COMPAT_WHOLE_CHECKPOINTS)) ||
                     c->strategy->distribute_saved_activations;
        double group = calc_max(1, (double)c->strategy->recompute_group);
        double input = calc_stage_message_bytes(c->shape) / (split ? c->shape->tensor_par : 1);
        block->kept_bytes = input / group;
        block->kept_bytes *= 1 - untouched;
        block->passing_bytes += (group - 1) * (block->kept_whole_bytes - block->kept_bytes);
    }
    /* Blocks that only a forward pass runs through keep nothing, so that a mean block keeps less;
     * the one at hand is a whole one. */
    if (untouched > 0 && untouched < 1) {
        block->passing_bytes +=
            (block->kept_whole_bytes - block->kept_bytes) * untouched / (1 - untouched);
    }
    if (c->training && c->strategy->offload_modules) {
        block->offload = calc_offload_of(c->strategy, list->item, list->count, recompute);
    }
    double again = calc_share_or(c->chip->host.recompute_growth, GROWTH) *
                   launched_again(list->item, list->count, recompute);
    double once_s = host_once_s(c, kind, launched_more(kind, list), graphed_share(c, kind, list));
    if (c->training && (calc_adapter_freezes(c->strategy, true) || c->strategy->looped_experts)) {
        once_s *= calc_adapter_launches(list->item, list->count);
    }
    out->host_once_s[kind] = once_s;
    out->host_s[kind] = once_s * (1 + again);
    if (!calc_compat_has(c->compat, CALC_COMPAT_OPTIMIZER_ROOFLINE)) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (list->item[i].weights > 0) {
            out->weights[kind][out->layers[kind]++] = list->item[i].weights;
        }
    }
}

/* Memory of the framework in addition to the model's own tensors. */
static void set_framework(const calc_cost_context *c, const calc_stage_operators *lists,
                          calc_stage_parts *out)
{
    const calc_shape *shape = c->shape;
    double e = calc_framework_takes(c->strategy, CALC_FRAMEWORK_MEM_TE_DUMMY_WGRAD)
                   ? shape->element_bytes
                   : 0;
    shapes both;
    both.count = 0;
    both.sum = 0;
    out->framework_bytes[0][0] = 0;
    for (int kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        const calc_stage_operators *list = &lists[kind];
        bool moe = kind == CALC_MOE_BLOCK;
        double copies = 0;
        if (e > 0) {
            shapes one = {.count = 0};
            add_shapes(c, list->item, list->count, &one);
            add_shapes(c, list->item, list->count, &both);
            copies = one.sum;
        }
        out->framework_bytes[!moe][moe] =
            list->count > 0 ? copies * e + workspace_bytes(c->strategy, moe) : 0;
    }
    out->framework_bytes[1][1] = both.sum * e + workspace_bytes(c->strategy, shape->experts > 0);
    out->framework_head_bytes = shape->words / shape->tensor_par * shape->hidden * e;
}

/* @param begins  sum of the first of the operators */
static void sum_block(const calc_cost_context *c, const calc_stage_operators *list, size_t begun,
                      const calc_cost *begins, unsigned recompute, calc_cost *out)
{
    static const calc_cost none = {0};
    *out = list->count > 0 ? *begins : none;
    if (list->count > 0) {
        calc_cost_times_add(c, list->item, list->times, begun, list->count, recompute, out);
        calc_cost_times_end(c, list->item, list->count, out);
    }
}

static size_t encoder_begins(const calc_stage_operators *list)
{
    size_t first = 0;
    while (first < list->count && list->item[first].part != calc_encoder_part) {
        first++;
    }
    return first;
}

/* The encoder of images beside the embedding: it recomputes as the model does, and its host issues
 * it block by block, a third of it where only a forward pass runs. */
static void add_encoder(const calc_cost_context *c, const calc_stage_operators *list,
                        unsigned recompute, calc_cost *embedding)
{
    size_t first = encoder_begins(list);
    calc_cost e = {0};
    if (first == list->count) {
        return;
    }
    calc_cost_times_add(c, list->item, list->times, first, list->count, recompute, &e);
    double s = e.fw_s + e.agrad_s + e.wgrad_s + e.re_s;
    double blocks = calc_operator_share(&list->item[first]);
    bool forward = !c->training || list->item[first].untouched > 0;
    double host_s = host_once_s(c, CALC_DENSE_BLOCK, 1, c->strategy->cuda_graph) * blocks *
                    (forward && c->training ? 1.0 / 3 : 1);
    double factor =
        s > 0 ? calc_stage_beside_host_s(s, host_s, c->strategy->launch_blocking) / s : 1;
    embedding->fw_s += e.fw_s * factor;
    embedding->agrad_s += e.agrad_s * factor;
    embedding->wgrad_s += e.wgrad_s * factor;
    embedding->re_s += e.re_s * factor;
    for (int pass = 0; pass < CALC_PASS_COUNT; pass++) {
        calc_cost_add_work(&embedding->work[pass], &e.work[pass], 1);
    }
    calc_cost_add_work(&embedding->re, &e.re, 1);
    embedding->dense_weights += e.dense_weights;
    embedding->dense_frozen_bytes += e.dense_frozen_bytes;
    embedding->kept_bytes += recompute & CALC_RECOMPUTE_ALL
                                 ? calc_encoder_checkpoint_bytes(c->shape, c->strategy)
                                 : e.kept_bytes;
}

static void set_muon(const calc_cost_context *c, const calc_stage_timed *t, calc_stage_parts *out)
{
    memset(out->muon, 0, sizeof out->muon);
    out->mtp_muon = (calc_muon){0};
    if (!c->training || c->strategy->optimizer != CALC_OPTIMIZER_MUON) {
        return;
    }
    const calc_stage_operators *prediction = &t->list[CALC_STAGE_PREDICTION];
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        out->muon[kind] = calc_muon_of(c, t->list[kind].item, t->list[kind].count);
    }
    out->mtp_muon = calc_muon_of(c, prediction->item, prediction->count);
}

void calc_stage_parts_sum(const calc_cost_context *c, const calc_stage_timed *t,
                          calc_stage_parts *out)
{
    const calc_stage_operators *dense = &t->list[CALC_DENSE_BLOCK];
    const calc_stage_operators *moe = &t->list[CALC_MOE_BLOCK];
    calc_cost *const ends[] = {&out->embedding, &out->head, &out->mtp};
    unsigned recompute = calc_operator_recompute(c->strategy, c->training);
    calc_cost routed = {0}; /* a block with experts, up to them */
    calc_cost_times_add(c, dense->item, dense->times, 0, t->begun, recompute, &routed);
    sum_block(c, dense, t->begun, &routed, recompute, &out->block[CALC_DENSE_BLOCK]);
    if (moe->count > 0) {
        calc_cost_times_add(c, moe->item, moe->times, t->begun, t->routed, recompute, &routed);
    }
    sum_block(c, moe, t->routed, &routed, recompute, &out->block[CALC_MOE_BLOCK]);
    for (int i = CALC_STAGE_EMBEDDING; i < CALC_STAGE_LISTS; i++) {
        const calc_stage_operators *list = &t->list[i];
        size_t count = i == CALC_STAGE_EMBEDDING ? encoder_begins(list) : list->count;
        calc_cost_times_sum(c, list->item, list->times, count, 0, ends[i - CALC_STAGE_EMBEDDING]);
    }
    add_encoder(c, &t->list[CALC_STAGE_EMBEDDING], recompute, &out->embedding);
    memset(out->weights, 0, sizeof out->weights);
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        set_block(c, kind, recompute, &t->list[kind], out);
    }
    set_framework(c, t->list, out);
    set_muon(c, t, out);
    bool whole = c->strategy->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_AR;
    out->message_bytes = calc_stage_message_bytes(c->shape) / (whole ? 1 : c->shape->tensor_par);
}

void calc_stage_parts_of(const calc_cost_context *c, calc_stage_parts *out)
{
    calc_stage_timed timed;
    calc_stage_operators_of(c, &timed);
    calc_stage_parts_sum(c, &timed, out);
}
