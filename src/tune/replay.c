#include "tune/replay.h"

#include <math.h>
#include <stdint.h>

#include "tune/truth.h"

enum { STREAM_NOISE = 5 };

/* The shortest time of those that fit. */
static double shortest(const calc_tune_candidate *candidate, const double *step_s,
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
static calc_tune_measurement measure(const calc_tune_candidate *candidate, const double *step_s,
                                     const double *memory_bytes, size_t i, double noise,
                                     calc_rng *rng)
{
    double need = memory_bytes ? memory_bytes[i] : 0;
    calc_tune_measurement m = calc_tune_truth_measure(candidate, i, step_s[i], need, noise, rng);
    m.memory_bytes = memory_bytes ? m.memory_bytes : (double)NAN;
    return m;
}

calc_status calc_tune_replay_play(calc_tune_replay *out, const calc_tune_candidate *candidate,
                                  const double *step_s, const double *memory_bytes, size_t count,
                                  size_t most, bool noisy, const calc_tune_options *options,
                                  calc_tune_replay_watch watch, void *context, calc_errors *errors)
{
    calc_tune_measurement measurement[CALC_TUNE_REPLAYED];
    *out = (calc_tune_replay){.stopped = SIZE_MAX};
    double best_s = shortest(candidate, step_s, memory_bytes, count);
    double found_s = (double)INFINITY;
    calc_rng rng;
    calc_rng_init(&rng, options->seed, STREAM_NOISE);
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
        measurement[n] =
            measure(candidate, step_s, memory_bytes, chosen, noisy ? options->noise : 0, &rng);
        if (measurement[n].end == CALC_TUNE_END_FINE) {
            found_s = fmin(found_s, step_s[chosen]);
        }
        out->choice[n] = chosen;
        out->regret[n] = found_s / best_s - 1;
        out->measured++;
    }
    return status;
}
