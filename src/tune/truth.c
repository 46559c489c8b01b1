#include "tune/truth.h"

#include <math.h>

#include "gauss/effects.h"
#include "gauss/normal.h"
#include "tune/model.h"

enum { STREAM_TRUTH = 4 };

static calc_status draw_one(const calc_effects *effects, const calc_effects_item *item,
                            size_t count, calc_rng *rng, double *out, calc_errors *errors)
{
    calc_effects_posterior before;
    calc_effects_draws draws = {0};
    calc_status status = calc_effects_condition(&before, effects, item, NULL, 0, errors);
    if (status == CALC_OK) {
        status = calc_effects_draws_make(&draws, &before, errors);
    }
    if (status == CALC_OK) {
        calc_effects_draw(&draws, rng);
        for (size_t i = 0; i < count; i++) {
            double own;
            calc_normal_draw(rng, &own, 1);
            out[i] = exp(calc_effects_drawn(&draws, &item[i]) + effects->own_sd * own);
        }
    }
    calc_effects_draws_free(&draws);
    calc_effects_free(&before);
    return status;
}

calc_status calc_tune_truth(const calc_tune_prior *prior, const calc_tune_candidate *candidate,
                            size_t count, uint64_t seed, double *step_s, double *memory_bytes,
                            calc_errors *errors)
{
    calc_tune_model model;
    calc_rng rng;
    calc_rng_init(&rng, seed, STREAM_TRUTH);
    calc_status status = calc_tune_model_make(&model, prior, NULL, candidate, count, errors);
    if (status == CALC_OK) {
        status = draw_one(&model.time, model.time_item, count, &rng, step_s, errors);
    }
    if (status == CALC_OK) {
        status = draw_one(&model.memory, model.memory_item, count, &rng, memory_bytes, errors);
    }
    calc_tune_model_free(&model);
    return status;
}

calc_tune_measurement calc_tune_truth_measure(const calc_tune_candidate *candidate, size_t index,
                                              double step_s, double memory_bytes, double noise,
                                              calc_rng *rng)
{
    double error;
    calc_normal_draw(rng, &error, 1);
    bool fits = memory_bytes <= candidate[index].capacity_bytes;
    return (calc_tune_measurement){.candidate = index,
                                   .end = fits ? CALC_TUNE_END_FINE : CALC_TUNE_END_OOM,
                                   .step_s = fits ? step_s * exp(noise * error) : (double)NAN,
                                   .memory_bytes = fits ? memory_bytes : (double)NAN};
}
