#include "mindspeed/operators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/make.h"
#include "calibrate/points.h"
#include "io/csv_table.h"
#include "io/utf8.h"

enum { TENSORS = 16, DIMENSIONS = 8, BRIEF = 4 };

/* How names begin, the type, and the type of its gradient. */
static const struct {
    const char *begins;
    calc_mindspeed_type forward, gradient;
} named[] = {{"MatMul", CALC_MINDSPEED_MATMUL, CALC_MINDSPEED_MATMUL},
             {"BatchMatMul", CALC_MINDSPEED_MATMUL, CALC_MINDSPEED_MATMUL},
             {"RmsNorm", CALC_MINDSPEED_RMS_NORM, CALC_MINDSPEED_RMS_NORM_GRAD},
             {"LayerNorm", CALC_MINDSPEED_LAYER_NORM, CALC_MINDSPEED_LAYER_NORM_GRAD},
             {"FlashAttentionScore", CALC_MINDSPEED_FLASH, CALC_MINDSPEED_FLASH_GRAD}};

/* Names can end with a version, and the two kernels of a LayerNorm's gradient contain Backprop. */
calc_mindspeed_type calc_mindspeed_shape_type(const char *name)
{
    bool gradient = strstr(name, "Grad") || strstr(name, "Back");
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (strncmp(name, named[i].begins, strlen(named[i].begins)) == 0) {
            return gradient ? named[i].gradient : named[i].forward;
        }
    }
    return CALC_MINDSPEED_TYPES;
}

/* The gradient's type of a norm or attention; CALC_MINDSPEED_TYPES if gradients have the same
 * type. */
static calc_mindspeed_type mindspeed_shape_gradient(calc_mindspeed_type type)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        if (named[i].forward == type && named[i].gradient != type) {
            return named[i].gradient;
        }
    }
    return CALC_MINDSPEED_TYPES;
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

/* Whether matrices are rows x shape_columns or transposed. There are as many as the batch, or one
 * for all. */
static bool is_matrix(const tensor *t, double rows, double shape_columns, double batch)
{
    const double *last = t->size + t->count - 2;
    return ((last[0] == rows && last[1] == shape_columns) ||
            (last[1] == rows && last[0] == shape_columns)) &&
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

static bool same_shape(const calc_mindspeed_shape *a, const calc_mindspeed_shape *b)
{
    bool equal = a->type == b->type;
    for (int i = 0; i < CALC_MINDSPEED_SIZES; i++) {
        equal = equal && a->size[i] == b->size[i];
    }
    return equal;
}

/* The first members of a row: shape_columns Type, Input Shapes and Output Shapes, and their
 * meaning. */
typedef struct calc_mindspeed_shape_cells {
    const char *type, *inputs, *outputs;
    calc_mindspeed_shape shape; /* a modelled type, or CALC_MINDSPEED_TYPES */
    calc_mindspeed_shape_kind kind;
} calc_mindspeed_shape_cells;

static calc_status shape_finish(void *context, void *row, const calc_csv_row *from,
                                calc_errors *errors)
{
    calc_mindspeed_shape_cells *c = row;
    calc_mindspeed_shape ignored;
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
                          calc_utf8_shown(cell, strlen(cell)));
}

/* Reads a file whose rows begin with these cells, and makes room for the results.
 * @param most  results per row
 * @return CALC_OK; CALC_ERR_TYPE with an error at a cell that has no shapes; or the status of
 * calc_csv_table_read(). The caller frees *rows in any case. */
static calc_status mindspeed_shape_cells_read(calc_csv_rows *rows, calc_csv_table *table,
                                              const char *path, calc_mindspeed_times *out,
                                              size_t most, calc_errors *errors)
{
    table->finish = shape_finish;
    calc_status status = calc_csv_table_read(rows, table, path, errors);
    out->item = calc_longer(out->item, out->count + most * rows->count + 1, sizeof *out->item);
    return status;
}

typedef struct details_row {
    calc_mindspeed_shape_cells cells;
    double us;
} details_row;

static const calc_csv_column shape_columns[] = {
    {"Type", "OP Type", CALC_CSV_MEMBER(details_row, cells.type)},
    {"Input Shapes", NULL, CALC_CSV_MEMBER(details_row, cells.inputs)},
    {"Output Shapes", NULL, CALC_CSV_MEMBER(details_row, cells.outputs)},
    {"Duration(us)", "Task Duration(us)", CALC_CSV_MEMBER(details_row, us), .lo = 0,
     .hi = HUGE_VAL},
};

/* Reads one row, or the two rows of a LayerNorm's gradient. @return number of rows read */
static size_t take(calc_mindspeed_times *out, const details_row *row, size_t left)
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

calc_status calc_mindspeed_kernels_read(calc_mindspeed_times *out, const char *path,
                                        calc_errors *errors)
{
    calc_csv_table table = CALC_CSV_TABLE(shape_columns, details_row,
                                          "kernel_details.csv of a profile has Type, Input Shapes, "
                                          "Output Shapes and Duration(us)");
    calc_csv_rows rows;
    calc_status status = mindspeed_shape_cells_read(&rows, &table, path, out, 1, errors);
    const details_row *row = rows.item;
    for (size_t i = 0; i < rows.count && status == CALC_OK;) {
        i += take(out, row + i, rows.count - i);
    }
    calc_csv_rows_free(&rows);
    return status;
}

CALC_FREES(calc_mindspeed_times_free, calc_mindspeed_times, of->item)

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

static void cache_take(calc_mindspeed_times *out, const calc_mindspeed_shape *shape, double us)
{
    if (us > 0) {
        out->item[out->count++] = (calc_mindspeed_timed){*shape, us * 1e-6};
    }
}

calc_status calc_mindspeed_cache_read(calc_mindspeed_times *out, const char *path,
                                      calc_errors *errors)
{
    calc_csv_table table = CALC_CSV_TABLE(cache_columns, timed_row,
                                          "an operator cache has Type, Input Shapes, Output "
                                          "Shapes, fwd_time and bwd_time in us");
    calc_csv_rows rows;
    calc_status status = mindspeed_shape_cells_read(&rows, &table, path, out, 2, errors);
    const timed_row *row = rows.item;
    for (size_t i = 0; i < rows.count && status == CALC_OK; i++) {
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

static calc_point point_of(const calc_mindspeed_timed *timed, const calc_mindspeed_job *job,
                           const calc_app *app)
{
    const calc_mindspeed_shape *shape = &timed->shape;
    const double *n = shape->size;
    double head = job->head, heads = n[2] / head;
    bool forward = shape->type == CALC_MINDSPEED_RMS_NORM ||
                   shape->type == CALC_MINDSPEED_LAYER_NORM || shape->type == CALC_MINDSPEED_FLASH;
    calc_point p = {.datatype = job->fp16 ? CALC_DATATYPE_FLOAT16 : CALC_DATATYPE_BFLOAT16,
                    .pass = forward ? CALC_PASS_FW : CALC_PASS_AGRAD,
                    .causal = app->causal,
                    .rms = shape->type == CALC_MINDSPEED_RMS_NORM ||
                           shape->type == CALC_MINDSPEED_RMS_NORM_GRAD,
                    .measured_s = timed->time_s};
    switch (shape->type) {
    case CALC_MINDSPEED_MATMUL:
        p.class = CALC_POINT_MATRIX;
        p.pass = CALC_PASS_FW;
        memcpy(p.size, (double[]){n[1], n[2], n[3], n[0]}, 4 * sizeof *n);
        break;
    case CALC_MINDSPEED_FLASH:
    case CALC_MINDSPEED_FLASH_GRAD:
        p.class = forward ? CALC_POINT_ATTENTION_FW : CALC_POINT_ATTENTION_BW;
        memcpy(p.size, (double[]){n[1], n[0], heads, heads, head, head}, sizeof p.size);
        break;
    default:
        p.class = CALC_POINT_NORM;
        p.size[0] = n[0] * n[1];
        p.size[1] = n[2];
    }
    return p;
}

/* Adds the shapes that are not among the first `known`, each once with the mean of its times.
 * @return how many points there are then */
static size_t add_shapes(calc_mindspeed_timed *mean, size_t known, const calc_mindspeed_times *of)
{
    size_t count = known;
    double *times = calc_make(of->count, sizeof *times);
    for (size_t i = 0; i < of->count; i++) {
        size_t k = 0;
        while (k < count && !same_shape(&mean[k].shape, &of->item[i].shape)) {
            k++;
        }
        if (k == count) {
            mean[count++] = (calc_mindspeed_timed){.shape = of->item[i].shape};
        }
        if (k >= known) {
            double n = ++times[k - known];
            mean[k].time_s += (of->item[i].time_s - mean[k].time_s) / n;
        }
    }
    free(times);
    return count;
}

void calc_mindspeed_points(calc_point_table *out, const calc_mindspeed_times *kernels,
                           const calc_mindspeed_times *cache, const calc_mindspeed_job *job,
                           const calc_app *app, const calc_system *system)
{
    calc_mindspeed_timed *mean = calc_make(kernels->count + cache->count, sizeof *mean);
    size_t count = add_shapes(mean, add_shapes(mean, 0, kernels), cache);
    calc_point *point = calc_make(count, sizeof *point);
    for (size_t i = 0; i < count; i++) {
        point[i] = point_of(&mean[i], job, app);
    }
    calc_point_table_make(out, point, count, NULL, system);
    free(mean);
    free(point);
}

static const char *const types[] = {
    "all_gather", "reduce_scatter", "all_reduce", "all_to_all",    "alltoall",
    "allgather",  "allreduce",      "p2p",        "reducescatter", NULL};
static const calc_collective_op ops[] = {
    CALC_OP_ALL_GATHER,    CALC_OP_REDUCE_SCATTER, CALC_OP_ALL_REDUCE, CALC_OP_ALL_TO_ALL,
    CALC_OP_ALL_TO_ALL,    CALC_OP_ALL_GATHER,     CALC_OP_ALL_REDUCE, CALC_OP_P2P,
    CALC_OP_REDUCE_SCATTER};

typedef struct row {
    enum { FIRST_TYPE } type; /* index of its word */
    int ranks;
    double bytes, us;
} comm_row;

static const calc_csv_column columns[] = {
    {"type", NULL, CALC_CSV_MEMBER(comm_row, type), .words = types},
    {"domains", NULL, CALC_CSV_MEMBER(comm_row, ranks), .lo = 1, .hi = 1e6},
    {"datasize", NULL, CALC_CSV_MEMBER(comm_row, bytes), .lo = 1, .hi = 1e15},
    {"time", NULL, CALC_CSV_MEMBER(comm_row, us), .lo = 1e-3, .hi = 1e12},
};

static int compare(const calc_mindspeed_message *x, const calc_mindspeed_message *y)
{
    return x->op != y->op         ? CALC_ORDER(x->op, y->op)
           : x->ranks != y->ranks ? CALC_ORDER(x->ranks, y->ranks)
                                  : CALC_ORDER(x->bytes, y->bytes);
}

static calc_mindspeed_message message_of(const comm_row *r)
{
    return (calc_mindspeed_message){ops[r->type], r->ranks, r->bytes};
}

/* By message, then by time. */
static int compare_rows(const void *a, const void *b)
{
    const comm_row *x = a, *y = b;
    const calc_mindspeed_message one = message_of(x), other = message_of(y);
    int by_message = compare(&one, &other);
    return by_message ? by_message : CALC_ORDER(x->us, y->us);
}

static void gather(calc_mindspeed_comm *out, comm_row *row, size_t count)
{
    if (count > 0) {
        CALC_SORT(row, count, compare_rows);
    }
    for (size_t i = 0, end; i < count; i = end) {
        const calc_mindspeed_message message = message_of(&row[i]);
        for (end = i + 1; end < count; end++) {
            const calc_mindspeed_message other = message_of(&row[end]);
            if (compare(&message, &other) != 0) {
                break;
            }
        }
        /* The mean of the rows of a message, without the shortest and the longest time. */
        size_t cut = end - i > 2;
        double sum_s = 0;
        for (size_t k = i + cut; k < end - cut; k++) {
            sum_s += row[k].us * 1e-6;
        }
        out->item[out->count++] =
            (calc_mindspeed_sent){message, sum_s / (double)(end - i - 2 * cut)};
    }
}

calc_status calc_mindspeed_comm_read(calc_mindspeed_comm *out, const char *path,
                                     calc_errors *errors)
{
    static const calc_csv_table table = CALC_CSV_TABLE(
        columns, comm_row, "comm_prof.csv has type, domains, datasize in bytes and time in us");
    calc_csv_rows rows;
    *out = (calc_mindspeed_comm){0};
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    if (status == CALC_OK) {
        out->item = calc_make(rows.count, sizeof *out->item);
        gather(out, rows.item, rows.count);
    }
    calc_csv_rows_free(&rows);
    return status;
}

double calc_mindspeed_comm_s(calc_mindspeed_comm *comm, const calc_mindspeed_message *message)
{
    for (size_t i = 0; i < comm->count; i++) {
        if (compare(&comm->item[i].message, message) == 0) {
            comm->found++;
            return comm->item[i].time_s;
        }
    }
    size_t known = 0;
    while (known < comm->missing_count && compare(&comm->missing[known], message) != 0) {
        known++;
    }
    if (known == comm->missing_count) {
        comm->missing = calc_longer(comm->missing, known + 1, sizeof *comm->missing);
        comm->missing[comm->missing_count++] = *message;
    }
    return 0;
}

CALC_FREES(calc_mindspeed_comm_free, calc_mindspeed_comm, of->item, of->missing)
