/* How long one decision of calc tune takes: one core, the fastest of several. Candidates are made
 * up: as many shapes of kernels and schedules as a sweep of 512 processors has. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "tune/decision.h"

enum { ROUNDS = 3, MEASURED = 30, MOST = 1000000 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void make(calc_tune_candidate *c, calc_rng *rng)
{
    double tensor = calc_rng_below(rng, 4), stages = calc_rng_below(rng, 5);
    double share = 0.3 + 0.4 * calc_rng_real(rng);
    *c = (calc_tune_candidate){.fits = (double)NAN,
                               .step_s = 1 + calc_rng_real(rng),
                               .memory_bytes = 80e9 * (0.3 + 0.75 * calc_rng_real(rng)),
                               .capacity_bytes = 80e9};
    c->term[CALC_TUNE_TERM_MATRIX] = share;
    c->term[CALC_TUNE_TERM_MEMORY] = 0.9 - share;
    c->term[CALC_TUNE_TERM_NETWORK0] = 0.02 * tensor;
    c->term[CALC_TUNE_TERM_BUBBLE] = 0.02 * stages;
    c->space[CALC_TUNE_SPACE_STATE] = 0.5 + 0.3 * calc_rng_real(rng);
    c->space[CALC_TUNE_SPACE_ACTIVATIONS] = 0.9 - c->space[CALC_TUNE_SPACE_STATE];
    c->space[CALC_TUNE_SPACE_OTHER] = 0.1;
    c->coordinate[CALC_TUNE_COORDINATE_TOKENS] = 10 + calc_rng_below(rng, 6);
    c->coordinate[CALC_TUNE_COORDINATE_TENSOR] = tensor;
    c->coordinate[CALC_TUNE_COORDINATE_CONTEXT] = calc_rng_below(rng, 4);
    c->coordinate[CALC_TUNE_COORDINATE_PIPELINE] = stages;
    c->coordinate[CALC_TUNE_COORDINATE_CHUNKS] = calc_rng_below(rng, 8);
}

static bool measure(size_t count)
{
    calc_tune_candidate *candidate = malloc(count * sizeof *candidate);
    double *truth = malloc(2 * count * sizeof *truth);
    calc_tune_measurement m[MEASURED];
    calc_errors errors = {0};
    calc_rng rng;
    calc_rng_init(&rng, 1, 1);
    if (!candidate || !truth) {
        free(candidate);
        free(truth);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        make(&candidate[i], &rng);
    }
    calc_tune_prior prior = calc_tune_prior_default();
    calc_tune_options options = calc_tune_options_default(&prior);
    bool fine =
        calc_tune_truth(&prior, candidate, count, 1, truth, truth + count, &errors) == CALC_OK;
    double best_s = (double)INFINITY, chance = 0;
    size_t contenders = 0, measured = 0;
    for (; fine && measured < MEASURED; measured++) {
        size_t i = calc_rng_below(&rng, (uint32_t)count);
        m[measured] =
            calc_tune_truth_measure(candidate, i, truth[i], truth[count + i], 0.005, &rng);
    }
    for (int round = 0; fine && round < ROUNDS; round++) {
        calc_tune_decision d;
        double start_s = now_s();
        fine = calc_tune_decide(&d, candidate, count, m, measured, &options, &errors) == CALC_OK;
        best_s = fmin(best_s, now_s() - start_s);
        contenders = d.contenders;
        chance = d.chance;
        calc_tune_decision_free(&d);
    }
    printf("tune: %zu candidates, %d measured: %.3f s for a decision (%zu contenders, %zu draws, "
           "chance %.3f)\n",
           count, MEASURED, best_s, contenders, options.draws, chance);
    free(candidate);
    free(truth);
    return fine;
}

int main(void)
{
    bool fine = true;
    for (size_t count = 1000; count <= MOST && fine; count *= 10) {
        fine = measure(count);
    }
    return fine ? EXIT_SUCCESS : EXIT_FAILURE;
}
