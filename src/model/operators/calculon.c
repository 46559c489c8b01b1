/* Calculon's list of the layers of a block (rule `layers`): a GPT of 2022, one kernel at a time,
 * with forks, dropouts and residuals as separate layers, and without embedding, head and loss.
 * Source: Isaev et al., "Calculon: a Methodology and Tool for High-Level Codesign of Systems and
 * Large Language Models", SC'23. */
#include "model/operators/transformer.h"

#include <assert.h>

#include "base/error.h"

/* Bits of recomputation. */
enum {
    ALL = CALC_RECOMPUTE_ALL,
    ATTENTION = CALC_RECOMPUTE_ALL | 1 << CALC_RECOMPUTE_MODULES_CORE_ATTN,
    GATHERED = CALC_RECOMPUTE_GATHER,
    HELD = CALC_RECOMPUTE_HELD /* the layer before it holds the same */
};

/* A block under construction, with data common to its layers. */
typedef struct builder {
    calc_operator *out;
    size_t count;
    double element_bytes, ranks;
    double tokens; /* of a micro-batch */
    double hidden;
    double attn_width;      /* of all heads together */
    double key_value_width; /* of all keys; of all values */
    double elements;        /* of the residual stream */
    double kept_elements;   /* of it on one rank between communication steps */
    bool scattered;         /* sequence parallelism */
    bool edge;              /* the last block of a chunk scatters its output */
    bool tiled;             /* communication overlaps with matrices */
    bool adds;              /* processors add up reductions */
    bool multiquery;
} builder;

/* A layer from its counts of elements; the usual traffic follows from them: forward reads inputs
 * and weights and writes outputs, each backward pass reads or writes weights, activations and
 * gradients. Constructors that differ say so after. */
static calc_operator *add(builder *b, const char *name, calc_operator_kind kind, double inputs,
                          double outputs, double weights, double activations, double gradients)
{
    assert(b->count < CALC_MAX_OPERATORS);
    double size = b->element_bytes;
    double back_bytes = (weights + (activations + gradients)) * size;
    calc_operator *o = &b->out[b->count++];
    *o = (calc_operator){
        .name = name,
        .kind = kind,
        .inputs = inputs,
        .outputs = outputs,
        .weights = weights,
        .read_weights = weights,
        .kept_bytes = activations * size,
        .dropped_bytes = activations * size,
        .working_bytes = activations * size,
        .grad_bytes = gradients * size,
        .bytes = {(inputs + outputs + weights) * size, back_bytes, weights == 0 ? 0 : back_bytes},
        .repeated_by = ALL,
    };
    return o;
}

static void set_flop(calc_operator *o, double fw, double agrad, double wgrad)
{
    calc_operator_passes(o->flop, fw, agrad);
    o->flop[CALC_PASS_WGRAD] = wgrad;
}

/* The layer before it holds its input. */
static void hold_nothing(calc_operator *o)
{
    o->working_bytes = 0;
    o->dropped_by |= HELD;
}

/* ---- Layers ---------------------------------------------------------------------------------- */

/* (rows x inner) times (inner x columns), with weights. */
static calc_operator *add_linear(builder *b, const char *name, double rows, double inner,
                                 double columns)
{
    calc_operator *o = add(b, name, CALC_OPERATOR_MATRIX, rows * inner, rows * columns,
                           inner * columns, rows * inner, rows * columns);
    double flop = 2 * rows * inner * columns;
    set_flop(o, flop, flop, flop);
    return o;
}

static void add_projection(builder *b, const char *name, double columns)
{
    hold_nothing(add_linear(b, name, b->tokens, b->hidden, columns)); /* the fork before it does */
}

/* Products of two activations, (rows x inner) times (inner x columns): both gradients count as
 * activation gradients. */
static calc_operator *add_products(builder *b, const char *name, double batch, double rows,
                                   double inner, double columns)
{
    double inputs = batch * (rows * inner + inner * columns);
    double outputs = batch * rows * columns;
    calc_operator *o = add(b, name, CALC_OPERATOR_MATRIX, inputs, outputs, 0, inputs, outputs);
    double flop = batch * 2 * rows * inner * columns;
    set_flop(o, flop, 2 * flop, 0);
    return o;
}

/* One activation used several times: free in forward, a sum of gradients in backward. The gradients
 * it sums are counted by the layers that make them. */
static calc_operator *add_fork(builder *b, const char *name, double elements, double users)
{
    calc_operator *o = add(b, name, CALC_OPERATOR_LAYER, elements, 0, 0, elements, 0);
    set_flop(o, 0, users * elements, 0);
    calc_operator_passes(o->bytes, 0, elements * b->element_bytes * (users + 1));
    return o;
}

/* The mask takes one byte per element and is all that is kept. */
static calc_operator *add_dropout(builder *b, const char *name, double elements)
{
    calc_operator *o = add(b, name, CALC_OPERATOR_LAYER, elements, elements, 0, elements, elements);
    set_flop(o, elements, elements, 0);
    o->bytes[CALC_PASS_FW] += elements;
    o->bytes[CALC_PASS_AGRAD] = o->bytes[CALC_PASS_FW];
    o->kept_bytes = o->dropped_bytes = o->working_bytes = o->grad_bytes = elements;
    return o;
}

/* Residual fork and layer norm, which open both halves of a block. */
static void add_entry(builder *b, const char *fork_name, const char *norm_name)
{
    double elements = b->kept_elements;
    add_fork(b, fork_name, elements, 2);
    calc_operator *o = add(b, norm_name, CALC_OPERATOR_LAYER, elements, elements, 2 * b->hidden,
                           elements, elements);
    set_flop(o, 9 * elements, 14 * elements, 7 * elements);
    hold_nothing(o);
}

/* Dropout and residual sum, which close both halves. */
static void add_exit(builder *b, const char *dropout_name, const char *residual_name)
{
    double elements = b->kept_elements;
    add_dropout(b, dropout_name, elements);
    calc_operator *o = add(b, residual_name, CALC_OPERATOR_LAYER, 2 * elements, elements, 0,
                           2 * elements, elements);
    set_flop(o, elements, 2 * elements, 0);
    hold_nothing(o);
}

/* ---- Communication --------------------------------------------------------------------------- */

/* The operations of tensor parallelism on `elements`. Closing: partial sums are added up forward
 * and gathered backward; opening: the reverse. An all-reduce's other pass is an identity. */
static void set_operations(const builder *b, calc_operator *o, bool closes, double elements,
                           unsigned repeated_by)
{
    const bool scatters[2] = {b->scattered, b->scattered || b->edge};
    o->group = CALC_IN_TENSOR;
    o->message_bytes = elements * b->element_bytes;
    o->repeated_by = repeated_by;
    o->has_edge = b->edge;
    o->repeats = true;
    for (int edge = 0; edge < 2 && b->ranks > 1; edge++) {
        calc_collective_op *op = edge ? o->edge_op : o->op;
        calc_collective_op reduce = scatters[edge] ? CALC_OP_REDUCE_SCATTER : CALC_OP_ALL_REDUCE;
        calc_collective_op gather = scatters[edge] ? CALC_OP_ALL_GATHER : CALC_OP_NONE;
        op[CALC_PASS_FW] = closes ? reduce : gather;
        op[CALC_PASS_AGRAD] = closes ? gather : reduce;
        op[CALC_PASS_WGRAD] = op[CALC_PASS_FW];
    }
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        o->times[pass] = 1;
    }
    if (b->adds && b->ranks > 1) {
        o->flop[closes ? CALC_PASS_FW : CALC_PASS_AGRAD] = elements * (b->ranks - 1) / b->ranks;
    }
}

/* A communication step of its own. */
static calc_operator *add_step(builder *b, const char *name, bool closes, unsigned repeated_by)
{
    double moved = b->ranks == 1 ? 0 : b->elements;
    calc_operator *o = add(b, name, CALC_OPERATOR_COLLECTIVE, moved, moved, 0, moved, moved);
    set_operations(b, o, closes, b->elements, repeated_by);
    if (b->scattered) {
        o->kept_bytes /= b->ranks;
        o->grad_bytes = o->kept_bytes;
    } else if (closes) {
        o->bytes[CALC_PASS_AGRAD] = 0; /* identity in backward */
        o->grad_bytes = 0;
    } else {
        o->bytes[CALC_PASS_FW] = 0; /* identity in forward */
        o->kept_bytes = 0;
    }
    o->dropped_bytes = o->working_bytes = o->kept_bytes;
    return o;
}

/* A matrix in as many tiles as ranks, with its communication: `inner` and `columns` are those
 * before the split, of `inner` where it closes, else of `columns`. */
static void add_tiled(builder *b, const char *name, bool closes, double inner, double columns,
                      unsigned repeated_by)
{
    double inputs = b->tokens * inner / (closes ? b->ranks : 1);
    double outputs = b->tokens * columns / (closes ? 1 : b->ranks);
    double activations;
    double gradients; /* where it closes, those it receives are buffered, too */
    if (b->scattered) {
        /* The gathered side exists one tile at a time. */
        activations = closes ? inputs : inputs / b->ranks;
        gradients = closes ? 2 * (outputs / b->ranks) : outputs;
    } else {
        activations = closes ? 0 : inputs;
        gradients = closes ? 2 * outputs : 0;
    }
    calc_operator *collective = &b->out[b->count];
    if (!closes) {
        b->count++;
    }
    calc_operator *o = add(b, name, CALC_OPERATOR_MATRIX, inputs, outputs,
                           inner * columns / b->ranks, activations, gradients);
    double flop = 2 * inputs * columns / (closes ? 1 : b->ranks);
    set_flop(o, flop, flop, flop);
    if (closes) {
        collective = &b->out[b->count++];
    }
    *collective = (calc_operator){.kind = CALC_OPERATOR_COLLECTIVE, .beside = closes ? -1 : 1};
    set_operations(b, collective, closes, closes ? outputs : inputs, repeated_by);
}

/* The matrix that ends a half, and the reduction of its partial sums. */
static void add_output(builder *b, const char *name, const char *step_name, const char *tiled_name,
                       double inner)
{
    if (b->tiled) {
        add_tiled(b, tiled_name, true, inner, b->hidden, ALL);
        return;
    }
    add_linear(b, name, b->tokens, inner / b->ranks, b->hidden);
    add_step(b, step_name, true, ALL)->dropped_by = HELD;
}

/* ---- The block ------------------------------------------------------------------------------- */

static void add_query_key_value(builder *b)
{
    if (b->tiled) {
        add_tiled(b, b->multiquery ? "AttnBlock_Query_AG" : "AttnBlock_QKV_AG", false, b->hidden,
                  b->multiquery ? b->attn_width : b->attn_width * 3, ATTENTION | GATHERED);
        if (!b->multiquery) {
            return;
        }
    } else {
        add_step(b, "AttnBlock_F", false, ATTENTION | GATHERED);
    }
    calc_operator *fork = add_fork(b, b->tiled ? "AttnBlock_KV_Fork" : "AttnBlock_Multihead_Fork",
                                   b->elements, b->tiled ? 2 : 3);
    fork->repeated_by = fork->dropped_by = ATTENTION | GATHERED;
    if (!b->tiled) {
        add_projection(b, "AttnBlock_Query", b->attn_width / b->ranks);
    }
    /* The one key and value of multiquery attention is computed whole on every rank. */
    double columns = b->multiquery ? b->key_value_width : b->key_value_width / b->ranks;
    add_projection(b, "AttnBlock_Key", columns);
    add_projection(b, "AttnBlock_Value", columns);
}

static void add_attention(builder *b, const calc_shape *s)
{
    double heads = s->heads / b->ranks;
    double scores = heads * (s->seq * s->seq) * s->microbatch;
    add_entry(b, "AttnBlock_Fork", "AttnBlock_LayerNorm");
    add_query_key_value(b);
    calc_operator *o = add_products(b, "AttnBlock_Multihead_Key_Query", s->microbatch * heads,
                                    s->seq, s->qk_size, s->seq);
    o->repeated_by = o->dropped_by = ATTENTION;
    o->dropped_bytes = o->outputs * b->element_bytes; /* its output; the inputs stay */
    o = add(b, "AttnBlock_Multihead_SoftMax", CALC_OPERATOR_LAYER, scores, scores, 0, scores,
            scores);
    set_flop(o, 5 * scores, 8 * scores, 0);
    o->repeated_by = o->dropped_by = ATTENTION;
    o = add_dropout(b, "AttnBlock_Multihead_DropOut", scores);
    o->repeated_by = o->dropped_by = ATTENTION;
    add_products(b, "AttnBlock_Multihead_Attn", s->microbatch * heads, s->seq, s->seq, s->qk_size);
    add_output(b, "AttnBlock_MLP", "AttnBlock_G", "AttnBlock_MLP_RS", b->attn_width);
    add_exit(b, "AttnBlock_DropOut", "AttnBlock_Residual");
}

static void add_mlp(builder *b, double feedforward, bool fused)
{
    add_entry(b, "MlpBlock_Fork", "MlpBlock_LayerNorm");
    if (b->tiled) {
        add_tiled(b, "MlpBlock_Mlp1_AG", false, b->hidden, feedforward, ALL | GATHERED);
    } else {
        add_step(b, "MlpBlock_F", false, ALL | GATHERED);
        add_linear(b, "MlpBlock_Mlp1", b->tokens, b->hidden, feedforward / b->ranks)->dropped_by =
            GATHERED;
    }
    double elements = feedforward * b->tokens / b->ranks;
    double kept = fused ? 0 : elements;
    calc_operator *o =
        add(b, "MlpBlock_GeLU", CALC_OPERATOR_LAYER, elements, elements, 0, kept, kept);
    set_flop(o, 8 * elements, 13 * elements, 0);
    o->bytes[CALC_PASS_AGRAD] = o->bytes[CALC_PASS_FW];
    add_output(b, "MlpBlock_Mlp2", "MlpBlock_G", "MlpBlock_Mlp2_RS", feedforward);
    add_exit(b, "MlpBlock_DropOut", "MlpBlock_Residual");
}

size_t calc_calculon_block(const calc_recipe *recipe, calc_operator *out)
{
    const calc_shape *shape = recipe->shape;
    const calc_strategy *strategy = recipe->strategy;
    double elements = shape->tokens * shape->hidden;
    bool scattered = strategy->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    builder b = {
        .out = out,
        .element_bytes = shape->element_bytes,
        .ranks = shape->tensor_par,
        .tokens = shape->tokens,
        .hidden = shape->hidden,
        .attn_width = shape->heads * shape->qk_size,
        .key_value_width = shape->kv_heads * shape->qk_size,
        .elements = elements,
        .kept_elements = scattered ? elements / shape->tensor_par : elements,
        .scattered = scattered,
        .edge = strategy->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_P2P_RS_AG,
        .tiled = calc_operator_streamed(strategy),
        .adds = recipe->adds,
        .multiquery = shape->kv_heads < shape->heads,
    };
    add_attention(&b, shape);
    add_mlp(&b, shape->feedforward, strategy->fused_activation);
    return b.count;
}

const char *calc_calculon_lacks(const calc_app *app, const calc_strategy *strategy)
{
    calc_shape s = calc_shape_of(app, strategy, 1, 0);
    bool several = s.kv_heads > 1 && s.kv_heads < s.heads;
    bool narrow = s.matrix_bytes != s.element_bytes || s.weight_bytes != s.element_bytes ||
                  s.kept_bytes != s.element_bytes;
    bool parts = strategy->offload_modules != 0;
    bool modules = strategy->activation_recompute == CALC_ACTIVATION_RECOMPUTE_MODULES;
    bool operations = strategy->activation_recompute == CALC_ACTIVATION_RECOMPUTE_SELECTIVE_OP;
    return s.experts > 0         ? "experts"
           : s.latent            ? "latent attention"
           : several             ? "grouped keys and values"
           : s.flash             ? "flash attention"
           : s.gated             ? "a gated feed-forward layer"
           : s.rms               ? "root-mean-square norms"
           : s.rope || s.qk_norm ? "rotary positions or normalized queries"
           : !s.dropout          ? "a model without dropout"
           : s.mtp_blocks > 0    ? "multi-token prediction"
           : s.context_par > 1   ? "context parallelism"
           : narrow              ? "matrices, weights or activations of other formats"
           : modules             ? "recomputation by modules"
           : operations          ? "recomputation by operation"
           : parts               ? "offload of parts of a block"
                                 : NULL;
}

calc_status calc_compat_check(const calc_app *app, const calc_exec *exec, calc_compat compat,
                              calc_errors *errors)
{
    bool served = exec->inference.phase != CALC_INFERENCE_PHASE_NONE;
    const char *lacks = calc_compat_has(compat, CALC_COMPAT_LAYERS)
                            ? calc_calculon_lacks(app, &exec->strategy)
                            : NULL;
    if (compat && served) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC, "/inference/phase",
                               "leave out --compat", "Calculon has no serving");
    }
    if (compat && exec->stages.count > 0) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC, "/stages",
                               "leave out the list, or --compat",
                               "Calculon's stages are all alike");
    }
    if (compat && exec->layers.count > 0) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_EXEC, "/layers",
                               "leave out the list, or --compat",
                               "Calculon's layers are all alike");
    }
    if (compat && app->stack.layers > 0) {
        return calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_APP, "/layers",
                               "leave out --compat", "Calculon's blocks are all alike");
    }
    return lacks ? calc_errors_add(errors, CALC_ERR_UNSUPPORTED, CALC_KIND_NONE, NULL,
                                   "leave out the rule layers, or --compat",
                                   "Calculon's list of layers does not have %s", lacks)
                 : CALC_OK;
}
