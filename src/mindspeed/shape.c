#include "mindspeed/shape.h"

#include <stdlib.h>
#include <string.h>

enum { TENSORS = 16, DIMENSIONS = 8, BRIEF = 4 };

/* ---- Types ----------------------------------------------------------------------------------- */

static const char *const names[CALC_MINDSPEED_TYPES] = {"MatMul",
                                                        "RmsNorm",
                                                        "RmsNormGrad",
                                                        "LayerNorm",
                                                        "LayerNormGrad",
                                                        "FlashAttentionScore",
                                                        "FlashAttentionScoreGrad"};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Names can end with a version, and the two kernels of a LayerNorm's gradient contain Backprop. */
calc_mindspeed_type calc_mindspeed_shape_type(const char *name)
{
    bool gradient = strstr(name, "Grad") || strstr(name, "Back");
    if (begins(name, "MatMul") || begins(name, "BatchMatMul")) {
        return CALC_MINDSPEED_MATMUL;
    }
    if (begins(name, "RmsNorm")) {
        return gradient ? CALC_MINDSPEED_RMS_NORM_GRAD : CALC_MINDSPEED_RMS_NORM;
    }
    if (begins(name, "LayerNorm")) {
        return gradient ? CALC_MINDSPEED_LAYER_NORM_GRAD : CALC_MINDSPEED_LAYER_NORM;
    }
    if (begins(name, "FlashAttentionScore")) {
        return gradient ? CALC_MINDSPEED_FLASH_GRAD : CALC_MINDSPEED_FLASH;
    }
    return CALC_MINDSPEED_TYPES;
}

const char *calc_mindspeed_shape_type_name(calc_mindspeed_type type)
{
    return names[type];
}

calc_mindspeed_type calc_mindspeed_shape_gradient(calc_mindspeed_type type)
{
    switch (type) {
    case CALC_MINDSPEED_RMS_NORM:
        return CALC_MINDSPEED_RMS_NORM_GRAD;
    case CALC_MINDSPEED_LAYER_NORM:
        return CALC_MINDSPEED_LAYER_NORM_GRAD;
    case CALC_MINDSPEED_FLASH:
        return CALC_MINDSPEED_FLASH_GRAD;
    default:
        return CALC_MINDSPEED_TYPES;
    }
}

/* ---- Texts ----------------------------------------------------------------------------------- */

typedef struct tensor {
    int count;
    double size[DIMENSIONS];
} tensor;

/* Skips a size. @return whether there is one */
static bool read_size(const char **at, tensor *t)
{
    double size = 0;
    const char *from = *at;
    while (**at >= '0' && **at <= '9' && size < 1e12) {
        size = size * 10 + (**at - '0');
        (*at)++;
    }
    if (*at == from || size < 1 || size >= 1e12 || t->count == DIMENSIONS) {
        return false;
    }
    t->size[t->count++] = size;
    return true;
}

/* A scalar's text is empty. @return whether these are tensors */
static bool read_tensors(const char *at, tensor out[TENSORS], int *count)
{
    *count = 0;
    at += strspn(at, "\" ");
    while (*at && *count < TENSORS) {
        tensor *t = &out[(*count)++];
        t->count = 0;
        while (!strchr(";\" ", *at)) { /* the text also ends here */
            if (!read_size(&at, t)) {
                return false;
            }
            at += *at == ',';
        }
        at += strspn(at, "\" ");
        if (*at && *at != ';') {
            return false;
        }
        at += *at == ';';
    }
    return true;
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static double batch_of(const tensor *t)
{
    double batch = 1;
    for (int i = 0; i < t->count - 2; i++) {
        batch *= t->size[i];
    }
    return batch;
}

/* Whether matrices are rows x columns or transposed. There are as many as the batch, or one for
 * all. */
static bool is_matrix(const tensor *t, double rows, double columns, double batch)
{
    const double *last = t->size + t->count - 2;
    return ((last[0] == rows && last[1] == columns) || (last[1] == rows && last[0] == columns)) &&
           (batch_of(t) == batch || t->count == 2);
}

static calc_mindspeed_shape_kind multiplication(const tensor *in, int ins, const tensor *out,
                                                int outs, calc_mindspeed_shape *shape)
{
    if (ins < 2 || outs < 1 || in[0].count < 2 || in[1].count < 2 || out[0].count < 2) {
        return CALC_MINDSPEED_SHAPE_OTHER;
    }
    const double *last = out[0].size + out[0].count - 2;
    double m = last[0], n = last[1], batch = batch_of(&out[0]);
    for (int side = 1; side >= 0; side--) {
        double k = in[0].size[in[0].count - 2 + side];
        if (is_matrix(&in[0], m, k, batch) && is_matrix(&in[1], k, n, batch)) {
            memcpy(shape->size, (double[]){batch, m, k, n}, sizeof shape->size);
            return CALC_MINDSPEED_SHAPE_GOOD;
        }
    }
    return CALC_MINDSPEED_SHAPE_OTHER;
}

static bool equal(const tensor *a, const tensor *b)
{
    bool alike = a->count == b->count;
    for (int i = 0; i < a->count && alike; i++) {
        alike = a->size[i] == b->size[i];
    }
    return alike;
}

static calc_mindspeed_shape_kind input(const tensor *in, int ins, calc_mindspeed_shape *shape)
{
    bool attention =
        shape->type == CALC_MINDSPEED_FLASH || shape->type == CALC_MINDSPEED_FLASH_GRAD;
    if (ins < (attention ? 3 : 1) || in[0].count != 3 ||
        (attention && !(equal(&in[0], &in[1]) && equal(&in[0], &in[2])))) {
        return CALC_MINDSPEED_SHAPE_OTHER;
    }
    memcpy(shape->size, in[0].size, 3 * sizeof *shape->size);
    shape->size[3] = 1;
    return CALC_MINDSPEED_SHAPE_GOOD;
}

calc_mindspeed_shape_kind calc_mindspeed_shape_read(calc_mindspeed_type type, const char *inputs,
                                                    const char *outputs, calc_mindspeed_shape *out)
{
    tensor in[TENSORS], made[TENSORS];
    int ins, outs;
    *out = (calc_mindspeed_shape){.type = type};
    if (strlen(inputs) <= BRIEF) {
        return CALC_MINDSPEED_SHAPE_OTHER;
    }
    if (!read_tensors(inputs, in, &ins)) {
        return CALC_MINDSPEED_SHAPE_WRONG;
    }
    if (type != CALC_MINDSPEED_MATMUL) {
        return input(in, ins, out);
    }
    if (!read_tensors(outputs, made, &outs)) {
        return CALC_MINDSPEED_SHAPE_WRONG;
    }
    return multiplication(in, ins, made, outs, out);
}

bool calc_mindspeed_shape_equal(const calc_mindspeed_shape *a, const calc_mindspeed_shape *b)
{
    bool equal = a->type == b->type;
    for (int i = 0; i < CALC_MINDSPEED_SIZES; i++) {
        equal = equal && a->size[i] == b->size[i];
    }
    return equal;
}
