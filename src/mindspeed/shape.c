#include "mindspeed/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/csv_table.h"
#include "io/utf8.h"

enum { TENSORS = 16, DIMENSIONS = 8, BRIEF = 4 };

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

/* The gradient's type of a norm or attention; CALC_MINDSPEED_TYPES if gradients have the same
 * type. */
static calc_mindspeed_type mindspeed_shape_gradient(calc_mindspeed_type type)
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

/* The first members of a row: columns Type, Input Shapes and Output Shapes, and their meaning. */
typedef struct calc_mindspeed_shape_cells {
    const char *type, *inputs, *outputs;
    calc_mindspeed_shape shape; /* a modelled type, or CALC_MINDSPEED_TYPES */
    calc_mindspeed_shape_kind kind;
} calc_mindspeed_shape_cells;

static calc_status finish(void *context, void *row, const calc_csv_row *from, calc_errors *errors)
{
    calc_mindspeed_shape_cells *c = row;
    calc_mindspeed_shape ignored;
    char shown[CALC_UTF8_SHOW_SIZE];
    (void)context;
    calc_mindspeed_type type = c->shape.type = calc_mindspeed_shape_type(c->type);
    c->kind = type == CALC_MINDSPEED_TYPES
                  ? CALC_MINDSPEED_SHAPE_OTHER
                  : calc_mindspeed_shape_read(type, c->inputs, c->outputs, &c->shape);
    if (c->kind != CALC_MINDSPEED_SHAPE_WRONG) {
        return CALC_OK;
    }
    /* Attention needs its inputs only. */
    bool input = calc_mindspeed_shape_read(CALC_MINDSPEED_FLASH, c->inputs, "", &ignored) ==
                 CALC_MINDSPEED_SHAPE_WRONG;
    const char *cell = input ? c->inputs : c->outputs;
    return calc_errors_at(errors, CALC_ERR_TYPE, from->reader->name, from->line,
                          calc_csv_read_column(from->reader, cell),
                          "sizes stand between commas, tensors between semicolons",
                          "%s: expected shapes like 4096,4096;11008,4096, found \"%s\"",
                          input ? "Input Shapes" : "Output Shapes",
                          calc_utf8_show(shown, cell, strlen(cell)));
}

/* Reads a file whose rows begin with these cells, and allocates room for the results.
 * @param most  results per row
 * @return CALC_OK; CALC_ERR_TYPE with an error at a cell that has no shapes; CALC_ERR_NOMEM; or
 * the status of calc_csv_table_read(). *item is NULL unless CALC_OK; the caller frees it, and
 * *rows in any case. */
static calc_status mindspeed_shape_cells_read(calc_csv_rows *rows, calc_csv_table *table,
                                              const char *path, calc_mindspeed_timed **item,
                                              size_t most, calc_errors *errors)
{
    table->finish = finish;
    *item = NULL;
    calc_status status = calc_csv_table_read(rows, table, path, errors);
    if (status == CALC_OK) {
        *item = malloc((most * rows->count + 1) * sizeof **item);
        status = *item ? CALC_OK : calc_errors_no_memory(errors);
    }
    return status;
}

typedef struct details_row {
    calc_mindspeed_shape_cells cells;
    double us;
} details_row;

static const calc_csv_column columns[] = {
    {"Type", "OP Type", CALC_CSV_MEMBER(details_row, cells.type)},
    {"Input Shapes", NULL, CALC_CSV_MEMBER(details_row, cells.inputs)},
    {"Output Shapes", NULL, CALC_CSV_MEMBER(details_row, cells.outputs)},
    {"Duration(us)", "Task Duration(us)", CALC_CSV_MEMBER(details_row, us), .lo = 0,
     .hi = HUGE_VAL},
};

/* Reads one row, or the two rows of a LayerNorm's gradient. @return number of rows read */
static size_t take(calc_mindspeed_kernels *out, const details_row *row, size_t left)
{
    double us = row->us;
    size_t taken = 1;
    if (row->cells.shape.type == CALC_MINDSPEED_TYPES) {
        out->others++;
        return 1;
    }
    if (row->cells.shape.type == CALC_MINDSPEED_LAYER_NORM_GRAD) {
        if (left < 2 || row[1].cells.shape.type != row->cells.shape.type) {
            out->odd++;
            return 1;
        }
        us += row[1].us;
        taken = 2;
    }
    if (row->cells.kind != CALC_MINDSPEED_SHAPE_GOOD) {
        out->odd += taken;
    } else if (us < CALC_MINDSPEED_KERNEL_LEAST_US) {
        out->brief += taken;
    } else {
        out->item[out->count++] = (calc_mindspeed_timed){row->cells.shape, us * 1e-6};
    }
    return taken;
}

calc_status calc_mindspeed_kernels_read(calc_mindspeed_kernels *out, const char *path,
                                        calc_errors *errors)
{
    calc_csv_table table = CALC_CSV_TABLE(columns, details_row,
                                          "kernel_details.csv of a profile has Type, Input Shapes, "
                                          "Output Shapes and Duration(us)");
    calc_csv_rows rows;
    *out = (calc_mindspeed_kernels){0};
    calc_status status = mindspeed_shape_cells_read(&rows, &table, path, &out->item, 1, errors);
    const details_row *row = rows.item;
    for (size_t i = 0; i < rows.count && out->item;) {
        i += take(out, row + i, rows.count - i);
    }
    calc_csv_rows_free(&rows);
    return status;
}

void calc_mindspeed_kernels_free(calc_mindspeed_kernels *kernels)
{
    free(kernels->item);
    *kernels = (calc_mindspeed_kernels){0};
}

typedef struct timed_row {
    calc_mindspeed_shape_cells cells;
    double fw_us, bw_us;
} timed_row;

static const calc_csv_column cache_columns[] = {
    {"Type", NULL, CALC_CSV_MEMBER(timed_row, cells.type)},
    {"Input Shapes", NULL, CALC_CSV_MEMBER(timed_row, cells.inputs)},
    {"Output Shapes", NULL, CALC_CSV_MEMBER(timed_row, cells.outputs)},
    {"fwd_time", NULL, CALC_CSV_MEMBER(timed_row, fw_us), CALC_CSV_BLANK, 0, HUGE_VAL},
    {"bwd_time", NULL, CALC_CSV_MEMBER(timed_row, bw_us), CALC_CSV_BLANK, 0, HUGE_VAL},
};

static void cache_take(calc_mindspeed_cache *out, const calc_mindspeed_shape *shape, double us)
{
    if (us > 0) {
        out->item[out->count++] = (calc_mindspeed_timed){*shape, us * 1e-6};
    }
}

calc_status calc_mindspeed_cache_read(calc_mindspeed_cache *out, const char *path,
                                      calc_errors *errors)
{
    calc_csv_table table = CALC_CSV_TABLE(cache_columns, timed_row,
                                          "an operator cache has Type, Input Shapes, Output "
                                          "Shapes, fwd_time and bwd_time in us");
    calc_csv_rows rows;
    *out = (calc_mindspeed_cache){0};
    calc_status status = mindspeed_shape_cells_read(&rows, &table, path, &out->item, 2, errors);
    const timed_row *row = rows.item;
    for (size_t i = 0; i < rows.count && out->item; i++) {
        calc_mindspeed_shape back = row[i].cells.shape;
        back.type = mindspeed_shape_gradient(back.type);
        if (row[i].cells.kind != CALC_MINDSPEED_SHAPE_GOOD) {
            out->others++;
            continue;
        }
        cache_take(out, &row[i].cells.shape, row[i].fw_us);
        cache_take(out, &back, back.type == CALC_MINDSPEED_TYPES ? 0 : row[i].bw_us);
    }
    calc_csv_rows_free(&rows);
    return status;
}

double calc_mindspeed_cache_s(const calc_mindspeed_cache *cache, const calc_mindspeed_shape *shape)
{
    double sum_s = 0;
    size_t count = 0;
    for (size_t i = 0; i < cache->count; i++) {
        if (calc_mindspeed_shape_equal(&cache->item[i].shape, shape)) {
            sum_s += cache->item[i].time_s;
            count++;
        }
    }
    return count ? sum_s / (double)count : 0;
}

void calc_mindspeed_cache_free(calc_mindspeed_cache *cache)
{
    free(cache->item);
    *cache = (calc_mindspeed_cache){0};
}
