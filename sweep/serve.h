/** @file serve.h  Layouts that serve, in a sweep: calc_run() on every one of them, with the common
 *  parts of a row's layouts computed once: the shape of the model, and the costs of a pass over a
 *  batch, which replicas, pipelines and networks do not change (model/serve/pass_memo.h). */
#ifndef CALC_SWEEP_SERVE_H
#define CALC_SWEEP_SERVE_H

#include "calc.h"
#include "model/serve/inference.h"
#include "sweep.h"
#include "units.h"
#include "worker.h"

/* ---- Replicas -------------------------------------------------------------------------------- */

/* A cache of results of one replica: in a closed loop that never ends, replicas are independent,
 * so that layouts with different numbers of them, on different numbers of processors, differ
 * only in throughput (calc_serving_flow). The cache keeps only the statistics that a sweep asks
 * for. The results equal calc_run()'s to the bit. */

enum { CALC_REPLICA_ASKED = 8 /**< statistics at most */ };

/** The inputs of an answer, as plain numbers, so that keys are compared as they lie in memory. */
typedef struct calc_replica_key {
    uint64_t number; /**< of the strategy, the model, the machine, and the requests served */
    int64_t stages, first_blocks, last_blocks, balance;
    int64_t network, chunks, overlapped;  /**< messages between stages, if there are several */
    int64_t data_network, reduce, gather; /**< where weights are gathered or caches sent */
    int64_t replicas, procs;              /**< 0: whatever they are */
    int64_t batch;                        /**< requests of a replica, or of all; the last */
} calc_replica_key;

/** One answer. */
typedef struct calc_replica {
    bool known;
    calc_replica_key key;
    calc_verdict verdict;
    double value[CALC_REPLICA_ASKED];
    calc_serving_flow flow;
} calc_replica;

/** The answers, and the statistics asked for. Owns its memory; start with calc_replicas_init(). */
typedef struct calc_replicas {
    bool keeps;  /**< whether all that is asked for can be kept */
    bool shared; /**< whether that says nothing of how many replicas there are */
    size_t asked;
    size_t offset[CALC_REPLICA_ASKED]; /**< of the statistics, in calc_stats */
    size_t count;                      /**< a power of two */
    calc_replica *item;
} calc_replicas;

/** @return whether there is memory */
CALC_MUST_USE bool calc_replicas_init(calc_replicas *replicas, const calc_sweep_options *options);
void calc_replicas_free(calc_replicas *replicas);

/** Where keys begin that differ in their batch alone, before calc_replicas_at() wraps it. */
size_t calc_replicas_place(const calc_replica_key *key);

/** The place of a key: with its answer if it is known. @param place  calc_replicas_place() of it */
calc_replica *calc_replicas_at(calc_replicas *replicas, size_t place, const calc_replica_key *key);

/** Keep an answer there. @param flow  NULL where the verdict is not CALC_VERDICT_OK */
void calc_replicas_keep(const calc_replicas *replicas, calc_replica *at,
                        const calc_serving_flow *flow, const calc_stats *stats);

/** Fill the statistics asked for, for a number of replicas on a number of processors. */
void calc_replicas_put(const calc_replicas *replicas, const calc_replica *from, double count,
                       double procs, calc_stats *stats);

/** Whether that puts the statistic at an offset. */
bool calc_replicas_know(const calc_replicas *replicas, size_t offset);

/* ---- Layouts that serve ---------------------------------------------------------------------- */

struct calc_worker;
struct calc_sweep_options;

/** The data that one thread keeps for it. */
typedef struct calc_serve calc_serve;

/** For a sweep that asks for some statistics. NULL if memory is short. */
calc_serve *calc_serve_create(const struct calc_sweep_options *options);
void calc_serve_free(calc_serve *serve);

/** A new table of rows: the worker's. Choices are told apart in it.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_serve_rows(calc_serve *serve, const struct calc_worker *worker);

/** Go to one of them, in another cell or the same. @param exec  a layout of it */
void calc_serve_row(calc_serve *serve, size_t row, const calc_exec *exec);

/** Go to a layout of that row, whatever its batch. */
void calc_serve_at(calc_serve *serve, const calc_exec *exec);

/** Evaluate it, its networks fit: calc_verdict_networks().
 *  @return its verdict, that of calc_run(); as are, to the bit, the statistics that the options ask
 *          for if it is CALC_VERDICT_OK */
calc_verdict calc_serve_run(calc_serve *serve, const calc_exec *exec, const calc_stats **stats);

/** Whether calc_run() gives the same results, as far as both are known. */
bool calc_serve_agrees(const calc_serve *serve, const calc_exec *exec);

/* ---- Cells that serve ------------------------------------------------------------------------ */

/* The layouts of a unit that serve, batches innermost: cells that differ in the batch alone are
 * the same but for it, and the results of replicas evaluated before are reused. */

/** Whether a worker's units are walked so: it serves, and nobody wants its layouts in order. */
bool calc_serve_walk_takes(const calc_worker *worker);

/** Evaluate and count the layouts of a unit. @param base  of it */
void calc_serve_walk(calc_worker *worker, const calc_units *units, const calc_unit *unit,
                     const calc_exec *base);

#endif
