/* Many processes with MPI. While a sweep is under way, its thread that meets the others calls MPI;
 * before and after, the one that sweeps. */
#define _GNU_SOURCE /* sched_getaffinity() */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "pack.h"
#include "ranks.h"

static calc_status fail(calc_ranks *ranks, int code, calc_errors *errors)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    ranks->broken = true;
    return calc_errors_add(errors, CALC_ERR_IO, CALC_KIND_NONE, NULL, NULL,
                           "rank %d: MPI failed: %s", ranks->rank, text);
}

/* ---- Meeting --------------------------------------------------------------------------------- */

/* MPI waits for ever for a rank that is stopped, or that died unnoticed: ranks that nobody has met
 * for so long end. */
enum { TOGETHER_S = 120 };

static void end_alone(int signal)
{
    static const char text[] = "calc: the ranks have not come together in 120 s: is one stopped?\n";
    (void)signal;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(4); /* as where a file cannot be read */
}

/* All ranks meet: of each number all get the greatest. Who waits lets others use the processor.
 * @return of MPI */
static int meet(int count, uint64_t *number)
{
    MPI_Request request;
    int met = 0;
    int code = MPI_Iallreduce(MPI_IN_PLACE, number, count, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD,
                              &request);
    while (code == MPI_SUCCESS && !met) {
        code = MPI_Test(&request, &met, MPI_STATUS_IGNORE);
        if (!met) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
    }
    alarm(TOGETHER_S);
    return code;
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

calc_status calc_ranks_join(calc_ranks *out, calc_errors *errors)
{
    *out = (calc_ranks){.count = 1, .local = 1};
    if (!started_together()) {
        return CALC_OK;
    }
    int provided;
    sigset_t most, before;
    signal(SIGALRM, end_alone);
    alarm(TOGETHER_S);
    sigfillset(&most); /* blocked in threads of MPI, which nobody asks to end */
    sigdelset(&most, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &most, &before);
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
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
        code = MPI_Comm_free(&machine);
    }
    return code == MPI_SUCCESS ? CALC_OK : fail(out, code, errors);
}

void calc_ranks_leave(calc_ranks *ranks)
{
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized && ranks->broken) {
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    } else if (initialized) {
        MPI_Finalize();
    }
}

calc_status calc_ranks_agree(calc_ranks *ranks, calc_status status, calc_errors *errors)
{
    uint64_t own = status == CALC_OK ? 0 : (uint64_t)(ranks->count - ranks->rank);
    uint64_t first = own;
    int code = ranks->count == 1 || ranks->broken ? MPI_SUCCESS : meet(1, &first);
    alarm(0);
    if (code != MPI_SUCCESS) {
        return fail(ranks, code, errors);
    }
    if (first != own) {
        *errors = (calc_errors){0};
        return CALC_ERR_IO;
    }
    return status;
}

/* ---- Results --------------------------------------------------------------------------------- */

/* Send bytes to rank 0, or receive them from a rank, in pieces: MPI counts in an int.
 * @return of MPI */
static int move(unsigned char *bytes, size_t size, int rank)
{
    enum { PIECE = 1 << 26 };
    int code = MPI_SUCCESS;
    for (size_t at = 0; at < size && code == MPI_SUCCESS; at += PIECE) {
        int piece = size - at < PIECE ? (int)(size - at) : PIECE;
        code = rank == 0 ? MPI_Send(bytes + at, piece, MPI_BYTE, 0, 0, MPI_COMM_WORLD)
                         : MPI_Recv(bytes + at, piece, MPI_BYTE, rank, 0, MPI_COMM_WORLD,
                                    MPI_STATUS_IGNORE);
        alarm(TOGETHER_S);
    }
    return code;
}

/* Put the result of another into that of rank 0. */
static calc_status add(const calc_sweep_options *options, calc_sweep_result *into,
                       const unsigned char *bytes, size_t size)
{
    calc_sweep_result part;
    calc_unpack in = {.at = bytes, .end = bytes + size};
    calc_status status = calc_unpack_result(&in, &part);
    status = status == CALC_OK ? calc_sweep_merge(options, into, &part) : status;
    calc_sweep_result_free(&part);
    return status;
}

/* Rank 0 gets what the others found, one after the other. */
static calc_status gather(calc_ranks *ranks, const calc_sweep_options *options,
                          calc_sweep_result *result, calc_errors *errors)
{
    calc_pack own = {0};
    int code = MPI_SUCCESS;
    if (ranks->rank > 0) {
        calc_pack_result(&own, result);
    }
    calc_status status = own.failed ? CALC_ERR_NOMEM : CALC_OK;
    status = calc_ranks_agree(ranks, calc_errors_status(errors, status), errors);
    for (int from = 1; from < ranks->count && status == CALC_OK && code == MPI_SUCCESS; from++) {
        uint64_t sizes[] = {0, 0}; /* bytes, threads */
        if (from == ranks->rank) {
            sizes[0] = own.size;
            sizes[1] = (uint64_t)result->threads;
        }
        code = meet(2, sizes);
        if (code == MPI_SUCCESS && from == ranks->rank) {
            code = move(own.data, own.size, 0);
        } else if (code == MPI_SUCCESS && ranks->rank == 0) {
            unsigned char *bytes = malloc(sizes[0]);
            status = bytes ? CALC_OK : CALC_ERR_NOMEM;
            code = bytes ? move(bytes, sizes[0], from) : MPI_SUCCESS;
            if (bytes && code == MPI_SUCCESS) {
                status = add(options, result, bytes, sizes[0]);
                result->threads += (int)sizes[1];
            }
            free(bytes);
        }
    }
    free(own.data);
    alarm(0);
    if (code != MPI_SUCCESS) {
        return fail(ranks, code, errors);
    }
    /* The others wait for rank 0. */
    ranks->broken = ranks->rank == 0 && status != CALC_OK;
    return calc_errors_status(errors, status);
}

/* ---- The sweep ------------------------------------------------------------------------------- */

/* A rank that sweeps its shard. */
typedef struct rank {
    const calc_sweep_options *options;
    atomic_bool works;
    atomic_bool stop; /* some rank ended early */
    int code;         /* of MPI */
} rank;

/* The thread that meets the others until nobody works: a rank that does not come is noticed, and
 * what stops one stops all. */
static void *accompany(void *context)
{
    rank *r = context;
    uint64_t some[2];
    do {
        some[0] = atomic_load(&r->works);
        some[1] = atomic_load(&r->stop);
        r->code = meet(2, some);
        if (some[1] || r->code != MPI_SUCCESS) {
            atomic_store(&r->stop, true);
        }
    } while (some[0] && r->code == MPI_SUCCESS);
    return NULL;
}

static bool show(void *context, const calc_sweep_progress *progress)
{
    rank *r = context;
    const calc_sweep_options *o = r->options;
    bool stop = o->progress && o->progress(o->progress_context, progress);
    return stop || atomic_load(&r->stop);
}

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
    rank r = {.options = options, .works = true};
    calc_sweep_options own = *options;
    own.threads = own.threads > 0 ? own.threads : threads_of(ranks);
    own.progress = show;
    own.progress_context = &r;
    calc_saving part = *saving;
    char *path = saving->path ? malloc(strlen(saving->path) + 16) : NULL;
    if (path) {
        sprintf(path, "%s.%d", saving->path, ranks->rank + 1);
        part.path = path;
    }
    part.shard = (calc_shard){.index = (uint64_t)ranks->rank + 1,
                              .count = (uint64_t)ranks->count,
                              .next = (uint64_t)ranks->rank};
    *result = (calc_sweep_result){0};
    double start_s = calc_clock_s(CLOCK_MONOTONIC);
    pthread_t thread;
    alarm(TOGETHER_S);
    if ((saving->path && !path) || pthread_create(&thread, NULL, accompany, &r) != 0) {
        free(path);
        ranks->broken = true;
        return calc_errors_no_memory(errors);
    }
    calc_status status = calc_saved_sweep(space, designs, &own, &part, result, errors);
    free(path);
    if (status != CALC_OK || result->partial) {
        atomic_store(&r.stop, true);
    }
    atomic_store(&r.works, false);
    pthread_join(thread, NULL);
    status = r.code == MPI_SUCCESS ? calc_ranks_agree(ranks, status, errors)
                                   : fail(ranks, r.code, errors);
    status = status == CALC_OK ? gather(ranks, options, result, errors) : status;
    result->partial = atomic_load(&r.stop);
    result->elapsed_s = calc_clock_s(CLOCK_MONOTONIC) - start_s;
    if (status != CALC_OK || ranks->rank > 0) {
        calc_sweep_result_free(result);
    }
    return status;
}
