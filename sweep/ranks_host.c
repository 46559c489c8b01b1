/* Rank 0: distribution of work, and results. */
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "ledger.h"
#include "pack.h"
#include "ranks_wire.h"

/* Bytes at a time: MPI counts them in an int. */
enum { PIECE = 1 << 30 };

/* Another rank. */
typedef struct peer {
    MPI_Request request, answered;
    uint64_t message[CALC_WIRE_NUMBERS];
    uint64_t answer;
    unsigned char *bytes; /* of the report that is coming */
    size_t size, got;
    unsigned char *report; /* the last that was welcome in this round */
    size_t report_size;
} peer;

struct calc_ranks_host {
    const calc_sweep_options *options;
    bool shards;
    size_t count;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    calc_ledger ledger;
    peer *peer;
    bool *ready;  /* has nothing more to do, and asks to leave */
    bool *told;   /* may leave */
    int *threads; /* of each rank */
    calc_sweep_result sum;
    calc_status status;
    bool spoken;    /* a rank that failed says why */
    size_t missing; /* rank whose shard nobody did, from 1 on */
    int code;       /* of MPI */
};

void calc_wire_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
}

static void fail(calc_ranks_host *h, calc_status status)
{
    h->status = h->status == CALC_OK ? status : h->status;
    h->ledger.stopped = h->ledger.stopped || status != CALC_OK;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Bring a result into the sum, and empty it. */
static void add(calc_ranks_host *h, calc_sweep_result *from)
{
    calc_sweep_result *sum = &h->sum;
    if (!sum->group) {
        sum->group = from->group;
        sum->groups_count = from->groups_count;
        from->group = NULL;
        from->groups_count = 0;
    }
    fail(h, calc_sweep_merge(h->options, sum, from));
    sum->cpu = from->cpu ? from->cpu : sum->cpu; /* rank 0 has one */
    calc_sweep_result_free(from);
}

/* The round of a rank is over: its last report is part of the sum. */
static void settle(calc_ranks_host *h, peer *p)
{
    calc_sweep_result found = {0};
    if (p->report) {
        calc_unpack in = {.at = p->report, .end = p->report + p->report_size};
        fail(h, calc_unpack_result(&in, &found));
        add(h, &found);
    }
    free(p->report);
    p->report = NULL;
}

/* ---- Messages of ranks ----------------------------------------------------------------------- */

static bool all_ready(const calc_ranks_host *h)
{
    bool all = true;
    for (size_t r = 0; r < h->count; r++) {
        all = all && (h->ready[r] || h->ledger.rank[r].lost);
    }
    return all;
}

static uint64_t end_of(const calc_ranks_host *h)
{
    bool lost = false;
    for (size_t r = 0; r < h->count; r++) {
        lost = lost || h->ledger.rank[r].lost;
    }
    return lost ? CALC_WIRE_PART : CALC_LEDGER_END;
}

/* Nobody leaves before all may: leaving is together, or without those that are lost. */
static uint64_t order(calc_ranks_host *h, size_t rank, double now_s)
{
    calc_ledger_order next = calc_ledger_order_of(&h->ledger, rank, now_s);
    if (next != CALC_LEDGER_END) {
        return next;
    }
    h->ready[rank] = true;
    if (!all_ready(h)) {
        return CALC_LEDGER_WAIT;
    }
    h->told[rank] = true;
    return end_of(h);
}

static uint64_t hear(calc_ranks_host *h, size_t rank, const uint64_t *message)
{
    double now_s = calc_clock_s(CLOCK_MONOTONIC);
    uint64_t chunk = UINT64_MAX;
    uint64_t failed = h->spoken;
    switch ((calc_wire_kind)message[0]) {
    case CALC_WIRE_ORDER:
        h->threads[rank] = (int)message[1];
        return order(h, rank, now_s);
    case CALC_WIRE_TAKE:
        fail(h, calc_ledger_take(&h->ledger, rank, now_s, &chunk));
        return chunk;
    case CALC_WIRE_FINISH:
        h->sum.partial = h->sum.partial || message[2];
        h->ledger.stopped = h->ledger.stopped || message[2];
        calc_ledger_finish(&h->ledger, rank, now_s, message[1]);
        settle(h, &h->peer[rank]);
        return 0;
    case CALC_WIRE_FAIL:
        calc_ledger_finish(&h->ledger, rank, now_s, UINT64_MAX);
        fail(h, CALC_ERR_IO);
        h->spoken = true;
        return failed;
    default:
        calc_ledger_hear(&h->ledger, rank, now_s);
        return h->ledger.stopped;
    }
}

/* ---- Messages -------------------------------------------------------------------------------- */

static void note(calc_ranks_host *h, int code)
{
    if (code != MPI_SUCCESS && h->code == MPI_SUCCESS) {
        h->code = code;
        fail(h, CALC_ERR_IO);
    }
}

/* Wait for the next message of a rank, or for the rest of its bytes. */
static void listen(calc_ranks_host *h, size_t rank)
{
    peer *p = &h->peer[rank];
    if (p->bytes) {
        size_t rest = p->size - p->got;
        note(h, MPI_Irecv(p->bytes + p->got, rest < PIECE ? (int)rest : PIECE, MPI_BYTE, (int)rank,
                          CALC_WIRE_BYTES, MPI_COMM_WORLD, &p->request));
    } else {
        note(h, MPI_Irecv(p->message, CALC_WIRE_NUMBERS, MPI_UINT64_T, (int)rank, CALC_WIRE_MESSAGE,
                          MPI_COMM_WORLD, &p->request));
    }
}

/* A piece of a report has come. */
static void take_bytes(calc_ranks_host *h, size_t rank)
{
    peer *p = &h->peer[rank];
    size_t rest = p->size - p->got;
    p->got += rest < PIECE ? rest : PIECE;
    if (p->got < p->size) {
        calc_ledger_hear(&h->ledger, rank, calc_clock_s(CLOCK_MONOTONIC));
        return;
    }
    if (calc_ledger_report(&h->ledger, rank, calc_clock_s(CLOCK_MONOTONIC), p->message[1])) {
        free(p->report);
        p->report = p->bytes;
        p->report_size = p->size;
    } else {
        free(p->bytes);
    }
    p->bytes = NULL;
}

static void take_message(calc_ranks_host *h, size_t rank)
{
    peer *p = &h->peer[rank];
    calc_wire_kind kind = (calc_wire_kind)p->message[0];
    if (kind == CALC_WIRE_REPORT) {
        p->size = (size_t)p->message[2];
        p->got = 0;
        p->bytes = malloc(p->size);
        fail(h, p->bytes ? CALC_OK : CALC_ERR_NOMEM);
        return;
    }
    uint64_t answer = hear(h, rank, p->message);
    if (kind != CALC_WIRE_FINISH) {
        note(h, MPI_Wait(&p->answered, MPI_STATUS_IGNORE)); /* it has had the one before */
        p->answer = answer;
        note(h, MPI_Isend(&p->answer, 1, MPI_UINT64_T, (int)rank, CALC_WIRE_ANSWER, MPI_COMM_WORLD,
                          &p->answered));
    }
}

/* Receive a message from a rank. @return whether anything has */
static bool serve(calc_ranks_host *h, size_t rank)
{
    peer *p = &h->peer[rank];
    int come = 0;
    note(h, MPI_Test(&p->request, &come, MPI_STATUS_IGNORE));
    if (!come) {
        return false;
    }
    if (p->bytes) {
        take_bytes(h, rank);
    } else {
        take_message(h, rank);
    }
    if (!h->told[rank]) {
        listen(h, rank);
    }
    return true;
}

/* Give up ranks that do not answer. */
static void watch(calc_ranks_host *h, size_t rank)
{
    bool silent = calc_ledger_is_silent(&h->ledger, rank, calc_clock_s(CLOCK_MONOTONIC));
    if (!silent || h->ledger.rank[rank].lost) {
        return;
    }
    fail(h, calc_ledger_give_up(&h->ledger, rank));
    settle(h, &h->peer[rank]);
    if (h->shards && !h->ledger.stopped) {
        h->missing = rank;
        fail(h, CALC_ERR_IO);
    }
}

static bool done(const calc_ranks_host *h)
{
    bool all = h->ready[0];
    for (size_t r = 1; r < h->count; r++) {
        all = all && (h->told[r] || h->ledger.rank[r].lost);
    }
    return all || h->code != MPI_SUCCESS;
}

static void *keep_books(void *context)
{
    calc_ranks_host *h = context;
    for (bool over = false; !over;) {
        bool busy = false;
        pthread_mutex_lock(&h->lock);
        for (size_t r = 1; r < h->count; r++) {
            if (!h->told[r]) {
                busy = serve(h, r) || busy;
                watch(h, r);
            }
        }
        over = done(h);
        pthread_mutex_unlock(&h->lock);
        if (!busy) {
            calc_wire_pause();
        }
    }
    return NULL;
}

/* ---- Rank 0 itself --------------------------------------------------------------------------- */

static void free_host(calc_ranks_host *h)
{
    bool quiet = true; /* nothing can come any more */
    for (size_t r = 1; h->ledger.rank && r < h->count; r++) {
        quiet = quiet && !h->ledger.rank[r].lost;
    }
    for (size_t r = 1; h->peer && quiet && r < h->count; r++) {
        free(h->peer[r].bytes);
        free(h->peer[r].report);
    }
    if (quiet) {
        free(h->peer);
    }
    calc_ledger_free(&h->ledger);
    free(h->ready);
    free(h->told);
    free(h->threads);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

/* All ranks have begun their shards. */
static calc_status begin_shards(calc_ledger *l)
{
    calc_status status = CALC_OK;
    for (size_t r = 0; r < l->ranks && status == CALC_OK; r++) {
        uint64_t chunk;
        calc_ledger_order next = calc_ledger_order_of(l, r, l->rank[r].heard_s);
        status = next == CALC_LEDGER_ROUND ? calc_ledger_take(l, r, l->rank[r].heard_s, &chunk)
                                           : CALC_ERR_NOMEM;
    }
    l->total = l->ranks;
    return status;
}

calc_ranks_host *calc_ranks_host_begin(const calc_ranks *ranks, const calc_sweep_options *options,
                                       bool shards)
{
    calc_ranks_host *h = calloc(1, sizeof *h);
    if (!h) {
        return NULL;
    }
    h->options = options;
    h->shards = shards;
    h->count = (size_t)ranks->count;
    h->peer = calloc(h->count, sizeof *h->peer);
    h->ready = calloc(h->count, sizeof *h->ready);
    h->told = calloc(h->count, sizeof *h->told);
    pthread_mutex_init(&h->lock, NULL);
    h->threads = calloc(h->count, sizeof *h->threads);
    bool fine =
        h->peer && h->ready && h->told && h->threads &&
        calc_ledger_create(&h->ledger, h->count, calc_clock_s(CLOCK_MONOTONIC)) == CALC_OK &&
        (!shards || begin_shards(&h->ledger) == CALC_OK);
    for (size_t r = 1; r < h->count && fine; r++) {
        h->peer[r].answered = MPI_REQUEST_NULL;
        listen(h, r);
    }
    if (!fine || pthread_create(&h->thread, NULL, keep_books, h) != 0) {
        free_host(h);
        return NULL;
    }
    return h;
}

uint64_t calc_ranks_host_say(calc_ranks_host *h, calc_wire_kind kind, uint64_t second,
                             uint64_t third)
{
    const uint64_t message[CALC_WIRE_NUMBERS] = {kind, second, third};
    pthread_mutex_lock(&h->lock);
    uint64_t answer = hear(h, 0, message);
    pthread_mutex_unlock(&h->lock);
    return answer;
}

void calc_ranks_host_add(calc_ranks_host *h, calc_sweep_result *from)
{
    pthread_mutex_lock(&h->lock);
    add(h, from);
    pthread_mutex_unlock(&h->lock);
}

calc_status calc_ranks_host_end(calc_ranks_host *h, bool *lost, calc_sweep_result *result,
                                calc_errors *errors)
{
    pthread_join(h->thread, NULL);
    calc_status status = h->status;
    for (size_t r = 0; r < h->count; r++) {
        lost[r] = h->ledger.rank[r].lost;
        h->sum.threads += h->threads[r];
    }
    if (status == CALC_OK) {
        *result = h->sum;
    } else {
        calc_sweep_result_free(&h->sum);
    }
    if (h->missing > 0) {
        calc_errors_add(
            errors, status, CALC_KIND_NONE, NULL, "start it again with --resume and as many ranks",
            "rank %zu does not answer: its part of the sweep is not finished", h->missing);
    } else if (h->code != MPI_SUCCESS) {
        calc_errors_add(errors, status, CALC_KIND_NONE, NULL, NULL, "MPI failed");
    } else if (status != CALC_OK && !h->spoken) {
        calc_errors_add(errors, status, CALC_KIND_NONE, NULL, NULL, "results of the ranks: %s",
                        calc_status_text(status));
    }
    free_host(h);
    return status;
}
