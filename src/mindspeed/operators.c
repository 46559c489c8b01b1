#include "mindspeed/operators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "io/csv_table.h"
#include "model/cost/cost_kernel.h"
#include "model/operators/transformer.h"

static calc_exec exec_of(const calc_mindspeed_job *job)
{
    return (calc_exec){
        .num_procs = 1,
        .strategy = {.tensor_par = 1,
                     .data_par = 1,
                     .datatype = job->fp16 ? CALC_DATATYPE_FLOAT16 : CALC_DATATYPE_BFLOAT16,
                     .flash_attention = true,
                     .fused_activation = true},
        .pipeline_par = 1,
        .microbatch_size = 1,
        .training = true};
}

/* An operator with all sizes 1, in numbers of two bytes. */
static calc_shape unit_shape(const calc_mindspeed_operators *o)
{
    return (calc_shape){.blocks = 1,
                        .dense_blocks = 1,
                        .moe_every = 1,
                        .hidden = 1,
                        .feedforward = 1,
                        .flash = true,
                        .causal = o->app->causal,
                        .tensor_par = 1,
                        .context_par = 1,
                        .expert_par = 1,
                        .expert_tensor_par = 1,
                        .heads = 1,
                        .kv_heads = 1,
                        .local_heads = 1,
                        .local_kv_heads = 1,
                        .qk_size = 1,
                        .v_size = 1,
                        .seq = 1,
                        .tokens = 1,
                        .microbatch = 1,
                        .element_bytes = 2,
                        .matrix_bytes = 2,
                        .weight_bytes = 2,
                        .kept_bytes = 2,
                        .grad_bytes = 4};
}

static double multiplication_s(const calc_mindspeed_operators *o, const double *size)
{
    calc_operator list[CALC_MAX_OPERATORS];
    calc_exec exec = exec_of(o->job);
    calc_shape shape = unit_shape(o);
    const calc_recipe recipe = {.shape = &shape, .strategy = &exec.strategy};
    calc_build b = calc_build_start(&recipe, list);
    calc_operator *matrix =
        calc_build_matrix(&b, "", CALC_OPERATOR_MATRIX, 0, size[1], size[2], size[3], 1);
    matrix->flop[CALC_PASS_FW] *= size[0];
    matrix->bytes[CALC_PASS_FW] *= size[0];
    calc_cost_context context = calc_cost_context_of(o->system, &exec, &shape, CALC_COMPAT_NONE);
    return calc_cost_kernel_s(&context, matrix, CALC_PASS_FW);
}

/* The first operator of a kind in a block, with a shape. */
static double block_s(const calc_mindspeed_operators *o, const calc_shape *shape,
                      calc_operator_kind kind, calc_pass pass)
{
    calc_operator list[CALC_MAX_OPERATORS];
    calc_exec exec = exec_of(o->job);
    calc_cost_context context = calc_cost_context_of(o->system, &exec, shape, CALC_COMPAT_NONE);
    const calc_recipe recipe = {
        .shape = shape, .chip = context.chip, .strategy = &exec.strategy, .context_inner = 1};
    size_t count = calc_transformer_block(&recipe, list);
    size_t i = 0;
    while (i + 1 < count && list[i].kind != kind) {
        i++;
    }
    return calc_cost_kernel_s(&context, &list[i], pass);
}

/* The norm before the attention is a block's first vector operator. */
static double norm_s(const calc_mindspeed_operators *o, const calc_mindspeed_shape *shape)
{
    calc_shape s = unit_shape(o);
    bool rms =
        shape->type == CALC_MINDSPEED_RMS_NORM || shape->type == CALC_MINDSPEED_RMS_NORM_GRAD;
    bool gradient =
        shape->type != CALC_MINDSPEED_RMS_NORM && shape->type != CALC_MINDSPEED_LAYER_NORM;
    s.rms = rms;
    s.tokens = shape->size[0] * shape->size[1];
    s.hidden = shape->size[2];
    return block_s(o, &s, CALC_OPERATOR_VECTOR, gradient ? CALC_PASS_AGRAD : CALC_PASS_FW);
}

static double attention_s(const calc_mindspeed_operators *o, const calc_mindspeed_shape *shape)
{
    calc_shape s = unit_shape(o);
    s.seq = shape->size[0];
    s.microbatch = shape->size[1];
    s.tokens = s.seq * s.microbatch;
    s.qk_size = s.v_size = o->job->head;
    s.heads = s.kv_heads = s.local_heads = s.local_kv_heads = shape->size[2] / o->job->head;
    return block_s(o, &s, CALC_OPERATOR_ATTENTION,
                   shape->type == CALC_MINDSPEED_FLASH ? CALC_PASS_FW : CALC_PASS_AGRAD);
}

double calc_mindspeed_operators_model_s(const calc_mindspeed_operators *o,
                                        const calc_mindspeed_shape *shape)
{
    switch (shape->type) {
    case CALC_MINDSPEED_MATMUL:
        return multiplication_s(o, shape->size);
    case CALC_MINDSPEED_FLASH:
    case CALC_MINDSPEED_FLASH_GRAD:
        return attention_s(o, shape);
    default:
        return norm_s(o, shape);
    }
}

double calc_mindspeed_operators_alone_s(const calc_mindspeed_operators *o,
                                        const calc_mindspeed_shape *shape)
{
    double timed_s = o->cache ? calc_mindspeed_cache_s(o->cache, shape) : 0;
    return timed_s > 0 ? timed_s : calc_mindspeed_operators_model_s(o, shape);
}

void calc_mindspeed_operators_start(calc_mindspeed_operators *o, const calc_mindspeed_job *job,
                                    const calc_app *app, const calc_system *system,
                                    const calc_mindspeed_cache *cache,
                                    const calc_mindspeed_sampling *sampling)
{
    *o = (calc_mindspeed_operators){
        .job = job, .app = app, .system = system, .cache = cache, .sampling = *sampling};
    for (int type = 0; type < CALC_MINDSPEED_TYPES; type++) {
        size_t sizes = type == CALC_MINDSPEED_MATMUL ? 4 : 3;
        calc_rng rng;
        calc_rng_init(&rng, sampling->seed, (uint64_t)type);
        calc_process_start(&o->process[type], sizes, 0, sampling->prior_sd);
        calc_process_path_start(&o->path[type], &o->process[type], sampling->samples, &rng);
    }
}

void calc_mindspeed_operators_free(calc_mindspeed_operators *o)
{
    for (int type = 0; type < CALC_MINDSPEED_TYPES; type++) {
        calc_process_path_clear(&o->path[type]);
        calc_process_free(&o->process[type]);
    }
}

static void logs_of(const calc_mindspeed_shape *shape, double point[CALC_MINDSPEED_SIZES])
{
    for (int i = 0; i < CALC_MINDSPEED_SIZES; i++) {
        point[i] = log(shape->size[i]);
    }
}

calc_status calc_mindspeed_operators_learn(calc_mindspeed_operators *o,
                                           const calc_mindspeed_timed *kernels, size_t count,
                                           calc_errors *errors)
{
    for (size_t i = 0; i < count; i++) {
        const calc_mindspeed_shape *shape = &kernels[i].shape;
        double point[CALC_MINDSPEED_SIZES];
        double alone_s = calc_mindspeed_operators_alone_s(o, shape);
        logs_of(shape, point);
        calc_status status = calc_process_add(&o->process[shape->type], point,
                                              (kernels[i].time_s - alone_s) / alone_s, 1);
        if (status == CALC_ERR_NOMEM) {
            return calc_errors_no_memory(errors);
        }
        if (status != CALC_OK) {
            return calc_errors_add(errors, status, CALC_KIND_NONE, NULL,
                                   "profile fewer configurations, or give their kernels only",
                                   "more than %d shapes of %s", CALC_PROCESS_DATA,
                                   calc_mindspeed_shape_type_name(shape->type));
        }
        o->kernels++;
    }
    return CALC_OK;
}

calc_status calc_mindspeed_operators_fit(calc_mindspeed_operators *o, calc_errors *errors)
{
    o->round++;
    o->clamped = 0;
    for (int type = 0; type < CALC_MINDSPEED_TYPES; type++) {
        calc_process_path_clear(&o->path[type]);
        if (calc_process_fit(&o->process[type]) != CALC_OK) {
            return calc_errors_no_memory(errors);
        }
        calc_rng_init(&o->path[type].rng, o->sampling.seed,
                      o->round * CALC_MINDSPEED_TYPES + (uint64_t)type);
    }
    return CALC_OK;
}

const double *calc_mindspeed_operators_draws(calc_mindspeed_operators *o,
                                             const calc_mindspeed_shape *shape)
{
    double point[CALC_MINDSPEED_SIZES];
    logs_of(shape, point);
    return calc_process_path_at(&o->path[shape->type], point);
}

static const char *const types[] = {
    "all_gather", "reduce_scatter", "all_reduce", "all_to_all",    "alltoall",
    "allgather",  "allreduce",      "p2p",        "reducescatter", NULL};
static const calc_collective_op ops[] = {
    CALC_OP_ALL_GATHER,    CALC_OP_REDUCE_SCATTER, CALC_OP_ALL_REDUCE, CALC_OP_ALL_TO_ALL,
    CALC_OP_ALL_TO_ALL,    CALC_OP_ALL_GATHER,     CALC_OP_ALL_REDUCE, CALC_OP_P2P,
    CALC_OP_REDUCE_SCATTER};

typedef struct row {
    const char *type;
    int ranks;
    double bytes, us;
    calc_mindspeed_message message;
} comm_row;

static const calc_csv_column columns[] = {
    {"type", NULL, CALC_CSV_MEMBER(comm_row, type), .words = types},
    {"domains", NULL, CALC_CSV_MEMBER(comm_row, ranks), .lo = 1, .hi = 1e6},
    {"datasize", NULL, CALC_CSV_MEMBER(comm_row, bytes), .lo = 1, .hi = 1e15},
    {"time", NULL, CALC_CSV_MEMBER(comm_row, us), .lo = 1e-3, .hi = 1e12},
};

static calc_status finish(void *context, void *row, const calc_csv_row *from, calc_errors *errors)
{
    comm_row *r = row;
    int i = 0;
    (void)context;
    (void)from;
    (void)errors;
    while (strcmp(types[i], r->type) != 0) {
        i++;
    }
    r->message = (calc_mindspeed_message){ops[i], r->ranks, r->bytes};
    return CALC_OK;
}

static int compare(const calc_mindspeed_message *x, const calc_mindspeed_message *y)
{
    int by_op = (x->op > y->op) - (x->op < y->op);
    int by_ranks = (x->ranks > y->ranks) - (x->ranks < y->ranks);
    int by_bytes = (x->bytes > y->bytes) - (x->bytes < y->bytes);
    return by_op ? by_op : by_ranks ? by_ranks : by_bytes;
}

/* By message, then by time. */
static int compare_rows(const void *a, const void *b)
{
    const comm_row *x = a, *y = b;
    int by_message = compare(&x->message, &y->message);
    return by_message ? by_message : (x->us > y->us) - (x->us < y->us);
}

static void gather(calc_mindspeed_comm *out, comm_row *row, size_t count)
{
    if (count > 0) {
        qsort(row, count, sizeof *row, compare_rows);
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && compare(&row[i].message, &row[end].message) == 0; end++) {
        }
        /* The mean of the rows of a message, without the shortest and the longest time. */
        size_t cut = end - i > 2;
        double sum_s = 0;
        for (size_t k = i + cut; k < end - cut; k++) {
            sum_s += row[k].us * 1e-6;
        }
        out->item[out->count++] =
            (calc_mindspeed_sent){row[i].message, sum_s / (double)(end - i - 2 * cut)};
    }
}

calc_status calc_mindspeed_comm_read(calc_mindspeed_comm *out, const char *path,
                                     calc_errors *errors)
{
    calc_csv_table table = CALC_CSV_TABLE(
        columns, comm_row, "comm_prof.csv has type, domains, datasize in bytes and time in us");
    calc_csv_rows rows;
    table.finish = finish;
    *out = (calc_mindspeed_comm){0};
    calc_status status = calc_csv_table_read(&rows, &table, path, errors);
    if (status == CALC_OK) {
        out->item = malloc((rows.count + 1) * sizeof *out->item);
        status = out->item ? CALC_OK : calc_errors_no_memory(errors);
    }
    if (out->item) {
        gather(out, rows.item, rows.count);
    }
    calc_csv_rows_free(&rows);
    return status;
}

static void note(calc_mindspeed_comm *comm, const calc_mindspeed_message *message)
{
    for (size_t i = 0; i < comm->missing_count; i++) {
        if (compare(&comm->missing[i], message) == 0) {
            return;
        }
    }
    /* Without memory, one note less. */
    (void)!CALC_PUSH(comm->missing, comm->missing_count, comm->missing_capacity, message);
}

double calc_mindspeed_comm_s(calc_mindspeed_comm *comm, const calc_mindspeed_message *message)
{
    for (size_t i = 0; i < comm->count; i++) {
        if (compare(&comm->item[i].message, message) == 0) {
            comm->found++;
            return comm->item[i].time_s;
        }
    }
    note(comm, message);
    return 0;
}

void calc_mindspeed_comm_free(calc_mindspeed_comm *comm)
{
    free(comm->item);
    free(comm->missing);
    *comm = (calc_mindspeed_comm){0};
}
