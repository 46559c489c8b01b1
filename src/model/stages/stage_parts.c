#include "model/stages/stage_parts.h"

#include <math.h>

#include "model/cost/block.h"
#include "model/operators/processor.h"

/* Host work that is left when a graph launches the kernels. */
#define GRAPH_LEAVES 0.1
#define RECOMPUTE_GROWTH 0.5

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

/* What the host needs to issue a block once, forward and backward. Graphs launch most of it; ranks
 * of tensor parallelism meet at every collective, so the slowest host sets the pace. */
static double host_once_s(const calc_cost_context *c, calc_block_kind kind)
{
    const calc_host *h = &c->chip->host;
    bool narrow = c->shape->matrix_bytes < c->shape->element_bytes;
    double issued_s = h->block_s + (kind == CALC_MOE_BLOCK ? h->moe_block_s : 0);
    double quantized_s = kind == CALC_MOE_BLOCK && narrow
                             ? h->expert_s * c->shape->experts / c->shape->expert_par
                             : 0;
    double ranks = c->shape->tensor_par;
    double meet = ranks > 4 ? 1 + h->tensor_par_growth * log2(ranks / 4) : 1;
    double once = c->training ? 1 : 1.0 / 3;
    return (issued_s + quantized_s) * (1 - (1 - GRAPH_LEAVES) * c->strategy->cuda_graph) * meet *
           once;
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

void calc_stage_operators_of(const calc_cost_context *c, calc_stage_operators *out)
{
    calc_cost_links known;
    known.count = 0;
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        out[kind].count =
            has_block(c->shape, kind) ? calc_block_operators(c, kind, out[kind].item) : 0;
    }
    out[CALC_STAGE_EMBEDDING].count = calc_block_embedding(c, out[CALC_STAGE_EMBEDDING].item);
    out[CALC_STAGE_HEAD].count = calc_block_head(c, out[CALC_STAGE_HEAD].item);
    out[CALC_STAGE_PREDICTION].count =
        c->shape->mtp_blocks > 0
            ? calc_transformer_mtp(c->shape, c->strategy, out[CALC_STAGE_PREDICTION].item)
            : 0;
    for (int i = 0; i < CALC_STAGE_LISTS; i++) {
        calc_cost_times_of(c, out[i].item, out[i].count, &known, out[i].times);
    }
}

static void sum(const calc_cost_context *c, const calc_stage_operators *list, unsigned recompute,
                calc_cost *out)
{
    if (list->count > 0) {
        calc_cost_times_sum(c, list->item, list->times, list->count, recompute, out);
    }
}

static void set_block(const calc_cost_context *c, calc_block_kind kind, unsigned recompute,
                      const calc_stage_operators *list, calc_stage_parts *out)
{
    const calc_operator *operators = list->item;
    size_t count = list->count;
    calc_cost *block = &out->block[kind];
    sum(c, list, recompute, block);
    block->kept_bytes = recompute & CALC_RECOMPUTE_ALL ? checkpoint_bytes(c) : block->kept_bytes;
    double growth = calc_share_or(c->chip->host.recompute_growth, RECOMPUTE_GROWTH);
    out->host_once_s[kind] = host_once_s(c, kind);
    out->host_s[kind] =
        out->host_once_s[kind] * (1 + growth * launched_again(operators, count, recompute));
    if (!calc_compat_has(c->compat, CALC_COMPAT_OPTIMIZER_ROOFLINE)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (operators[i].weights > 0) {
            out->weights[kind][out->layers[kind]++] = operators[i].weights;
        }
    }
}

void calc_stage_parts_sum(const calc_cost_context *c, const calc_stage_operators *lists,
                          calc_stage_parts *out)
{
    const calc_shape *shape = c->shape;
    unsigned recompute = calc_operator_recompute(c->strategy, c->training);
    double e = takes(c->strategy, CALC_FRAMEWORK_MEM_TE_DUMMY_WGRAD) ? shape->element_bytes : 0;
    shapes both = {.count = 0};
    *out = (calc_stage_parts){0};
    for (calc_block_kind kind = CALC_DENSE_BLOCK; kind < CALC_BLOCK_KINDS; kind++) {
        const calc_stage_operators *list = &lists[kind];
        bool moe = kind == CALC_MOE_BLOCK;
        if (!has_block(shape, kind)) {
            continue;
        }
        set_block(c, kind, recompute, list, out);
        if (e > 0) {
            shapes one = {.count = 0};
            add_shapes(c, list->item, list->count, &one);
            add_shapes(c, list->item, list->count, &both);
            out->framework_bytes[!moe][moe] = one.sum * e;
        }
        out->framework_bytes[!moe][moe] += workspace_bytes(c->strategy, moe);
    }
    out->framework_bytes[1][1] = both.sum * e + workspace_bytes(c->strategy, shape->experts > 0);
    out->framework_head_bytes = shape->vocab / shape->tensor_par * shape->hidden * e;
    sum(c, &lists[CALC_STAGE_EMBEDDING], 0, &out->embedding);
    sum(c, &lists[CALC_STAGE_HEAD], 0, &out->head);
    sum(c, &lists[CALC_STAGE_PREDICTION], 0, &out->mtp);
    bool whole = c->strategy->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_AR;
    out->message_bytes =
        shape->tokens * shape->hidden * shape->element_bytes / (whole ? 1 : shape->tensor_par);
}

void calc_stage_parts_of(const calc_cost_context *c, calc_stage_parts *out)
{
    calc_stage_operators lists[CALC_STAGE_LISTS];
    calc_stage_operators_of(c, lists);
    calc_stage_parts_sum(c, lists, out);
}
