#include "model/transformer.h"

#include <assert.h>
#include <math.h>

#include "model/processor.h"
#include "spec/format.h"

/* Bits of recomputation. */
enum {
    CORE_ATTN = 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN,
    LAYERNORM = 1 << CALC_RECOMPUTE_MODULES_LAYERNORM,
    MLA_UP_PROJ = 1 << CALC_RECOMPUTE_MODULES_MLA_UP_PROJ,
    MLP = 1 << CALC_RECOMPUTE_MODULES_MLP,
    MOE_ACT = 1 << CALC_RECOMPUTE_MODULES_MOE_ACT,
    SHARED_EXPERTS = 1 << CALC_RECOMPUTE_MODULES_SHARED_EXPERTS,
    MOE = 1 << CALC_RECOMPUTE_MODULES_MOE,
    ALL = CALC_RECOMPUTE_ALL
};

/* Operators under construction, with what they have in common. */
typedef struct builder {
    const calc_shape *shape;
    const calc_system *system;
    const calc_exec *exec;
    calc_operator *out;
    size_t count;
    double tokens; /* of a micro-batch, whole */
    double kept;   /* of the residual stream on one rank between communication steps */
    bool sequence_par;
    double traffic; /* of elementwise operations over fused ones */
} builder;

static builder start(const calc_shape *shape, const calc_system *system, const calc_exec *exec,
                     calc_operator *out)
{
    bool sequence_par = exec->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    double eager = system && system->eager_traffic > 0 ? system->eager_traffic : 2;
    return (builder){
        .shape = shape,
        .system = system,
        .exec = exec,
        .out = out,
        .tokens = shape->tokens,
        .kept = sequence_par ? shape->tokens / shape->tensor_par : shape->tokens,
        .sequence_par = sequence_par,
        .traffic = exec->eager ? eager : 1,
    };
}

static calc_operator *next(builder *b, const char *name, calc_operator_kind kind,
                           unsigned repeated_by)
{
    assert(b->count < CALC_MAX_OPERATORS);
    calc_operator *o = &b->out[b->count++];
    *o = (calc_operator){.name = name, .kind = kind, .repeated_by = repeated_by | ALL};
    return o;
}

static void keep(calc_operator *o, double bytes, unsigned dropped_by)
{
    o->kept_bytes += bytes;
    o->dropped_by = dropped_by | ALL;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* An elementwise kernel that moves so many bytes forward and backward. */
static calc_operator *vector(builder *b, const char *name, unsigned repeated_by, double elements,
                             double fw_bytes, double bw_bytes)
{
    calc_operator *o = next(b, name, CALC_OPERATOR_VECTOR, repeated_by);
    o->inputs = elements;
    o->outputs = elements;
    o->bytes[CALC_STAGE_FW] = fw_bytes * b->traffic;
    o->bytes[CALC_STAGE_AGRAD] = bw_bytes * b->traffic;
    o->launches[CALC_STAGE_FW] = 1;
    o->launches[CALC_STAGE_AGRAD] = 1;
    return o;
}

/* (rows x inner) times (inner x columns), `copies` different weights of that size sharing the rows.
 * Each pass reads its operands in the narrow format and writes wide; narrowing an operand costs
 * quantize_bytes per element; the weight gradient is read, added to and written back. */
static calc_operator *matrix(builder *b, const char *name, calc_operator_kind kind,
                             unsigned repeated_by, double rows, double inner, double columns,
                             double copies)
{
    const calc_shape *s = b->shape;
    bool narrow = kind != CALC_OPERATOR_HEAD && s->matrix_bytes < s->element_bytes;
    double e = s->element_bytes;
    double m = narrow ? s->matrix_bytes : e;
    double q = narrow && b->system ? b->system->quantize_bytes : 0;
    double weights = inner * columns * copies;
    double grad_bytes = 2 * s->grad_bytes;
    calc_operator *o = next(b, name, kind, repeated_by);
    if (kind == CALC_OPERATOR_GROUPED && b->system && b->system->grouped.wgrad_bytes > 0) {
        grad_bytes = b->system->grouped.wgrad_bytes;
    }
    o->inputs = rows * inner;
    o->outputs = rows * columns;
    o->weights = weights;
    for (calc_stage stage = CALC_STAGE_FW; stage < CALC_STAGE_COUNT; stage++) {
        o->flop[stage] = 2 * rows * inner * columns;
        o->launches[stage] = 1;
    }
    o->bytes[CALC_STAGE_FW] = m * (rows * inner + weights) + e * rows * columns + q * rows * inner;
    o->bytes[CALC_STAGE_AGRAD] =
        m * (rows * columns + weights) + e * rows * inner + q * rows * columns;
    o->bytes[CALC_STAGE_WGRAD] = m * (rows * inner + rows * columns) + grad_bytes * weights;
    return o;
}

/* ---- Collectives ----------------------------------------------------------------------------- */

static calc_operator *collective(builder *b, const char *name, unsigned repeated_by,
                                 calc_operator_group group, double bytes, calc_collective_op fw,
                                 calc_collective_op bw)
{
    calc_operator *o = next(b, name, CALC_OPERATOR_COLLECTIVE, repeated_by);
    o->group = group;
    o->message_bytes = bytes;
    o->op[CALC_STAGE_FW] = fw;
    o->op[CALC_STAGE_AGRAD] = bw;
    for (calc_stage stage = CALC_STAGE_FW; stage < CALC_STAGE_COUNT; stage++) {
        o->times[stage] = 1;
    }
    return o;
}

/* Before a column-parallel matrix: identity forward and all-reduce backward; with sequence
 * parallelism all-gather, and reduce-scatter, and the gathered input once more for the weight
 * gradient unless it is kept. */
static void open_tensor_par(builder *b, const char *name, unsigned repeated_by, double width)
{
    double bytes = b->tokens * width * b->shape->element_bytes;
    if (b->shape->tensor_par <= 1) {
        return;
    }
    calc_operator *o = collective(b, name, repeated_by, CALC_IN_TENSOR, bytes,
                                  b->sequence_par ? CALC_OP_ALL_GATHER : CALC_OP_NONE,
                                  b->sequence_par ? CALC_OP_REDUCE_SCATTER : CALC_OP_ALL_REDUCE);
    if (b->sequence_par && b->exec->seq_par_ag_redo) {
        o->op[CALC_STAGE_WGRAD] = CALC_OP_ALL_GATHER;
    }
}

/* After a row-parallel matrix: the partial sums are added up. */
static void close_tensor_par(builder *b, const char *name, unsigned repeated_by)
{
    double bytes = b->tokens * b->shape->hidden * b->shape->element_bytes;
    if (b->shape->tensor_par > 1) {
        collective(b, name, repeated_by, CALC_IN_TENSOR, bytes,
                   b->sequence_par ? CALC_OP_REDUCE_SCATTER : CALC_OP_ALL_REDUCE,
                   b->sequence_par ? CALC_OP_ALL_GATHER : CALC_OP_NONE);
    }
}

/* Bytes of the input of a column-parallel matrix that are kept: of the rank's share where it is
 * gathered again, else of all tokens. */
static bool keeps_gathered(const builder *b)
{
    return b->sequence_par && b->shape->tensor_par > 1 && !b->exec->seq_par_ag_redo;
}

static void keep_input(const builder *b, calc_operator *o, double width)
{
    bool gathered = keeps_gathered(b);
    double tokens = gathered ? b->tokens : b->kept;
    /* What was gathered does not come back from a norm alone. */
    keep(o, tokens * width * b->shape->kept_bytes, gathered ? ALL : LAYERNORM);
}

/* ---- Parts of a block ------------------------------------------------------------------------ */

/* A norm of the residual stream. It keeps its input. */
static void add_norm(builder *b, const char *name)
{
    const calc_shape *s = b->shape;
    double elements = b->kept * s->hidden;
    double bytes = elements * s->element_bytes;
    calc_operator *o = vector(b, name, LAYERNORM, elements, 2 * bytes, 3 * bytes);
    o->flop[CALC_STAGE_FW] = (s->rms ? 4 : 9) * elements;
    o->flop[CALC_STAGE_AGRAD] = (s->rms ? 8 : 14) * elements;
    o->flop[CALC_STAGE_WGRAD] = (s->rms ? 4 : 7) * elements;
    o->weights = (s->rms ? 1 : 2) * s->hidden;
    /* The block's input is its checkpoint; the norm in the middle goes with full recomputation. */
    o->kept_bytes = bytes;
    o->dropped_by = b->count > 1 ? ALL : 0;
}

/* Residual sum, with the dropout before it. */
static void add_residual(builder *b, const char *name)
{
    const calc_shape *s = b->shape;
    double elements = b->kept * s->hidden;
    double bytes = elements * s->element_bytes;
    double mask = s->dropout ? elements : 0;
    calc_operator *o = vector(b, name, 0, elements, 3 * bytes + mask, 2 * bytes + mask);
    o->flop[CALC_STAGE_FW] = elements;
    if (s->dropout) {
        keep(o, mask, ALL);
    }
}

/* The rest of a matrix's weights: its bias, with the whole width where it is not split. */
static void add_bias(builder *b, calc_operator *o, double width)
{
    o->weights += b->shape->bias ? width : 0;
}

static void add_query_key_value(builder *b)
{
    const calc_shape *s = b->shape;
    double query = s->local_heads * s->qk_size;
    double key_value = s->local_kv_heads * (s->qk_size + s->v_size);
    open_tensor_par(b, "attention gather", 0, s->hidden);
    calc_operator *o = matrix(b, "query key value", CALC_OPERATOR_MATRIX, 0, b->tokens, s->hidden,
                              query + key_value, 1);
    add_bias(b, o, query + key_value);
    keep_input(b, o, s->hidden);
    double heads = (s->local_heads + s->local_kv_heads) * s->qk_size * b->tokens;
    double bytes = 2 * heads * s->element_bytes;
    if (s->qk_norm) {
        o = vector(b, "query key norm", 0, heads, bytes, 1.5 * bytes);
        o->flop[CALC_STAGE_FW] = 4 * heads;
        o->flop[CALC_STAGE_AGRAD] = 8 * heads;
        o->weights = 2 * s->qk_size;
    }
    if (s->rope) {
        double passes = b->exec->unfused_rope ? 2 : 1;
        o = vector(b, "rotary embedding", 0, heads, passes * bytes, passes * bytes);
        o->flop[CALC_STAGE_FW] = 3 * heads;
        o->flop[CALC_STAGE_AGRAD] = 3 * heads;
    }
}

/* Latent attention: both down projections run on the rank's share of the tokens, whole on every
 * rank; what is gathered is the latents. The up projections are split by heads. */
static void add_latent_query_key_value(builder *b)
{
    const calc_shape *s = b->shape;
    double e = s->element_bytes;
    double query = s->local_heads * s->qk_size;
    double nope = s->qk_size - s->rope_size;
    double latents = s->q_rank + s->kv_rank;
    calc_operator *o;
    if (s->q_rank > 0) {
        o = matrix(b, "query down projection", CALC_OPERATOR_MATRIX, 0, b->kept, s->hidden,
                   s->q_rank, 1);
    }
    o = matrix(b, "key value down projection", CALC_OPERATOR_MATRIX, 0, b->kept, s->hidden,
               s->kv_rank + s->rope_size, 1);
    keep(o, b->kept * s->hidden * s->kept_bytes, LAYERNORM);
    double elements = b->kept * latents;
    o = vector(b, "latent norm", MLA_UP_PROJ, elements, 2 * elements * e, 3 * elements * e);
    o->flop[CALC_STAGE_FW] = 4 * elements;
    o->flop[CALC_STAGE_AGRAD] = 8 * elements;
    o->weights = latents;
    keep(o, 2 * elements * e, ALL);
    open_tensor_par(b, "latent gather", 0,
                    s->q_rank > 0 ? latents + s->rope_size : s->hidden + s->kv_rank + s->rope_size);
    matrix(b, "query up projection", CALC_OPERATOR_MATRIX, MLA_UP_PROJ, b->tokens,
           s->q_rank > 0 ? s->q_rank : s->hidden, query, 1);
    matrix(b, "key value up projection", CALC_OPERATOR_MATRIX, MLA_UP_PROJ, b->tokens, s->kv_rank,
           s->local_heads * (nope + s->v_size), 1);
    double heads = 2 * s->local_heads * s->qk_size * b->tokens;
    o = vector(b, "rotary embedding", MLA_UP_PROJ, heads, 2 * heads * e, 2 * heads * e);
    o->flop[CALC_STAGE_FW] = 3 * heads;
    o->flop[CALC_STAGE_AGRAD] = 3 * heads;
}

/* Attention whose scores never leave the processor: five products backward for two forward. */
static void add_flash(builder *b, double kept_bytes)
{
    const calc_shape *s = b->shape;
    double share = calc_shape_score_share(s);
    double pairs = s->microbatch * s->local_heads * s->seq * s->seq / s->context_par;
    /* Without the halves swapped, the last rank of a causal ring has nearly twice the mean. */
    if (s->causal && s->context_par > 1 &&
        b->exec->context_par_balance == CALC_CONTEXT_PAR_BALANCE_NONE) {
        share *= (2 * s->context_par - 1) / s->context_par;
    }
    double e = s->element_bytes;
    double moved = b->tokens * e *
                   (s->local_heads * s->qk_size + s->local_kv_heads * (s->qk_size + s->v_size) +
                    s->local_heads * s->v_size);
    double width = s->qk_size + s->v_size;
    double bw_width = 3 * s->qk_size + 2 * s->v_size;
    double exponentials = b->system->attention.softmax_size;
    /* The rates are those of heads of 128, where the exponentials are part of them. */
    double usual = exponentials > 0 ? 256 / (256 + exponentials) : 1;
    calc_operator *o = next(b, "flash attention", CALC_OPERATOR_ATTENTION, CORE_ATTN);
    o->inputs = b->tokens * (s->local_heads + 2 * s->local_kv_heads) * s->qk_size;
    o->outputs = b->tokens * s->local_heads * s->v_size;
    o->flop[CALC_STAGE_FW] = 2 * pairs * width * share;
    o->flop[CALC_STAGE_AGRAD] = 2 * pairs * bw_width * share;
    o->work[CALC_STAGE_FW] = 2 * pairs * (width + exponentials) * share * usual;
    o->work[CALC_STAGE_AGRAD] = 2 * pairs * (bw_width + 2.5 * exponentials) * share * usual;
    o->bytes[CALC_STAGE_FW] = moved + 4 * b->tokens * s->local_heads;
    o->bytes[CALC_STAGE_AGRAD] = 2 * moved + 4 * b->tokens * s->local_heads;
    bool ring = b->exec->context_par_type == CALC_CONTEXT_PAR_TYPE_RING && s->context_par > 1;
    o->launches[CALC_STAGE_FW] = ring ? s->context_par : 1;
    o->launches[CALC_STAGE_AGRAD] = o->launches[CALC_STAGE_FW];
    keep(o, 4 * b->tokens * s->local_heads, CORE_ATTN);
    o = vector(b, "attention inputs", 0, 0, 0, 0);
    o->launches[CALC_STAGE_FW] = 0;
    o->launches[CALC_STAGE_AGRAD] = 0;
    keep(o, kept_bytes, s->latent ? MLA_UP_PROJ : ALL);
}

/* Attention in separate kernels that write and read the whole square of scores. */
static void add_scores(builder *b, double kept_bytes)
{
    const calc_shape *s = b->shape;
    double pairs = s->microbatch * s->local_heads * s->seq * s->seq / s->context_par;
    double width = s->qk_size + s->v_size;
    double e = s->element_bytes;
    double mask = s->dropout ? 1 : 0;
    calc_operator *o = next(b, "attention scores", CALC_OPERATOR_SCORES, CORE_ATTN);
    o->flop[CALC_STAGE_FW] = 2 * pairs * width;
    o->flop[CALC_STAGE_AGRAD] = 4 * pairs * width;
    /* Scores and probabilities written and read, twice with dropout's mask. */
    o->bytes[CALC_STAGE_FW] = pairs * (5 * e + 2 * mask);
    o->bytes[CALC_STAGE_AGRAD] = pairs * (7 * e + mask);
    o->launches[CALC_STAGE_FW] = 5;
    o->launches[CALC_STAGE_AGRAD] = 7;
    keep(o, pairs * (2 * e + mask), CORE_ATTN);
    o = vector(b, "attention inputs", 0, 0, 0, 0);
    o->launches[CALC_STAGE_FW] = 0;
    o->launches[CALC_STAGE_AGRAD] = 0;
    keep(o, kept_bytes, s->latent ? MLA_UP_PROJ : ALL);
}

/* Ranks of the inner all-to-all and of the outer ring of context parallelism. */
static void context_sizes(const builder *b, double *inner, double *outer)
{
    double ranks = b->shape->context_par;
    *inner = 1;
    switch (b->exec->context_par_type) {
    case CALC_CONTEXT_PAR_TYPE_ULYSSES:
        *inner = ranks;
        break;
    case CALC_CONTEXT_PAR_TYPE_HIERARCHICAL:
        *inner = calc_par_size(b->exec->context_par_inner);
        if (b->exec->context_par_inner == 0) {
            calc_groups groups = calc_groups_of(b->exec);
            *inner = calc_collective_inner_ranks(b->system, &groups.context);
        }
        *inner = *inner > ranks ? ranks : *inner;
        break;
    default:
        break;
    }
    *outer = ranks / *inner;
}

/* Exchange of context parallelism. A ring passes keys and values on, their gradients backward in
 * the same way; an all-gather brings them at once; all-to-alls swap sequence for heads. */
static void add_context_exchange(builder *b)
{
    const calc_shape *s = b->shape;
    if (s->context_par <= 1) {
        return;
    }
    double inner;
    double outer;
    context_sizes(b, &inner, &outer);
    double e = s->element_bytes;
    double key_value = s->local_kv_heads * (s->qk_size + s->v_size) * e;
    double query_output = s->local_heads * (s->qk_size + s->v_size) * e;
    if (inner > 1) {
        /* Queries, keys and values in, outputs back: four operations. */
        double bytes = b->tokens * (query_output + key_value);
        calc_operator *o = collective(b, "context all-to-all", CORE_ATTN, CALC_IN_CONTEXT,
                                      bytes / 4, CALC_OP_ALL_TO_ALL, CALC_OP_ALL_TO_ALL);
        o->times[CALC_STAGE_FW] = 4;
        o->times[CALC_STAGE_AGRAD] = 4;
        o->sub_ranks = inner;
        o->sub_stride = 1;
        vector(b, "context reorder", CORE_ATTN, bytes / e, 2 * bytes, 2 * bytes);
    }
    if (outer > 1 && b->exec->context_par_type == CALC_CONTEXT_PAR_TYPE_ALL_GATHER) {
        calc_operator *o =
            collective(b, "context all-gather", CORE_ATTN, CALC_IN_CONTEXT,
                       b->tokens * key_value * outer, CALC_OP_ALL_GATHER, CALC_OP_REDUCE_SCATTER);
        o->op[CALC_STAGE_WGRAD] = CALC_OP_ALL_GATHER;
    } else if (outer > 1) {
        calc_operator *o = collective(b, "context ring", CORE_ATTN, CALC_IN_CONTEXT,
                                      b->tokens * key_value, CALC_OP_P2P, CALC_OP_P2P);
        o->times[CALC_STAGE_FW] = outer - 1;
        o->times[CALC_STAGE_AGRAD] = 2 * (outer - 1);
        o->sub_ranks = outer;
        o->sub_stride = inner;
        o->hidden_by_attention = true;
    }
}

static void add_attention(builder *b)
{
    const calc_shape *s = b->shape;
    double keys = s->local_kv_heads * (s->qk_size + s->v_size);
    double kept_bytes = b->tokens * s->element_bytes * (s->local_heads * s->qk_size + keys);
    double output = s->local_heads * s->v_size;
    add_norm(b, "attention norm");
    if (s->latent) {
        add_latent_query_key_value(b);
    } else {
        add_query_key_value(b);
    }
    add_context_exchange(b);
    if (s->flash) {
        add_flash(b, kept_bytes);
    } else {
        add_scores(b, kept_bytes);
    }
    calc_operator *o =
        matrix(b, "attention output", CALC_OPERATOR_MATRIX, 0, b->tokens, output, s->hidden, 1);
    add_bias(b, o, s->hidden);
    double copies =
        s->context_par > 1 && b->exec->context_par_type == CALC_CONTEXT_PAR_TYPE_ULYSSES ? 2 : 1;
    keep(o, copies * b->tokens * output * s->kept_bytes, ALL);
    close_tensor_par(b, "attention reduction", 0);
    add_residual(b, "attention residual");
}

/* Feed-forward layer of `width` on all ranks together, in the parts that `module` names. */
static void add_feedforward(builder *b, double width, unsigned module, bool shared)
{
    const calc_shape *s = b->shape;
    double columns = width / s->tensor_par;
    double gates = s->gated ? 2 : 1;
    double e = s->element_bytes;
    double elements = b->tokens * columns;
    double unfused = b->exec->fused_activation ? 1 : 2;
    open_tensor_par(b, shared ? "shared expert gather" : "feed-forward gather", module, s->hidden);
    calc_operator *o =
        matrix(b, shared ? "shared expert up" : "feed-forward up", CALC_OPERATOR_MATRIX, module,
               b->tokens, s->hidden, gates * columns, 1);
    if (!shared) {
        add_bias(b, o, gates * columns);
        keep_input(b, o, s->hidden);
    }
    o = vector(b, shared ? "shared expert activation" : "activation", module, elements,
               (gates + 1) * elements * e * unfused, (2 * gates + 1) * elements * e * unfused);
    o->flop[CALC_STAGE_FW] = (s->gated ? 6 : 8) * elements;
    o->flop[CALC_STAGE_AGRAD] = (s->gated ? 11 : 13) * elements;
    /* In kernels of its own the activation keeps its output's input, too. */
    keep(o, (gates + unfused - 1) * elements * s->kept_bytes, module);
    o = matrix(b, shared ? "shared expert down" : "feed-forward down", CALC_OPERATOR_MATRIX, module,
               b->tokens, columns, s->hidden, 1);
    if (!shared) {
        add_bias(b, o, s->hidden);
    }
    keep(o, elements * s->kept_bytes, module);
    close_tensor_par(b, shared ? "shared expert reduction" : "feed-forward reduction", module);
}

/* Sorting of tokens by expert, or back: reads and writes them once per expert, and once before. */
static void add_sort(builder *b, const char *name, double routed)
{
    const calc_shape *s = b->shape;
    double tokens = calc_transformer_routed_tokens(s);
    double bytes =
        (tokens / 2 + 3.5 * s->experts_per_token * tokens) * s->hidden * s->element_bytes;
    calc_operator *o = next(b, name, CALC_OPERATOR_PERMUTE, MOE);
    o->inputs = routed * s->hidden;
    o->outputs = o->inputs;
    o->bytes[CALC_STAGE_FW] = bytes;
    o->bytes[CALC_STAGE_AGRAD] = bytes;
    o->launches[CALC_STAGE_FW] = 8;
    o->launches[CALC_STAGE_AGRAD] = 8;
}

/* Tokens on the way to their experts, or back. */
static void add_exchange(builder *b, const char *name, double routed, calc_format format, bool back)
{
    const calc_shape *s = b->shape;
    double e = s->element_bytes;
    if (s->expert_par <= 1) {
        return;
    }
    if (b->exec->dispatch_type == CALC_DISPATCH_TYPE_ALL_GATHER) {
        double bytes = calc_transformer_routed_tokens(s) * s->expert_par * s->hidden * e;
        collective(b, name, MOE, CALC_IN_EXPERT, bytes,
                   back ? CALC_OP_REDUCE_SCATTER : CALC_OP_ALL_GATHER,
                   back ? CALC_OP_ALL_GATHER : CALC_OP_REDUCE_SCATTER);
    } else {
        collective(b, name, MOE, CALC_IN_EXPERT,
                   routed * s->hidden * calc_format_bytes_or(format, e), CALC_OP_ALL_TO_ALL,
                   CALC_OP_ALL_TO_ALL);
    }
}

static void add_expert_gather(builder *b, const char *name, double routed, bool before)
{
    const calc_shape *s = b->shape;
    if (s->expert_tensor_par > 1) {
        collective(b, name, MOE, CALC_IN_EXPERT_TENSOR,
                   routed * s->hidden * s->element_bytes * s->expert_tensor_par,
                   before ? CALC_OP_ALL_GATHER : CALC_OP_REDUCE_SCATTER,
                   before ? CALC_OP_REDUCE_SCATTER : CALC_OP_ALL_GATHER);
    }
}

static void add_experts(builder *b)
{
    const calc_shape *s = b->shape;
    const calc_exec *x = b->exec;
    double tokens = calc_transformer_routed_tokens(s);
    double capacity = x->capacity_factor > 0 ? x->capacity_factor : 1;
    double routed = s->experts_per_token * tokens * capacity * (1 + x->moe_imbalance);
    /* The ranks that split an expert compute the tokens of all of them. */
    double rows = routed * s->expert_tensor_par;
    double width = s->expert_feedforward / s->expert_tensor_par;
    double local = s->experts / s->expert_par;
    double gates = s->gated ? 2 : 1;
    double e = s->element_bytes;
    double traffic = !x->unfused_experts ? 1
                     : b->system->expert_activation_traffic > 0
                         ? b->system->expert_activation_traffic
                         : 2.5;
    calc_operator *o =
        matrix(b, "router", CALC_OPERATOR_HEAD, MOE, tokens, s->hidden, s->experts, 1);
    o->weights += (s->router_bias + s->bias) * s->experts;
    keep(o, b->kept * s->hidden * s->kept_bytes, LAYERNORM);
    o = vector(b, "routing", MOE, tokens * s->experts, 8 * tokens * s->experts,
               8 * tokens * s->experts);
    keep(o, 12 * tokens * s->experts, MOE);
    if (s->shared_feedforward > 0) {
        size_t first = b->count;
        add_feedforward(b, s->shared_feedforward, SHARED_EXPERTS | MOE, true);
        for (size_t i = first; i < b->count; i++) {
            b->out[i].shared_expert = true;
        }
    }
    add_sort(b, "permute", routed);
    add_exchange(b, "dispatch", routed, x->dispatch_datatype, false);
    add_expert_gather(b, "expert gather", routed, true);
    o = matrix(b, "experts up", CALC_OPERATOR_GROUPED, MOE, rows, s->hidden, gates * width, local);
    o->expert = true;
    add_bias(b, o, local * gates * width);
    keep(o, rows * s->hidden * s->kept_bytes, MOE);
    o = vector(b, "experts activation", MOE | MOE_ACT, rows * width,
               (gates + 1) * rows * width * e * traffic,
               (2 * gates + 1) * rows * width * e * traffic);
    o->flop[CALC_STAGE_FW] = (s->gated ? 6 : 8) * rows * width;
    o->flop[CALC_STAGE_AGRAD] = (s->gated ? 11 : 13) * rows * width;
    keep(o, gates * rows * width * s->kept_bytes, MOE);
    o = matrix(b, "experts down", CALC_OPERATOR_GROUPED, MOE, rows, width, s->hidden, local);
    o->expert = true;
    add_bias(b, o, local * s->hidden);
    keep(o, rows * width * s->kept_bytes, MOE | MOE_ACT);
    add_expert_gather(b, "expert reduction", routed, false);
    add_exchange(b, "combine", routed, x->combine_datatype, true);
    add_sort(b, "unpermute", routed);
}

size_t calc_transformer_block(const calc_shape *shape, const calc_system *system,
                              const calc_exec *exec, calc_block_kind kind, calc_operator *out)
{
    builder b = start(shape, system, exec, out);
    add_attention(&b);
    add_norm(&b, "feed-forward norm");
    if (kind == CALC_MOE_BLOCK) {
        add_experts(&b);
    } else {
        add_feedforward(&b, shape->feedforward, MLP, false);
    }
    add_residual(&b, "feed-forward residual");
    return b.count;
}

/* ---- Ends of the model ----------------------------------------------------------------------- */

size_t calc_transformer_embedding(const calc_shape *shape, const calc_exec *exec,
                                  calc_operator *out)
{
    builder b = start(shape, NULL, exec, out);
    if (shape->vocab == 0) {
        return 0;
    }
    double elements = b.tokens * shape->hidden;
    double bytes = elements * shape->element_bytes;
    /* A gather touches the rows of its tokens, not the table. */
    b.traffic = 1; /* one kernel either way */
    calc_operator *o =
        vector(&b, "embedding", 0, elements, 2 * bytes + 8 * b.tokens, 2 * 4 * elements);
    o->weights =
        (shape->vocab / shape->tensor_par + (shape->learned ? shape->seq : 0)) * shape->hidden;
    close_tensor_par(&b, "embedding reduction", 0);
    return b.count;
}

size_t calc_transformer_head(const calc_shape *shape, const calc_exec *exec, calc_operator *out)
{
    builder b = start(shape, NULL, exec, out);
    if (shape->vocab == 0) {
        return 0;
    }
    double words = shape->vocab / shape->tensor_par;
    double logits = b.tokens * words;
    add_norm(&b, "final norm");
    open_tensor_par(&b, "head gather", 0, shape->hidden);
    calc_operator *o = matrix(&b, "head", CALC_OPERATOR_HEAD, 0, b.tokens, shape->hidden, words, 1);
    keep(o, b.kept * shape->hidden * shape->element_bytes, 0);
    bool fused = exec->fused_cross_entropy;
    b.traffic = 1;
    /* Fused: read, and written in place; unfused: single precision copies in several kernels. */
    o = vector(&b, "loss", 0, logits, (fused ? 4 : 14) * logits, (fused ? 4 : 14) * logits);
    o->flop[CALC_STAGE_FW] = 5 * logits;
    o->flop[CALC_STAGE_AGRAD] = 2 * logits;
    keep(o, (shape->element_bytes + (fused ? 0 : 4)) * logits, 0);
    return b.count;
}

size_t calc_transformer_mtp(const calc_shape *shape, const calc_exec *exec, calc_operator *out)
{
    builder b = start(shape, NULL, exec, out);
    double hidden = shape->hidden;
    double elements = 2 * b.kept * hidden;
    double bytes = elements * shape->element_bytes;
    calc_operator *o = vector(&b, "prediction norms", 0, elements, 2 * bytes, 3 * bytes);
    o->weights = 3 * (shape->rms ? 1 : 2) * hidden;
    keep(o, bytes, ALL);
    o = matrix(&b, "prediction projection", CALC_OPERATOR_MATRIX, 0, b.kept, 2 * hidden, hidden, 1);
    keep(o, bytes, ALL);
    return b.count;
}

double calc_transformer_routed_tokens(const calc_shape *shape)
{
    return shape->tokens / shape->tensor_par;
}

unsigned calc_transformer_recompute(const calc_exec *exec)
{
    switch (exec->activation_recompute) {
    case CALC_ACTIVATION_RECOMPUTE_FULL:
        return CALC_RECOMPUTE_ALL;
    case CALC_ACTIVATION_RECOMPUTE_ATTN_ONLY:
        return 1U << CALC_RECOMPUTE_MODULES_CORE_ATTN;
    case CALC_ACTIVATION_RECOMPUTE_MODULES:
        return (unsigned)exec->recompute_modules;
    default:
        return 0;
    }
}
