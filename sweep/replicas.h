/** @file replicas.h  A cache of results of one replica: in a closed loop that never ends, replicas
 *  are independent, so that layouts with different numbers of them, on different numbers of
 *  processors, differ only in throughput (calc_serving_flow). The cache keeps only the statistics
 *  that a sweep asks for. The results equal calc_run()'s to the bit. */
#ifndef CALC_SWEEP_REPLICAS_H
#define CALC_SWEEP_REPLICAS_H

#include "model/serve/inference.h"
#include "sweep.h"

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

#endif
