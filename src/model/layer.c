#include "model/layer.h"

double calc_datatype_bytes(calc_datatype datatype)
{
    switch (datatype) {
    case CALC_DATATYPE_FLOAT8:
        return 1;
    case CALC_DATATYPE_FLOAT32:
        return 4;
    default:
        return 2;
    }
}

/* A layer from its counts of elements; the usual traffic follows from them: forward reads inputs
 * and weights and writes outputs, each backward pass reads or writes weights, activations and
 * gradients. Constructors that differ say so after. */
static void fill(calc_layer *out, const calc_layer_shape *shape, const char *name, unsigned flags,
                 double inputs, double outputs, double weights, double activations,
                 double gradients)
{
    double size = shape->element_bytes;
    *out = (calc_layer){
        .name = name,
        .flags = flags,
        .inputs = inputs,
        .outputs = outputs,
        .weights = weights,
        .weight_bytes = weights * size,
        .activation_bytes = activations * size,
        .activation_grad_bytes = gradients * size,
        .output_bytes = outputs * size,
        .bytes = {[CALC_STAGE_FW] = (inputs + outputs + weights) * size,
                  [CALC_STAGE_AGRAD] = (weights + (activations + gradients)) * size,
                  [CALC_STAGE_WGRAD] =
                      weights == 0 ? 0 : (weights + (activations + gradients)) * size},
    };
}

static void set_flop(calc_layer *out, double fw, double agrad, double wgrad)
{
    out->flop[CALC_STAGE_FW] = fw;
    out->flop[CALC_STAGE_AGRAD] = agrad;
    out->flop[CALC_STAGE_WGRAD] = wgrad;
}

void calc_layer_linear(calc_layer *out, const calc_layer_shape *shape, const char *name,
                       unsigned flags, double rows, double inner, double columns)
{
    fill(out, shape, name, flags, rows * inner, rows * columns, inner * columns, rows * inner,
         rows * columns);
    double flop = 2 * rows * inner * columns;
    set_flop(out, flop, flop, flop);
    out->matrix = true;
}

void calc_layer_linear_overlapped(calc_layer *out, const calc_layer_shape *shape, const char *name,
                                  unsigned flags, bool conjugate, double rows, double inner,
                                  double columns)
{
    double tiles = shape->ranks;
    double activations;
    double gradients;
    if (conjugate) {
        inner /= shape->ranks;
    } else {
        columns /= shape->ranks;
    }
    double inputs = rows * inner;
    double outputs = rows * columns;
    /* A conjugate layer also buffers the gradients it receives. */
    if (shape->type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG) {
        /* The gathered side exists one tile at a time. */
        activations = conjugate ? inputs : inputs / tiles;
        gradients = conjugate ? 2 * (outputs / tiles) : outputs;
    } else {
        activations = conjugate ? 0 : inputs;
        gradients = conjugate ? 2 * outputs : 0;
    }
    fill(out, shape, name, flags, inputs, outputs, inner * columns, activations, gradients);
    double flop = 2 * rows * inner * columns;
    set_flop(out, flop, flop, flop);
    out->matrix = true;
    out->comm = CALC_LAYER_COMM_OVERLAPPED;
    out->conjugate = conjugate;
    out->comm_bytes = (conjugate ? outputs : inputs) * shape->element_bytes;
}

void calc_layer_batch_matmul(calc_layer *out, const calc_layer_shape *shape, const char *name,
                             unsigned flags, double batch, double rows, double inner,
                             double columns)
{
    double inputs = batch * (rows * inner + inner * columns);
    double outputs = batch * rows * columns;
    fill(out, shape, name, flags, inputs, outputs, 0, inputs, outputs);
    double flop = batch * 2 * rows * inner * columns;
    /* Both operands are activations, so both gradients count as activation gradients. */
    set_flop(out, flop, 2 * flop, 0);
    out->matrix = true;
}

void calc_layer_norm(calc_layer *out, const calc_layer_shape *shape, const char *name,
                     unsigned flags, double elements, double hidden)
{
    fill(out, shape, name, flags, elements, elements, 2 * hidden, elements, elements);
    set_flop(out, 9 * elements, 14 * elements, 7 * elements);
}

void calc_layer_dropout(calc_layer *out, const calc_layer_shape *shape, const char *name,
                        unsigned flags, double elements)
{
    fill(out, shape, name, flags, elements, elements, 0, elements, elements);
    set_flop(out, elements, elements, 0);
    double mask_bytes = elements;
    out->bytes[CALC_STAGE_FW] += mask_bytes;
    out->bytes[CALC_STAGE_AGRAD] = out->bytes[CALC_STAGE_FW];
    out->activation_bytes = mask_bytes;
    out->activation_grad_bytes = mask_bytes;
}

void calc_layer_gelu(calc_layer *out, const calc_layer_shape *shape, const char *name,
                     unsigned flags, double elements, bool fused)
{
    double kept = fused ? 0 : elements;
    fill(out, shape, name, flags, elements, elements, 0, kept, kept);
    set_flop(out, 8 * elements, 13 * elements, 0);
    out->bytes[CALC_STAGE_AGRAD] = out->bytes[CALC_STAGE_FW];
}

void calc_layer_softmax(calc_layer *out, const calc_layer_shape *shape, const char *name,
                        unsigned flags, double elements)
{
    fill(out, shape, name, flags, elements, elements, 0, elements, elements);
    set_flop(out, 5 * elements, 8 * elements, 0);
}

void calc_layer_residual(calc_layer *out, const calc_layer_shape *shape, const char *name,
                         unsigned flags, double elements)
{
    fill(out, shape, name, flags, 2 * elements, elements, 0, 2 * elements, elements);
    set_flop(out, elements, 2 * elements, 0);
}

void calc_layer_fork(calc_layer *out, const calc_layer_shape *shape, const char *name,
                     unsigned flags, double elements, double users)
{
    /* The gradients it sums are counted by the layers that make them. */
    fill(out, shape, name, flags, elements, 0, 0, elements, 0);
    set_flop(out, 0, users * elements, 0);
    out->bytes[CALC_STAGE_FW] = 0;
    out->bytes[CALC_STAGE_AGRAD] = elements * shape->element_bytes * (users + 1);
}

void calc_layer_tensor_par_comm(calc_layer *out, const calc_layer_shape *shape, const char *name,
                                unsigned flags, bool conjugate, double elements)
{
    bool alone = shape->ranks == 1;
    bool scattered = shape->type == CALC_TENSOR_PAR_COMM_TYPE_RS_AG;
    double moved = alone ? 0 : elements;
    fill(out, shape, name, flags, moved, moved, 0, moved, moved);
    /* Each rank adds up the shares of the others. */
    double reduction_flop = alone ? 0 : elements * (shape->ranks - 1) / shape->ranks;
    set_flop(out, conjugate ? reduction_flop : 0, conjugate ? 0 : reduction_flop, 0);
    out->comm = CALC_LAYER_COMM_ALONE;
    out->conjugate = conjugate;
    out->comm_bytes = elements * shape->element_bytes;
    if (scattered) {
        out->activation_bytes /= shape->ranks;
        out->activation_grad_bytes = out->activation_bytes;
    } else if (conjugate) {
        out->bytes[CALC_STAGE_AGRAD] = 0; /* identity in backward */
        out->activation_grad_bytes = 0;
    } else {
        out->bytes[CALC_STAGE_FW] = 0; /* identity in forward */
        out->activation_bytes = 0;
    }
}
