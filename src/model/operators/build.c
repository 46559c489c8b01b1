#include "model/operators/build.h"

#include <assert.h>

calc_build calc_build_start(const calc_recipe *recipe, calc_operator *out)
{
    const calc_shape *shape = recipe->shape;
    const calc_chip *chip = recipe->chip;
    const calc_strategy *strategy = recipe->strategy;
    bool sequence_par = strategy->tensor_par_comm_type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    double eager = chip && chip->eager_traffic > 0 ? chip->eager_traffic : 2;
    return (calc_build){
        .shape = shape,
        .chip = chip,
        .strategy = strategy,
        .context_inner = recipe->context_inner,
        .out = out,
        .tokens = shape->tokens,
        .kept = sequence_par ? shape->tokens / shape->tensor_par : shape->tokens,
        .sequence_par = sequence_par,
        .adds = recipe->adds,
        .training = recipe->training,
        .traffic = strategy->eager ? eager : 1,
    };
}

calc_operator *calc_build_next(calc_build *b, const char *name, calc_operator_kind kind,
                               unsigned repeated_by)
{
    assert(b->count < CALC_MAX_OPERATORS);
    calc_operator *o = &b->out[b->count++];
    *o = (calc_operator){
        .name = name, .kind = kind, .repeated_by = repeated_by | CALC_RECOMPUTE_BLOCK};
    return o;
}

void calc_build_keep(calc_operator *o, double bytes, unsigned dropped_by)
{
    o->kept_bytes += bytes;
    o->dropped_bytes += bytes;
    o->working_bytes += bytes;
    o->dropped_by = dropped_by | CALC_RECOMPUTE_BLOCK;
}

void calc_build_pass(const calc_build *b, calc_operator *o, double elements)
{
    o->passing_bytes = (b->kept * b->shape->hidden + elements) * b->shape->element_bytes;
}

/* Elements of the residual stream that are gathered from the tensor-parallel ranks. */
static double gathered(const calc_build *b)
{
    bool gathers = b->sequence_par && b->shape->tensor_par > 1;
    return gathers ? b->tokens * b->shape->hidden : 0;
}

void calc_build_pass_open(const calc_build *b, calc_operator *o, double elements)
{
    double again = b->strategy->seq_par_ag_redo ? gathered(b) : 0;
    calc_build_pass(b, o, elements + b->tokens * b->shape->hidden + again);
}

void calc_build_pass_close(const calc_build *b, calc_operator *o, double elements)
{
    calc_build_pass(b, o, elements + gathered(b));
}

/* ---- Kernels --------------------------------------------------------------------------------- */

calc_operator *calc_build_vector(calc_build *b, const char *name, unsigned repeated_by,
                                 double elements, double fw_bytes, double bw_bytes)
{
    calc_operator *o = calc_build_next(b, name, CALC_OPERATOR_VECTOR, repeated_by);
    o->inputs = elements;
    o->outputs = elements;
    calc_operator_passes(o->bytes, fw_bytes * b->traffic, bw_bytes * b->traffic);
    calc_operator_passes(o->launches, 1, 1);
    return o;
}

calc_operator *calc_build_matrix(calc_build *b, const char *name, calc_operator_kind kind,
                                 unsigned repeated_by, double rows, double inner, double columns,
                                 double copies)
{
    const calc_shape *s = b->shape;
    bool narrow = kind != CALC_OPERATOR_HEAD && s->matrix_bytes < s->element_bytes;
    double e = s->element_bytes;
    double m = narrow ? s->matrix_bytes : e;
    double q = narrow && b->chip ? b->chip->quantize_bytes : 0;
    double weights = inner * columns * copies;
    double grad_bytes = 2 * s->grad_bytes;
    calc_operator *o = calc_build_next(b, name, kind, repeated_by);
    if (kind == CALC_OPERATOR_GROUPED && b->chip && b->chip->grouped.wgrad_bytes > 0) {
        grad_bytes = b->chip->grouped.wgrad_bytes;
    }
    o->inputs = rows * inner;
    o->outputs = rows * columns;
    o->weights = o->read_weights = weights;
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        o->flop[pass] = 2 * rows * inner * columns;
        o->launches[pass] = 1;
    }
    o->converted_bytes = q * rows * inner;
    calc_operator_passes(o->bytes,
                         m * (rows * inner + weights) + e * rows * columns + o->converted_bytes,
                         m * (rows * columns + weights) + e * rows * inner + q * rows * columns);
    o->bytes[CALC_PASS_WGRAD] = m * (rows * inner + rows * columns) + grad_bytes * weights;
    if (kind == CALC_OPERATOR_MATRIX) {
        calc_build_products(b, o, b->products, 1, &columns);
    }
    return o;
}

void calc_build_products(calc_build *b, calc_operator *o, int first, int count, const double *width)
{
    double all = 0;
    double saved = 0;
    for (int i = 0; i < count; i++) {
        all += width[i];
        saved += (first + i) % 2 == 0 ? width[i] : 0;
    }
    b->products += count - o->products;
    o->products = count;
    o->saved_share = all > 0 ? saved / all : 0;
    o->saved_bytes = o->saved_share * o->outputs * b->shape->element_bytes;
}

/* ---- Collectives ----------------------------------------------------------------------------- */

calc_operator *calc_build_collective(calc_build *b, const char *name, unsigned repeated_by,
                                     calc_operator_group group, double bytes, calc_collective_op fw,
                                     calc_collective_op bw)
{
    calc_operator *o = calc_build_next(b, name, CALC_OPERATOR_COLLECTIVE, repeated_by);
    o->group = group;
    o->message_bytes = bytes;
    o->op[CALC_PASS_FW] = fw;
    o->op[CALC_PASS_AGRAD] = bw;
    for (calc_pass pass = CALC_PASS_FW; pass < CALC_PASS_COUNT; pass++) {
        o->times[pass] = 1;
    }
    if (fw == CALC_OP_REDUCE_SCATTER || fw == CALC_OP_ALL_TO_ALL) {
        o->saved_share = 1;
        o->saved_bytes = bytes;
    }
    return o;
}

/* Arithmetic of a reduction: each rank adds up its share of the others' data. */
static void add_up(const calc_build *b, calc_operator *o, calc_pass pass)
{
    double ranks = b->shape->tensor_par;
    o->flop[pass] = b->adds ? o->message_bytes / b->shape->element_bytes * (ranks - 1) / ranks : 0;
}

/* Whether a gathered input is kept: neither is it gathered again, nor exists it a tile at a time.
 */
static bool keeps_gathered(const calc_build *b)
{
    return !b->strategy->seq_par_ag_redo && !calc_operator_streamed(b->strategy);
}

calc_operator *calc_build_open_tensor_par(calc_build *b, const char *name, unsigned repeated_by,
                                          double width)
{
    double bytes = b->tokens * width * b->shape->element_bytes;
    if (b->shape->tensor_par <= 1) {
        return NULL;
    }
    calc_operator *o =
        calc_build_collective(b, name, repeated_by, CALC_IN_TENSOR, bytes,
                              b->sequence_par ? CALC_OP_ALL_GATHER : CALC_OP_NONE,
                              b->sequence_par ? CALC_OP_REDUCE_SCATTER : CALC_OP_ALL_REDUCE);
    if (b->sequence_par && !keeps_gathered(b)) {
        o->op[CALC_PASS_WGRAD] = CALC_OP_ALL_GATHER;
    }
    o->beside = 1;
    add_up(b, o, CALC_PASS_AGRAD);
    return o;
}

calc_operator *calc_build_close_tensor_par(calc_build *b, const char *name, unsigned repeated_by)
{
    double bytes = b->tokens * b->shape->hidden * b->shape->element_bytes;
    if (b->shape->tensor_par <= 1) {
        return NULL;
    }
    calc_operator *o =
        calc_build_collective(b, name, repeated_by, CALC_IN_TENSOR, bytes,
                              b->sequence_par ? CALC_OP_REDUCE_SCATTER : CALC_OP_ALL_REDUCE,
                              b->sequence_par ? CALC_OP_ALL_GATHER : CALC_OP_NONE);
    o->saved_bytes /= b->shape->tensor_par;
    o->beside = -1;
    add_up(b, o, CALC_PASS_FW);
    return o;
}

void calc_build_narrow_gather(const calc_build *b, calc_operator *gather, calc_operator *matrix,
                              calc_pass pass)
{
    const calc_shape *s = b->shape;
    if (!gather || !b->sequence_par || s->matrix_bytes >= s->element_bytes) {
        return;
    }
    double elements = pass == CALC_PASS_FW ? matrix->inputs : matrix->outputs;
    double saved = 1 - s->matrix_bytes / s->element_bytes;
    gather->narrowed[pass] = saved;
    if (pass == CALC_PASS_FW) {
        gather->narrowed[CALC_PASS_WGRAD] = saved; /* the same input, gathered again */
    }
    if (b->chip) {
        double less_bytes = b->chip->quantize_bytes / 2 * elements * (1 - 1 / s->tensor_par);
        matrix->bytes[pass] -= less_bytes;
        matrix->converted_bytes -= pass == CALC_PASS_FW ? less_bytes : 0;
    }
}

void calc_build_keep_input(const calc_build *b, calc_operator *o, double width)
{
    bool gathered = b->sequence_par && b->shape->tensor_par > 1 && keeps_gathered(b);
    double tokens = gathered ? b->tokens : b->kept;
    /* Recomputing the norm alone does not restore its gathered output. */
    calc_build_keep(o, tokens * width * b->shape->kept_bytes,
                    gathered ? CALC_RECOMPUTE_ALL : 1U << CALC_RECOMPUTE_MODULES_LAYERNORM);
}

void calc_build_bias(const calc_build *b, calc_operator *o, double width)
{
    o->weights += b->shape->bias ? width : 0;
}
