#include "model/operators/transformer.h"

#include <string.h>

#include "model/operators/adapter.h"
#include "model/operators/processor.h"
#include "spec/format.h"
#include "spec/stack.h"

/* Bits of recomputation. */
enum {
    CORE_ATTN = 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN,
    LAYERNORM = 1 << CALC_RECOMPUTE_MODULES_LAYERNORM,
    MLA_UP_PROJ = 1 << CALC_RECOMPUTE_MODULES_MLA_UP_PROJ
};

/* Bits of offload. */
enum {
    MOVE_ATTN_NORM = 1 << CALC_OFFLOAD_MODULES_ATTN_NORM,
    MOVE_QKV_LINEAR = 1 << CALC_OFFLOAD_MODULES_QKV_LINEAR,
    MOVE_CORE_ATTN = 1 << CALC_OFFLOAD_MODULES_CORE_ATTN,
    MOVE_ATTN_PROJ = 1 << CALC_OFFLOAD_MODULES_ATTN_PROJ,
    MOVE_MLP_NORM = 1 << CALC_OFFLOAD_MODULES_MLP_NORM
};

/* ---- Parts of a block ------------------------------------------------------------------------ */

/* What a norm keeps: its input; in a kernel for each operation (to float32, square, mean, product,
 * back, product with the weight), whose traffic and launches it has then, the input in float32 and
 * the result before the weight. */
static double norm_kept_bytes(const calc_build *b, calc_operator *o)
{
    double e = b->shape->element_bytes;
    if (!b->shape->rms || !b->strategy->unfused_norm) {
        return e * o->inputs;
    }
    calc_operator_passes(o->bytes, (28 + 4 * e) * o->inputs, (52 + 8 * e) * o->inputs);
    calc_operator_passes(o->launches, 7, 12);
    return (4 + e) * o->inputs;
}

void calc_transformer_norm(calc_build *b, const char *name, unsigned moved_by)
{
    const calc_shape *s = b->shape;
    double elements = b->kept * s->hidden;
    double bytes = elements * s->element_bytes;
    calc_operator *o = calc_build_vector(b, name, LAYERNORM, elements, 2 * bytes, 3 * bytes);
    double kept_bytes = norm_kept_bytes(b, o);
    calc_operator_passes(o->flop, (s->rms ? 4 : 9) * elements, (s->rms ? 8 : 14) * elements);
    o->flop[CALC_PASS_WGRAD] = (s->rms ? 4 : 7) * elements;
    o->weights = (s->rms ? 1 : 2) * s->hidden;
    bool again = b->strategy->recompute_modules & LAYERNORM; /* from its input */
    /* The block's input is its checkpoint; the norm in the middle goes with full recomputation. */
    calc_build_keep(o, again ? bytes : kept_bytes, CALC_RECOMPUTE_ALL);
    o->dropped_by = moved_by == MOVE_MLP_NORM ? CALC_RECOMPUTE_BLOCK : 0;
    o->moved_by = moved_by;
}

/* Residual sum, with the dropout before it. */
static void add_residual(calc_build *b, const char *name)
{
    const calc_shape *s = b->shape;
    double elements = b->kept * s->hidden;
    double bytes = elements * s->element_bytes;
    double mask = s->dropout ? elements : 0;
    calc_operator *o = calc_build_vector(b, name, 0, elements, 3 * bytes + mask, 2 * bytes + mask);
    o->flop[CALC_PASS_FW] = elements;
    if (s->dropout) {
        calc_build_keep(o, mask, CALC_RECOMPUTE_ALL);
    }
}

/* Beside the last operator, a matrix that stands for one multiplication. */
static void adapt(calc_build *b, const char *const name[2], int module, double width)
{
    calc_adapter_add(b, b->count - 1, name, &(calc_adapter_product){module, width}, 1);
}

/* Of the output's gate, a rank's: from the layer's input, as queries. */
static double gate_width(const calc_shape *s)
{
    return s->output_gate == CALC_OUTPUT_GATE_CHANNEL ? s->local_heads * s->v_size
           : s->output_gate == CALC_OUTPUT_GATE_HEAD  ? s->local_heads
                                                      : 0;
}

static void add_query_key_value(calc_build *b)
{
    const calc_shape *s = b->shape;
    double query = s->local_heads * s->qk_size + gate_width(s);
    double keys = s->kv_shared ? 0 : s->local_kv_heads * s->qk_size;
    double values = s->kv_shared || s->k_eq_v ? 0 : s->local_kv_heads * s->v_size;
    double key_value = keys + values;
    calc_operator *gather = calc_build_open_tensor_par(b, "attention gather", 0, s->hidden);
    calc_operator *o = calc_build_matrix(b, "query key value", CALC_OPERATOR_MATRIX, 0, b->tokens,
                                         s->hidden, query + key_value, 1);
    o->split = CALC_SPLIT_COLUMNS;
    calc_build_products(b, o, 0, 3, (double[]){query, keys, values});
    calc_build_narrow_gather(b, gather, o, CALC_PASS_FW);
    calc_build_pass_open(b, o, b->tokens * (query + key_value));
    o->weights += s->bias || s->qkv_bias ? query + key_value : 0;
    calc_build_keep_input(b, o, s->hidden);
    o->moved_by = MOVE_QKV_LINEAR;
    const calc_adapter_product products[] = {{CALC_LORA_MODULES_Q_PROJ, query},
                                             {CALC_LORA_MODULES_K_PROJ, keys},
                                             {CALC_LORA_MODULES_V_PROJ, values}};
    calc_adapter_add(b, b->count - 1, CALC_ADAPTER_NAMES("query key value"), products, 3);
    double normed = s->local_heads * s->qk_size + keys;
    double heads = normed * b->tokens;
    double bytes = 2 * heads * s->element_bytes;
    if (s->qk_norm || s->qk_norm_whole) {
        if (s->qk_norm_whole && s->tensor_par > 1) { /* a mean square of queries and one of keys */
            calc_build_collective(b, "query key norm reduction", 0, CALC_IN_TENSOR,
                                  2 * 4 * b->tokens, CALC_OP_ALL_REDUCE, CALC_OP_ALL_REDUCE);
        }
        o = calc_build_vector(b, "query key norm", 0, heads, bytes, 1.5 * bytes);
        calc_operator_passes(o->flop, 4 * heads, 8 * heads);
        calc_build_keep(o, norm_kept_bytes(b, o), 0);
        o->weights = s->qk_norm_whole ? normed : (s->kv_shared ? 1 : 2) * s->qk_size;
    }
    if (s->rope) {
        double passes = b->strategy->unfused_rope ? 2 : 1;
        o = calc_build_vector(b, "rotary embedding", 0, heads, passes * bytes, passes * bytes);
        calc_operator_passes(o->flop, 3 * heads, 3 * heads);
    }
}

/* Latent attention: both down projections run on the rank's share of the tokens, whole on every
 * rank; the latents are gathered. The up projections are split by heads. */
static void add_latent_query_key_value(calc_build *b)
{
    const calc_shape *s = b->shape;
    double e = s->element_bytes;
    double query = s->local_heads * s->qk_size;
    double nope = s->qk_size - s->rope_size;
    double latents = s->q_rank + s->kv_rank;
    int before = s->q_rank > 0 ? 2 : 1; /* queries are made first */
    const calc_operator *query_down = NULL;
    if (s->q_rank > 0) {
        query_down = calc_build_matrix(b, "query down projection", CALC_OPERATOR_MATRIX, 0, b->kept,
                                       s->hidden, s->q_rank, 1);
        adapt(b, CALC_ADAPTER_NAMES("query down"), CALC_LORA_MODULES_Q_A_PROJ, s->q_rank);
    }
    double down = s->kv_rank + s->rope_size;
    calc_operator *o = calc_build_matrix(b, "key value down projection", CALC_OPERATOR_MATRIX, 0,
                                         b->kept, s->hidden, down, 1);
    calc_build_products(b, o, before, 1, &down);
    /* Either projection of it keeps a narrowed copy of its own. */
    double input_bytes = s->kept_bytes < e ? 2 * s->kept_bytes : s->kept_bytes;
    calc_build_keep(o, b->kept * s->hidden * input_bytes, LAYERNORM);
    o->moved_by = MOVE_QKV_LINEAR;
    o->adapted = query_down && query_down->adapted;
    adapt(b, CALC_ADAPTER_NAMES("key value down"), CALC_LORA_MODULES_KV_A_PROJ, down);
    double elements = b->kept * latents;
    o = calc_build_vector(b, "latent norm", MLA_UP_PROJ, elements, 2 * elements * e,
                          3 * elements * e);
    calc_operator_passes(o->flop, 4 * elements, 8 * elements);
    o->weights = latents;
    calc_build_keep(o, 2 * elements * e, CALC_RECOMPUTE_ALL);
    o->moved_by = MOVE_QKV_LINEAR;
    calc_build_open_tensor_par(b, "latent gather", 0,
                               s->q_rank > 0 ? latents + s->rope_size
                                             : s->hidden + s->kv_rank + s->rope_size);
    o = calc_build_matrix(b, "query up projection", CALC_OPERATOR_MATRIX, MLA_UP_PROJ, b->tokens,
                          s->q_rank > 0 ? s->q_rank : s->hidden, query, 1);
    calc_build_products(b, o, before - 1, 1, &query);
    o->split = CALC_SPLIT_COLUMNS;
    adapt(b, CALC_ADAPTER_NAMES("query up"),
          s->q_rank > 0 ? CALC_LORA_MODULES_Q_B_PROJ : CALC_LORA_MODULES_Q_PROJ, query);
    o = calc_build_matrix(b, "key value up projection", CALC_OPERATOR_MATRIX, MLA_UP_PROJ,
                          b->tokens, s->kv_rank, s->local_heads * (nope + s->v_size), 1);
    o->split = CALC_SPLIT_COLUMNS;
    adapt(b, CALC_ADAPTER_NAMES("key value up"), CALC_LORA_MODULES_KV_B_PROJ,
          o->outputs / b->tokens);
    double heads = 2 * s->local_heads * s->qk_size * b->tokens;
    o = calc_build_vector(b, "rotary embedding", MLA_UP_PROJ, heads, 2 * heads * e, 2 * heads * e);
    calc_operator_passes(o->flop, 3 * heads, 3 * heads);
}

/* Format of the multiplications inside flash attention. */
typedef struct inside {
    double bytes;        /* of an element */
    double narrow_bytes; /* traffic of narrowing one */
    double share;        /* of the time that the same arithmetic takes in datatype */
} inside;

static inside inside_of(const calc_build *b)
{
    const calc_strategy *x = b->strategy;
    double e = b->shape->element_bytes;
    inside i = {calc_format_bytes_or(x->attention_datatype, e), 0, 1};
    const calc_engine *matrix = b->chip ? b->chip->matrix : NULL;
    calc_datatype format = calc_format_datatype(x->attention_datatype, x->datatype);
    if (matrix && format != x->datatype && matrix[format].flop_per_s > 0) {
        i.share = matrix[x->datatype].flop_per_s / matrix[format].flop_per_s;
        i.narrow_bytes = i.bytes < e ? b->chip->quantize_bytes : 0;
    }
    return i;
}

/* Attention whose scores never leave the processor: five products backward for two forward. */
static void add_flash(calc_build *b, double kept_bytes)
{
    const calc_shape *s = b->shape;
    double share = calc_shape_score_share(s);
    double pairs = s->microbatch * s->local_heads * s->seq * s->seq / s->context_par;
    /* Without the halves swapped, the last rank of a causal ring has nearly twice the mean. */
    if (s->causal && s->context_par > 1 &&
        b->strategy->context_par_balance == CALC_CONTEXT_PAR_BALANCE_NONE) {
        share *= (2 * s->context_par - 1) / s->context_par;
    }
    double e = s->element_bytes;
    inside in = inside_of(b);
    double elements = s->local_heads * s->qk_size + s->local_kv_heads * (s->qk_size + s->v_size);
    double moved = b->tokens * (elements * in.bytes + s->local_heads * s->v_size * e);
    double kept = kept_bytes * in.bytes / e;
    double width = s->qk_size + s->v_size;
    double bw_width = 3 * s->qk_size + 2 * s->v_size;
    double exponentials = b->chip->attention.softmax_size;
    /* The rates hold for heads of 128 and include their exponentials. */
    double usual = exponentials > 0 ? 256 / (256 + exponentials) : 1;
    calc_operator *o = calc_build_next(b, "flash attention", CALC_OPERATOR_ATTENTION, CORE_ATTN);
    o->inputs = b->tokens * (s->local_heads + 2 * s->local_kv_heads) * s->qk_size;
    o->outputs = b->tokens * s->local_heads * s->v_size;
    calc_operator_passes(o->flop, 2 * pairs * width * share, 2 * pairs * bw_width * share);
    calc_operator_passes(o->work, 2 * pairs * (width * in.share + exponentials) * share * usual,
                         2 * pairs * (bw_width * in.share + 2.5 * exponentials) * share * usual);
    calc_operator_passes(
        o->bytes, moved + b->tokens * (4 * s->local_heads + in.narrow_bytes * elements),
        2 * moved + b->tokens * (4 + in.narrow_bytes * s->v_size) * s->local_heads);
    bool ring = b->strategy->context_par_type == CALC_CONTEXT_PAR_TYPE_RING && s->context_par > 1;
    o->launches[CALC_PASS_FW] = ring ? s->context_par : 1;
    o->launches[CALC_PASS_AGRAD] = o->launches[CALC_PASS_FW];
    o->weights = s->sinks ? s->local_heads : 0;
    calc_build_keep(o, 4 * b->tokens * s->local_heads, CORE_ATTN);
    o->saved_share = 1;
    o->saved_bytes = o->outputs * e + 4 * b->tokens * s->local_heads;
    o = calc_build_vector(b, "attention inputs", 0, 0, 0, 0);
    calc_build_pass(b, o, b->tokens * (elements + s->local_heads * s->v_size));
    calc_operator_passes(o->launches, 0, 0);
    calc_build_keep(o, kept, s->latent ? MLA_UP_PROJ : CALC_RECOMPUTE_ALL);
    o->moved_by = MOVE_CORE_ATTN;
    /* Its backward pass reads its output, too, which is the input of the projection behind it. */
    o->copied_bytes = b->tokens * s->local_heads * s->v_size * e;
}

/* Attention in separate kernels that write and read the whole square of scores. */
static void add_scores(calc_build *b, double kept_bytes)
{
    const calc_shape *s = b->shape;
    double pairs = s->microbatch * s->local_heads * s->seq * s->seq / s->context_par;
    double width = s->qk_size + s->v_size;
    double e = s->element_bytes;
    double mask = s->dropout ? 1 : 0;
    calc_operator *o = calc_build_next(b, "attention scores", CALC_OPERATOR_SCORES, CORE_ATTN);
    calc_operator_passes(o->flop, 2 * pairs * width, 4 * pairs * width);
    /* Scores and probabilities written and read, twice with dropout's mask; portable kernels also
     * scale them and mask them by themselves. */
    double alone = b->strategy->attention_kernel == CALC_ATTENTION_KERNEL_GENERIC ? 2 : 0;
    calc_operator_passes(o->bytes, pairs * ((5 + 2 * alone) * e + 2 * mask),
                         pairs * ((7 + 2 * alone) * e + mask));
    calc_operator_passes(o->launches, 5 + alone, 7 + alone);
    o->weights = s->sinks ? s->local_heads : 0;
    /* Probabilities; with dropout its mask and its output (Korthikanti et al. 2022). */
    calc_build_keep(o, pairs * (s->dropout ? 2 * e + mask : e), CORE_ATTN);
    o->moved_by = MOVE_CORE_ATTN;
    o = calc_build_vector(b, "attention inputs", 0, 0, 0, 0);
    /* Gradients of probabilities and of scores, too. */
    calc_build_pass(b, o, 2 * pairs + kept_bytes / e + b->tokens * s->local_heads * s->v_size);
    calc_operator_passes(o->launches, 0, 0);
    calc_build_keep(o, kept_bytes, s->latent ? MLA_UP_PROJ : CALC_RECOMPUTE_ALL);
    o->moved_by = MOVE_CORE_ATTN;
}

/* Ranks of the inner all-to-all and of the outer ring of context parallelism. */
static void context_sizes(const calc_build *b, double *inner, double *outer)
{
    double ranks = b->shape->context_par;
    *inner = 1;
    switch (b->strategy->context_par_type) {
    case CALC_CONTEXT_PAR_TYPE_ULYSSES:
        *inner = ranks;
        break;
    case CALC_CONTEXT_PAR_TYPE_HIERARCHICAL:
        *inner = calc_par_size(b->strategy->context_par_inner);
        if (b->strategy->context_par_inner == 0) {
            *inner = b->context_inner;
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
static void add_context_exchange(calc_build *b)
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
        calc_operator *o =
            calc_build_collective(b, "context all-to-all", CORE_ATTN, CALC_IN_CONTEXT, bytes / 4,
                                  CALC_OP_ALL_TO_ALL, CALC_OP_ALL_TO_ALL);
        calc_operator_passes(o->times, 4, 4);
        o->saved_bytes = bytes;
        o->sub_ranks = inner;
        o->sub_stride = 1;
        calc_build_vector(b, "context reorder", CORE_ATTN, bytes / e, 2 * bytes, 2 * bytes);
    }
    if (outer > 1 && b->strategy->context_par_type == CALC_CONTEXT_PAR_TYPE_ALL_GATHER) {
        calc_operator *o = calc_build_collective(b, "context all-gather", CORE_ATTN,
                                                 CALC_IN_CONTEXT, b->tokens * key_value * outer,
                                                 CALC_OP_ALL_GATHER, CALC_OP_REDUCE_SCATTER);
        o->op[CALC_PASS_WGRAD] = CALC_OP_ALL_GATHER;
    } else if (outer > 1) {
        calc_operator *o = calc_build_collective(b, "context ring", CORE_ATTN, CALC_IN_CONTEXT,
                                                 b->tokens * key_value, CALC_OP_P2P, CALC_OP_P2P);
        calc_operator_passes(o->times, outer - 1, 2 * (outer - 1));
        o->sub_ranks = outer;
        o->sub_stride = inner;
        o->hidden_by_attention = true;
    }
}

/* Indexer of sparse attention: whole on every tensor-parallel rank. It scores all keys that a query
 * may see, and lists those that attention then reads; the list is kept. Context-parallel ranks
 * gather all of its keys. Source: DeepSeek-V3.2 (arXiv 2512.02556); Megatron-LM, dsa.py. */
static void add_indexer(calc_build *b)
{
    const calc_shape *s = b->shape;
    double e = s->element_bytes;
    if (s->index_heads <= 0) {
        return;
    }
    double list = calc_min(s->index_topk, s->seq) / calc_max(1, s->index_block);
    calc_operator *o;
    if (!s->index_shared) {
        double query = s->q_rank > 0 ? s->q_rank : s->hidden;
        double overlap = s->compress_ratio > 0 ? 4 : 1;
        calc_build_matrix(b, "index query", CALC_OPERATOR_MATRIX, 0, b->tokens, query,
                          s->index_heads * s->index_size, 1);
        o = calc_build_matrix(b, "index key", CALC_OPERATOR_MATRIX, 0, b->tokens, s->hidden,
                              overlap * s->index_size + (s->index_block > 0 ? 0 : s->index_heads),
                              1);
        o->weights +=
            s->compress_ratio > 0 ? (2 * s->compress_ratio + 1) * s->index_size : 2 * s->index_size;
        double seen = s->seq * s->seq * calc_shape_index_share(s, false);
        double pairs = s->microbatch * seen / s->context_par;
        if (s->context_par > 1) {
            calc_build_collective(b, "index key gather", 0, CALC_IN_CONTEXT,
                                  b->tokens * s->context_par * s->index_size * e,
                                  CALC_OP_ALL_GATHER, CALC_OP_REDUCE_SCATTER);
        }
        o = calc_build_next(b, "index scores", CALC_OPERATOR_ATTENTION, CORE_ATTN);
        o->chooses = true;
        o->inputs = b->tokens * (s->index_heads + 1) * s->index_size;
        o->outputs = b->tokens * list;
        o->flop[CALC_PASS_FW] = o->work[CALC_PASS_FW] = pairs * calc_shape_index_flop(s);
        o->flop[CALC_PASS_AGRAD] = o->work[CALC_PASS_AGRAD] = 2 * o->flop[CALC_PASS_FW];
        o->bytes[CALC_PASS_FW] = e * o->inputs + 4 * pairs; /* sums of the heads, to choose from */
        o->bytes[CALC_PASS_AGRAD] = 2 * e * o->inputs + 4 * pairs;
        calc_operator_passes(o->launches, 2, 1);
        calc_build_keep(o, b->tokens * (s->index_heads + 1) * s->index_size * e,
                        CALC_RECOMPUTE_ALL);
    }
    o = calc_build_vector(b, "chosen keys", 0, 0, 0, 0);
    o->launches[CALC_PASS_FW] = o->launches[CALC_PASS_AGRAD] = 0;
    calc_build_keep(o, s->index_shared ? 0 : 4 * b->tokens * list, CALC_RECOMPUTE_ALL);
}

/* Windows and compressed keys (DeepSeek-V4): one head that is key and value, whole on every rank.
 */
static void add_compressed_query_key_value(calc_build *b)
{
    const calc_shape *s = b->shape;
    double query = s->local_heads * s->qk_size;
    double overlap = s->index_heads > 0 ? 2 : 1;
    calc_operator *o;
    if (s->q_rank > 0) {
        o = calc_build_matrix(b, "query down projection", CALC_OPERATOR_MATRIX, 0, b->kept,
                              s->hidden, s->q_rank, 1);
        o->weights += s->q_rank;
        calc_build_keep(o, b->kept * s->q_rank * s->element_bytes, CALC_RECOMPUTE_ALL);
        adapt(b, CALC_ADAPTER_NAMES("query down"), CALC_LORA_MODULES_Q_A_PROJ, s->q_rank);
    }
    o = calc_build_matrix(b, "key value", CALC_OPERATOR_MATRIX, 0, b->kept, s->hidden,
                          s->qk_size * (1 + (s->compress_ratio > 0 ? 2 * overlap : 0)), 1);
    o->weights += s->qk_size * (1 + s->compress_ratio * overlap + (s->compress_ratio > 0 ? 1 : 0));
    calc_build_keep(o, b->kept * s->hidden * s->kept_bytes, LAYERNORM);
    adapt(b, CALC_ADAPTER_NAMES("key value"), CALC_LORA_MODULES_KV_A_PROJ, o->outputs / b->kept);
    calc_build_open_tensor_par(b, "latent gather", 0,
                               (s->q_rank > 0 ? s->q_rank : s->hidden) + s->qk_size);
    o = calc_build_matrix(b, "query up projection", CALC_OPERATOR_MATRIX, 0, b->tokens,
                          s->q_rank > 0 ? s->q_rank : s->hidden, query, 1);
    o->split = CALC_SPLIT_COLUMNS;
    adapt(b, CALC_ADAPTER_NAMES("query up"),
          s->q_rank > 0 ? CALC_LORA_MODULES_Q_B_PROJ : CALC_LORA_MODULES_Q_PROJ, query);
    o = calc_build_vector(b, "rotary embedding", 0, b->tokens * query,
                          2 * b->tokens * query * s->element_bytes,
                          2 * b->tokens * query * s->element_bytes);
    o->flop[CALC_PASS_FW] = o->flop[CALC_PASS_AGRAD] = 3 * b->tokens * query;
}

/* Sigmoid gate of the output; it keeps the gate and the output before it. */
static void add_gate(calc_build *b)
{
    const calc_shape *s = b->shape;
    double gate = b->tokens * gate_width(s);
    double output = b->tokens * s->local_heads * s->v_size;
    double e = s->element_bytes;
    if (gate == 0) {
        return;
    }
    if (s->latent) {
        calc_operator *o = calc_build_matrix(b, "output gate projection", CALC_OPERATOR_MATRIX, 0,
                                             b->tokens, s->hidden, gate_width(s), 1);
        o->split = CALC_SPLIT_COLUMNS;
    }
    calc_operator *o = calc_build_vector(b, "output gate", 0, output, (2 * output + gate) * e,
                                         (3 * output + 2 * gate) * e);
    calc_operator_passes(o->flop, 5 * output, 7 * output);
    calc_build_keep(o, (gate + output) * e, CALC_RECOMPUTE_ALL);
}

/* Queries, keys and values of attention. */
static double kept_bytes_of(const calc_shape *s, double tokens)
{
    double keys = s->local_kv_heads * (s->qk_size + s->v_size);
    return tokens * s->element_bytes * (s->local_heads * s->qk_size + keys);
}

static void add_attention(calc_build *b)
{
    const calc_shape *s = b->shape;
    double output = s->local_heads * s->v_size;
    if (s->mixer == CALC_PART_TYPE_COMPRESSED) {
        add_compressed_query_key_value(b);
    } else if (s->latent) {
        add_latent_query_key_value(b);
    } else {
        add_query_key_value(b);
    }
    add_indexer(b);
    add_context_exchange(b);
    calc_shape core = *s;
    if (s->latent && s->index_heads > 0) {
        /* Latent attention that reads chosen keys works on the latents: as wide as those are, all
         * heads share them, and each sees the up projection in its query and behind its output. */
        core.qk_size = s->kv_rank + s->rope_size;
        core.v_size = s->kv_rank;
        core.local_kv_heads = core.qk_size / (core.qk_size + core.v_size); /* keys are values */
    }
    b->shape = &core;
    if (s->flash || s->index_heads > 0 || s->mixer == CALC_PART_TYPE_COMPRESSED) {
        add_flash(b, kept_bytes_of(&core, b->tokens));
    } else {
        add_scores(b, kept_bytes_of(&core, b->tokens));
    }
    b->shape = s;
    add_gate(b);
    if (s->output_rank > 0) { /* every group of heads is projected by itself */
        double groups = s->output_groups / s->tensor_par;
        calc_operator *each =
            calc_build_matrix(b, "attention output of groups", CALC_OPERATOR_MATRIX, 0,
                              b->tokens * groups, output / groups, s->output_rank, groups);
        each->split = CALC_SPLIT_COLUMNS;
        calc_build_keep(each, b->tokens * output * s->element_bytes, CALC_RECOMPUTE_ALL);
        output = s->output_groups * s->output_rank / s->tensor_par;
    }
    calc_operator *o = calc_build_matrix(b, "attention output", CALC_OPERATOR_MATRIX, 0, b->tokens,
                                         output, s->hidden, 1);
    o->split = CALC_SPLIT_INNER;
    calc_build_bias(b, o, s->hidden);
    calc_build_pass_close(b, o, b->tokens * output);
    double copies =
        s->context_par > 1 && b->strategy->context_par_type == CALC_CONTEXT_PAR_TYPE_ULYSSES ? 2
                                                                                             : 1;
    /* As wide as attention's backward pass reads it; the projection keeps no copy
     * (Megatron-LM, set_save_original_input). */
    calc_build_keep(o, copies * b->tokens * output * s->element_bytes, CALC_RECOMPUTE_ALL);
    o->moved_by = MOVE_ATTN_PROJ;
    o->shares_input = s->flash;
    size_t at = b->count - 1;
    calc_operator *reduction = calc_build_close_tensor_par(b, "attention reduction", 0);
    calc_build_narrow_gather(b, reduction, o, CALC_PASS_AGRAD);
    calc_adapter_add(b, at, CALC_ADAPTER_NAMES("attention output"),
                     &(calc_adapter_product){CALC_LORA_MODULES_O_PROJ, s->hidden}, 1);
}

/* The input of a block that tensor-parallel ranks stored a share each of is gathered once for the
 * blocks of a group. */
static void add_checkpoint_gather(calc_build *b)
{
    const calc_shape *s = b->shape;
    const calc_strategy *x = b->strategy;
    if (x->distribute_saved_activations && s->tensor_par > 1 && !b->sequence_par) {
        double group = calc_max(1, (double)x->recompute_group);
        calc_operator *o = calc_build_collective(b, "checkpoint gather", 0, CALC_IN_TENSOR,
                                                 b->tokens * s->hidden * s->element_bytes / group,
                                                 CALC_OP_NONE, CALC_OP_NONE);
        o->op[CALC_PASS_WGRAD] = CALC_OP_ALL_GATHER;
        o->repeats = true;
        o->repeated_by = CALC_RECOMPUTE_ALL;
    }
}

/* A norm of a sub-layer's output, which it keeps. */
static void add_norm_behind(calc_build *b, const char *name)
{
    if (b->shape->norm_place != CALC_NORM_PLACE_PRE) {
        calc_transformer_norm(b, name, 0);
        calc_operator *o = &b->out[b->count - 1];
        o->dropped_by = CALC_RECOMPUTE_BLOCK;
    }
}

/* Residual streams beside the plain one, of a sub-layer: hyper-connections read all of them three
 * times and write them once, and keep them; AltUp, for a layer, reads and writes them twice;
 * residual attention reads all snapshots, half of them on average. */
static void add_streams(calc_build *b, const char *name)
{
    const calc_shape *s = b->shape;
    double n = s->streams;
    double elements = b->kept * s->hidden;
    double bytes = elements * s->element_bytes;
    if (s->residual == CALC_RESIDUAL_TYPE_HYPER) {
        calc_operator *o =
            calc_build_vector(b, name, 0, n * elements, 4 * n * bytes, 8 * n * bytes);
        o->flop[CALC_PASS_FW] = 2 * (n * n + 2 * n) * n * elements;
        o->flop[CALC_PASS_AGRAD] = 2 * o->flop[CALC_PASS_FW];
        calc_operator_passes(o->launches, 3, 6);
        o->weights = (n * n + 2 * n) * (n * s->hidden + 1) + 3;
        calc_build_keep(o, n * bytes, CALC_RECOMPUTE_ALL);
    } else if (s->residual == CALC_RESIDUAL_TYPE_ALTUP) {
        calc_operator *o =
            calc_build_vector(b, name, 0, n * elements, 2 * n * bytes, 4 * n * bytes);
        o->flop[CALC_PASS_FW] = (n * n + n) * elements + 2 * s->residual_rank * elements;
        o->flop[CALC_PASS_AGRAD] = 2 * o->flop[CALC_PASS_FW];
        o->weights =
            (n * n + n * n * n + n * s->hidden + 3 * s->hidden + 2 * s->hidden * s->residual_rank) /
            2;
        calc_build_keep(o, n / 2 * bytes, CALC_RECOMPUTE_ALL);
    } else if (s->residual == CALC_RESIDUAL_TYPE_ATTENTION) {
        double snapshots = s->blocks / n / 2;
        calc_operator *o =
            calc_build_vector(b, name, 0, elements, snapshots * bytes, 2 * snapshots * bytes);
        calc_operator_passes(o->flop, 4 * snapshots * elements, 8 * snapshots * elements);
        o->weights = 2 * s->hidden;
        calc_build_keep(o, bytes / n, CALC_RECOMPUTE_ALL);
    }
}

/* A layer's own embedding (Gemma 3n): the stream gates it, and adds its projection; whole on every
 * rank. */
static void add_layer_embedding(calc_build *b)
{
    const calc_shape *s = b->shape;
    double elements = b->kept * s->layer_embedding;
    double e = s->element_bytes;
    if (s->layer_embedding <= 0) {
        return;
    }
    calc_operator *o = calc_build_matrix(b, "layer embedding gate", CALC_OPERATOR_MATRIX, 0,
                                         b->kept, s->hidden, s->layer_embedding, 1);
    calc_build_keep(o, b->kept * s->hidden * s->kept_bytes, CALC_RECOMPUTE_ALL);
    o = calc_build_vector(b, "layer embedding product", 0, elements, 3 * elements * e,
                          5 * elements * e);
    calc_operator_passes(o->flop, 8 * elements, 13 * elements);
    calc_build_keep(o, 2 * elements * e, CALC_RECOMPUTE_ALL);
    o = calc_build_matrix(b, "layer embedding projection", CALC_OPERATOR_MATRIX, 0, b->kept,
                          s->layer_embedding, s->hidden, 1);
    calc_build_keep(o, elements * s->kept_bytes, CALC_RECOMPUTE_ALL);
    calc_transformer_norm(b, "layer embedding norm", 0);
}

/* Recomputation that ends with the last tensor that the backward pass reads repeats neither a
 * layer's last multiplication nor sums behind it, unless something reads them. */
static void stop_early(const calc_build *b)
{
    bool sums = b->strategy->recompute_early_stop;
    for (size_t i = b->count; sums && i-- > 0;) {
        calc_operator *o = &b->out[i];
        bool reduces = o->kind == CALC_OPERATOR_COLLECTIVE && o->group == CALC_IN_TENSOR;
        sums = (o->kind == CALC_OPERATOR_VECTOR || reduces) && o->dropped_bytes <= 0;
        o->repeated_by = sums || o->kind == CALC_OPERATOR_MATRIX ? 0 : o->repeated_by;
    }
}

/* ---- Listed layers --------------------------------------------------------------------------- */

/* Layers of a kind of blocks that have the same mixers, or the same feed-forward parts. */
typedef struct group {
    const int8_t *part; /* two of them; the second may be -1 */
    double share;       /* of the blocks of this kind */
} group;

static size_t groups_of(const calc_stack *s, calc_block_kind kind, bool ffn,
                        group out[CALC_MAX_LAYER_KINDS])
{
    size_t count = 0;
    double all = 0;
    for (int i = 0; i < s->kinds; i++) {
        const calc_layer_kind *k = &s->kind[i];
        const int8_t *part = ffn ? k->ffn : k->mixer;
        if (calc_stack_kind_has_experts(s, i) != (kind == CALC_MOE_BLOCK) || k->count == 0) {
            continue;
        }
        all += k->count;
        size_t at = 0;
        while (at < count && memcmp(out[at].part, part, sizeof k->ffn) != 0) {
            at++;
        }
        if (part[0] >= 0 && at == count) {
            out[count++] = (group){.part = part};
        }
        if (part[0] >= 0) {
            out[at].share += k->count;
        }
    }
    for (size_t i = 0; i < count; i++) {
        out[i].share /= all;
    }
    return count;
}

/* Norm, parts side by side and residual of a sub-layer. */
static void add_sub_layer(calc_build *b, const group *g, bool ffn)
{
    const char *const norm = ffn ? "feed-forward norm" : "attention norm";
    const char *const behind = ffn ? "feed-forward output norm" : "attention output norm";
    const calc_shape *model = b->shape;
    const calc_stack *stack = model->stack;
    size_t first = b->count;
    if (model->norm_place != CALC_NORM_PLACE_POST) {
        calc_transformer_norm(b, norm, ffn ? MOVE_MLP_NORM : MOVE_ATTN_NORM);
    }
    /* Feed-forward parts side by side between two norms have their own two each. */
    bool own = ffn && g->part[1] >= 0 && model->norm_place == CALC_NORM_PLACE_SANDWICH;
    for (int i = 0; i < 2 && g->part[i] >= 0; i++) {
        const calc_part *part = &stack->part[g->part[i]];
        const calc_shape shape = calc_shape_of_part(model, part);
        size_t before = b->count;
        if (own && i > 0) {
            calc_transformer_norm(b, norm, MOVE_MLP_NORM);
        }
        b->shape = &shape;
        if (ffn && part->type == CALC_PART_TYPE_MOE) {
            calc_feedforward_router(b);
            calc_feedforward_experts(b);
        } else if (ffn) {
            calc_feedforward_dense(b);
        } else if (calc_part_is_linear(shape.mixer)) {
            calc_linear_mixer(b);
        } else {
            add_attention(b);
        }
        b->shape = model;
        if (own) {
            add_norm_behind(b, behind);
        }
        for (size_t n = before; n < b->count; n++) {
            b->out[n].part = part->name;
        }
    }
    add_norm_behind(b, behind);
    add_residual(b, ffn ? "feed-forward residual" : "attention residual");
    add_streams(b, ffn ? "feed-forward streams" : "attention streams");
    if (ffn) {
        stop_early(b);
    }
    for (size_t i = first; i < b->count; i++) {
        b->out[i].without = 1 - g->share;
        b->out[i].part = b->out[i].part ? b->out[i].part : stack->part[g->part[0]].name;
    }
}

static void add_sub_layers(calc_build *b, calc_block_kind kind, bool ffn)
{
    group groups[CALC_MAX_LAYER_KINDS];
    size_t count = groups_of(b->shape->stack, kind, ffn, groups);
    for (size_t i = 0; i < count; i++) {
        add_sub_layer(b, &groups[i], ffn);
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

size_t calc_transformer_begin(const calc_recipe *recipe, calc_operator *out)
{
    calc_build b = calc_build_start(recipe, out);
    add_checkpoint_gather(&b);
    if (b.shape->stack) {
        add_sub_layers(&b, recipe->kind, false);
        return b.count;
    }
    bool before = b.shape->norm_place != CALC_NORM_PLACE_POST;
    if (before) {
        calc_transformer_norm(&b, "attention norm", MOVE_ATTN_NORM);
    }
    add_attention(&b);
    add_norm_behind(&b, "attention output norm");
    add_residual(&b, "attention residual");
    add_streams(&b, "attention streams");
    if (before) {
        calc_transformer_norm(&b, "feed-forward norm", MOVE_MLP_NORM);
    }
    return b.count;
}

/* A list that has operators already. */
static calc_build go_on(const calc_recipe *recipe, size_t begun, calc_operator *out)
{
    calc_build b = calc_build_start(recipe, out);
    b.count = begun;
    for (size_t i = 0; i < begun; i++) {
        b.products += out[i].products;
    }
    return b;
}

size_t calc_transformer_router(const calc_recipe *recipe, size_t begun, calc_operator *out)
{
    calc_build b = go_on(recipe, begun, out);
    if (recipe->kind == CALC_MOE_BLOCK && !b.shape->stack) {
        calc_feedforward_router(&b);
    }
    return b.count;
}

size_t calc_transformer_rest(const calc_recipe *recipe, size_t begun, calc_operator *out)
{
    calc_build b = go_on(recipe, begun, out);
    if (b.shape->stack) {
        add_sub_layers(&b, recipe->kind, true);
        add_layer_embedding(&b);
        return b.count;
    }
    if (recipe->kind == CALC_MOE_BLOCK) {
        calc_feedforward_experts(&b);
    } else {
        calc_feedforward_dense(&b);
    }
    add_norm_behind(&b, "feed-forward output norm");
    add_residual(&b, "feed-forward residual");
    add_streams(&b, "feed-forward streams");
    add_layer_embedding(&b);
    stop_early(&b);
    return b.count;
}

size_t calc_transformer_block(const calc_recipe *recipe, calc_operator *out)
{
    size_t begun = calc_transformer_begin(recipe, out);
    return calc_transformer_rest(recipe, calc_transformer_router(recipe, begun, out), out);
}

size_t calc_transformer_mtp_layers(const calc_recipe *recipe, size_t begun, calc_operator *out)
{
    const calc_stack *stack = recipe->shape->stack;
    calc_build b = go_on(recipe, begun, out);
    int layers = !stack ? 0 : stack->mtp > 0 ? stack->mtp : 1;
    for (int i = 0; i < layers; i++) {
        int kind = stack->mtp > 0 ? stack->mtp_layer[i] : stack->layer[stack->layers - 1];
        const calc_layer_kind *k = &stack->kind[kind];
        if (k->mixer[0] >= 0) {
            add_sub_layer(&b, &(group){k->mixer, 1}, false);
        }
        if (k->ffn[0] >= 0) {
            add_sub_layer(&b, &(group){k->ffn, 1}, true);
        }
    }
    return b.count;
}
