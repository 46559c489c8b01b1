/** @file replay.h  Tuning played again on layouts whose times are all known, as if they were
 * measured one after the other: what a chooser would have found, and when. */
#ifndef CALC_TUNE_REPLAY_H
#define CALC_TUNE_REPLAY_H

#include "tune/decision.h"

enum { CALC_TUNE_REPLAYED = 64 /**< measurements of a replay at most */ };

/** What came of it. */
typedef struct calc_tune_replay {
    size_t measured;                   /**< in all */
    size_t choice[CALC_TUNE_REPLAYED]; /**< candidates, in order */
    double regret[CALC_TUNE_REPLAYED]; /**< after each: of the best found over the best, less 1;
                                            infinite before one ran */
    size_t stopped; /**< measurements when it said stop first; SIZE_MAX: it did not */
} calc_tune_replay;

/** Looks at a decision before its proposal is measured. */
typedef void (*calc_tune_replay_watch)(void *context, const calc_tune_decision *decision,
                                       size_t measured);

/** Play. Measurements are exact but for `options->noise` if `noisy`. options->picks must be 1.
 *  @param step_s, memory_bytes  the truth; memory NULL: all fit
 *  @param most   measurements, at most CALC_TUNE_REPLAYED
 *  @param watch  NULL: none
 *  @return CALC_OK or CALC_ERR_NOMEM */
CALC_MUST_USE calc_status calc_tune_replay_play(calc_tune_replay *out,
                                                const calc_tune_candidate *candidate,
                                                const double *step_s, const double *memory_bytes,
                                                size_t count, size_t most, bool noisy,
                                                const calc_tune_options *options,
                                                calc_tune_replay_watch watch, void *context,
                                                calc_errors *errors);

#endif
