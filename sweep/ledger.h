/** @file ledger.h  Which rank does which chunks of a sweep: the books of rank 0, and no messages.
 *
 *  A rank works in rounds. In a round it takes chunks, each larger than the one before, and reports
 *  its results of all of them; the last report ends the round. A rank that is silent for much
 *  longer than ever before is lost: its reports stand, and others repeat the rest of its chunks in
 *  their next round. Later reports of that round are refused, so that every chunk is in the result
 *  once. */
#ifndef CALC_SWEEP_LEDGER_H
#define CALC_SWEEP_LEDGER_H

#include "calc.h"

/** The next order for a rank. */
typedef enum calc_ledger_order {
    CALC_LEDGER_ROUND, /**< work: take chunks */
    CALC_LEDGER_WAIT,  /**< ask again soon: others are still at it */
    CALC_LEDGER_END    /**< all is done, or nobody need go on */
} calc_ledger_order;

/** A rank in the books. */
typedef struct calc_ledger_rank {
    double heard_s;   /**< when it last said something */
    double longest_s; /**< that it was silent between two messages of its rounds */
    bool working;     /**< in a round */
    bool again;       /**< of chunks that others left */
    bool lost;        /**< in this round */
    uint64_t least;   /**< of the chunks that it may take in this round */
    size_t count, capacity;
    uint64_t *open; /**< chunks that it took and did not report, ascending */
} calc_ledger_rank;

/** The books. Start with calc_ledger_create(). */
typedef struct calc_ledger {
    size_t ranks;
    calc_ledger_rank *rank;
    uint64_t next;  /**< chunk that nobody took */
    uint64_t total; /**< chunks there are; UINT64_MAX until a round ended */
    size_t left, capacity;
    uint64_t *again; /**< chunks to do again, ascending */
    bool stopped;    /**< nobody need go on */
} calc_ledger;

/** Books of ranks that said nothing yet; times are in seconds since whenever. *out must be freed in
 *  any case. @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_ledger_create(calc_ledger *out, size_t ranks, double now_s);
void calc_ledger_free(calc_ledger *ledger);

/** A rank says that it is there. */
void calc_ledger_hear(calc_ledger *ledger, size_t rank, double now_s);

/** The order for a rank without a round. */
calc_ledger_order calc_ledger_order_of(calc_ledger *ledger, size_t rank, double now_s);

/** The next chunk of a rank in a round; UINT64_MAX: it has none. @return CALC_OK or CALC_ERR_NOMEM
 */
CALC_MUST_USE calc_status calc_ledger_take(calc_ledger *ledger, size_t rank, double now_s,
                                           uint64_t *chunk);

/** A rank reports its results of all chunks of its round up to `chunk`. @return whether the report
 *  is accepted: it replaces what the rank reported before in this round */
bool calc_ledger_report(calc_ledger *ledger, size_t rank, double now_s, uint64_t chunk);

/** A rank reports all of its round, which is over. @param total  chunks of the sweep
 *  @return whether that is welcome */
bool calc_ledger_finish(calc_ledger *ledger, size_t rank, double now_s, uint64_t total);

/** Whether a rank has been silent for too long: eight times as long as ever before, and two seconds
 *  more. A rank that was heard once only is judged by the others. */
bool calc_ledger_is_silent(const calc_ledger *ledger, size_t rank, double now_s);

/** Give up the round of a rank that is silent. Its last report is part of the result.
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_ledger_give_up(calc_ledger *ledger, size_t rank);

#endif
