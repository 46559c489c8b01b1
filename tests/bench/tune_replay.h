/** @file tune_replay.h  Tuning played again on layouts whose times are all known, as if they were
 * measured one after the other: what a chooser would have found, and when. */
#ifndef CALC_TESTS_TUNE_REPLAY_H
#define CALC_TESTS_TUNE_REPLAY_H

#include <math.h>
#include <stdint.h>

#include "tune/decision.h"
#include "tune/model.h"

enum { TUNE_REPLAYED = 64 /**< measurements of a replay at most */ };

/** What came of it. */
typedef struct tune_replay {
    size_t measured;              /**< in all */
    size_t choice[TUNE_REPLAYED]; /**< candidates, in order */
    double regret[TUNE_REPLAYED]; /**< after each: of the best found over the best, less 1;
                                            infinite before one ran */
    size_t stopped;               /**< measurements when it said stop first; SIZE_MAX: it did not */
} tune_replay;

/** Looks at a decision before its proposal is measured. */
typedef void (*tune_replay_watch)(void *context, const calc_tune_decision *decision,
                                  size_t measured);

enum { TUNE_REPLAY_NOISE = 5 };

/* The shortest time of those that fit. */
static double tune_replay_shortest(const calc_tune_candidate *candidate, const double *step_s,
                                   const double *memory_bytes, size_t count)
{
    double best = (double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        bool fits = !memory_bytes || memory_bytes[i] <= candidate[i].capacity_bytes;
        best = fits ? fmin(best, step_s[i]) : best;
    }
    return best;
}

/* A run that is known to have run fits, whatever is thought of its memory. */
static calc_tune_measurement tune_replay_measure(const calc_tune_candidate *candidate,
                                                 const double *step_s, const double *memory_bytes,
                                                 size_t i, double noise, calc_rng *rng)
{
    double need = memory_bytes ? memory_bytes[i] : 0;
    calc_tune_measurement m = calc_tune_truth_measure(candidate, i, step_s[i], need, noise, rng);
    m.memory_bytes = memory_bytes ? m.memory_bytes : (double)NAN;
    return m;
}

/** Play. Measurements are exact but for `options->noise` if `noisy`. options->picks must be 1.
 *  @param step_s, memory_bytes  the truth; memory NULL: all fit
 *  @param most   measurements, at most TUNE_REPLAYED
 *  @param watch  NULL: none
 *  @return CALC_OK or CALC_ERR_NOMEM */
static calc_status tune_replay_play(tune_replay *out, const calc_tune_candidate *candidate,
                                    const double *step_s, const double *memory_bytes, size_t count,
                                    size_t most, bool noisy, const calc_tune_options *options,
                                    tune_replay_watch watch, void *context, calc_errors *errors)
{
    calc_tune_measurement measurement[TUNE_REPLAYED];
    *out = (tune_replay){.stopped = SIZE_MAX};
    double best_s = tune_replay_shortest(candidate, step_s, memory_bytes, count);
    double found_s = (double)INFINITY;
    calc_rng rng;
    calc_rng_init(&rng, options->seed, TUNE_REPLAY_NOISE);
    calc_status status = CALC_OK;
    while (status == CALC_OK && out->measured < most) {
        calc_tune_decision decision;
        status = calc_tune_decide(&decision, candidate, count, measurement, out->measured, options,
                                  errors);
        size_t n = out->measured;
        bool left = status == CALC_OK && decision.picks > 0;
        if (left && watch) {
            watch(context, &decision, n);
        }
        if (left && decision.stop && out->stopped == SIZE_MAX) {
            out->stopped = n;
        }
        size_t chosen = left ? decision.pick[0] : 0;
        calc_tune_decision_free(&decision);
        if (!left) {
            break;
        }
        measurement[n] = tune_replay_measure(candidate, step_s, memory_bytes, chosen,
                                             noisy ? options->noise : 0, &rng);
        if (measurement[n].end == CALC_TUNE_END_FINE) {
            found_s = fmin(found_s, step_s[chosen]);
        }
        out->choice[n] = chosen;
        out->regret[n] = found_s / best_s - 1;
        out->measured++;
    }
    return status;
}

#endif
