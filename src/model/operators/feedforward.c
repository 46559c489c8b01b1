/* The feed-forward layer of a block: dense, or routed and shared experts. Sources: DeepSeek-V3
 * (arXiv 2412.19437), Megatron-LM's grouped multiplication. */

#include "model/operators/adapter.h"
#include "model/operators/processor.h"
#include "model/operators/transformer.h"
#include "spec/format.h"

/* Bits of recomputation. */
enum {
    LAYERNORM = 1 << CALC_RECOMPUTE_MODULES_LAYERNORM,
    MLP = 1 << CALC_RECOMPUTE_MODULES_MLP,
    MOE_ACT = 1 << CALC_RECOMPUTE_MODULES_MOE_ACT,
    SHARED_EXPERTS = 1 << CALC_RECOMPUTE_MODULES_SHARED_EXPERTS,
    MOE = 1 << CALC_RECOMPUTE_MODULES_MOE
};

/* Bits of offload. */
enum {
    MOVE_EXPERT_FC1 = 1 << CALC_OFFLOAD_MODULES_EXPERT_FC1,
    MOVE_MOE_ACT = 1 << CALC_OFFLOAD_MODULES_MOE_ACT,
    MOVE_FUSED = 1 << CALC_OFFLOAD_MODULES_FUSED_GROUP_MLP
};

/* Whether all ranks that experts are spread over have all tokens. */
static bool replicated(const calc_build *b)
{
    return b->strategy->dispatch_type == CALC_DISPATCH_TYPE_REPLICATED && b->shape->tensor_par > 1;
}

/* What runs tile by tile. The backward pass begins with the forward pass of a tile, whose results
 * nobody saved. */
static void tile(calc_operator *o, double tiles)
{
    if (o->kind == CALC_OPERATOR_COLLECTIVE) {
        return;
    }
    o->flop[CALC_PASS_AGRAD] += o->flop[CALC_PASS_FW];
    o->work[CALC_PASS_AGRAD] += o->work[CALC_PASS_FW];
    o->bytes[CALC_PASS_AGRAD] += o->bytes[CALC_PASS_FW];
    o->launches[CALC_PASS_AGRAD] += o->launches[CALC_PASS_FW];
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        o->launches[pass] *= tiles;
    }
    o->saved_share = o->saved_bytes = 0;
}

/* Feed-forward layer of `width` on all ranks together, in the parts that `module` names. Where
 * ranks have all tokens, its output is reduced together with the experts' output. */
static void add_feedforward(calc_build *b, double width, unsigned module, bool shared)
{
    const calc_shape *s = b->shape;
    double columns = width / s->tensor_par;
    double gates = s->gated ? 2 : 1;
    double e = s->element_bytes;
    double elements = b->tokens * columns;
    double unfused = b->strategy->fused_activation ? 1 : 2;
    double tiles = shared ? 1 : calc_max(1, (double)b->strategy->mlp_tiles);
    bool tiled = tiles > 1;
    double at_hand = elements / tiles;
    size_t first = b->count;
    calc_operator *gather = calc_build_open_tensor_par(
        b, shared ? "shared expert gather" : "feed-forward gather", module, s->hidden);
    calc_operator *o =
        calc_build_matrix(b, shared ? "shared expert up" : "feed-forward up", CALC_OPERATOR_MATRIX,
                          module, b->tokens, s->hidden, gates * columns, 1);
    o->split = CALC_SPLIT_COLUMNS;
    calc_build_products(b, o, b->products - 1, (int)gates, (double[]){columns, columns});
    calc_build_narrow_gather(b, gather, o, CALC_PASS_FW);
    calc_build_pass_open(b, o, gates * at_hand);
    if (!shared) {
        calc_build_bias(b, o, gates * columns);
        calc_build_keep_input(b, o, s->hidden);
    }
    const calc_adapter_product up[] = {{CALC_LORA_MODULES_UP_PROJ, columns},
                                       {CALC_LORA_MODULES_GATE_PROJ, s->gated ? columns : 0}};
    calc_adapter_add(b, b->count - 1,
                     shared ? CALC_ADAPTER_NAMES("shared expert up")
                            : CALC_ADAPTER_NAMES("feed-forward up"),
                     up, 2);
    o = calc_build_vector(b, shared ? "shared expert activation" : "activation", module, elements,
                          (gates + 1) * elements * e * unfused,
                          (2 * gates + 1) * elements * e * unfused);
    calc_operator_passes(o->flop, (s->gated ? 6 : 8) * elements, (s->gated ? 11 : 13) * elements);
    /* As a separate kernel, a gate keeps its other factor, too. */
    double products = s->gated ? unfused - 1 : 0;
    double inside = (gates + products) * s->activated_bytes;
    calc_build_pass(b, o, (gates + unfused) * at_hand);
    o->passing_bytes += tiled ? at_hand * (inside + s->kept_bytes) : 0;
    calc_build_keep(o, tiled ? 0 : inside * elements, module);
    o = calc_build_matrix(b, shared ? "shared expert down" : "feed-forward down",
                          CALC_OPERATOR_MATRIX, module, b->tokens, columns, s->hidden, 1);
    o->split = CALC_SPLIT_INNER;
    if (!shared) {
        calc_build_bias(b, o, s->hidden);
    }
    calc_build_pass_close(b, o, at_hand);
    calc_build_keep(o, tiled ? 0 : elements * s->kept_bytes, module);
    size_t at = b->count - 1;
    if (!shared || !replicated(b)) {
        calc_operator *reduction = calc_build_close_tensor_par(
            b, shared ? "shared expert reduction" : "feed-forward reduction", module);
        calc_build_narrow_gather(b, reduction, o, CALC_PASS_AGRAD);
    }
    calc_adapter_add(b, at,
                     shared ? CALC_ADAPTER_NAMES("shared expert down")
                            : CALC_ADAPTER_NAMES("feed-forward down"),
                     &(calc_adapter_product){CALC_LORA_MODULES_DOWN_PROJ, s->hidden}, 1);
    for (size_t i = first; i < b->count && tiled; i++) {
        tile(&b->out[i], tiles);
    }
}

/* Sorting of tokens by expert, or back: reads and writes them once per expert, and once before. A
 * dispatch that sends no token twice to a rank leaves one copy per rank to read, or to write; where
 * all experts are on one rank, nothing is dispatched. */
static void add_sort(calc_build *b, const char *name, double routed)
{
    const calc_shape *s = b->shape;
    double tokens = calc_transformer_routed_tokens(s);
    double copies = s->experts_per_token * tokens;
    bool once = b->strategy->dispatch_type == CALC_DISPATCH_TYPE_NODE_LIMITED && s->expert_par > 1;
    double moved = once ? b->reached * tokens + copies : tokens / 2 + 3.5 * copies;
    double bytes = moved * s->expert_latent * s->element_bytes;
    calc_operator *o = calc_build_next(b, name, CALC_OPERATOR_PERMUTE, MOE);
    o->inputs = routed * s->expert_latent;
    o->outputs = o->inputs;
    calc_operator_passes(o->bytes, bytes, bytes);
    calc_operator_passes(o->launches, 8, 8);
}

/* Tokens on the way to their experts, or back. */
static void add_exchange(calc_build *b, const char *name, double routed, calc_format format,
                         bool back)
{
    const calc_shape *s = b->shape;
    double e = s->element_bytes;
    if (s->expert_par <= 1 || replicated(b)) {
        return;
    }
    if (b->strategy->dispatch_type == CALC_DISPATCH_TYPE_ALL_GATHER) {
        double bytes = calc_transformer_routed_tokens(s) * s->expert_par * s->expert_latent * e;
        calc_build_collective(b, name, MOE, CALC_IN_EXPERT, bytes,
                              back ? CALC_OP_REDUCE_SCATTER : CALC_OP_ALL_GATHER,
                              back ? CALC_OP_ALL_GATHER : CALC_OP_REDUCE_SCATTER);
    } else {
        calc_build_collective(b, name, MOE, CALC_IN_EXPERT,
                              routed * s->expert_latent * calc_format_bytes_or(format, e),
                              CALC_OP_ALL_TO_ALL, CALC_OP_ALL_TO_ALL);
    }
}

/* Buffers in the forward pass, when tokens come back: the tokens as they arrived, the experts'
 * output, the sorted output, and the data sent back; the first two until the block is done, as
 * measured peaks of Megatron-LM have it (tests/golden/b200). Without an exchange only the second
 * and the third. Beside them the shared experts' output. */
static void add_way_back(calc_build *b, double routed, double passing)
{
    const calc_shape *s = b->shape;
    double tokens = calc_transformer_routed_tokens(s);
    double sent = routed;
    double back = routed;
    bool exchange = s->expert_par > 1 && !replicated(b);
    if (exchange && b->strategy->dispatch_type == CALC_DISPATCH_TYPE_ALL_GATHER) {
        sent = tokens * s->expert_par;
        back = tokens;
    } else if (exchange && b->strategy->dispatch_type == CALC_DISPATCH_TYPE_NODE_LIMITED) {
        sent = tokens * b->reached;
        back = tokens;
    }
    double exchanged = exchange ? sent + back : 0;
    double experts = passing * routed * (replicated(b) ? 1 : s->expert_tensor_par);
    double shared = s->shared_feedforward > 0 ? b->kept : 0;
    b->out[b->count - 1].passing_bytes =
        (experts + sent + exchanged + shared) * s->expert_latent * s->element_bytes;
}

/* Ranks that split an expert have the tokens of all of them: a copy for each of its experts, or one
 * for each rank of expert parallelism that has any. */
static void add_expert_gather(calc_build *b, const char *name, double routed, bool before)
{
    const calc_shape *s = b->shape;
    bool once = b->strategy->dispatch_type == CALC_DISPATCH_TYPE_NODE_LIMITED;
    double copies = once ? routed * b->reached / s->experts_per_token : routed;
    if (s->expert_tensor_par > 1 && !replicated(b)) {
        calc_operator *o = calc_build_collective(
            b, name, MOE, CALC_IN_EXPERT_TENSOR,
            copies * s->expert_latent * s->element_bytes * s->expert_tensor_par,
            before ? CALC_OP_ALL_GATHER : CALC_OP_REDUCE_SCATTER,
            before ? CALC_OP_REDUCE_SCATTER : CALC_OP_ALL_GATHER);
        o->saved_bytes /= s->expert_tensor_par;
    }
}

/* The multiplication before the activation also writes the activation, in the format that the next
 * multiplication reads; backward, the gradient of the activation never leaves the multiplication
 * that makes it, and is narrowed there. TransformerEngine's fused grouped MLP. */
static void fuse_activation(const calc_build *b, calc_operator *up, calc_operator *activation,
                            calc_operator *down)
{
    const calc_shape *s = b->shape;
    bool narrow = s->matrix_bytes < s->element_bytes;
    double e = s->element_bytes;
    double m = narrow ? s->matrix_bytes : e;
    double q = narrow && b->chip ? b->chip->quantize_bytes : 0;
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        activation->flop[pass] = activation->bytes[pass] = activation->launches[pass] = 0;
    }
    up->bytes[CALC_PASS_FW] += m * down->inputs;
    up->bytes[CALC_PASS_AGRAD] -= q * up->outputs;
    down->bytes[CALC_PASS_FW] -= down->converted_bytes;
    down->bytes[CALC_PASS_AGRAD] += (e + m) * up->outputs - e * down->inputs;
    down->converted_bytes = 0;
}

/* Tokens that come back are weighed in float32, a kernel for each operation: a copy, which is kept,
 * the product, and its narrow copy; backward, gradients of token and score. torchtitan's
 * models/moe/moe.py, and prime-rl's. */
static void add_scores(calc_build *b, double numbers)
{
    double narrow = b->shape->element_bytes, copied = narrow + 4;
    calc_operator *o = calc_build_vector(b, "experts scores", MOE, numbers, 0, 0);
    calc_operator_passes(o->bytes, (copied + 8 + copied) * numbers,
                         (copied + 8 + 12 + 4 + copied) * numbers);
    /* The host's are among those of the permutation. */
    o->launches[CALC_PASS_FW] = o->launches[CALC_PASS_AGRAD] = 0;
    calc_build_keep(o, 4 * numbers, MOE);
    o->passing_bytes = (narrow + 4 + 4) * numbers;
}

void calc_feedforward_dense(calc_build *b)
{
    add_feedforward(b, b->shape->feedforward, MLP, false);
}

/* Tokens of a micro-batch that a rank routes. */
static double routed_tokens(const calc_build *b)
{
    return replicated(b) ? b->shape->tokens : calc_transformer_routed_tokens(b->shape);
}

void calc_feedforward_router(calc_build *b)
{
    const calc_shape *s = b->shape;
    double tokens = routed_tokens(b);
    double choices = s->experts + s->zero_experts;
    calc_operator *o =
        calc_build_matrix(b, "router", CALC_OPERATOR_HEAD, MOE, tokens, s->hidden, choices, 1);
    o->weights += (s->router_bias + s->bias + s->router_scale) * choices +
                  (s->router_scale ? s->hidden : 0) + (s->shared_gate ? s->hidden : 0);
    calc_build_keep(o, b->kept * s->hidden * s->element_bytes, LAYERNORM);
    calc_operator *router = o;
    o = calc_build_vector(b, "routing", MOE, tokens * choices, 8 * tokens * choices,
                          8 * tokens * choices);
    calc_build_keep(o, 12 * tokens * choices, MOE);
    if (s->shared_feedforward > 0) {
        size_t first = b->count;
        add_feedforward(b, s->shared_feedforward, SHARED_EXPERTS | MOE, true);
        for (size_t i = first; i < b->count; i++) {
            b->out[i].shared_expert = true;
            router->adapted = router->adapted || b->out[i].adapted; /* they have the same input */
        }
    }
}

/* Projection of tokens to the width that experts read, or back; all ranks of tensor parallelism
 * have its weights, and each projects its share of the tokens (Megatron-LM, moe_latent_size). */
static void add_latent(calc_build *b, const char *name, const char *const adapter[2],
                       calc_adapter_product product, double inner, double norm)
{
    double columns = product.width;
    if (inner == columns) {
        return;
    }
    double rows = routed_tokens(b);
    calc_operator *o =
        calc_build_matrix(b, name, CALC_OPERATOR_MATRIX, MOE, rows, inner, columns, 1);
    o->weights += norm;
    calc_build_keep(o, rows * inner * b->shape->kept_bytes, MOE);
    calc_adapter_add(b, b->count - 1, adapter, &product, 1);
}

void calc_feedforward_experts(calc_build *b)
{
    const calc_shape *s = b->shape;
    const calc_strategy *x = b->strategy;
    double tokens = routed_tokens(b);
    double capacity = x->capacity_factor > 0 ? x->capacity_factor : 1;
    double routed = s->experts_per_token * tokens * capacity * (1 + x->moe_imbalance) /
                    (replicated(b) ? s->expert_par : 1);
    /* The ranks that split an expert compute the tokens of all of them. */
    double rows = routed * (replicated(b) ? 1 : s->expert_tensor_par);
    double width = s->expert_feedforward / s->expert_tensor_par;
    double local = s->placed_experts / s->expert_par;
    double gates = s->gated ? 2 : 1;
    double e = s->element_bytes;
    double traffic = !x->unfused_experts || x->fused_experts  ? 1
                     : b->chip->expert_activation_traffic > 0 ? b->chip->expert_activation_traffic
                                                              : 2.5;
    /* Room for tokens over those that come: for each pass, and for what is stored of it. */
    double come = capacity * (1 + x->moe_imbalance), passing = 1, stored = 1;
    if (x->rank_capacity_factor > 0) {
        passing = calc_max(1, x->rank_capacity_factor / come);
        stored = x->paged_stash > 0 ? calc_max(1, x->paged_stash / come) : passing;
    }
    b->reached = x->dispatch_type == CALC_DISPATCH_TYPE_NODE_LIMITED
                     ? calc_shape_reached(s, s->expert_par)
                     : 0;
    add_latent(b, "expert latent", CALC_ADAPTER_NAMES("expert latent"),
               (calc_adapter_product){CALC_LORA_MODULES_UP_PROJ, s->expert_latent}, s->hidden, 0);
    add_sort(b, "permute", routed);
    add_exchange(b, "dispatch", routed, x->dispatch_datatype, false);
    add_expert_gather(b, "expert gather", routed, true);
    calc_operator *up = calc_build_matrix(b, "experts up", CALC_OPERATOR_GROUPED, MOE, rows,
                                          s->expert_latent, gates * width, local);
    up->split = CALC_SPLIT_COLUMNS;
    up->expert = true;
    calc_build_bias(b, up, local * gates * width);
    calc_build_keep(up, stored * rows * s->expert_latent * s->kept_bytes, MOE);
    up->moved_by = MOVE_EXPERT_FC1 | MOVE_FUSED;
    const calc_adapter_product products[] = {{CALC_LORA_MODULES_UP_PROJ, width},
                                             {CALC_LORA_MODULES_GATE_PROJ, s->gated ? width : 0},
                                             {CALC_LORA_MODULES_DOWN_PROJ, s->expert_latent}};
    calc_adapter_add_experts(b, b->count - 1, CALC_ADAPTER_NAMES("experts up"), products, 2, true,
                             local);
    calc_operator *o = calc_build_vector(b, "experts activation", MOE | MOE_ACT, rows * width,
                                         (gates + 1) * rows * width * e * traffic,
                                         (2 * gates + 1) * rows * width * e * traffic);
    calc_operator_passes(o->flop, (s->gated ? 6 : 8) * rows * width,
                         (s->gated ? 11 : 13) * rows * width);
    calc_build_keep(o, stored * gates * rows * width * s->activated_bytes, MOE);
    o->moved_by = MOVE_MOE_ACT | MOVE_FUSED;
    calc_operator *activation = o;
    o = calc_build_matrix(b, "experts down", CALC_OPERATOR_GROUPED, MOE, rows, width,
                          s->expert_latent, local);
    o->split = CALC_SPLIT_INNER;
    o->expert = true;
    calc_build_bias(b, o, local * s->expert_latent);
    calc_build_keep(o, stored * rows * width * s->kept_bytes, MOE | MOE_ACT);
    o->moved_by = MOVE_FUSED;
    if (x->fused_experts) {
        fuse_activation(b, up, activation, o);
    }
    calc_adapter_add_experts(b, b->count - 1, CALC_ADAPTER_NAMES("experts down"), &products[2], 1,
                             false, local);
    for (size_t i = (size_t)(up - b->out); i < b->count && x->looped_experts; i++) {
        /* Experts that run one after the other, each in kernels of its own. */
        calc_operator *each = &b->out[i];
        each->loops = calc_max(1, calc_min(local, rows));
        for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
            each->launches[pass] *= each->loops;
        }
    }
    if (passing > stored) {
        /* Activations are packed when the block is done, and unpacked to be as large again when
         * its backward pass comes. */
        double bytes = (s->expert_latent + width) * s->kept_bytes;
        o = calc_build_vector(b, "experts unpacked", 0, 0, 0, 0);
        o->launches[CALC_PASS_FW] = o->launches[CALC_PASS_AGRAD] = 0;
        calc_build_keep(o,
                        (passing - stored) * (rows * (bytes + gates * width * s->activated_bytes)),
                        CALC_RECOMPUTE_HELD);
    }
    add_expert_gather(b, "expert reduction", routed, false);
    add_exchange(b, "combine", routed, x->combine_datatype, true);
    add_sort(b, "unpermute", routed);
    add_way_back(b, routed, passing);
    if (calc_framework_takes(x, CALC_FRAMEWORK_MEM_WIDE_SCORES)) {
        add_scores(b, routed * s->expert_latent);
    }
    add_latent(b, "expert latent up", CALC_ADAPTER_NAMES("expert latent up"),
               (calc_adapter_product){CALC_LORA_MODULES_DOWN_PROJ, s->hidden}, s->expert_latent,
               s->expert_latent_norm ? s->expert_latent : 0);
    if (replicated(b)) {
        calc_build_close_tensor_par(b, "experts reduction", MOE);
    }
}
