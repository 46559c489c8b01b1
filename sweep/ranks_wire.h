/** @file ranks_wire.h  Messages of ranks to rank 0, over MPI: three numbers each; after some of
 *  them bytes follow, after some the rank waits for a number. */
#ifndef CALC_SWEEP_RANKS_WIRE_H
#define CALC_SWEEP_RANKS_WIRE_H

#include "ranks.h"

/** First number of a message. */
typedef enum calc_wire_kind {
    CALC_WIRE_HEAR,   /**< I am there; answer: whether to stop */
    CALC_WIRE_ORDER,  /**< what next? second number: threads; answer: calc_ledger_order, or
                           CALC_WIRE_PART */
    CALC_WIRE_TAKE,   /**< answer: a chunk */
    CALC_WIRE_REPORT, /**< second number: up to which chunk; third: bytes of a packed result */
    CALC_WIRE_FINISH, /**< second number: chunks of the sweep; third: whether others are to stop */
    CALC_WIRE_FAIL    /**< answer: whether somebody failed before */
} calc_wire_kind;

/** All is done, but a rank is lost: leave without it. */
#define CALC_WIRE_PART UINT64_C(100)

enum {
    CALC_WIRE_NUMBERS = 3,
    CALC_WIRE_MESSAGE = 1, /**< tags */
    CALC_WIRE_BYTES,
    CALC_WIRE_ANSWER
};

/** Let others work for a moment. */
void calc_wire_pause(void);

/** Rank 0 keeps the books, in a thread of its own from begin to end: nothing else in the process
 *  may call MPI between them. */
typedef struct calc_ranks_host calc_ranks_host;

/** @param shards  rank i does chunk i and nothing else: nobody can do it for a rank that is lost
 *  @return NULL if memory is short or there can be no thread */
calc_ranks_host *calc_ranks_host_begin(const calc_ranks *ranks, const calc_sweep_options *options,
                                       bool shards);

/** A message of rank 0 itself. @return the answer */
uint64_t calc_ranks_host_say(calc_ranks_host *host, calc_wire_kind kind, uint64_t second,
                             uint64_t third);

/** Merge the finds of rank 0 in a round into the result; `from` is emptied. */
void calc_ranks_host_add(calc_ranks_host *host, calc_sweep_result *from);

/** Wait until the others have been told to end, or are lost.
 *  @param lost    filled: of each rank, whether it is
 *  @param result  filled with the result of all ranks
 *  @return CALC_OK; CALC_ERR_NOMEM; CALC_ERR_IO if a rank failed, MPI did, or a rank with a shard
 * is lost: with an error, unless a rank says it itself */
CALC_MUST_USE calc_status calc_ranks_host_end(calc_ranks_host *host, bool *lost,
                                              calc_sweep_result *result, calc_errors *errors);

#endif
