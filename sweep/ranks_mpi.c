/* Many processes with MPI. Threads of a rank never call it: only the thread that sweeps does. */
#define _GNU_SOURCE /* sched_getaffinity() */
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    int code = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
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

void calc_ranks_leave(const calc_ranks *ranks)
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
    if (ranks->count == 1 || ranks->broken) {
        return status;
    }
    int own = status == CALC_OK ? INT_MAX : ranks->rank;
    int first;
    int code = MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (code != MPI_SUCCESS) {
        return fail(ranks, code, errors);
    }
    if (first != INT_MAX && first != ranks->rank) {
        *errors = (calc_errors){0};
        return CALC_ERR_IO;
    }
    return status;
}

/* ---- Whoever is free takes the next chunk ---------------------------------------------------- */

/* A number at rank 0 that all ranks add to. */
typedef struct counter {
    MPI_Win window;
    int code; /* of the first call that failed */
} counter;

static uint64_t add(counter *c, uint64_t more)
{
    uint64_t before = CALC_SHARD_DONE;
    if (c->code == MPI_SUCCESS) {
        c->code = MPI_Fetch_and_op(&more, &before, MPI_UINT64_T, 0, 0, MPI_SUM, c->window);
    }
    if (c->code == MPI_SUCCESS) {
        c->code = MPI_Win_flush(0, c->window);
    }
    return c->code == MPI_SUCCESS ? before : CALC_SHARD_DONE;
}

static uint64_t take(void *context)
{
    return add(context, 1);
}

static int open_counter(const calc_ranks *ranks, counter *c)
{
    uint64_t *number;
    MPI_Aint size = ranks->rank == 0 ? sizeof *number : 0;
    int code =
        MPI_Win_allocate(size, sizeof *number, MPI_INFO_NULL, MPI_COMM_WORLD, &number, &c->window);
    if (code == MPI_SUCCESS) {
        code = MPI_Win_lock_all(MPI_MODE_NOCHECK, c->window);
    }
    if (code == MPI_SUCCESS && ranks->rank == 0) {
        *number = 0;
        code = MPI_Win_sync(c->window);
    }
    return code == MPI_SUCCESS ? MPI_Barrier(MPI_COMM_WORLD) : code;
}

static calc_status sweep_together(calc_ranks *ranks, const calc_space *space,
                                  const calc_designs *designs, calc_sweep_options *options,
                                  calc_sweep_result *result, calc_errors *errors)
{
    counter c = {.code = MPI_SUCCESS};
    int code = open_counter(ranks, &c);
    if (code != MPI_SUCCESS) {
        return fail(ranks, code, errors);
    }
    options->take = take;
    options->take_context = &c;
    calc_status status = calc_sweep(space, designs, options, result, errors);
    if (status != CALC_OK || result->partial) {
        add(&c, UINT64_MAX / 4); /* nobody need go on: the numbers are behind the end now */
    }
    if (c.code == MPI_SUCCESS) {
        c.code = MPI_Win_unlock_all(c.window);
    }
    if (c.code == MPI_SUCCESS) {
        c.code = MPI_Win_free(&c.window);
    }
    options->take = NULL; /* the counter ends here */
    options->take_context = NULL;
    return c.code == MPI_SUCCESS ? status : fail(ranks, c.code, errors);
}

/* ---- Every rank has its shard, and a checkpoint of it ---------------------------------------- */

static calc_status sweep_shard(const calc_ranks *ranks, const calc_space *space,
                               const calc_designs *designs, const calc_sweep_options *options,
                               const calc_saving *saving, calc_sweep_result *result,
                               calc_errors *errors)
{
    size_t size = strlen(saving->path) + 16;
    char *path = malloc(size);
    if (!path) {
        return calc_errors_no_memory(errors);
    }
    snprintf(path, size, "%s.%d", saving->path, ranks->rank + 1);
    calc_saving own = *saving;
    own.path = path;
    own.shard = (calc_shard){.index = (uint64_t)ranks->rank + 1,
                             .count = (uint64_t)ranks->count,
                             .next = (uint64_t)ranks->rank};
    calc_status status = calc_saved_sweep(space, designs, options, &own, result, errors);
    free(path);
    return status;
}

/* ---- Putting the results together ------------------------------------------------------------ */

/* Send or receive any number of bytes: MPI counts them in an int. */
static int transfer(unsigned char *bytes, size_t size, int from, int to, int rank)
{
    int code = MPI_SUCCESS;
    for (size_t done = 0; done < size && code == MPI_SUCCESS;) {
        int piece = size - done < INT_MAX ? (int)(size - done) : INT_MAX;
        code = rank == from ? MPI_Send(bytes + done, piece, MPI_BYTE, to, 0, MPI_COMM_WORLD)
                            : MPI_Recv(bytes + done, piece, MPI_BYTE, from, 0, MPI_COMM_WORLD,
                                       MPI_STATUS_IGNORE);
        done += (size_t)piece;
    }
    return code;
}

/* Receive the result of a rank and put it into ours. */
static calc_status receive(const calc_sweep_options *options, int from, uint64_t size,
                           calc_sweep_result *result, int *code)
{
    calc_sweep_result other = {0};
    unsigned char *bytes = malloc(size);
    calc_status status = bytes ? CALC_OK : CALC_ERR_NOMEM;
    if (status == CALC_OK) {
        *code = transfer(bytes, size, from, 0, 0);
    }
    if (status == CALC_OK && *code == MPI_SUCCESS) {
        calc_unpack in = {.at = bytes, .end = bytes + size};
        status = calc_unpack_result(&in, &other);
    }
    if (status == CALC_OK && *code == MPI_SUCCESS) {
        status = calc_sweep_merge(options, result, &other);
    }
    calc_sweep_result_free(&other);
    free(bytes);
    return status;
}

/* Tell everybody how many bytes each rank sends, and bring them to rank 0. */
static calc_status gather(calc_ranks *ranks, const calc_sweep_options *options, calc_pack *pack,
                          calc_sweep_result *result, calc_errors *errors)
{
    int mine[2] = {result->partial, result->threads};
    int all[2] = {0, 0};
    calc_status status = CALC_OK;
    int code = MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (code == MPI_SUCCESS && ranks->rank > 0) {
        uint64_t size = pack->size;
        code = MPI_Send(&size, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
        if (code == MPI_SUCCESS) {
            code = transfer(pack->data, pack->size, ranks->rank, 0, ranks->rank);
        }
        calc_sweep_result_free(result);
    }
    for (int r = 1; ranks->rank == 0 && r < ranks->count && code == MPI_SUCCESS; r++) {
        uint64_t size;
        code = MPI_Recv(&size, 1, MPI_UINT64_T, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && status == CALC_OK) {
            status = receive(options, r, size, result, &code);
        }
    }
    if (ranks->rank == 0) {
        result->partial = all[0] > 0;
        result->threads = all[1];
    }
    if (code != MPI_SUCCESS) {
        return fail(ranks, code, errors);
    }
    ranks->broken = status != CALC_OK; /* others may still be sending */
    return status == CALC_OK
               ? CALC_OK
               : calc_errors_add(errors, status, CALC_KIND_NONE, NULL, NULL,
                                 "results of the ranks: %s", calc_status_text(status));
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
    if (own.threads == 0) {
        own.threads = threads_of(ranks);
    }
    calc_status status = saving->path
                             ? sweep_shard(ranks, space, designs, &own, saving, result, errors)
                             : sweep_together(ranks, space, designs, &own, result, errors);
    calc_pack pack = {0};
    if (status == CALC_OK && ranks->rank > 0) {
        calc_pack_result(&pack, result);
        if (pack.failed) {
            status = calc_errors_no_memory(errors);
        }
    }
    status = calc_ranks_agree(ranks, status, errors);
    if (status == CALC_OK) {
        status = gather(ranks, options, &pack, result, errors);
    }
    free(pack.data);
    return status;
}
