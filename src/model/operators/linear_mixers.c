/* Mixers that keep a state of fixed size instead of keys and values: Mamba-1 (Gu and Dao 2023,
 * arXiv 2312.00752) and -2 (Dao and Gu 2024, 2405.21060), gated delta nets (Yang et al. 2024,
 * 2412.06464), Kimi delta attention (2510.26692), lightning attention (2501.08313), short
 * convolutions (LFM2). */
#include "model/operators/transformer.h"

#include "model/operators/adapter.h"

static double width_of(const calc_shape *s)
{
    return s->mixer == CALC_PART_TYPE_MAMBA1 ? s->value_size : s->value_heads * s->value_size;
}

double calc_linear_projection(const calc_shape *s)
{
    double width = width_of(s);
    double keys = s->key_heads * s->key_size;
    switch (s->mixer) {
    case CALC_PART_TYPE_MAMBA1:
        return 2 * width;
    case CALC_PART_TYPE_MAMBA2:
        return 2 * width + 2 * keys + s->value_heads;
    case CALC_PART_TYPE_GATED_DELTA:
        return 2 * keys + 2 * width + 2 * s->value_heads;
    case CALC_PART_TYPE_KIMI_DELTA: /* low ranks of decay and gate */
        return 3 * width + s->value_heads + (s->decay_rank > 0 ? s->decay_rank : width) +
               (s->low_rank > 0 ? s->low_rank : width);
    case CALC_PART_TYPE_LIGHTNING:
        return 4 * width;
    default:
        return 3 * s->hidden;
    }
}

double calc_linear_channels(const calc_shape *s)
{
    double keys = s->key_heads * s->key_size;
    switch (s->mixer) {
    case CALC_PART_TYPE_MAMBA1:
        return s->value_size;
    case CALC_PART_TYPE_MAMBA2:
    case CALC_PART_TYPE_GATED_DELTA:
        return width_of(s) + 2 * keys;
    case CALC_PART_TYPE_KIMI_DELTA:
        return 3 * width_of(s);
    case CALC_PART_TYPE_SHORT_CONV:
        return s->hidden;
    default:
        return 0;
    }
}

double calc_linear_state(const calc_shape *s)
{
    switch (s->mixer) {
    case CALC_PART_TYPE_MAMBA1:
    case CALC_PART_TYPE_MAMBA2:
    case CALC_PART_TYPE_GATED_DELTA:
        return width_of(s) * s->key_size;
    case CALC_PART_TYPE_KIMI_DELTA:
    case CALC_PART_TYPE_LIGHTNING:
        return width_of(s) * s->value_size;
    default:
        return 0;
    }
}

double calc_linear_flop(const calc_shape *s)
{
    double each = s->mixer == CALC_PART_TYPE_MAMBA1      ? 9
                  : s->mixer == CALC_PART_TYPE_MAMBA2    ? 7
                  : s->mixer == CALC_PART_TYPE_LIGHTNING ? 4
                                                         : 8;
    double convolution = 2 * s->conv * calc_linear_channels(s);
    return each * calc_linear_state(s) + convolution;
}

/* ---- Operators ------------------------------------------------------------------------------- */

/* Arithmetic of the kernels per token, forward: of chunks, with the products inside them. */
static double kernel_flop(const calc_shape *s)
{
    double width = width_of(s);
    double chunk = s->scan_chunk;
    double key = s->mixer == CALC_PART_TYPE_KIMI_DELTA ? s->value_size : s->key_size;
    switch (s->mixer) {
    case CALC_PART_TYPE_MAMBA2:
        return 2 * chunk * s->key_size * s->key_heads + 4 * calc_linear_state(s) + chunk * width;
    case CALC_PART_TYPE_GATED_DELTA:
    case CALC_PART_TYPE_KIMI_DELTA:
        return s->value_heads * (6 * key * s->value_size + 6 * chunk * key +
                                 4 * chunk * s->value_size + 2 * chunk * chunk / 3);
    case CALC_PART_TYPE_LIGHTNING:
        return 4 * calc_linear_state(s) + 2 * chunk * width;
    default:
        return 9 * calc_linear_state(s);
    }
}

/* Bytes per token that the recurrence keeps for its backward pass beside its input and its output:
 * queries and keys normalized and repeated to the value heads, values, the inverse of a chunk,
 * decays; decays of a channel are in single precision, twice. */
static double kept_of(const calc_shape *s)
{
    double e = s->element_bytes;
    double width = width_of(s);
    switch (s->mixer) {
    case CALC_PART_TYPE_GATED_DELTA:
        return e * (calc_linear_channels(s) + width +
                    s->value_heads * (2 * s->key_size + s->scan_chunk + 2));
    case CALC_PART_TYPE_KIMI_DELTA:
        return e * (calc_linear_channels(s) + 3 * width + s->value_heads * (s->scan_chunk + 1)) +
               8 * width;
    case CALC_PART_TYPE_MAMBA1:
        return e * (2 * width + s->low_rank + 2 * s->key_size);
    default:
        return 0;
    }
}

/* Kernels of recurrences are bound neither by the memory nor by the matrix engine, but by what all
 * they move costs the vector units: arithmetic per byte, and of a convolution per channel and
 * token. Fitted to kernels of SGLang and TensorRT-LLM, mixers and machines pooled (docs/models.md).
 */
#define RECURRENCE_FLOP_PER_BYTE 67
#define CONVOLUTION_FLOP 200

/* All-to-alls of context parallelism swap sequence for heads, before the convolution and behind the
 * recurrence (Megatron-LM, core/ssm/mamba_context_parallel.py). */
static void add_swap(calc_build *b, const char *name, double width)
{
    if (b->shape->context_par > 1) {
        calc_build_collective(b, name, 0, CALC_IN_CONTEXT,
                              b->tokens * width * b->shape->element_bytes, CALC_OP_ALL_TO_ALL,
                              CALC_OP_ALL_TO_ALL);
    }
}

static void add_recurrence(calc_build *b)
{
    const calc_shape *s = b->shape;
    double ranks = s->tensor_par;
    double e = s->element_bytes;
    double width = width_of(s);
    bool delta = s->mixer == CALC_PART_TYPE_GATED_DELTA || s->mixer == CALC_PART_TYPE_KIMI_DELTA;
    double read = s->mixer == CALC_PART_TYPE_LIGHTNING ? 3 * width : calc_linear_channels(s);
    double backward = delta ? 3 : 2.5; /* it makes states and chunks again */
    bool chunks = s->mixer != CALC_PART_TYPE_MAMBA1;
    /* Read twice and written twice; the states of chunks written and read in single precision, and
     * decays of a channel, twice. */
    double states = (chunks ? 8 * calc_linear_state(s) / s->scan_chunk : 0) +
                    (s->mixer == CALC_PART_TYPE_KIMI_DELTA ? 16 * width : 0);
    calc_operator *o = calc_build_next(b, "recurrence", CALC_OPERATOR_SCAN, 0);
    o->inputs = b->tokens * read / ranks;
    o->outputs = b->tokens * width / ranks;
    o->flop[CALC_PASS_FW] = b->tokens * kernel_flop(s) / ranks;
    o->flop[CALC_PASS_AGRAD] = backward * o->flop[CALC_PASS_FW];
    o->bytes[CALC_PASS_FW] = b->tokens * (2 * e * (read + width) + states) / ranks;
    o->bytes[CALC_PASS_AGRAD] = backward * o->bytes[CALC_PASS_FW];
    o->work[CALC_PASS_FW] =
        chunks ? RECURRENCE_FLOP_PER_BYTE * o->bytes[CALC_PASS_FW] : o->flop[CALC_PASS_FW];
    o->work[CALC_PASS_AGRAD] = backward * o->work[CALC_PASS_FW];
    o->steps[CALC_PASS_FW] = chunks ? s->seq / s->scan_chunk : 0;
    o->steps[CALC_PASS_AGRAD] = backward * o->steps[CALC_PASS_FW];
    o->launches[CALC_PASS_FW] = s->mixer == CALC_PART_TYPE_MAMBA1 ? 1 : 5;
    o->launches[CALC_PASS_AGRAD] = 2 * o->launches[CALC_PASS_FW];
    o->weights = (s->mixer == CALC_PART_TYPE_MAMBA2        ? 3 * s->value_heads
                  : s->mixer == CALC_PART_TYPE_GATED_DELTA ? 2 * s->value_heads
                  : s->mixer == CALC_PART_TYPE_KIMI_DELTA  ? s->value_heads + width
                  : s->mixer == CALC_PART_TYPE_MAMBA1      ? width * (s->key_size + 2)
                                                           : 0) /
                 ranks;
    calc_build_keep(o, b->tokens * kept_of(s) / ranks, CALC_RECOMPUTE_ALL);
}

/* The convolution reads what the projection wrote, which is kept. */
static void add_convolution(calc_build *b, double columns)
{
    const calc_shape *s = b->shape;
    double elements = b->tokens * calc_linear_channels(s) / s->tensor_par;
    double e = s->element_bytes;
    bool gates = s->mixer == CALC_PART_TYPE_SHORT_CONV; /* before and behind it */
    calc_operator *o =
        calc_build_vector(b, "causal convolution", 0, elements, (gates ? 4 : 2) * elements * e,
                          (gates ? 7 : 3) * elements * e);
    o->kind = CALC_OPERATOR_SCAN;
    calc_operator_passes(o->flop, 2 * s->conv * elements, 4 * s->conv * elements);
    o->work[CALC_PASS_FW] = s->conv > 0 ? CONVOLUTION_FLOP * elements : 0;
    o->work[CALC_PASS_AGRAD] = 2 * o->work[CALC_PASS_FW];
    o->weights =
        (s->conv + (s->mixer == CALC_PART_TYPE_MAMBA1 || s->mixer == CALC_PART_TYPE_MAMBA2)) *
        calc_linear_channels(s) / s->tensor_par;
    o->launches[CALC_PASS_FW] = o->launches[CALC_PASS_AGRAD] = s->conv > 0 ? 1 : 0;
    calc_build_keep(o, b->tokens * columns * e, CALC_RECOMPUTE_ALL);
}

/* Step size, B and C of Mamba-1 follow from all channels: partial sums of the ranks are added up.
 */
static void add_steps(calc_build *b)
{
    const calc_shape *s = b->shape;
    double channels = s->value_size / s->tensor_par;
    double width = s->low_rank + 2 * s->key_size;
    calc_operator *o = calc_build_matrix(b, "step projection", CALC_OPERATOR_MATRIX, 0, b->tokens,
                                         channels, width, 1);
    o->split = CALC_SPLIT_INNER;
    o->weights += s->linear_norm ? width : 0;
    if (s->tensor_par > 1) {
        calc_build_collective(b, "step reduction", 0, CALC_IN_TENSOR,
                              b->tokens * width * s->element_bytes, CALC_OP_ALL_REDUCE,
                              CALC_OP_ALL_REDUCE);
    }
    o = calc_build_matrix(b, "step size", CALC_OPERATOR_MATRIX, 0, b->tokens, s->low_rank, channels,
                          1);
    o->split = CALC_SPLIT_COLUMNS;
}

/* Decay and gate of Kimi delta attention, from their low ranks. */
static void add_low_ranks(calc_build *b)
{
    const calc_shape *s = b->shape;
    double width = width_of(s) / s->tensor_par;
    const double rank[] = {s->decay_rank, s->low_rank};
    static const char *const names[] = {"decay projection", "gate projection"};
    for (int i = 0; i < 2; i++) {
        if (rank[i] > 0) {
            calc_operator *o = calc_build_matrix(b, names[i], CALC_OPERATOR_MATRIX, 0, b->tokens,
                                                 rank[i], width, 1);
            o->split = CALC_SPLIT_COLUMNS;
        }
    }
}

/* Beside the projection of the input: of queries, keys, values and gate, as far as there are any;
 * not of step sizes, decays and the B and C of Mamba. */
static void adapt(calc_build *b)
{
    const calc_shape *s = b->shape;
    bool plain = s->mixer == CALC_PART_TYPE_SHORT_CONV;
    bool mamba = s->mixer == CALC_PART_TYPE_MAMBA1 || s->mixer == CALC_PART_TYPE_MAMBA2;
    bool kimi = s->mixer == CALC_PART_TYPE_KIMI_DELTA; /* its gate has a low rank */
    double width = (plain ? s->hidden : width_of(s)) / s->tensor_par;
    double keys = s->mixer == CALC_PART_TYPE_GATED_DELTA
                      ? s->key_heads * s->key_size / s->tensor_par
                  : mamba ? 0
                          : width;
    const calc_adapter_product products[] = {
        {CALC_LORA_MODULES_IN_PROJ, keys},
        {CALC_LORA_MODULES_IN_PROJ, keys},
        {CALC_LORA_MODULES_IN_PROJ, width},
        {CALC_LORA_MODULES_IN_PROJ, plain || kimi ? 0 : width}};
    calc_adapter_add(b, b->count - 1, CALC_ADAPTER_NAMES("mixer projection"), products, 4);
}

void calc_linear_mixer(calc_build *b)
{
    const calc_shape *s = b->shape;
    bool plain = s->mixer == CALC_PART_TYPE_SHORT_CONV;
    double e = s->element_bytes;
    double width = (plain ? s->hidden : width_of(s)) / s->tensor_par;
    double whole = s->mixer == CALC_PART_TYPE_KIMI_DELTA ? s->decay_rank + s->low_rank : 0;
    double columns = (calc_linear_projection(s) - whole) / s->tensor_par + whole;
    calc_operator *gather = calc_build_open_tensor_par(b, "mixer gather", 0, s->hidden);
    calc_operator *o = calc_build_matrix(b, "mixer projection", CALC_OPERATOR_MATRIX, 0, b->tokens,
                                         s->hidden, columns, 1);
    o->split = CALC_SPLIT_COLUMNS;
    calc_build_narrow_gather(b, gather, o, CALC_PASS_FW);
    calc_build_pass_open(b, o, b->tokens * columns);
    calc_build_keep_input(b, o, s->hidden);
    adapt(b);
    if (s->mixer == CALC_PART_TYPE_KIMI_DELTA) {
        add_low_ranks(b);
    }
    add_swap(b, "mixer all-to-all", columns);
    add_convolution(b, columns);
    if (s->mixer == CALC_PART_TYPE_MAMBA1) {
        add_steps(b);
    }
    if (!plain) {
        add_recurrence(b);
        /* With the gate; it keeps the recurrence's output, and Mamba's the gated one, too. */
        bool twice = s->mixer == CALC_PART_TYPE_MAMBA2 && s->linear_norm;
        double elements = b->tokens * width;
        o = calc_build_vector(b, "mixer norm", 0, elements, 3 * elements * e, 5 * elements * e);
        calc_operator_passes(o->flop, 8 * elements, 16 * elements);
        o->weights = !s->linear_norm || s->mixer == CALC_PART_TYPE_MAMBA1 ? 0
                     : s->mixer == CALC_PART_TYPE_MAMBA2 || s->mixer == CALC_PART_TYPE_LIGHTNING
                         ? width
                         : s->value_size;
        calc_build_keep(o, (twice ? 2 : 1) * elements * e, CALC_RECOMPUTE_ALL);
    }
    add_swap(b, "mixer all-to-all back", width);
    o = calc_build_matrix(b, "mixer output", CALC_OPERATOR_MATRIX, 0, b->tokens, width, s->hidden,
                          1);
    o->split = CALC_SPLIT_INNER;
    calc_build_pass_close(b, o, b->tokens * width);
    calc_build_keep(o, b->tokens * width * s->kept_bytes, CALC_RECOMPUTE_ALL);
    size_t at = b->count - 1;
    calc_operator *reduction = calc_build_close_tensor_par(b, "mixer reduction", 0);
    calc_build_narrow_gather(b, reduction, o, CALC_PASS_AGRAD);
    calc_adapter_add(b, at, CALC_ADAPTER_NAMES("mixer output"),
                     &(calc_adapter_product){CALC_LORA_MODULES_OUT_PROJ, s->hidden}, 1);
}
