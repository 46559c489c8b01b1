#include "mindspeed/comm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "io/csv_table.h"

/* ---- Names ----------------------------------------------------------------------------------- */

static const char *const types[] = {
    "all_gather", "reduce_scatter", "all_reduce", "all_to_all",    "alltoall",
    "allgather",  "allreduce",      "p2p",        "reducescatter", NULL};
static const calc_collective_op ops[] = {
    CALC_OP_ALL_GATHER,    CALC_OP_REDUCE_SCATTER, CALC_OP_ALL_REDUCE, CALC_OP_ALL_TO_ALL,
    CALC_OP_ALL_TO_ALL,    CALC_OP_ALL_GATHER,     CALC_OP_ALL_REDUCE, CALC_OP_P2P,
    CALC_OP_REDUCE_SCATTER};

/* ---- The file -------------------------------------------------------------------------------- */

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

/* Averages the rows of one message, sorted from the shortest to the longest time. */
static double mean_s(const comm_row *row, size_t count)
{
    size_t from = count > 2, to = count > 2 ? count - 1 : count;
    double sum = 0;
    for (size_t i = from; i < to; i++) {
        sum += row[i].us * 1e-6;
    }
    return sum / (double)(to - from);
}

static void gather(calc_mindspeed_comm *out, comm_row *row, size_t count)
{
    if (count > 0) {
        qsort(row, count, sizeof *row, compare_rows);
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && compare(&row[i].message, &row[end].message) == 0; end++) {
        }
        out->item[out->count++] = (calc_mindspeed_sent){row[i].message, mean_s(row + i, end - i)};
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
    free(rows.item);
    calc_text_free(&rows.text);
    return status;
}

/* ---- Look-ups -------------------------------------------------------------------------------- */

static void note(calc_mindspeed_comm *comm, const calc_mindspeed_message *message)
{
    for (size_t i = 0; i < comm->missing_count; i++) {
        if (compare(&comm->missing[i], message) == 0) {
            return;
        }
    }
    void *grown = calc_grown(comm->missing, comm->missing_count, &comm->missing_capacity,
                             sizeof *comm->missing);
    if (grown) { /* otherwise one note less */
        comm->missing = grown;
        comm->missing[comm->missing_count++] = *message;
    }
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
