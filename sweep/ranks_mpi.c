/* Many processes with MPI. While a sweep is under way one thread of a rank calls it: the one that
 * sweeps, or that which keeps the books of rank 0 (ranks_host.c). */
#define _GNU_SOURCE /* sched_getaffinity() */
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "ledger.h"
#include "pack.h"
#include "ranks_wire.h"

static calc_status fail(calc_ranks *ranks, int code, calc_errors *errors)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    ranks->broken = true;
    return calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL, NULL,
                           "rank %d: MPI failed: %s", ranks->rank, text);
}

/* ---- Joining and leaving --------------------------------------------------------------------- */

/* MPI_Init() of a process that nothing started would start services for itself alone. */
static bool started_together(void)
{
    static const char *const set[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        if (getenv(set[i])) {
            return true;
        }
    }
    return false;
}

/* Rank 0 takes hold of the processes on its machine, by handles: a number may be another's later.
 */
static int know_processes(calc_ranks *out, MPI_Comm machine)
{
    int own[2] = {out->rank, (int)getpid()};
    int(*all)[2] = calloc((size_t)out->local, sizeof *all);
    out->lost = calloc((size_t)out->count, sizeof *out->lost);
    out->process = malloc((size_t)out->count * sizeof *out->process);
    if (!all || !out->lost || !out->process) {
        free(all);
        return MPI_ERR_NO_MEM;
    }
    int code = MPI_Gather(own, 2, MPI_INT, all, 2, MPI_INT, 0, machine);
    for (int r = 0; r < out->count; r++) {
        out->process[r] = -1;
    }
    for (int i = 0; i < out->local && out->rank == 0 && code == MPI_SUCCESS; i++) {
        out->process[all[i][0]] = pidfd_open(all[i][1], 0);
    }
    free(all);
    return code;
}

/* Until ranks agree, nobody counts the silence of one that is stopped, and MPI waits for ever. */
enum { TOGETHER_S = 120 };

static void end_alone(int signal)
{
    static const char text[] = "calc: the ranks have not come together in 120 s: is one stopped?\n";
    (void)signal;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(4); /* as where a file cannot be read */
}

calc_status calc_ranks_join(calc_ranks *out, calc_errors *errors)
{
    *out = (calc_ranks){.count = 1, .local = 1};
    if (!started_together()) {
        return CALC_OK;
    }
    int provided;
    signal(SIGALRM, end_alone);
    alarm(TOGETHER_S);
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    if (code == MPI_SUCCESS) {
        code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    MPI_Comm machine;
    if (code == MPI_SUCCESS) {
        MPI_Comm_rank(MPI_COMM_WORLD, &out->rank);
        MPI_Comm_size(MPI_COMM_WORLD, &out->count);
        code =
            MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    }
    if (code == MPI_SUCCESS) {
        MPI_Comm_size(machine, &out->local);
        code = know_processes(out, machine);
    }
    if (code == MPI_SUCCESS) {
        code = MPI_Comm_free(&machine);
    }
    return code == MPI_SUCCESS ? CALC_OK : fail(out, code, errors);
}

/* End ranks on this machine that do not answer: mpirun waits for them. */
static void end_lost(const calc_ranks *ranks)
{
    for (int r = 1; r < ranks->count && ranks->rank == 0; r++) {
        if (ranks->lost[r] && ranks->process[r] >= 0) {
            pidfd_send_signal(ranks->process[r], SIGKILL, NULL, 0);
        }
    }
}

void calc_ranks_leave(calc_ranks *ranks)
{
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized && ranks->broken) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    } else if (initialized && ranks->parted) {
        end_lost(ranks); /* MPI_Finalize() would wait for them */
    } else if (initialized) {
        MPI_Finalize();
    }
    for (int r = 0; ranks->process && r < ranks->count; r++) {
        if (ranks->process[r] >= 0) {
            close(ranks->process[r]);
        }
    }
    free(ranks->process);
    free(ranks->lost);
}

calc_status calc_ranks_agree(calc_ranks *ranks, calc_status status, calc_errors *errors)
{
    if (ranks->count == 1 || ranks->broken) {
        alarm(0);
        return status;
    }
    int own = status == CALC_OK ? INT_MAX : ranks->rank;
    int first;
    int code = MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    alarm(0);
    if (code != MPI_SUCCESS) {
        return fail(ranks, code, errors);
    }
    if (first != INT_MAX && first != ranks->rank) {
        *errors = (calc_errors){0};
        return CALC_ERR_IO;
    }
    return status;
}

/* ---- Messages of a rank ---------------------------------------------------------------------- */

/* Rank 0 answers at once, unless it is gone. */
static const double gone_s = 120;

/* A rank that works: it talks to rank 0, or is that. */
typedef struct rank {
    calc_ranks *ranks;
    calc_ranks_host *host; /* of rank 0; NULL elsewhere */
    const calc_sweep_options *options;
    bool failed;    /* MPI did, or rank 0 is gone */
    uint64_t chunk; /* up to which everything was reported last */
    double heard_s; /* when it said something last */
} rank;

/* Wait for a message to be sent or to come. */
static void await(rank *r, int code, MPI_Request *request)
{
    double start_s = calc_clock_s(CLOCK_MONOTONIC);
    int done = 0;
    while (code == MPI_SUCCESS && !done) {
        code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done) {
            calc_wire_pause();
        }
        if (!done && calc_clock_s(CLOCK_MONOTONIC) - start_s > gone_s) {
            break;
        }
    }
    r->failed = r->failed || !done;
}

static void tell(rank *r, calc_wire_kind kind, uint64_t second, uint64_t third)
{
    const uint64_t message[CALC_WIRE_NUMBERS] = {kind, second, third};
    MPI_Request request;
    r->heard_s = calc_clock_s(CLOCK_MONOTONIC);
    if (!r->failed) {
        int code = MPI_Isend(message, CALC_WIRE_NUMBERS, MPI_UINT64_T, 0, CALC_WIRE_MESSAGE,
                             MPI_COMM_WORLD, &request);
        await(r, code, &request);
    }
}

static uint64_t say(rank *r, calc_wire_kind kind, uint64_t second, uint64_t third)
{
    uint64_t answer = UINT64_MAX;
    MPI_Request request;
    if (r->host) {
        return calc_ranks_host_say(r->host, kind, second, third);
    }
    tell(r, kind, second, third);
    if (!r->failed && kind != CALC_WIRE_FINISH) {
        int code =
            MPI_Irecv(&answer, 1, MPI_UINT64_T, 0, CALC_WIRE_ANSWER, MPI_COMM_WORLD, &request);
        await(r, code, &request);
    }
    return r->failed ? UINT64_MAX : answer;
}

/* Send the finds. Rank 0 needs no message from itself. */
static calc_status report(void *context, const calc_sweep_result *result, uint64_t chunk)
{
    enum { PIECE = 1 << 30 }; /* MPI counts in an int */
    rank *r = context;
    calc_pack pack = {0};
    r->chunk = chunk;
    if (r->host) {
        return CALC_OK;
    }
    calc_pack_result(&pack, result);
    if (!pack.failed) {
        tell(r, CALC_WIRE_REPORT, chunk, pack.size);
    }
    for (size_t sent = 0; sent < pack.size && !pack.failed && !r->failed; sent += PIECE) {
        MPI_Request request;
        size_t rest = pack.size - sent;
        int code = MPI_Isend(pack.data + sent, rest < PIECE ? (int)rest : PIECE, MPI_BYTE, 0,
                             CALC_WIRE_BYTES, MPI_COMM_WORLD, &request);
        await(r, code, &request);
    }
    free(pack.data);
    return pack.failed ? CALC_ERR_NOMEM : CALC_OK;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static uint64_t take(void *context)
{
    return say(context, CALC_WIRE_TAKE, 0, 0);
}

/* Beside the progress that the caller asked for: be heard now and then. */
static bool show(void *context, const calc_sweep_progress *progress)
{
    enum { EVERY_S = 1 };
    rank *r = context;
    const calc_sweep_options *o = r->options;
    bool stop = o->progress && o->progress(o->progress_context, progress);
    if (!stop && calc_clock_s(CLOCK_MONOTONIC) - r->heard_s > EVERY_S) {
        r->heard_s = calc_clock_s(CLOCK_MONOTONIC);
        stop = say(r, CALC_WIRE_HEAR, 0, 0) != 0;
    }
    return stop;
}

static calc_status sweep_shard(rank *r, const calc_space *space, const calc_designs *designs,
                               const calc_sweep_options *options, const calc_saving *saving,
                               calc_sweep_result *result, calc_errors *errors)
{
    size_t size = strlen(saving->path) + 16;
    char *path = malloc(size);
    if (!path) {
        return calc_errors_no_memory(errors);
    }
    snprintf(path, size, "%s.%d", saving->path, r->ranks->rank + 1);
    calc_saving own = *saving;
    own.path = path;
    own.shard = (calc_shard){.index = (uint64_t)r->ranks->rank + 1,
                             .count = (uint64_t)r->ranks->count,
                             .next = (uint64_t)r->ranks->rank};
    calc_status status = calc_saved_sweep(space, designs, options, &own, result, errors);
    free(path);
    return status;
}

/* One round: chunks as long as there are some, or the shard of the rank. */
static calc_status sweep_round(rank *r, const calc_space *space, const calc_designs *designs,
                               const calc_saving *saving, calc_errors *errors)
{
    calc_sweep_options own = *r->options;
    calc_sweep_result result = {0};
    calc_status status;
    own.progress = show;
    own.progress_context = r;
    if (saving->path) {
        status = sweep_shard(r, space, designs, &own, saving, &result, errors);
        r->chunk = (uint64_t)r->ranks->count;
    } else {
        own.take = take;
        own.take_context = r;
        own.checkpoint = report;
        own.checkpoint_context = r;
        status = calc_sweep(space, designs, &own, &result, errors);
    }
    bool stopped = result.partial;
    if (status == CALC_OK && (saving->path || stopped)) {
        status = calc_errors_status(errors, report(r, &result, UINT64_MAX));
    }
    if (status == CALC_OK && r->host) {
        calc_ranks_host_add(r->host, &result);
    }
    if (status == CALC_OK) {
        uint64_t total = saving->path ? (uint64_t)r->ranks->count : stopped ? UINT64_MAX : r->chunk;
        say(r, CALC_WIRE_FINISH, total, stopped);
    }
    calc_sweep_result_free(&result);
    return status;
}

/* Do as rank 0 says until it says that all is done. */
static calc_status work(rank *r, const calc_space *space, const calc_designs *designs,
                        const calc_saving *saving, calc_errors *errors)
{
    calc_status status = CALC_OK;
    uint64_t order = saving->path ? CALC_LEDGER_ROUND
                                  : say(r, CALC_WIRE_ORDER, (uint64_t)r->options->threads, 0);
    while ((order == CALC_LEDGER_ROUND || order == CALC_LEDGER_WAIT) && !r->failed) {
        if (order == CALC_LEDGER_WAIT) {
            calc_wire_pause();
        } else if (status == CALC_OK) {
            status = sweep_round(r, space, designs, saving, errors);
            if (status != CALC_OK && say(r, CALC_WIRE_FAIL, 0, 0) != 0) {
                *errors = (calc_errors){0}; /* another has said why */
            }
        }
        order = say(r, CALC_WIRE_ORDER, (uint64_t)r->options->threads, 0);
    }
    r->ranks->parted = order == CALC_WIRE_PART;
    if (r->failed) {
        r->ranks->broken = true;
        return calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL, NULL,
                               "rank %d: rank 0 does not answer", r->ranks->rank);
    }
    return status;
}

/* ---- The sweep ------------------------------------------------------------------------------- */

/* mpirun binds a rank to its share of the machine, unless it was told not to. */
static int threads_of(const calc_ranks *ranks)
{
    cpu_set_t allowed;
    int online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    int bound = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : online;
    int share = online / ranks->local > 1 ? online / ranks->local : 1;
    return bound < online ? bound : share;
}

calc_status calc_ranks_sweep(calc_ranks *ranks, const calc_space *space,
                             const calc_designs *designs, const calc_sweep_options *options,
                             const calc_saving *saving, calc_sweep_result *result,
                             calc_errors *errors)
{
    if (ranks->count == 1) {
        return calc_saved_sweep(space, designs, options, saving, result, errors);
    }
    *result = (calc_sweep_result){0};
    calc_sweep_options own = *options;
    own.threads = own.threads > 0 ? own.threads : threads_of(ranks);
    rank r = {.ranks = ranks, .options = &own, .heard_s = calc_clock_s(CLOCK_MONOTONIC)};
    double start_s = calc_clock_s(CLOCK_MONOTONIC);
    if (ranks->rank == 0) {
        r.host = calc_ranks_host_begin(ranks, &own, saving->path != NULL);
        ranks->broken = !r.host;
        if (!r.host) {
            return calc_errors_no_memory(errors);
        }
    }
    calc_status status = work(&r, space, designs, saving, errors);
    if (r.host) { /* a part of the result is none */
        calc_status all = calc_ranks_host_end(r.host, ranks->lost, result, errors);
        status = status == CALC_OK ? all : status;
        result->elapsed_s = calc_clock_s(CLOCK_MONOTONIC) - start_s;
    }
    if (status != CALC_OK) {
        calc_sweep_result_free(result);
    }
    return status;
}
