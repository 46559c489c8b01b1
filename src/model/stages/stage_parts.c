#include "model/stages/stage_parts.h"

#include <math.h>
#include <string.h>

#include "model/cost/block.h"
#include "model/cost/cost_kernel.h"
#include "model/operators/processor.h"

/* Host work that is left when a graph launches the kernels. */
#define GRAPH_LEAVES 0.1
#define RECOMPUTE_GROWTH 0.5
#define OVERLAP_GROWTH 1

/* Share of the forward pass's kernels that recomputation launches again. */
static double launched_again(const calc_operator *operators, size_t count, unsigned recompute)
{
    double all = 0;
    double again = 0;
    for (size_t i = 0; i < count; i++) {
        double launches = operators[i].launches[CALC_PASS_FW];
        all += launches;
        again += operators[i].repeated_by & recompute ? launches : 0;
    }
    return all > 0 ? again / all : 0; /* of Calculon: nothing is launched */
}

/* What the host needs to issue a block's kernels. An all-to-all hides behind another micro-batch
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
    double growth = pieces ? calc_share_or(h->overlap_growth, OVERLAP_GROWTH) : 0;
    return (h->block_s + h->moe_block_s) * (1 + growth);
}

/* What the host needs to issue a block once, forward and backward. Graphs launch most of it; ranks
 * of tensor parallelism meet at every collective, so the slowest host sets the pace. */
static double host_once_s(const calc_cost_context *c, calc_block_kind kind)
{
    const calc_host *h = &c->chip->host;
    bool narrow = c->shape->matrix_bytes < c->shape->element_bytes;
    double local = c->strategy->fused_experts ? 1 : c->shape->experts / c->shape->expert_par;
    double quantized_s = kind == CALC_MOE_BLOCK && narrow ? h->expert_s * local : 0;
    double ranks = c->shape->tensor_par;
    double meet = ranks > 4 ? 1 + h->tensor_par_growth * log2(ranks / 4) : 1;
    double once = c->training ? 1 : 1.0 / 3;
    return (issued_s(c, kind) + quantized_s) * (1 - (1 - GRAPH_LEAVES) * c->strategy->cuda_graph) *
           meet * once;
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

static bool takes(const calc_strategy *strategy, int memory)
{
    return strategy->framework_mem >> memory & 1;
}

/* Workspaces of cuBLAS on Hopper and later: PyTorch's handle has one, TransformerEngine another,
 * and one for each of the four streams that it runs grouped multiplications on. */
static double workspace_bytes(const calc_strategy *strategy, bool moe)
{
    const double one = 32.0 * 1024 * 1024;
    return takes(strategy, CALC_FRAMEWORK_MEM_GEMM_WORKSPACE) ? (moe ? 6 : 2) * one : 0;
}

double calc_stage_message_bytes(const calc_shape *shape)
{
    return shape->tokens * shape->hidden * shape->element_bytes;
}

/* What full recomputation keeps of a block: its input, a rank's share of it with sequence
 * parallelism; whole by rule. */
static double checkpoint_bytes(const calc_cost_context *c)
{
    bool split = c->strategy->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG &&
                 !calc_compat_has(c->compat, CALC_COMPAT_WHOLE_CHECKPOINTS);
    return calc_stage_message_bytes(c->shape) / (split ? c->shape->tensor_par : 1);
}

static bool has_block(const calc_shape *shape, calc_block_kind kind)
{
    return kind == CALC_MOE_BLOCK ? shape->experts > 0
                                  : calc_shape_moe_blocks(shape) < shape->blocks;
}

static void list_operators(const calc_cost_context *c, const calc_stage_timed *like,
                           calc_stage_operators *lists)
{
    calc_cost_links known;
    known.count = 0;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        lists[kind].count =
            has_block(c->shape, kind) ? calc_block_operators(c, kind, lists[kind].item) : 0;
    }
    lists[CALC_STAGE_EMBEDDING].count = calc_block_embedding(c, lists[CALC_STAGE_EMBEDDING].item);
    lists[CALC_STAGE_HEAD].count = calc_block_head(c, lists[CALC_STAGE_HEAD].item);
    lists[CALC_STAGE_PREDICTION].count =
        c->shape->mtp_blocks > 0
            ? calc_transformer_mtp(c->shape, c->strategy, lists[CALC_STAGE_PREDICTION].item)
            : 0;
    if (like && !calc_cost_kernel_alike(&like->context, c)) {
        like = NULL;
    }
    for (int i = 0; i < CALC_STAGE_LISTS; i++) {
        calc_stage_operators *list = &lists[i];
        /* Blocks with experts begin as those without. */
        const calc_stage_operators *other = i == CALC_MOE_BLOCK ? &lists[CALC_DENSE_BLOCK] : NULL;
        if (like && like->list[i].count == list->count) {
            other = &like->list[i];
        }
        if (other && calc_cost_kernel_alike(c, c)) {
            calc_cost_times_like(c, list->item, list->count, other->item, other->times,
                                 other->count, &known, list->times);
        } else {
            calc_cost_times_of(c, list->item, list->count, &known, list->times);
        }
    }
}

void calc_stage_operators_of(const calc_cost_context *c, const calc_stage_timed *like,
                             calc_stage_timed *out)
{
    list_operators(c, like, out->list);
    out->strategy = *c->strategy;
    out->shape = *c->shape;
    out->context = *c;
    out->context.strategy = &out->strategy;
    out->context.shape = &out->shape;
}

static void set_host(const calc_cost_context *c, calc_block_kind kind, unsigned recompute,
                     const calc_stage_operators *list, calc_stage_parts *out)
{
    double growth = calc_share_or(c->chip->host.recompute_growth, RECOMPUTE_GROWTH);
    out->host_once_s[kind] = host_once_s(c, kind);
    out->host_s[kind] =
        out->host_once_s[kind] * (1 + growth * launched_again(list->item, list->count, recompute));
}

static void set_block(const calc_cost_context *c, calc_block_kind kind, unsigned recompute,
                      const calc_stage_operators *list, calc_stage_parts *out)
{
    calc_cost *block = &out->block[kind];
    out->host_s[kind] = out->host_once_s[kind] = 0;
    out->layers[kind] = 0;
    calc_cost_times_sum(c, list->item, list->times, list->count, recompute, block);
    if (list->count == 0) {
        return;
    }
    block->kept_bytes = recompute & CALC_RECOMPUTE_ALL ? checkpoint_bytes(c) : block->kept_bytes;
    set_host(c, kind, recompute, list, out);
    if (!calc_compat_has(c->compat, CALC_COMPAT_OPTIMIZER_ROOFLINE)) {
        return;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (list->item[i].weights > 0) {
            out->weights[kind][out->layers[kind]++] = list->item[i].weights;
        }
    }
}

/* What the framework keeps beside the model's own tensors. */
static void set_framework(const calc_cost_context *c, const calc_stage_operators *lists,
                          calc_stage_parts *out)
{
    const calc_shape *shape = c->shape;
    double e = takes(c->strategy, CALC_FRAMEWORK_MEM_TE_DUMMY_WGRAD) ? shape->element_bytes : 0;
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
    out->framework_head_bytes = shape->vocab / shape->tensor_par * shape->hidden * e;
}

void calc_stage_parts_sum(const calc_cost_context *c, const calc_stage_operators *lists,
                          calc_stage_parts *out)
{
    unsigned recompute = calc_operator_recompute(c->strategy, c->training);
    memset(out->weights, 0, sizeof out->weights);
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        set_block(c, kind, recompute, &lists[kind], out);
    }
    calc_cost *const ends[] = {&out->embedding, &out->head, &out->mtp};
    for (int i = CALC_STAGE_EMBEDDING; i < CALC_STAGE_LISTS; i++) {
        const calc_stage_operators *list = &lists[i];
        calc_cost_times_sum(c, list->item, list->times, list->count, 0,
                            ends[i - CALC_STAGE_EMBEDDING]);
    }
    set_framework(c, lists, out);
    bool whole = c->strategy->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_AR;
    out->message_bytes = calc_stage_message_bytes(c->shape) / (whole ? 1 : c->shape->tensor_par);
}

void calc_stage_parts_of(const calc_cost_context *c, calc_stage_parts *out)
{
    calc_stage_operators lists[CALC_STAGE_LISTS];
    list_operators(c, NULL, lists);
    calc_stage_parts_sum(c, lists, out);
}
