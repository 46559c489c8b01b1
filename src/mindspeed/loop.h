/** @file loop.h  Which configurations to measure, and when to stop: Thompson sampling by
 * probability matching. Each sample of all configurations' times has its k fastest; what is
 * measured next is drawn from these, so that a configuration's chance is that of being among the
 * fastest. The loop ends when hardly any of them is still to be measured. */
#ifndef CALC_MINDSPEED_LOOP_H
#define CALC_MINDSPEED_LOOP_H

#include "base/rng.h"
#include "calc.h"

/** Rules. MindSpeed: 100 samples, k 1 (2024) or 3 (2025), threshold 0.05. */
typedef struct calc_mindspeed_loop_rules {
    size_t samples;        /**< of a time, 1 or more */
    size_t top_k;          /**< 1 or more */
    double stop_threshold; /**< share of the pool that may be unmeasured in the end */
    size_t max_trials;     /**< 0: no limit */
    uint64_t seed;
    bool every; /**< measure all, in their order (full_precision) */
} calc_mindspeed_loop_rules;

/** What is known of a candidate. */
typedef enum calc_mindspeed_mark {
    CALC_MINDSPEED_UNEXPLORED,
    CALC_MINDSPEED_EXPLORED, /**< measured */
    CALC_MINDSPEED_REMOVED   /**< failed, or needs as much memory as one that had too little */
} calc_mindspeed_mark;

/** What came of a measurement. */
typedef enum calc_mindspeed_end {
    CALC_MINDSPEED_RAN,
    CALC_MINDSPEED_FAILED,
    CALC_MINDSPEED_OUT_OF_MEMORY
} calc_mindspeed_end;

/** Samples of a candidate's time [s], the i-th of all candidates of one draw.
 *  @return false if it has none: it is then in no pool */
typedef bool calc_mindspeed_loop_time(void *context, size_t candidate, double *samples_s,
                                      size_t count);

/** Why there is nothing more to measure. */
typedef enum calc_mindspeed_stop {
    CALC_MINDSPEED_GOES_ON,
    CALC_MINDSPEED_CONCENTRATED, /**< what is unmeasured is hardly among the fastest */
    CALC_MINDSPEED_EXHAUSTED,    /**< nothing is left */
    CALC_MINDSPEED_TRIALS        /**< as many as were allowed */
} calc_mindspeed_stop;

/** State. Owns its lists; start with calc_mindspeed_loop_start(). */
typedef struct calc_mindspeed_loop {
    calc_mindspeed_loop_rules rules;
    size_t count;               /**< candidates */
    const double *memory_bytes; /**< what each needs by a model; NULL: not known. Borrowed */
    calc_mindspeed_mark *mark;
    double *samples_s; /**< `samples` numbers of the first candidate, then of the second */
    size_t *tally;     /**< how often each is in the pool */
    size_t pool, rest; /**< entries of the pool, and those of candidates that are unmeasured */
    size_t trials;     /**< results that were recorded */
    size_t next;       /**< what is to be measured */
    calc_mindspeed_stop stop;
} calc_mindspeed_loop;

/** Begin with nothing measured.
 *  @return CALC_OK or CALC_ERR_NOMEM; *loop must be freed in any case */
CALC_MUST_USE calc_status calc_mindspeed_loop_start(calc_mindspeed_loop *loop,
                                                    const calc_mindspeed_loop_rules *rules,
                                                    size_t count, const double *memory_bytes);

/** Free its lists; fine on {0}. */
void calc_mindspeed_loop_free(calc_mindspeed_loop *loop);

/** Note a result. One that lacked memory takes with it all that need as much, unless they ran. */
void calc_mindspeed_loop_record(calc_mindspeed_loop *loop, size_t candidate,
                                calc_mindspeed_end end);

/** Time all that are not removed, and find the pool. */
void calc_mindspeed_loop_judge(calc_mindspeed_loop *loop, calc_mindspeed_loop_time *time,
                               void *context);

/** Choose `next` from the pool that was found, by the seed and the number of trials alone; or
 *  find that there is no more to do.
 *  @return loop->stop */
calc_mindspeed_stop calc_mindspeed_loop_choose(calc_mindspeed_loop *loop);

/** Share of the pool that a candidate has: with k = 1 its chance of being the fastest. */
double calc_mindspeed_loop_chance(const calc_mindspeed_loop *loop, size_t candidate);

#endif
